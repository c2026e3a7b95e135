package experiment

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// Misfit is the result of the automatic fit on data that its model does not fit.
type Misfit struct {
	Data   string // description of the data
	N      int
	Result *auto.Result // nil if Err is set
	Err    error
}

// Misfits fits SE plus noise, automatically, to data that another process generated.
func Misfits(ctx context.Context, s scales.Scale) []Misfit {
	n := scales.Pick(s, 600, 150)
	rnd := rand.New(rand.NewPCG(1, 7))
	even := Grid(0, 100, n)
	series := func(f func(x float64) float64) []float64 {
		y := make([]float64, n)
		for i, x := range even {
			y[i] = f(x)
		}
		return y
	}
	smooth := func(x float64) float64 { return math.Sin(x/4) + math.Cos(x/9) }
	gap := slices.DeleteFunc(slices.Clone(even), func(x float64) bool { return x > 30 && x < 75 })
	clusters := make([]float64, n)
	for i := range clusters {
		clusters[i] = float64(10*(i%10)) + 0.02*rnd.NormFloat64()
	}
	slices.Sort(clusters)
	at := func(x []float64, noise float64) []float64 {
		y := make([]float64, len(x))
		for i := range y {
			y[i] = smooth(x[i]) + noise*rnd.NormFloat64()
		}
		return y
	}
	equal := series(func(float64) float64 { return 3 })
	var fits []Misfit
	for _, c := range []struct {
		name string
		x, y []float64
	}{
		{"white noise", even, series(func(float64) float64 { return rnd.NormFloat64() })},
		{"a pure trend, without noise", even, series(func(x float64) float64 { return x/50 - 1 })},
		{"two points", []float64{0, 1}, []float64{-1, 1}},
		{"all y equal", even, equal},
		{"all y zero", even, make([]float64, n)},
		{"a step", even, series(func(x float64) float64 { return math.Copysign(1, x-50) + 0.1*rnd.NormFloat64() })},
		{"smooth, without noise", even, series(smooth)},
		{"heavy tails: noise of a Student t with 2 degrees of freedom", even, series(func(x float64) float64 {
			return smooth(x) + 0.3*rnd.NormFloat64()/math.Sqrt(rnd.ExpFloat64())
		})},
		{"a gap of half the range", gap, at(gap, 0.3)},
		{"ten tight clusters", clusters, at(clusters, 0.3)},
	} {
		fit := Misfit{Data: c.name, N: len(c.x)}
		d, err := gppl.NewData(gppl.Scalars(c.x), c.y)
		if err == nil {
			fit.Result, err = auto.Fit(ctx, gppl.PaperModel(gppl.SE{}), d, auto.Settings{})
		}
		if fit.Err = err; err != nil {
			fit.Result = nil
		}
		fits = append(fits, fit)
	}
	return fits
}
