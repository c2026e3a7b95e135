package judge

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestPredictedCRPS compares the CRPS of mixtures of Gaussians of y, log y or log odds with a CRPS from quantiles at many levels.
func TestPredictedCRPS(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(63, 5))
	level := 3.0
	y := make([]float64, 36)
	for i := range y {
		level += 0.1 * rnd.NormFloat64()
		y[i] = math.Exp(level)
	}
	levels := make([]float64, 2000)
	for k := range levels {
		levels[k] = (float64(k) + 0.5) / float64(len(levels))
	}
	for name, bounds := range map[string]*series.Bounds{"unbounded": nil, "bounded": {Lo: 0, Hi: 200}} {
		s := testkit.Must(series.NewSeries(series.Axis{Name: "step"}, timeline.Steps(len(y)), y))(t)
		s.Bounds = bounds
		f := testkit.Must(automatic(t, s, forecast.Options{}).Forecast(t.Context(), 3))(t)
		p := PredictiveOf(f)
		scaled := 0
		for _, scale := range f.Mixture().Scales {
			if scale != nil {
				scaled++
			}
		}
		t.Logf("%s: %d parts, %d of another scale", name, len(f.Parts), scaled)
		at := []float64{y[35], 0.7 * y[35], 1.6 * y[35]}
		got, want, logs := p.CRPS(at), CRPSQuantiles(at, p.Quantile, levels), p.LogDensity(at)
		if far := p.LogDensity([]float64{y[35], 1e-9, y[35]}); math.IsInf(far[1], 0) || math.IsNaN(far[1]) {
			t.Errorf("%s: log density far out is %v", name, far[1])
		}
		for i := range at {
			if !(math.Abs(got[i]-want[i]) <= 2e-3*want[i]) {
				t.Errorf("%s: CRPS at %v is %v, from quantiles %v", name, at[i], got[i], want[i])
			}
			h := 1e-4 * at[i] // the density is the slope of the distribution
			near := []float64{at[0], at[1], at[2]}
			near[i] += h
			above, _ := f.Mixture().Tails(near)
			near[i] -= 2 * h
			below, _ := f.Mixture().Tails(near)
			if slope := (above[i] - below[i]) / (2 * h); !(math.Abs(math.Exp(logs[i])-slope) <= 1e-5*slope) {
				t.Errorf("%s: density at %v is %v, the slope of the distribution %v", name, at[i], math.Exp(logs[i]), slope)
			}
		}
	}
}
