package auto_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

func newSums(t testing.TB, r sums.Range) *sums.Sums {
	t.Helper()
	return testkit.Must(sums.New(testkit.Must(sums.NewPlan(r))(t).Header))(t)
}

// simulated are sums of n observations of m on [0, span].
func simulated(t *testing.T, m gppl.Model, r sums.Range, n int, seed uint64) *sums.Sums {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 8))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.Hi * rnd.Float64()
	}
	draw, err := m.Sample(t.Context(), gppl.Scalars(x), seed, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	y := draw.Y
	s := newSums(t, r)
	if err := s.Add(x, y); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFitSums wants the number of projections that is chosen to lose little: the parameters
// of the exact likelihood, by far less than their standard errors.
func TestFitSums(t *testing.T) {
	t.Parallel()
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 1}, Noise: 0.2}
	s := simulated(t, m, sums.Range{Lo: 0, Hi: 30, Shortest: 0.3, Largest: 8}, testkit.Size(1000, 3000, 3000), 21)
	start := m.WithParams([]float64{3, 1.6, 0.5})
	exact, err := auto.FitSums(t.Context(), start, s, 0, auto.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if !exact.Exact || len(exact.Steps) != 1 {
		t.Errorf("exact: %v, %d steps: %s", exact.Exact, len(exact.Steps), exact.Why)
	}
	projected, err := auto.FitSums(t.Context(), start, s, 0, auto.Settings{Projected: true})
	if err != nil {
		t.Fatal(err)
	}
	if projected.Exact || projected.Status != gppl.Converged || len(projected.Steps) < 2 {
		t.Errorf("%v", projected)
	}
	if off := projected.Value - exact.Value; math.Abs(off) > 0.5 {
		t.Errorf("the value is off by %v nats:\n%v\n%v", off, projected, exact)
	}
	for i, p := range projected.Params {
		if off := math.Abs(math.Log(p.Value / exact.Params[i].Value)); off > 0.1*exact.Params[i].StdErrLog {
			t.Errorf("%s is %v, exactly %v ± %v", p.Name, p.Value, exact.Params[i].Value, exact.Params[i].Value*exact.Params[i].StdErrLog)
		}
	}
	t.Logf("%v", projected)
}

// TestFitSumsConstant: where all observations are one number, or differ by no more than
// rounding, there is nothing to learn; where they differ by a millionth there is.
func TestFitSumsConstant(t *testing.T) {
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 3}, Noise: 0.1}
	rnd := rand.New(rand.NewPCG(24, 25))
	for _, c := range []struct {
		level, noise float64
		constant     bool
	}{{3, 0, true}, {7.3, 0, true}, {-4.1, 0, true}, {0, 0, true}, {7.3, 1e-15, true}, {3, 1e-14, true}, {7.3, 1e-6, false},
		{3, 1e-9, false}} {
		for _, n := range []int{1, 20, 5000} {
			s := newSums(t, sums.Range{Lo: 0, Hi: 100, Shortest: 0.5, Centre: 3, Largest: 20})
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = 100*rnd.Float64(), c.level+c.noise*rnd.NormFloat64()
			}
			if err := s.Add(x, y); err != nil {
				t.Fatal(err)
			}
			if constant := s.Variance() == 0; n > 1 && constant != c.constant {
				t.Errorf("%d observations %v ± %v: variance %v", n, c.level, c.noise, s.Variance())
			}
			if !c.constant {
				continue
			}
			r, err := auto.FitSums(t.Context(), m, s, s.Mean(), auto.Settings{})
			if err == nil || !strings.Contains(err.Error(), "no maximum") || !strings.Contains(err.Error(), fmt.Sprint(n)) {
				t.Errorf("%d observations %v ± %v: %v, %v, want an error", n, c.level, c.noise, r, err)
			}
		}
	}
}

// TestFitSumsRefused wants projections where the matrix of the exact likelihood would be too
// large, and a refusal where they would not do either.
func TestFitSumsRefused(t *testing.T) {
	t.Parallel()
	m := gppl.Model{Kernel: gppl.RQ{Variance: 1, Lengthscale: 1, Alpha: 0.5}, Noise: 0.2}
	s := simulated(t, m, sums.Range{Lo: 0, Hi: 300, Shortest: 0.1, Largest: 8}, testkit.Size(700, 2000, 2000), 22)
	_, err := gppl.NewPosterior(t.Context(), m, gppl.SumsData(s, 0))
	var refusal *gppl.Refusal
	if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "dense matrix") {
		t.Fatalf("%v", err)
	}
	r, err := auto.FitSums(t.Context(), m, s, 0, auto.Settings{MaxProjections: 60}) // the model needs 500 projections
	if err != nil {
		t.Fatal(err)
	}
	if r.Exact || r.Status != gppl.Converged || !strings.Contains(r.Why, "refused") ||
		!strings.Contains(r.Why, "no more than 60 are allowed") {
		t.Errorf("%s: %v", r.Why, r)
	}
	_, err = auto.FitSums(t.Context(), gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 1}, Noise: 0.2}, s, 0,
		auto.Settings{})
	if !errors.As(err, &refusal) {
		t.Errorf("Matérn: %v", err)
	}
}

// TestFitSumsWall begins where the exact likelihood is taken and learns a lengthscale at which
// it is refused.
func TestFitSumsWall(t *testing.T) {
	t.Parallel()
	m := gppl.Model{Kernel: gppl.Add(gppl.SE{Variance: 1, Lengthscale: 0.35}, gppl.SE{Variance: 1, Lengthscale: 2}), Noise: 0.2}
	s := simulated(t, m, sums.Range{Lo: 0, Hi: 30, Shortest: 0.8, Largest: 8}, 1500, 23)
	r, err := auto.FitSums(t.Context(), m.WithParams([]float64{1, 1.5, 1, 3, 0.5}), s, 0, auto.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Exact || r.Status != gppl.Converged || len(r.Steps) < 2 || r.Steps[0].K != 0 ||
		!strings.Contains(r.Why, "refused for shorter lengthscales") {
		t.Errorf("%s: %v", r.Why, r)
	}
	if got := r.Steps[0].Theta[1]; !(got > 1.1*r.Params[1].Value) {
		t.Errorf("exact training ended at a lengthscale of %v, and projections found %v", got, r.Params[1].Value)
	}
	t.Logf("%s: %v", r.Why, r)
}
