package forecast

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// walkWeight returns the weight of the random walk in a forecast; 0 without a random walk.
func walkWeight(candidates []search.Candidate) float64 {
	for _, c := range candidates {
		if strings.HasPrefix(c.Kernel, "RandomWalk") {
			return c.Weight
		}
	}
	return 0
}

// walkShare is the intended weight of the random walk in the forecast of up to 400 observations.
func walkShare(n int) float64 { return min(0.5, 40/float64(n)) }

// walked returns a random walk with drift of n steps.
func walked(t *testing.T, n int) *series.Series {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 0))
	var at float64
	return testseries.Steps(t, n, 0, func(i int) float64 {
		at += 1 + rng.NormFloat64()
		return 100 + at
	})
}

// TestWalk: a short series has a random walk with drift in its forecast, whose bands widen as the root of the horizon; one that is long
// or white, or whose parameters have priors, has not.
func TestWalk(t *testing.T) {
	s := walked(t, 30)
	a := automatic(t, s, Options{})
	if walkWeight(a.Candidates) != walkShare(30) {
		t.Fatalf("the random walk has a weight of %v: %+v", walkWeight(a.Candidates), a.Candidates)
	}
	var total float64
	for _, c := range a.Candidates {
		total += c.Weight
	}
	if math.Abs(total-1) > 1e-9 {
		t.Errorf("the weights add up to %v", total)
	}
	f, err := a.Forecast(t.Context(), 9)
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
	// The prior holds the slope and the steps a little below what the data say; the variance includes the drift's.
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
	again, err := loaded.Forecast(t.Context(), 9)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, again, ofParts, cmpopts.EquateApprox(1e-9, 0)); diff != "" || walkWeight(loaded.Candidates) != walkShare(30) {
		t.Error(diff)
	}
	rng := rand.New(rand.NewPCG(9, 0))
	for name, none := range map[string]struct {
		s *series.Series
		o Options
	}{
		"long":   {walked(t, 401), Options{Log: "never", Trend: "linear"}},
		"white":  {testseries.Steps(t, 40, 0, func(int) float64 { return rng.NormFloat64() }), Options{}},
		"priors": {walked(t, 30), Options{Priors: []gppl.ParamPrior{{Role: gppl.RoleNoise, Prior: prior.LogNormalWithin(0.1, 10)}}}},
	} {
		if a := automatic(t, none.s, none.o); walkWeight(a.Candidates) != 0 {
			t.Errorf("%s: a random walk has a weight of %v", name, walkWeight(a.Candidates))
		}
	}
}

// TestSeasonalWalk: the random walk of a seasonal series repeats its season about a level that wanders. A reloaded analysis has it too.
func TestSeasonalWalk(t *testing.T) {
	const n, period = 96, 12
	season := func(i int) float64 { return 8 * math.Sin(2*math.Pi*float64(i)/period) }
	levels := walked(t, n+period).Y
	a := automatic(t, testseries.Steps(t, n, 0.3, func(i int) float64 { return levels[i] + season(i) }), Options{Periods: []float64{period}})
	if got, want := walkWeight(a.Candidates), walkShare(n); got != want {
		t.Fatalf("the walk has a weight of %v, want %v: %+v", got, want, a.Candidates)
	}
	if !slices.ContainsFunc(a.Candidates, func(c search.Candidate) bool { return c.Kernel == "RandomWalk + LocPer" }) {
		t.Errorf("no walk with a season: %+v", a.Candidates)
	}
	f, err := a.Forecast(t.Context(), period)
	if err != nil {
		t.Fatal(err)
	}
	walk := f.Parts[len(f.Parts)-1]
	last := a.Series.Y[n-1] - season(n-1)
	for j, m := range walk.Mean {
		if away := m - season(n+j) - (last + float64(j+1)); math.Abs(away) > 2.5 {
			t.Errorf("after %d steps the walk is %v away from drift and season", j+1, away)
		}
	}
	if got := walk.NoisyVar[period-1] / walk.NoisyVar[0]; got < 4 {
		t.Errorf("after %d steps its variance is %v times that of the first", period, got)
	}
	again, err := reloaded(t, a).Forecast(t.Context(), period)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f, again, ofParts, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Error(diff)
	}
}

// TestPredictFailure: a model that cannot be conditioned on the data gives an error at every call.
func TestPredictFailure(t *testing.T) {
	a := automatic(t, walked(t, 30), Options{})
	if len(a.members[0].Draws) == 0 {
		t.Fatal("no parameters were drawn")
	}
	a.members[0].Draws = append(a.members[0].Draws, gppl.Model{Kernel: gppl.SE{Variance: -1, Lengthscale: 1}, Noise: 1})
	for range 2 {
		if _, err := a.Forecast(t.Context(), 3); err == nil || !strings.Contains(err.Error(), "conditioning on the data") {
			t.Error(err)
		}
	}
}
