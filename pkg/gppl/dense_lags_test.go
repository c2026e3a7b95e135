package gppl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
)

// TestLags: on a grid with empty places, as of opening hours, the dense engine gives the likelihood and the gradient of all pairs;
// off a grid, and where the covariance depends on the place, it takes the pairs.
func TestLags(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 8))
	hours := make([]float64, 0, 300)
	for day := 0; len(hours) < cap(hours); day++ {
		for h := 7; h < 18 && len(hours) < cap(hours); h++ {
			if r.IntN(10) > 0 {
				hours = append(hours, 19000+float64(day)+float64(h)/24) // days, whose hours are rounded
			}
		}
	}
	twice := append([]float64{hours[0], hours[7]}, hours...) // out of order, with duplicates
	y := make([]float64, len(twice))
	for i := range y {
		y[i] = r.NormFloat64()
	}
	season := Add(Matern32{Variance: 0.5, Lengthscale: 3}, LocPer{Variance: 0.7, Lengthscale: 9, Period: 1, PeriodicLengthscale: 0.6})
	for name, c := range map[string]struct {
		x  []float64
		k  Kernel
		on bool
	}{
		"hours": {hours, season, true}, "duplicates": {twice, season, true}, "one term": {hours, Laplace{Variance: 1, Lengthscale: 0.3}, true},
		"jittered": {jittered(hours, 1e-6), season, false},
		"placed":   {hours, ChangePoint{Before: SE{Variance: 1, Lengthscale: 1}, After: SE{Variance: 2, Lengthscale: 3}, Location: 19010, Width: 2}, false},
	} {
		x := Scalars(c.x)
		by, pairs := newDenseExact(x, dense.AsColumn(y[:len(c.x)]), observed.Noise{}), newDenseExact(x, dense.AsColumn(y[:len(c.x)]), observed.Noise{})
		if pairs.lags = nil; by.tabulated(c.k) != c.on {
			t.Errorf("%s: on a grid is %v, want %v", name, !c.on, c.on)
		}
		n := len(c.k.Params()) + 1
		got, want := make([]float64, n), make([]float64, n)
		a, err := nllBy(by, got, c.k, 0.1, len(c.x), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		b, err := nllBy(pairs, want, c.k, 0.1, len(c.x), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		const tolerance = 1e-8 // nats: the distances of pairs are rounded, too
		if math.Abs(a-b) > tolerance {
			t.Errorf("%s: %v by lags, %v by pairs", name, a, b)
		}
		for i := range got {
			if math.Abs(got[i]-want[i]) > tolerance*float64(len(c.x)) {
				t.Errorf("%s: the gradient is %v by lags, %v by pairs", name, got, want)
			}
		}
	}
}

// jittered returns x, each moved by up to a distance.
func jittered(x []float64, by float64) (out []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, v := range x {
		out = append(out, v+by*(2*r.Float64()-1))
	}
	return out
}
