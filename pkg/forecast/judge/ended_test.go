package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
)

// TestSpreadOfRain: bands of amounts that are often exactly 0 are not widened where values come as often as the forecast says. Of
// such a skewed distribution, half of it at 0, values are several times as far from the median as the distance of two quantiles.
func TestSpreadOfRain(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 1))
	s := testseries.Steps(t, 200, 0, func(int) float64 { z := max(0, -1+4*r.NormFloat64()); return z * z })
	if err := s.Bound(0, math.Inf(1)); err != nil {
		t.Fatal(err)
	}
	a := testkit.Must(forecast.Fit(t.Context(), s, forecast.Options{Budget: time.Second}))(t)
	f := testkit.Must(a.Forecast(t.Context(), 3))(t)
	if len(f.AtBounds()) == 0 {
		t.Fatalf("%s is not censored", a.Name())
	}
	const draws = 200
	var square float64
	for k := range draws {
		y := testkit.Must(f.Quantile(t.Context(), (float64(k)+0.5)/draws))(t)
		scores := testkit.Must(ScoresOf(PredictiveOf(f), y, s.Y, 1, nil))(t)
		square += scores.Spread * scores.Spread / draws
	}
	if square < 0.5 || square > 1.05 {
		t.Errorf("the mean square of errors over their spread is %.2f", square)
	}
	trust := testkit.Must(TestPast(t.Context(), a, BacktestOptions{Horizon: 24}))(t)
	if trust.Widen > 1.1 || trust.Coverage < 0.9 {
		t.Errorf("bands that held %.0f %% are widened %.2f times", 100*trust.Coverage, trust.Widen)
	}
	p := PredictiveOf(f).(jumping)
	zero := p.Standardised(slices.Repeat([]float64{0}, len(f.X)))
	for i, share := range f.AtBounds()[0].P {
		if want := numeric.NormalQuantile(0.5 * share); math.Abs(zero[i]-want) > 1e-6 {
			t.Errorf("step %d: a 0 is at %v, want %v", i, zero[i], want)
		}
	}
}
