package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// A kind of series: how it is drawn from a source of randomness, and the model that draws it, if a model does.
type kind struct {
	name string
	drawing
}

type drawing struct {
	draw  func(rnd *rand.Rand) (x, y []float64)
	truth gppl.Model
}

// span is the range of x, and points the number of observations, of every kind.
const (
	span   = 100.0
	points = 150
)

// kinds returns the kinds of series on which auto.Fit is tested: draws from the kernels, and many that no kernel drew.
func kinds() []kind {
	return []kind{
		{"SE, short", process(uneven, gppl.SE{Variance: 1, Lengthscale: 1.5}, 0.1)},
		{"SE, long, quantised", quantised(process(uneven, gppl.SE{Variance: 1, Lengthscale: 20}, 0.02), 0.25)},
		{"Matérn 3/2", process(even, gppl.Matern32{Variance: 1, Lengthscale: 5}, 0.01)},
		{"RQ", process(uneven, gppl.RQ{Variance: 1, Lengthscale: 3, Alpha: 0.3}, 0.05)},
		{"Periodic", process(uneven, gppl.Periodic{Variance: 1, Period: 13, Lengthscale: 0.8}, 0.1)},
		{"LocPer", process(uneven, gppl.LocPer{Variance: 1, Lengthscale: 30, Period: 6, PeriodicLengthscale: 1}, 0.05)},
		{"SE + Periodic", process(uneven, gppl.Add(gppl.SE{Variance: 1, Lengthscale: 15},
			gppl.Periodic{Variance: 1, Period: 7, Lengthscale: 1}), 0.05)},
		{"two scales", process(uneven, gppl.Add(gppl.SE{Variance: 1, Lengthscale: 25}, gppl.SE{Variance: 0.3, Lengthscale: 1.2}),
			0.01)},
		{"two sines", observed(uneven, func(x float64, rnd *rand.Rand) float64 {
			return math.Sin(x/1.5) + math.Sin(x/11) + 0.1*rnd.NormFloat64()
		})},
		{"trend", observed(uneven, func(x float64, rnd *rand.Rand) float64 { return (x-span/2)/20 + 0.3*rnd.NormFloat64() })},
		{"random walk", drawing{draw: func(rnd *rand.Rand) (x, y []float64) {
			x, y = even(rnd), make([]float64, points)
			for i := range y[1:] {
				y[i+1] = y[i] + rnd.NormFloat64()
			}
			return x, y
		}}},
		{"white noise", observed(uneven, func(_ float64, rnd *rand.Rand) float64 { return rnd.NormFloat64() })},
		{"heavy tails", observed(uneven, func(x float64, rnd *rand.Rand) float64 {
			return math.Sin(x/3) + 0.1*rnd.NormFloat64()/rnd.Float64()
		})},
		{"gap of 90 %", observed(gap, func(x float64, rnd *rand.Rand) float64 { return math.Sin(x) + 0.2*rnd.NormFloat64() })},
		{"clustered x", observed(clustered, func(x float64, rnd *rand.Rand) float64 {
			return math.Sin(5*x) + math.Sin(x/9) + 0.2*rnd.NormFloat64()
		})},
		{"duplicated x", observed(duplicated, func(x float64, rnd *rand.Rand) float64 {
			return math.Sin(x/3) + 0.2*rnd.NormFloat64()
		})},
		{"step", observed(uneven, func(x float64, rnd *rand.Rand) float64 {
			return math.Copysign(1, x-span/2) + 0.1*rnd.NormFloat64()
		})},
		{"chirp", observed(even, func(x float64, rnd *rand.Rand) float64 { return math.Sin(x*x/100) + 0.1*rnd.NormFloat64() })},
		{"spike", drawing{draw: func(rnd *rand.Rand) (x, y []float64) {
			x, y = even(rnd), make([]float64, points)
			for i := range y {
				y[i] = 0.1 * rnd.NormFloat64()
			}
			y[points/3] = 5
			return x, y
		}}},
		{"season and trend", observed(even, func(x float64, rnd *rand.Rand) float64 {
			return x/30 - 1.5 + 0.5*math.Sin(2*math.Pi*x/8) + 0.2*math.Sin(4*math.Pi*x/8) + 0.2*rnd.NormFloat64()
		})},
		{"Periodic, sharp, even", process(even, gppl.Periodic{Variance: 1, Period: 13, Lengthscale: 0.25}, 0.01)},
		{"Periodic, fast", process(uneven, gppl.Periodic{Variance: 1, Period: 0.9, Lengthscale: 0.8}, 0.02)},
		{"LocPer, slow, even", process(even, gppl.LocPer{Variance: 1, Lengthscale: 300, Period: 17, PeriodicLengthscale: 0.3}, 0.01)},
		{"LocPer, sharp", process(uneven, gppl.LocPer{Variance: 1, Lengthscale: 60, Period: 3.1, PeriodicLengthscale: 0.5}, 0.01)},
		{"SE + Periodic, even", process(even, gppl.Add(gppl.SE{Variance: 1, Lengthscale: 30},
			gppl.Periodic{Variance: 1, Period: 5.3, Lengthscale: 0.4}), 0.01)},
		{"SE + LocPer", process(uneven, gppl.Add(gppl.SE{Variance: 1, Lengthscale: 30},
			gppl.LocPer{Variance: 1, Lengthscale: 80, Period: 4.1, PeriodicLengthscale: 0.5}), 0.01)},
		{"SE + LocPer, even", process(even, gppl.Add(gppl.SE{Variance: 1, Lengthscale: 30},
			gppl.LocPer{Variance: 1, Lengthscale: 80, Period: 4.1, PeriodicLengthscale: 0.5}), 0.01)},
		{"two seasons", process(even, gppl.Add(gppl.Periodic{Variance: 1, Period: 3.7, Lengthscale: 0.7},
			gppl.Periodic{Variance: 1, Period: 19, Lengthscale: 0.7}), 0.02)},
		{"growing season", observed(even, func(x float64, rnd *rand.Rand) float64 {
			return math.Exp(x/60)*math.Sin(2*math.Pi*x/6) + 0.2*rnd.NormFloat64()
		})},
		{"sawtooth", observed(uneven, func(x float64, rnd *rand.Rand) float64 {
			return math.Mod(x, 11)/5.5 - 1 + 0.1*rnd.NormFloat64()
		})},
	}
}

// series draws a series from a seed and subtracts its mean.
func (k kind) series(seed uint64) (gppl.Data, error) {
	x, y := k.draw(rand.New(rand.NewPCG(seed, 11)))
	var mean float64
	for _, v := range y {
		mean += v / float64(len(y))
	}
	floats.AddConst(-mean, y)
	return gppl.NewData(gppl.Scalars(x), y)
}

// even, uneven, gap, clustered and duplicated return the places x.
func even(*rand.Rand) []float64 {
	x := make([]float64, points)
	for i := range x {
		x[i] = span * float64(i) / points
	}
	return x
}

func uneven(rnd *rand.Rand) []float64 {
	return sorted(func(int) float64 { return span * rnd.Float64() })
}

func gap(rnd *rand.Rand) []float64 {
	return sorted(func(i int) float64 { return 0.05*span*rnd.Float64() + 0.95*span*float64(i%2) })
}

func clustered(rnd *rand.Rand) []float64 {
	return sorted(func(i int) float64 { return span*float64(i%5)/5 + 2*rnd.Float64() })
}

func duplicated(rnd *rand.Rand) []float64 {
	half := uneven(rnd)
	return sorted(func(i int) float64 { return half[i/2] })
}

func sorted(at func(i int) float64) []float64 {
	x := make([]float64, points)
	for i := range x {
		x[i] = at(i)
	}
	slices.Sort(x)
	return x
}

// observed returns a drawing of y = f(x), where f adds the noise.
func observed(times func(*rand.Rand) []float64, f func(x float64, rnd *rand.Rand) float64) drawing {
	return drawing{draw: func(rnd *rand.Rand) (x, y []float64) {
		x = times(rnd)
		y = make([]float64, len(x))
		for i, v := range x {
			y[i] = f(v, rnd)
		}
		return x, y
	}}
}

// process returns a drawing from a Gaussian process with the given kernel and noise variance.
func process(times func(*rand.Rand) []float64, k gppl.Kernel, noise float64) drawing {
	return drawing{truth: gppl.Model{Kernel: k, Noise: noise}, draw: func(rnd *rand.Rand) (x, y []float64) {
		x = times(rnd)
		cov := mat.NewSymDense(points, nil)
		r := make([]float64, points)
		for i := range x {
			for j := range x {
				r[j] = math.Abs(x[i] - x[j])
			}
			k.Cov(r, r)
			for j := range i + 1 {
				cov.SetSym(i, j, r[j])
			}
			cov.SetSym(i, i, cov.At(i, i)+noise)
		}
		var c mat.Cholesky
		if !c.Factorize(cov) {
			panic("optima: a covariance with noise is not positive definite")
		}
		z := mat.NewVecDense(points, nil)
		for i := range points {
			z.SetVec(i, rnd.NormFloat64())
		}
		var l mat.TriDense
		c.LTo(&l)
		var drawn mat.VecDense
		drawn.MulVec(&l, z)
		return x, drawn.RawVector().Data
	}}
}

// quantised rounds y to multiples of step.
func quantised(d drawing, step float64) drawing {
	return drawing{truth: d.truth, draw: func(rnd *rand.Rand) (x, y []float64) {
		x, y = d.draw(rnd)
		for i, v := range y {
			y[i] = step * math.Round(v/step)
		}
		return x, y
	}}
}
