package judge

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestBudgetSpent: if evaluations cost more than planned, as for a series without noise, the search stops once the budget is used
// up, and counts what it did not try; no other search follows. If they cost what was planned, it tries everything.
func TestBudgetSpent(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 51))
	for name, noise := range map[string]float64{"exact": 0, "noisy": 0.3} {
		x, y := make([]float64, 600), make([]float64, 600)
		for i := range x {
			x[i] = float64(i)
			y[i] = 10 + math.Sin(2*math.Pi*x[i]/7) + math.Cos(2*math.Pi*x[i]/90) + noise*rnd.NormFloat64()
		}
		s, err := series.NewSeries(series.Axis{Name: "x"}, x, y)
		if err != nil {
			t.Fatal(err)
		}
		o := forecast.Options{Budget: 50 * time.Millisecond}
		a, err := forecast.Fit(t.Context(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		if spent := a.Untried > 0; spent != (noise == 0) {
			t.Errorf("%s: %d models were not tried, of a plan of %v", name, a.Untried, testkit.Must(search.NewPlanner(t.Context(), s, o))(t).Plan())
		}
		trust, err := TestPast(t.Context(), a, BacktestOptions{Horizon: 8})
		if err != nil {
			t.Fatal(err)
		}
		if reused := trust.Past[0].Reused; (reused == search.BudgetSpent) != (noise == 0) {
			t.Errorf("%s: forecasts of the past reuse parameters: %q", name, reused)
		}
		if _, err := a.Shifts(t.Context()); (err == nil) != (noise > 0) {
			t.Errorf("%s: shifts: %v", name, err)
		}
	}
}
