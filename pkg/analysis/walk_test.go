package analysis

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// walked is a random walk with drift of n steps.
func walked(t *testing.T, n int) *Series {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 0))
	var at float64
	return steps(t, n, 0, func(i int) float64 {
		at += 1 + rng.NormFloat64()
		return 100 + at
	})
}

// TestWalk: a short series without a season has a random walk with drift in its forecast, whose bands widen as the root of the horizon;
// one that is long, white or seasonal, or whose parameters have priors, has not.
func TestWalk(t *testing.T) {
	s := walked(t, 30)
	a := automatic(t, s, Options{})
	if a.Walk() != walkShare {
		t.Fatalf("the random walk has a weight of %v: %+v", a.Walk(), a.Candidates)
	}
	var total float64
	for _, c := range a.Candidates {
		total += c.Weight
	}
	if math.Abs(total-1) > 1e-9 {
		t.Errorf("the weights add up to %v", total)
	}
	f, err := a.Forecast(9)
	if err != nil {
		t.Fatal(err)
	}
	walk := f.Parts[len(f.Parts)-1]
	var squares float64
	drift := (s.Y[29] - s.Y[0]) / 29
	for i := range 29 {
		d := s.Y[i+1] - s.Y[i] - drift
		squares += d * d / 28
	}
	// The prior holds the slope and the steps a little below what the data say; the variance has that of the drift in it.
	if got := walk.NoisyVar[0] / squares; got < 0.8 || got > 1.3 {
		t.Errorf("the first step has a variance of %v, those of the past %v", walk.NoisyVar[0], squares)
	}
	if got, want := walk.NoisyVar[8]/walk.NoisyVar[0], 9*(1+9./29)/(1+1./29); math.Abs(got/want-1) > 0.15 {
		t.Errorf("the ninth step has %v times the variance of the first, want %v", got, want)
	}
	if got, want := walk.Mean[8], s.Y[29]+9*drift; math.Abs(got-want) > 3 {
		t.Errorf("the walk is at %v after nine steps, want %v", got, want)
	}
	loaded := reloaded(t, a)
	again, err := loaded.Forecast(9)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, again, cmpopts.EquateApprox(1e-9, 0)); diff != "" || loaded.Walk() != walkShare {
		t.Error(diff)
	}
	trust, err := a.Backtest(t.Context(), BacktestOptions{Horizon: 4})
	if err != nil {
		t.Fatal(err)
	}
	if want := doubtOf(30, 0, trust.Away); !a.Log && a.Candidates[0].Weight > 0.4 && math.Abs(trust.Doubt-want) > 0.02 || !(trust.Doubt > 0) {
		t.Errorf("the doubt is %v, want %v", trust.Doubt, want)
	}

	rng := rand.New(rand.NewPCG(9, 0))
	for name, none := range map[string]struct {
		s *Series
		o Options
	}{
		"long":     {walked(t, brief+1), Options{Log: "never", Trend: "linear"}},
		"white":    {steps(t, 40, 0, func(int) float64 { return rng.NormFloat64() }), Options{}},
		"a season": {steps(t, 60, 0.1, func(i int) float64 { return math.Sin(2 * math.Pi * float64(i) / 12) }), Options{}},
		"given":    {walked(t, 30), Options{Periods: []float64{4}}},
	} {
		if a := automatic(t, none.s, none.o); a.Walk() != 0 {
			t.Errorf("%s: a random walk has a weight of %v", name, a.Walk())
		}
	}
}

// TestWalkFailure: a random walk that cannot be trained has no part in the forecast, and is seen where it would have stood.
func TestWalkFailure(t *testing.T) {
	a := &Analysis{
		Candidates: []Candidate{{Kernel: "SE", Weight: 1}, {Kernel: "Matern32"}},
		members:    []*member{{weight: 1}},
	}
	a.addWalk(&trial{Candidate: Candidate{Kernel: RandomWalk, Error: "no value"}})
	want := []Candidate{{Kernel: "SE", Weight: 1}, {Kernel: RandomWalk, Error: "no value"}, {Kernel: "Matern32"}}
	if diff := cmp.Diff(want, a.Candidates); diff != "" || len(a.members) != 1 || a.Walk() != 0 {
		t.Errorf("%s, %d members, a share of %v", diff, len(a.members), a.Walk())
	}
}

// TestPredictFailure: a model that cannot be conditioned on the data is an error however often it is asked.
func TestPredictFailure(t *testing.T) {
	a := automatic(t, walked(t, 30), Options{})
	if len(a.members[0].draws) == 0 {
		t.Fatal("no parameters were drawn")
	}
	a.members[0].draws = append(a.members[0].draws, gppl.Model{Kernel: gppl.SE{Variance: -1, Lengthscale: 1}, Noise: 1})
	for range 2 {
		if _, err := a.Forecast(3); err == nil || !strings.Contains(err.Error(), "conditioning on the data") {
			t.Error(err)
		}
	}
}

// TestDoubt: less is known of what is short, and of what goes away from where it was.
func TestDoubt(t *testing.T) {
	if a, b := doubtOf(15, 0, 1), doubtOf(100, 0, 1); !(a > 0.2 && a < 0.4 && b < 0.06) {
		t.Errorf("the doubt is %v of 15 observations and %v of 100", a, b)
	}
	if a, b := doubtOf(50, 0, 3), doubtOf(50, 0, 0.1); a < 1.5*b {
		t.Errorf("the doubt is %v far away and %v near by", a, b)
	}
}
