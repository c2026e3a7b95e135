package experiment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Source names the data of a trial.
type Source struct {
	Name string `json:"name"`           // "draw", "sunspots" or "eeg"
	N    int    `json:"n"`              // observations to train on
	Seed uint64 `json:"seed,omitempty"` // of a draw, or of the sample from the EEG

	// For a draw of SE on [0, 1000) with variance 1 and noise variance 0.1: its lengthscale, and how many points are drawn, of which
	// the first N of a permutation are trained on.
	Lengthscale float64 `json:"lengthscale,omitempty"`
	Of          int     `json:"of,omitempty"`
	Noise       float64 `json:"noise,omitempty"` // variance, if not 0.1
}

// AuthorsNoise is the noise variance of the authors' synthetic data, where the paper has 0.1: log 0.1 goes through softplus,
// which makes it ln 1.1, and 1e-4 and twice 1e-6 are added to the diagonal (gp.py, lines 338, 348, 170 and 447).
const AuthorsNoise = 0.09541217980432494 // ln 1.1 + 1e-4 + 2e-6; as digits, since keys of stored results depend on the last

// String names the source in a word or two.
func (s Source) String() string {
	if s.Name == "draw" {
		return fmt.Sprintf("SE l=%g n=%d draw %d", s.Lengthscale, s.N, s.Seed)
	}
	return fmt.Sprintf("%s n=%d", s.Name, s.N)
}

// Truth is the model that a draw comes from.
func (s Source) Truth() gppl.Model {
	noise := s.Noise
	if noise == 0 {
		noise = 0.1
	}
	return gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: s.Lengthscale}, Noise: noise}
}

// Sample is the data that a Source names: observations to train on, and those held back, if any.
type Sample struct {
	Train gppl.Data
	X, Y  []float64 // held back
	Paper bool      // it is the paper's own series

	// For a sample with replacement: how many training points were drawn before, and how many held-back points are among them.
	Repeated, Leaked int
	Seen             []bool // for each held-back point, whether it is among the training points
}

// loaded caches samples, so that the trials of one data set share one draw.
var loaded sync.Map // Source → func() (Sample, error)

// Load returns the data. Recordings are located as [dataset.Find] describes, and not downloaded: RunNamed does that once.
func (s Source) Load() (Sample, error) { return once(&loaded, s, s.load) }

// once computes the value for a source the first time, and caches it.
func once[V any](memory *sync.Map, s Source, compute func() (V, error)) (V, error) {
	f, _ := memory.LoadOrStore(s, sync.OnceValues(compute))
	return f.(func() (V, error))()
}

func (s Source) load() (Sample, error) {
	switch s.Name {
	case "draw":
		return s.draw()
	case "sunspots":
		return s.sunspots()
	case "eeg":
		return s.eeg()
	}
	return Sample{}, fmt.Errorf("experiment: no source %q", s.Name)
}

var draws sync.Map // Source with N = 0 → func() (dataset.Series, error)

func (s Source) draw() (Sample, error) {
	whole := s
	whole.N = 0
	series, err := once(&draws, whole, func() (dataset.Series, error) {
		series, _, _, err := dataset.Synthetic{Model: s.Truth(), N: s.Of, Seed: s.Seed}.Draw()
		return series, err
	})
	if err != nil {
		return Sample{}, err
	}
	// One permutation for all N, so that the larger sets contain the smaller ones.
	order := rand.New(rand.NewPCG(s.Seed, 5)).Perm(s.Of)
	train := slices.Sorted(slices.Values(order[:s.N]))
	return sample(series.Select(train), nil)
}

func (s Source) sunspots() (Sample, error) {
	series, err := dataset.Sunspots(context.Background(), dataset.Options{Offline: true})
	if err != nil {
		return Sample{}, err
	}
	if s.N > series.Len() {
		return Sample{}, fmt.Errorf("experiment: %s has %d rows, not %d", series.Name, series.Len(), s.N)
	}
	z, _ := series.Slice(series.Len()-s.N, series.Len()).Standardize()
	return sample(z, nil)
}

// Recording returns the paper's EEG if it is on this machine, else the other recording; its Name says which.
var Recording = findRecording()

func findRecording() func() (dataset.Series, error) { return sync.OnceValues(readRecording) }

func readRecording() (dataset.Series, error) {
	opt := dataset.Options{Offline: true}
	series, err := dataset.EEG(context.Background(), opt)
	if err == nil {
		return series, nil
	}
	other, second := dataset.EEGBurst(context.Background(), opt)
	if second != nil {
		return other, fmt.Errorf("experiment: neither recording of an EEG can be had: %w; %w", err, second)
	}
	return other, nil
}

// eeg returns the paper's sample: drawn with replacement from the first 400 000, four fifths of it to train on.
func (s Source) eeg() (Sample, error) {
	series, err := Recording()
	if err != nil {
		return Sample{}, err
	}
	series = series.Slice(0, min(series.Len(), 400_000))
	rnd := rand.New(rand.NewPCG(s.Seed, 6))
	held := s.N / 4
	index := make([]int, s.N+held)
	for i := range index {
		index[i] = rnd.IntN(series.Len())
	}
	z, _ := series.Select(index).Standardize() // as the authors do: the whole sample, before it is split
	train := timeline.Range(0, s.N)
	slices.SortFunc(train, func(a, b int) int { return cmp.Compare(z.X[a], z.X[b]) })
	test := z.Select(timeline.Range(s.N, s.N+held))
	sam, err := sample(z.Select(train), &test)
	seen := map[int]bool{}
	sam.Seen = make([]bool, held)
	for i, at := range index {
		switch {
		case seen[at] && i < s.N:
			sam.Repeated++
		case seen[at]:
			sam.Leaked++
			sam.Seen[i-s.N] = true
		case i < s.N:
			seen[at] = true
		}
	}
	sam.Paper = !strings.Contains(series.Name, "not the paper's")
	return sam, err
}

func sample(train dataset.Series, held *dataset.Series) (Sample, error) {
	d, err := gppl.NewData(gppl.Scalars(train.X), train.Y)
	if err != nil {
		return Sample{}, err
	}
	s := Sample{Train: d}
	if held != nil {
		s.X, s.Y = held.X, held.Y
	}
	return s, nil
}

var fingerprints sync.Map // Source → func() (string, error)

// fingerprint identifies data: a draw by its source, which determines it, a recording by its numbers.
func (s Source) fingerprint() (string, error) {
	if s.Name == "draw" {
		return "draw", nil
	}
	return once(&fingerprints, s, func() (string, error) {
		sample, err := s.Load()
		if err != nil {
			return "", err
		}
		hash := sha256.New()
		for i, y := range sample.Train.Y {
			var b [16]byte
			// Rounded, so that a processor that rounds the last digit otherwise gives the same fingerprint.
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(rounded(sample.Train.X.At(i)[0])))
			binary.LittleEndian.PutUint64(b[8:], math.Float64bits(rounded(y)))
			hash.Write(b[:])
		}
		return hex.EncodeToString(hash.Sum(nil)[:8]), nil
	})
}

func rounded(v float64) float64 { return math.Round(v*1e9) / 1e9 }
