package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestSeasonWanders: a season each of whose cycles is the one before it with independent changes is found as such, and a season
// that keeps its shape is not.
func TestSeasonWanders(t *testing.T) {
	const n, period = 480, 24
	for _, wanders := range []bool{true, false} {
		for seed := range uint64(testkit.Size(1, 2, 10)) {
			r := rand.New(rand.NewPCG(65, seed))
			shape := make([]float64, period)
			for i := range shape {
				shape[i] = 6 * math.Sin(2*math.Pi*float64(i)/period)
			}
			s := testseries.Steps(t, n, 0, func(i int) float64 {
				if wanders && i%period == 0 { // the next cycle, of four harmonics
					for k := range 4 {
						phase, size := 2*math.Pi*r.Float64(), 0.7*r.NormFloat64()
						for j := range shape {
							shape[j] += size * math.Sin(2*math.Pi*float64((k+1)*j)/period+phase)
						}
					}
				}
				return 50 + shape[i%period] + 0.3*r.NormFloat64()
			})
			o := testkit.Must(Find(t.Context(), s, Options{Log: "never", Periods: []float64{period}}))(t)
			if slices.ContainsFunc(TermsOf(o.Result.Model.Kernel), isWandering) != wanders {
				t.Errorf("seed %d: a season that wanders (%v) is found as %s", seed, wanders, o.Candidates[0].Name())
			}
		}
	}
}

// TestWandersInLongSeries: seasons wander only where many cycles of an even series are compared.
func TestWandersInLongSeries(t *testing.T) {
	for name, c := range map[string]struct {
		even bool
		n    int
		span float64
		want bool
	}{
		"two weeks of hours": {true, 400, 14*24 - 1, true}, "ten days": {true, 400, 240, false}, "few": {true, 200, 400, false},
		"uneven": {false, 400, 14*24 - 1, false},
	} {
		in := &task{series: &series.Series{X: make([]float64, c.n), Even: c.even}, extent: extent{span: c.span, step: 1}}
		if got := in.wanders(season{period: 24, fixed: true}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if in.wanders(season{period: 24}) {
			t.Errorf("%s: a period that is learnt", name)
		}
	}
	k := (stationary{}).wandering(season{period: 24, fixed: true})
	if _, length, ok := lastingOf(k); !ok || length != seasonPeriods*24 || !isWandering(k) || isCycle(k) || isWandering(cycle(
		season{period: 24}, season{period: 168})) || isWandering(gppl.SE{}) {
		t.Errorf("%s lasts for %v", KernelName(k), length)
	}
}
