package search

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestNamedKernels: named kernels are the only candidates of the search, each on every scale and with every trend, ranked by their
// evidence, with their BIC, and averaged by their weights.
func TestNamedKernels(t *testing.T) {
	s := longSeries(t, 120, 0)
	for i := range s.Y {
		s.Y[i] += 5
	}
	searched := 0
	found := testkit.Must(Find(t.Context(), s, Options{Kernels: []string{"SE", "SE + Periodic"}, Progress: func(p Progress) {
		if p.Stage == "searching for starts" {
			searched++
		}
	}}))(t)
	if searched != 2 {
		t.Errorf("%d searches for starts were reported, want 2", searched)
	}
	if len(found.Candidates) != 2*2*2 {
		t.Errorf("%d candidates", len(found.Candidates))
	}
	weight := 0.0
	for i, c := range found.Candidates {
		if c.Kernel != "SE" && c.Kernel != "SE + Periodic" {
			t.Errorf("%s was not named", c.Name())
		}
		if i > 0 && c.Score < found.Candidates[i-1].Score {
			t.Errorf("%s has an evidence of %v, and is behind %v", c.Name(), c.Score, found.Candidates[i-1].Score)
		}
		if want := 2*c.NLL + float64(c.Parameters)*math.Log(120); math.Abs(c.BIC-want) > 1e-9 {
			t.Errorf("%s has the BIC %v, want %v", c.Name(), c.BIC, want)
		}
		weight += c.Weight
	}
	if best := found.Candidates[0]; best.Kernel != "SE + Periodic" || math.Abs(weight-1) > 1e-9 {
		t.Errorf("the best is %s, and weights add up to %v", best.Name(), weight)
	}
	if _, err := Find(t.Context(), s, Options{Kernels: []string{"SE", "Foo"}}); err == nil {
		t.Error("a kernel of no name is no error")
	}
}

// TestNamedKernelsOfLongSeries: all named kernels are trained on the observations that the best takes, however many they are.
func TestNamedKernelsOfLongSeries(t *testing.T) {
	kernels := []string{"SE", "Laplace", "Matern32", "Matern52", "RQ"}
	s := longSeries(t, 900, 0)
	found := testkit.Must(Find(t.Context(), s, Options{Kernels: kernels, Log: "never", effort: &Efforts[0]}))(t)
	var names []string
	for _, c := range found.Candidates {
		if c.Error != "" {
			t.Errorf("%s: %s", c.Name(), c.Error)
		}
		names = append(names, c.Kernel)
	}
	slices.Sort(kernels)
	if slices.Sort(names); !slices.Equal(names, kernels) || found.Trained != Efforts[0].trained {
		t.Errorf("%q were learnt from %d observations", names, found.Trained)
	}
}

// TestNamedPeriods: a kernel with a period is tried with each of the given ones, which stay, and a kernel without one as it is.
func TestNamedPeriods(t *testing.T) {
	s := longSeries(t, 140, 0.5)
	o := Options{Kernels: []string{"LocPer", "SE"}, Periods: []float64{24, 31.5}, Trend: "none", Log: "never", effort: &Efforts[0]}
	found := testkit.Must(Find(t.Context(), s, o))(t)
	if len(found.Candidates) != 3 || found.Candidates[0].Kernel != "LocPer" {
		t.Fatalf("%d candidates, the best of them %s", len(found.Candidates), found.Candidates[0].Name())
	}
	for _, p := range found.Result.Params {
		if p.Role == gppl.RolePeriod && (p.Value != 24 || !p.IsFixed()) {
			t.Errorf("the period of the best is %v", p.Value)
		}
	}
}

// TestNamedRhythm: a rhythm longer than the observations on which structures are compared is found in all of them.
func TestNamedRhythm(t *testing.T) {
	const n, rhythm = 2000, 700.0
	s, rnd := &series.Series{Step: 1}, rand.New(rand.NewPCG(3, 1))
	for i := range n {
		x := float64(i) + 0.8*rnd.Float64()
		s.X, s.Y = append(s.X, x), append(s.Y, 3*math.Sin(2*math.Pi*x/rhythm)+rnd.NormFloat64())
	}
	found := testkit.Must(Find(t.Context(), s, Options{Kernels: []string{"Periodic"}, Trend: "none", Log: "never"}))(t)
	if p := series.PeriodsOf(found.Result.Model.Params()); len(p) != 1 || math.Abs(p[0]/rhythm-1) > 0.05 {
		t.Errorf("the period is %v, want %v", p, rhythm)
	}
}

// TestNamedBudget: the plan has the time of the named kernels' searches, and leaves out those that its effort has no time for.
func TestNamedBudget(t *testing.T) {
	s := longSeries(t, 400, 0.5)
	o := Options{Kernels: []string{"SE + LocPer"}}
	wide := planner(t, s, o).Plan()
	if o.Budget = time.Second; planner(t, s, o).Plan().Seconds > 2 || wide.Seconds < 5 {
		t.Errorf("a second is for %v, a minute for %v", planner(t, s, o).Plan(), wide)
	}
	k := testkit.Must(ParseKernel("SE + LocPer"))(t)
	if Efforts[0].searches(k, 400) || !Efforts[standard].searches(k, 400) {
		t.Errorf("the search takes %v s, and efforts allow %v and %v", searchSeconds(k, 400), Efforts[0].starts, Efforts[standard].starts)
	}
}

// TestNamedChange: on a draw without a change, a change gains less than its location costs.
func TestNamedChange(t *testing.T) {
	for seed := range uint64(testkit.Size(2, 3, 10)) {
		s := &series.Series{Step: 1}
		for i := range 80 {
			s.X = append(s.X, float64(i))
		}
		m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 5}, Noise: 0.1}
		s.Y = testkit.Must(m.Sample(t.Context(), gppl.Scalars(s.X), seed, gppl.WithEngine(gppl.EngineDense)))(t).Y
		o := Options{Kernels: []string{"ChangePoint(SE, SE)", "SE"}, Trend: "none", Log: "never"}
		if found := testkit.Must(Find(t.Context(), s, o))(t); found.Candidates[0].Kernel != "SE" {
			t.Errorf("draw %d: %+v", seed, found.Candidates)
		}
	}
}

// TestNamedCancelled: an interrupt ends the search for the starts of a named kernel.
func TestNamedCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Kernels: []string{"SE + LocPer"}, Progress: func(p Progress) {
		if p.Stage == "searching for starts" {
			cancel()
		}
	}}
	if found, err := Find(ctx, longSeries(t, 300, 0.5), o); found != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", found, err)
	}
}
