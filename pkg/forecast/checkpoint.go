package forecast

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/atomicfile"
	"github.com/projected-likelihood/gppl/internal/sealed"
	"github.com/projected-likelihood/gppl/pkg/gppl/population"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// checkpointHeader has a version that must change when the computation of a trial changes.
var checkpointHeader = sealed.Header{Format: "gppl search", Version: 6}

// checkpoint stores the finished trials of a search in a file, to continue after an interrupt. The key of a trial covers all that
// determines its outcome, so interrupts do not change the result. It is safe for concurrent use.
type checkpoint struct {
	path string
	mu   sync.Mutex
	sealed.Header
	Series string                   `json:"series"` // a checksum
	Trials map[string]finishedTrial `json:"trials"`
}

type finishedTrial struct {
	Candidate Candidate     `json:"candidate"`
	Model     store.Model   `json:"model"`
	Score     float64       `json:"score"`
	Shape     float64       `json:"shape,omitempty"`
	Cost      float64       `json:"cost,omitempty"`
	Told      *finishedTold `json:"told,omitempty"`
}

// finishedTold is a population.LogQuadratic, with all entries of its curvature.
type finishedTold struct {
	At        []float64 `json:"at"`
	Gradient  []float64 `json:"gradient"`
	Curvature []float64 `json:"curvature"`
}

func keptTold(q *population.LogQuadratic) *finishedTold {
	if q == nil {
		return nil
	}
	k := &finishedTold{At: q.At, Gradient: q.Gradient}
	for a := range q.At {
		for b := range q.At {
			k.Curvature = append(k.Curvature, q.Curvature.At(a, b))
		}
	}
	return k
}

func (k *finishedTold) quadratic() *population.LogQuadratic {
	if k == nil || len(k.At) != len(k.Gradient) || len(k.Curvature) != len(k.At)*len(k.At) {
		return nil
	}
	q := &population.LogQuadratic{At: k.At, Gradient: k.Gradient, Curvature: &mat.SymDense{}}
	if n := len(k.At); n > 0 {
		q.Curvature = mat.NewSymDense(n, k.Curvature)
	}
	return q
}

// openCheckpoint reads the trials of a series from a file. It returns none if the file does not exist or belongs to another
// series. A file of another kind is an error, since it would be overwritten.
func openCheckpoint(path string, s *Series) (*checkpoint, error) {
	k := &checkpoint{path: path, Header: checkpointHeader, Series: seriesChecksum(s), Trials: map[string]finishedTrial{}}
	old, err := loadCheckpoint(path)
	if err != nil {
		return nil, err
	}
	if old == nil || old.Header != k.Header || old.Series != k.Series || old.Trials == nil {
		return k, nil
	}
	return old, nil
}

// loadCheckpoint reads a file of candidates; it returns nil if there is none.
func loadCheckpoint(path string) (*checkpoint, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	old := &checkpoint{path: path}
	if err := sealed.Unmarshal(text, old); err != nil || old.Format != checkpointHeader.Format {
		return nil, fmt.Errorf("forecast: %s: this is not a whole file of candidates, and would be overwritten: move it away", path)
	}
	return old, nil
}

// seriesChecksum is that of the observations.
func seriesChecksum(s *Series) string {
	parts := []any{s.X, s.Y, s.Errors, s.Known}
	if s.Holidays != nil {
		parts = append(parts, s.Holidays)
	}
	if s.Counting != nil {
		parts = append(parts, s.Counting)
	}
	if s.Bounds != nil {
		parts = append(parts, s.Bounds)
	}
	if s.Relative {
		parts = append(parts, "relative")
	}
	return checksum(parts...)
}

// Forget removes the file of candidates that Fit kept for this series. It leaves other files, and those of other series, alone.
func (a *Analysis) Forget(path string) error {
	defer atomicfile.Clear(path)
	old, err := loadCheckpoint(path)
	if err != nil || old == nil || old.Series != seriesChecksum(a.Series) {
		return nil // not ours: openCheckpoint reports it before anything is written
	}
	return os.Remove(path)
}

func checksum(parts ...any) string {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(parts); err != nil {
		panic("forecast: checksum: " + err.Error()) // of finite numbers and models
	}
	return hex.EncodeToString(h.Sum(nil))
}

// kept returns a trial that was kept.
func (k *checkpoint) kept(key string) (t finishedTrial, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, ok = k.Trials[key]
	return t, ok
}

// keep adds a trial, and writes the file whole or not at all.
func (k *checkpoint) keep(key string, t finishedTrial) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.Trials[key] = t
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(k.path, append(sealed.Seal(b), '\n'))
}
