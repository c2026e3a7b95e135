package forecast

import (
	"math"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// TestStandardisedAtJumps: counts, and values at a bound, have the normal quantile of a place within their probability, and the
// probability of an observation as far out counts all of it: a dry day is no anomaly by chance.
func TestStandardisedAtJumps(t *testing.T) {
	const n = 200
	s := endedSeries(t, 60, 0, math.Inf(1), func(int) float64 { return 0.3 }, 1, 1)
	zeros, ones := make([]float64, n), slices.Repeat([]float64{1}, n)
	rain := []Part{{Weight: 1, warp: s.Warp(), Mean: slices.Repeat([]float64{0.25}, n), LatentVar: ones, NoisyVar: ones}}
	few := []Part{{Weight: 1, Mean: zeros, LatentVar: zeros, NoisyVar: slices.Repeat([]float64{1e-9}, n),
		Observed: observe.Poisson{}, Sizes: ones}}
	for name, c := range map[string]struct {
		parts []Part
		zero  float64 // probability of 0
	}{
		"values that end at 0": {rain, 0.5 * math.Erfc(0.25/math.Sqrt2)}, "counts": {few, math.Exp(-1)},
	} {
		f := testkit.Must(forecastOf(t.Context(), make([]float64, n), make([]string, n), c.parts))(t)
		r := &Arrivals{Y: zeros, Forecast: f}
		r.standardise()
		for i, p := range r.P {
			if math.Abs(p-2*c.zero) > 1e-6 {
				t.Fatalf("%s: the probability of a %d-th 0 is %v, want %v", name, i, p, 2*c.zero)
			}
		}
		if most := numeric.NormalQuantile(c.zero); slices.Max(r.Z) > most || slices.Max(r.Z) < most-0.1 || slices.Min(r.Z) > -1.5 {
			t.Errorf("%s: z are between %v and %v, want up to %v", name, slices.Min(r.Z), slices.Max(r.Z), most)
		}
		for _, u := range []float64{0.1, 0.5, 1} {
			z := f.Standardised(zeros, slices.Repeat([]float64{u}, n))[0]
			if want := numeric.NormalQuantile(u * c.zero); math.Abs(z-want) > 1e-6 {
				t.Errorf("%s: at %v of the jump z is %v, want %v", name, u, z, want)
			}
		}
	}
}
