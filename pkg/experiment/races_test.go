package experiment

import (
	"math"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestRace: the exact likelihood ends at its optimum, and no estimator below it; Whittle has no random times.
func TestRace(t *testing.T) {
	races := Races(scales.Smoke)
	for _, r := range races {
		s := testkit.Must(r.Run(t.Context()))(t)
		last := s.Excess[len(s.Excess)-1]
		if len(s.Excess) != len(Budgets) || !s.Ended || !(s.Seconds > 0) || s.Engine == "" {
			t.Errorf("%v: %+v", r, s)
		}
		if exact := r.Estimator == ML; !(last >= 0) || exact && last > 1e-4 || !exact && last > 20 {
			t.Errorf("%v ends %v nats above the optimum", r, last)
		}
		if r.Random && r.Estimator == Whittle {
			t.Errorf("%v is listed", r)
		}
	}
	if !slices.ContainsFunc(races, func(r Race) bool { return r.Random }) || !slices.ContainsFunc(races, func(r Race) bool { return r.Taper > 0 }) {
		t.Error("no race has random times, or none a taper")
	}
}

// TestRaceJudged: a budget is judged by the last value within it.
func TestRaceJudged(t *testing.T) {
	r := Race{Kernel: "SE", N: 50, Ratio: 10, Seed: 1}
	d := testkit.Must(r.draw(t.Context()))(t)
	start, truth := d.start.Values(), []float64{1, 5, 0.1}
	l := &traced{marks: []mark{{0.002, start}, {0.02, truth}, {0.9, []float64{math.NaN(), 1, 1}}}}
	got := testkit.Must(l.judged(t.Context(), d))(t)
	above := func(theta []float64) float64 {
		return testkit.Must(d.exact.ValueGrad(t.Context(), nil, theta))(t) - d.optimum
	}
	for i, want := range []float64{-1, above(start), above(start), above(truth), above(truth), above(truth), 1e9} {
		if math.Abs(got[i]-want) > 1e-4*max(1, want) {
			t.Errorf("after %v s: %v, want %v", Budgets[i], got[i], want)
		}
	}
}

// TestRaceOver: a race ends when its budget is used up, also within an evaluation.
func TestRaceOver(t *testing.T) {
	r := Race{Kernel: "Matern32", N: 2000, Ratio: 10, Estimator: ML, Engine: gppl.EngineDense, Seed: 1}
	if s := testkit.Must(r.within(t.Context(), 0))(t); s.Ended {
		t.Errorf("dense evaluations of 2000 observations took nothing: %+v", s)
	}
}
