package auto

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// valley is a loss of the lengthscale alone, a function of its logarithm.
type valley struct {
	m  gppl.Model
	of func(u float64) float64
}

func (v valley) Params() []gppl.Param             { return v.m.Params() }
func (v valley) Model(theta []float64) gppl.Model { return v.m.WithParams(theta) }
func (v valley) Report() gppl.LossReport          { return gppl.LossReport{} }
func (v valley) String() string                   { return "a valley" }
func (v valley) ValueGrad(_ context.Context, _, theta []float64) (float64, error) {
	return v.of(math.Log(theta[1])), nil
}

// TestKnown: a point that descends to an optimum without a barrier in between is on its way to it, and needs no training. A point
// in a valley of its own does, and so does one that is far above.
func TestKnown(t *testing.T) {
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 1}
	at := func(u, value float64) point { return point{u: []float64{1, math.Exp(u), 1}, value: value} }
	for _, c := range []struct {
		name string
		of   func(u float64) float64
		u    float64
		want bool
	}{
		{"one valley", func(u float64) float64 { return u * u }, 2, true},
		{"one valley, from the other side", func(u float64) float64 { return u * u }, -2, true},
		{"a flat ripple", func(u float64) float64 { return 0.2*u*u + 0.003*math.Cos(40*u) }, 1, true},
		{"two valleys", func(u float64) float64 { return 2*(1-math.Cos(math.Pi*u)) + 0.1*u }, 2, false},
		{"one valley, far above", func(u float64) float64 { return 10 * u * u }, 2, false},
	} {
		loss := valley{m, c.of}
		s := &searcher{ctx: t.Context(), model: m, params: m.Params(), search: &Search{},
			anew: func() (gppl.Loss, error) { return loss, nil }, optima: []point{at(0, c.of(0))}}
		if got := s.known(at(c.u, c.of(c.u))); got != c.want {
			t.Errorf("%s: on its way to the optimum: %v, want %v", c.name, got, c.want)
		}
		if s.search.Evaluations > 4 {
			t.Errorf("%s: %d evaluations, want at most four", c.name, s.search.Evaluations)
		}
	}
}

// TestNearlyEven: times whose jitter is small against their step, as months in decimal years, show no period shorter than two
// steps. That takes memory for the frequencies up to there, and none for the fifty times as many beyond.
func TestNearlyEven(t *testing.T) {
	const n = 3000
	rnd := rand.New(rand.NewPCG(1, 1))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i)+0.02*rnd.NormFloat64(), rnd.NormFloat64()
	}
	slices.Sort(x)
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := newLombScargle(t.Context(), d, 1)
	runtime.ReadMemStats(&after)
	if s != nil {
		t.Errorf("the times show periods down to %v", s.shortest())
	}
	if mb := float64(after.TotalAlloc-before.TotalAlloc) / 1e6; mb > 8 {
		t.Errorf("it took %.1f MB", mb)
	}
}
