package judge

import (
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestShortBands: bands beyond a short series are wider than the models' own by √(1 + (11/n)²), times what the past shows;
// within the series they are the models' own. (A mixture is a little narrower: its means differ by as much as before.)
func TestShortBands(t *testing.T) {
	n := 20
	s := &series.Series{Axis: series.Axis{Name: "t"}, YName: "y", Step: 1}
	for i := range n {
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, math.Sin(1.7*float64(i*i)))
	}
	want := math.Sqrt(1 + 121./400)
	for _, kernels := range []string{"", "Matern32"} {
		o := forecast.Options{Log: "never"}
		if kernels != "" {
			o.Kernels = []string{kernels}
		}
		a := testkit.Must(forecast.Fit(t.Context(), s, o))(t)
		ahead := func(x float64) float64 { return testkit.Must(a.Predict(t.Context(), []float64{x}))(t).NoisyVar[0] }
		wide, within := ahead(float64(n)+3), ahead(3.5)
		a.Widen = 1
		if got := math.Sqrt(wide / ahead(float64(n)+3)); math.Abs(got-want) > 0.1*(want-1)+1e-12 || ahead(3.5) != within {
			t.Errorf("kernels %q: bands are %v times as wide, want %v; within the series the variance is %v and %v",
				kernels, got, want, within, ahead(3.5))
		}
		if (&Trust{Widen: 1.5}).Calibrate(a); math.Abs(a.Widen-1.5*want) > 1e-15 {
			t.Errorf("kernels %q: calibrated to %v, want %v", kernels, a.Widen, 1.5*want)
		}
	}
}
