package gppl

import (
	"math"
)

var (
	_ Kernel      = Laplace{}
	_ Kernel      = Matern32{}
	_ Kernel      = Matern52{}
	_ Reacher     = Laplace{}
	_ Reacher     = Matern32{}
	_ Reacher     = Matern52{}
	_ Bandlimited = Matern32{}
	_ Bandlimited = Matern52{}
	_ Scaled      = Laplace{}
	_ Scaled      = Matern32{}
	_ Scaled      = Matern52{}
	_ Markovian   = Laplace{}
	_ Markovian   = Matern32{}
	_ Markovian   = Matern52{}
)

// Laplace is the exponential (Matérn 1/2, Ornstein–Uhlenbeck) kernel
// v·exp(−r/l) (Rasmussen and Williams 2006, eq. 4.18): continuous, nowhere
// differentiable.
type Laplace struct{ Variance, Lengthscale float64 }

func (k Laplace) Params() []Param { return varianceAndLengthscale(k.Variance, k.Lengthscale) }
func (k Laplace) WithParams(theta []float64) Kernel {
	want(theta, 2, "Laplace")
	return Laplace{theta[0], theta[1]}
}
func (k Laplace) String() string { return describe("Laplace", k.Params()) }

func (k Laplace) Reach(eps float64) float64              { return -k.Lengthscale * math.Log(eps) }
func (k Laplace) Scale() (variance, lengthscale float64) { return k.Variance, k.Lengthscale }
func (k Laplace) Steepness(float64) float64              { return 1 }

func (k Laplace) Markov(dst []MaternTerm) []MaternTerm {
	return append(dst, MaternTerm{0, k.Variance, k.Lengthscale})
}
func (k Laplace) ContractMarkov(grad, w []float64) { add(grad, w) }

func (k Laplace) Cov(dst, r []float64) {
	c := -1 / k.Lengthscale
	for i, ri := range r {
		dst[i] = c * ri
	}
	expScaled(dst[:len(r)], k.Variance)
}

func (k Laplace) Contract(grad, w, r []float64) {
	c := 1 / k.Lengthscale
	var gv, gl float64
	var buf [chunk]float64
	for len(r) > 0 {
		e := buf[:min(chunk, len(r))]
		expOf(e, r, -c)
		for i, ri := range r[:len(e)] {
			we := w[i] * e[i]
			gv += we
			gl += we * (c * ri)
		}
		w, r = w[len(e):], r[len(e):]
	}
	grad[0] += k.Variance * gv
	grad[1] += k.Variance * gl
}

func (k Laplace) Slope(dst, r []float64) {
	c := 1 / k.Lengthscale
	for i, ri := range r {
		if ri == 0 {
			dst[i] = 0
			continue
		}
		dst[i] = -k.Variance * c * math.Exp(-c*ri)
	}
}

// Matern32 is the Matérn kernel with ν = 3/2, v·(1 + a)·exp(−a), a = √3·r/l
// (Rasmussen and Williams 2006, eq. 4.17): once differentiable.
type Matern32 struct{ Variance, Lengthscale float64 }

func (k Matern32) Params() []Param { return varianceAndLengthscale(k.Variance, k.Lengthscale) }
func (k Matern32) WithParams(theta []float64) Kernel {
	want(theta, 2, "Matern32")
	return Matern32{theta[0], theta[1]}
}
func (k Matern32) String() string { return describe("Matern32", k.Params()) }

func (k Matern32) Reach(eps float64) float64 {
	return k.Lengthscale / sqrt3 * tail(eps, func(a float64) float64 { return 1 + a })
}

// Bandwidth follows from a density that falls like (2πfl/√3)⁻⁴.
func (k Matern32) Bandwidth(eps float64) float64 {
	return sqrt3 * math.Pow(eps, -1./3) / (2 * math.Pi * k.Lengthscale)
}
func (k Matern32) Scale() (variance, lengthscale float64) { return k.Variance, k.Lengthscale }
func (k Matern32) Steepness(float64) float64              { return 1 }

func (k Matern32) Markov(dst []MaternTerm) []MaternTerm {
	return append(dst, MaternTerm{1, k.Variance, k.Lengthscale})
}
func (k Matern32) ContractMarkov(grad, w []float64) { add(grad, w) }

var sqrt3, sqrt5 = math.Sqrt(3), math.Sqrt(5)

func (k Matern32) Cov(dst, r []float64) {
	c := sqrt3 / k.Lengthscale
	var buf [chunk]float64
	for len(r) > 0 {
		e := buf[:min(chunk, len(r))]
		expOf(e, r, -c)
		for i, ri := range r[:len(e)] {
			a := c * ri
			dst[i] = k.Variance * (1 + a) * e[i]
		}
		dst, r = dst[len(e):], r[len(e):]
	}
}

func (k Matern32) Contract(grad, w, r []float64) {
	c := sqrt3 / k.Lengthscale
	var gv, gl float64
	var buf [chunk]float64
	for len(r) > 0 {
		e := buf[:min(chunk, len(r))]
		expOf(e, r, -c)
		for i, ri := range r[:len(e)] {
			a := c * ri
			we := w[i] * e[i]
			gv += we * (1 + a)
			gl += we * (a * a)
		}
		w, r = w[len(e):], r[len(e):]
	}
	grad[0] += k.Variance * gv
	grad[1] += k.Variance * gl
}

func (k Matern32) Slope(dst, r []float64) {
	c := sqrt3 / k.Lengthscale
	for i, ri := range r {
		a := c * ri
		dst[i] = -k.Variance * c * a * math.Exp(-a)
	}
}

// Matern52 is the Matérn kernel with ν = 5/2, v·(1 + a + a²/3)·exp(−a),
// a = √5·r/l (Rasmussen and Williams 2006, eq. 4.17): twice differentiable.
type Matern52 struct{ Variance, Lengthscale float64 }

func (k Matern52) Params() []Param { return varianceAndLengthscale(k.Variance, k.Lengthscale) }
func (k Matern52) WithParams(theta []float64) Kernel {
	want(theta, 2, "Matern52")
	return Matern52{theta[0], theta[1]}
}
func (k Matern52) String() string { return describe("Matern52", k.Params()) }

func (k Matern52) Reach(eps float64) float64 {
	return k.Lengthscale / sqrt5 * tail(eps, func(a float64) float64 { return 1 + a + a*a/3 })
}

// Bandwidth follows from a density that falls like (2πfl/√5)⁻⁶.
func (k Matern52) Bandwidth(eps float64) float64 {
	return sqrt5 * math.Pow(eps, -1./5) / (2 * math.Pi * k.Lengthscale)
}
func (k Matern52) Scale() (variance, lengthscale float64) { return k.Variance, k.Lengthscale }
func (k Matern52) Steepness(float64) float64              { return 1 }

func (k Matern52) Markov(dst []MaternTerm) []MaternTerm {
	return append(dst, MaternTerm{2, k.Variance, k.Lengthscale})
}
func (k Matern52) ContractMarkov(grad, w []float64) { add(grad, w) }

func (k Matern52) Cov(dst, r []float64) {
	c := sqrt5 / k.Lengthscale
	var buf [chunk]float64
	for len(r) > 0 {
		e := buf[:min(chunk, len(r))]
		expOf(e, r, -c)
		for i, ri := range r[:len(e)] {
			a := c * ri
			dst[i] = k.Variance * (1 + a + a*a/3) * e[i]
		}
		dst, r = dst[len(e):], r[len(e):]
	}
}

func (k Matern52) Contract(grad, w, r []float64) {
	c := sqrt5 / k.Lengthscale
	var gv, gl float64
	var buf [chunk]float64
	for len(r) > 0 {
		e := buf[:min(chunk, len(r))]
		expOf(e, r, -c)
		for i, ri := range r[:len(e)] {
			a := c * ri
			we := w[i] * e[i]
			gv += we * (1 + a + a*a/3)
			gl += we * (a * a * (1 + a) / 3)
		}
		w, r = w[len(e):], r[len(e):]
	}
	grad[0] += k.Variance * gv
	grad[1] += k.Variance * gl
}

func (k Matern52) Slope(dst, r []float64) {
	c := sqrt5 / k.Lengthscale
	for i, ri := range r {
		a := c * ri
		dst[i] = -k.Variance * c * a * (1 + a) / 3 * math.Exp(-a)
	}
}

// tail solves poly(a)·exp(−a) = eps for a by fixed-point iteration, which
// contracts since log poly grows slowly.
func tail(eps float64, poly func(float64) float64) float64 {
	a := -math.Log(eps)
	for range 30 {
		a = math.Log(poly(a)) - math.Log(eps)
	}
	return a
}
