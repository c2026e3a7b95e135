package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestSmoothOverTheSpan: a smooth curve in strong noise, slow beside the latest observations of a long uneven series, is smooth
// in the best model. By these observations alone it is as good as constant.
func TestSmoothOverTheSpan(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	x, y := make([]float64, 4000), make([]float64, 4000)
	for i := range x {
		x[i] = 100 * rnd.Float64()
	}
	slices.Sort(x)
	for i, at := range x {
		y[i] = math.Sin(at/15) + 0.7*math.Cos(at/6.1) + rnd.NormFloat64()
	}
	s, err := series.NewSeries(series.Axis{Name: "t"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Find(t.Context(), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Candidates[0].Kernel; got != "SE" {
		t.Errorf("the best is %s, want SE", got)
	}
}
