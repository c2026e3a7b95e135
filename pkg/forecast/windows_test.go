package forecast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

func seasonal(v float64) float64 { return math.Sin(2*math.Pi*v/24) + 0.3*math.Cos(v/90) }

func seriesAt(x []float64) gppl.Data {
	rng := rand.New(rand.NewPCG(1, 0))
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = seasonal(v) + 0.2*rng.NormFloat64()
	}
	d, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		panic(err)
	}
	return d
}

// windowModel is a model that only the Toeplitz engine and dense algebra support; waveModel is a sum of a small number of waves.
var (
	windowModel = gppl.Model{Kernel: gppl.Mul(gppl.RQ{Variance: 0.7, Lengthscale: 60, Alpha: 2},
		gppl.SE{Variance: 1, Lengthscale: 1e4}), Noise: 0.04}
	waveModel = gppl.Model{Kernel: gppl.Add(
		gppl.LocPer{Variance: 0.5, Lengthscale: 200, Period: 24, PeriodicLengthscale: 0.9}, gppl.SE{Variance: 0.2, Lengthscale: 90}),
		Noise: 0.04}
)

var anyMemory = memoryShare{bytes: math.Inf(1), models: 1}

// Beyond the end, a window gives the posterior of its observations; inside, 500 observations on each side give the same as all.
func TestWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	x := make([]float64, 2600)
	for i := 1; i < len(x); i++ {
		x[i] = x[i-1] + 0.1 + 0.8*rng.Float64()
	}
	d := seriesAt(x)
	w, _, err := conditionOn(t.Context(), windowModel, d, search.WindowLength, anyMemory, new(windowCache))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := w.(*windows); !ok {
		t.Fatalf("%d irregular observations are conditioned on by a %T", len(x), w)
	}
	all, err := gppl.NewPosterior(t.Context(), windowModel, d)
	if err != nil {
		t.Fatal(err)
	}
	last := x[len(x)-1]
	at := gppl.Scalars([]float64{last + 30, -2, x[700], x[1300], x[2000], last + 1})
	mean, variance, err := w.Latent(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	wantMean, wantVariance := testkit.Must2(all.Latent(t.Context(), at))(t)
	for i := range mean {
		if math.Abs(mean[i]-wantMean[i]) > 0.25*math.Sqrt(wantVariance[i]+1e-6) || math.Abs(variance[i]/wantVariance[i]-1) > 0.15 {
			t.Errorf("at %v: %v ± %v, by all observations %v ± %v",
				at.At(i), mean[i], math.Sqrt(variance[i]), wantMean[i], math.Sqrt(wantVariance[i]))
		}
	}
	if made := len(w.(*windows).cache.made); made != 2 {
		t.Errorf("%d windows were made, want 2", made)
	}
}

// No dense matrix of a long series is formed.
func TestConditionOnCheaply(t *testing.T) {
	x := make([]float64, 5000)
	for i := range x {
		x[i] = 10 + 0.5*float64(i)
	}
	p, _, err := conditionOn(t.Context(), windowModel, seriesAt(x), search.WindowLength, anyMemory, new(windowCache))
	if err != nil {
		t.Fatal(err)
	}
	if full, ok := p.(*gppl.Posterior); !ok || full.Engine() != gppl.EngineToeplitz {
		t.Errorf("a regular series: %T", p)
	}
	x[17] += 0.2
	if p, _, err = conditionOn(t.Context(), windowModel, seriesAt(x), search.WindowLength, anyMemory, new(windowCache)); err != nil {
		t.Fatal(err)
	}
	if _, ok := p.(*windows); !ok {
		t.Errorf("an irregular series: %T", p)
	}
	if p, _, err = conditionOn(t.Context(), waveModel, seriesAt(x), search.WindowLength, anyMemory, new(windowCache)); err != nil {
		t.Fatal(err)
	}
	if full, ok := p.(*gppl.Posterior); !ok || full.Engine() != gppl.EngineMixed {
		t.Errorf("waves at irregular x: %T", p)
	}
	rough := gppl.Model{Kernel: gppl.Laplace{Variance: 1, Lengthscale: 10}, Noise: 0.1}
	if p, _, err = conditionOn(t.Context(), rough, seriesAt(x), search.WindowLength, anyMemory, new(windowCache)); err != nil {
		t.Fatal(err)
	}
	if full, ok := p.(*gppl.Posterior); !ok || full.Engine() != gppl.EngineStateSpace {
		t.Errorf("a Markov kernel: %T", p)
	}
}

// An engine that refuses is skipped without a note, an engine that fails is named, and the next one is used.
func TestFirstThatTakes(t *testing.T) {
	singular, want := errors.New("singular"), new(gppl.Posterior)
	outcomes := map[string]error{"refuses": fmt.Errorf("gppl: %w", &gppl.Refusal{Engine: "refuses"}), "fails": singular,
		"takes": nil}
	for _, test := range []struct {
		engines []string
		took    bool
		failed  bool
	}{
		{[]string{"refuses", "takes"}, true, false},
		{[]string{"fails", "takes"}, true, true},
		{[]string{"takes", "fails"}, true, false},
		{[]string{"refuses", "fails"}, false, true},
		{[]string{"refuses"}, false, false},
	} {
		p, failed, err := firstThatTakes(t.Context(), test.engines, modest, func(engine string) (*gppl.Posterior, error) {
			if err := outcomes[engine]; err != nil {
				return nil, err
			}
			return want, nil
		})
		if err != nil || (p != nil) != test.took || test.took && p != conditioned(want) {
			t.Errorf("%v: %v", test.engines, p)
		}
		if errors.Is(failed, singular) != test.failed || test.failed && !strings.Contains(failed.Error(), "fails: ") ||
			!test.failed && failed != nil {
			t.Errorf("%v: failed: %v", test.engines, failed)
		}
	}
}

// The thresholds agree with their reasons, in predicted seconds.
func TestWindowCosts(t *testing.T) {
	const coreFlops, toeplitzPair = 9e9, 1.5e-9 // rates of the core for which times are predicted
	dense := func(n float64) float64 { return n * n * n / 3 / coreFlops }
	for _, c := range []struct{ got, lo, hi float64 }{
		{dense(search.WindowLength), 0.25, 0.35}, {dense(7445), 14, 16}, {dense(20000), 280, 310}, {dense(cheapDense), 0.002, 0.003},
		{0.5 * toeplitzPair * search.MostToeplitz * search.MostToeplitz, 2.5, 3.5},
	} {
		if c.got < c.lo || c.got > c.hi {
			t.Errorf("%v s, want %v to %v", c.got, c.lo, c.hi)
		}
	}
}

// TestMemoryAnswers: a limit of memory changes how many windows are held, but not the predictions. Windows that do not fit are
// refused.
func TestMemoryAnswers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	x := make([]float64, 700)
	for i := 1; i < len(x); i++ {
		x[i] = x[i-1] + 0.1 + 0.8*rng.Float64()
	}
	d := seriesAt(x)
	models := []gppl.Model{windowModel, {Kernel: gppl.Mul(gppl.RQ{Variance: 1, Lengthscale: 3, Alpha: 1},
		gppl.SE{Variance: 1, Lengthscale: 1e3}), Noise: 0.1}}
	at := gppl.Scalars([]float64{x[10], x[650], x[300], x[699] + 1, x[450]})
	const length = 200
	for _, few := range []int{length, len(x)} { // the data of a window, and all data
		var want [][]float64
		for _, bytes := range []float64{math.Inf(1), 4.5 * search.DenseBytes(few), search.DenseBytes(few)} {
			cache, r := new(windowCache), memoryShare{bytes, len(models)}
			var got [][]float64
			var all []conditioned
			for _, m := range models {
				p, _, err := conditionOn(t.Context(), m, d, few, r, cache)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, p)
			}
			for range 2 {
				for _, p := range all {
					mean, variance, err := p.Latent(t.Context(), at)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, mean, variance)
				}
			}
			if want == nil {
				want = got
			}
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%d of %d in %g bytes: other predictions", few, len(x), bytes)
			}
			if most := int(0.5 * bytes / search.DenseBytes(few)); bytes < 1e9 && len(cache.made) > max(1, most) {
				t.Errorf("%d windows in %g bytes", len(cache.made), bytes)
			}
		}
	}
	laplace := gppl.Model{Kernel: gppl.Laplace{Variance: 1, Lengthscale: 3}, Noise: 0.1}
	for _, m := range append(models, laplace) {
		short := (*gppl.MemoryError)(nil)
		if p, _, err := conditionOn(t.Context(), m, d, length, memoryShare{1000, 1}, new(windowCache)); !errors.As(err, &short) {
			t.Errorf("%v in a kilobyte: %T, %v", m, p, err)
		}
	}
}
