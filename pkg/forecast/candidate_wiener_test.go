package forecast

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// wanderWeight returns the weight of the wandering models in a forecast.
func wanderWeight(a *Analysis) (weight float64) {
	for _, c := range a.Candidates {
		if strings.HasPrefix(c.Kernel, "Wiener") {
			weight += c.Weight
		}
	}
	return weight
}

// TestWiener: a long walk is forecast by its last value, with bands that widen as the root of the horizon, on the scale on which
// it is a walk. A series that returns to a level is not a walk.
func TestWiener(t *testing.T) {
	seeds := testkit.Size(1, 3, 20)
	for seed := range uint64(seeds) {
		for name, ofLog := range map[string]bool{"of y": false, "of log y": true} {
			rng := rand.New(rand.NewPCG(seed, 4))
			level := 0.0
			s := testseries.Steps(t, 1200, 0, func(int) float64 {
				level += rng.NormFloat64()
				if ofLog {
					return 100 * math.Exp(0.02*level)
				}
				return 120 + level
			})
			a := automatic(t, s, Options{})
			if w := wanderWeight(a); w < 0.5 || a.Log != ofLog {
				t.Errorf("walk %d %s: %s, which wanders with a weight of %v", seed, name, a.Name(), w)
			}
			f, err := a.Forecast(t.Context(), 100)
			if err != nil {
				t.Fatal(err)
			}
			last := s.Y[len(s.Y)-1]
			if away := math.Abs(f.Median[99]-last) / math.Sqrt(f.NoisyVar[99]); away > 0.7 {
				t.Errorf("walk %d %s: the forecast leaves the last value by %.2f standard deviations", seed, name, away)
			}
			if got := math.Sqrt(f.NoisyVar[99] / f.NoisyVar[24]); got < 1.8 || got > 2.4 {
				t.Errorf("walk %d %s: after four times as many steps the band is %.2f times as wide", seed, name, got)
			}
			again, err := reloaded(t, a).Forecast(t.Context(), 100)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(f, again, ofParts, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
				t.Error(diff)
			}
		}
	}
	rng := rand.New(rand.NewPCG(6, 0))
	level := 0.0
	returns := automatic(t, testseries.Steps(t, 1000, 0, func(int) float64 { level = 0.9*level + rng.NormFloat64(); return level }), Options{})
	if w := wanderWeight(returns); w > 0.2 {
		t.Errorf("%s of what returns to its level wanders with a weight of %v", returns.Name(), w)
	}
}

// TestLatest: events long before the observations that models were learnt from do not affect the forecast of a long series.
// Predictions among those early observations use all observations.
func TestLatest(t *testing.T) {
	const n, changed = 2400, 600
	series := func(jump float64) *series.Series {
		rng := rand.New(rand.NewPCG(8, 0))
		level := 0.0
		return testseries.Steps(t, n, 0, func(i int) float64 {
			level = 0.98*level + rng.NormFloat64()
			if i < changed {
				return level + jump
			}
			return level
		})
	}
	a, other := automatic(t, series(0), Options{Log: "never"}), automatic(t, series(50), Options{Log: "never"})
	if a.TrainedOn() >= n-changed {
		t.Fatalf("trained on %d observations", a.TrainedOn())
	}
	one, err := a.Forecast(t.Context(), 50)
	if err != nil {
		t.Fatal(err)
	}
	two, err := other.Forecast(t.Context(), 50)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, two, ofParts); diff != "" {
		t.Error(diff)
	}
	// Both sides of the place agree with each other where the data decide, and early x are predicted from early observations.
	x := []float64{300, 1000, float64(n - a.TrainedOn()/2 - 1), float64(n - a.TrainedOn()/2), 2000, float64(n + 3)}
	p, err := other.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range x[:5] {
		if math.Abs(p.Median[i]-other.Series.Y[int(v)]) > 4 {
			t.Errorf("the prediction at %v is %v, the observation %v", v, p.Median[i], other.Series.Y[int(v)])
		}
	}
	alone, err := other.Predict(t.Context(), x[5:])
	if err != nil || alone.Median[0] != p.Median[5] || alone.NoisyVar[0] != p.NoisyVar[5] {
		t.Errorf("a prediction depends on the others: %v and %v (%v)", alone.Median, p.Median[5], err)
	}
}
