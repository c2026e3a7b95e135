package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/vexp"
)

var (
	_ Kernel = SE{}
	_ Kernel = Laplace{}
	_ Kernel = Matern32{}
	_ Kernel = Matern52{}
	_ Kernel = RQ{}
	_ Kernel = Periodic{}
	_ Kernel = White{}
)

func varianceAndLengthscale(v, l float64) []Param {
	return []Param{
		{Name: "variance", Value: v, Transform: Log{}, Unit: unitY2, Role: RoleVariance},
		{Name: "lengthscale", Value: l, Transform: Log{}, Unit: unitX, Role: RoleLengthscale},
	}
}

// expScaled sets x[i] = v·exp(x[i]).
func expScaled(x []float64, v float64) {
	vexp.Exp(x, x)
	for i := range x {
		x[i] *= v
	}
}

// expOf sets dst[i] = exp(c·r[i]) for all of dst.
func expOf(dst, r []float64, c float64) {
	for i, ri := range r[:len(dst)] {
		dst[i] = c * ri
	}
	vexp.Exp(dst, dst)
}

// SE is the squared exponential kernel v·exp(−r²/2l²) (Rasmussen and Williams
// 2006, eq. 4.9): infinitely smooth.
type SE struct{ Variance, Lengthscale float64 }

func (k SE) Params() []Param { return varianceAndLengthscale(k.Variance, k.Lengthscale) }
func (k SE) WithParams(theta []float64) Kernel {
	want(theta, 2, "SE")
	return SE{theta[0], theta[1]}
}
func (k SE) String() string { return describe("SE", k.Params()) }

func (k SE) Cov(dst, r []float64) {
	c := -0.5 / (k.Lengthscale * k.Lengthscale)
	for i, ri := range r {
		dst[i] = c * ri * ri
	}
	expScaled(dst[:len(r)], k.Variance)
}

func (k SE) Contract(grad, w, r []float64) {
	c := 0.5 / (k.Lengthscale * k.Lengthscale)
	var gv, gl float64
	var buf [chunk]float64
	for len(r) > 0 {
		e := buf[:min(chunk, len(r))]
		for i, ri := range r[:len(e)] {
			e[i] = -c * ri * ri
		}
		vexp.Exp(e, e)
		for i, ri := range r[:len(e)] {
			we := w[i] * e[i]
			gv += we
			gl += we * (ri * ri)
		}
		w, r = w[len(e):], r[len(e):]
	}
	grad[0] += k.Variance * gv
	grad[1] += 2 * c * k.Variance * gl
}

func (k SE) Slope(dst, r []float64) {
	c := 1 / (k.Lengthscale * k.Lengthscale)
	for i, ri := range r {
		dst[i] = -k.Variance * c * ri * math.Exp(-0.5*c*ri*ri)
	}
}

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

// RQ is the rational quadratic kernel v·(1 + r²/2αl²)^−α (Rasmussen and
// Williams 2006, eq. 4.19): a scale mixture of SE kernels, SE as α → ∞.
type RQ struct{ Variance, Lengthscale, Alpha float64 }

func (k RQ) Params() []Param {
	return append(varianceAndLengthscale(k.Variance, k.Lengthscale),
		Param{Name: "alpha", Value: k.Alpha, Transform: Log{}, Role: RoleShape})
}
func (k RQ) WithParams(theta []float64) Kernel {
	want(theta, 3, "RQ")
	return RQ{theta[0], theta[1], theta[2]}
}
func (k RQ) String() string { return describe("RQ", k.Params()) }

func (k RQ) Cov(dst, r []float64) {
	c := 0.5 / (k.Alpha * k.Lengthscale * k.Lengthscale)
	for i, ri := range r {
		dst[i] = -k.Alpha * math.Log1p(c*ri*ri)
	}
	expScaled(dst[:len(r)], k.Variance)
}

func (k RQ) Contract(grad, w, r []float64) {
	c := 0.5 / (k.Alpha * k.Lengthscale * k.Lengthscale)
	var gv, gl, ga float64
	for i, ri := range r {
		q := c * ri * ri
		l := math.Log1p(q)
		e := w[i] * math.Exp(-k.Alpha*l)
		s := q / (1 + q)
		gv += e
		gl += e * s
		ga += e * (s - l)
	}
	grad[0] += k.Variance * gv
	grad[1] += 2 * k.Alpha * k.Variance * gl
	grad[2] += k.Alpha * k.Variance * ga
}

func (k RQ) Slope(dst, r []float64) {
	c := 0.5 / (k.Alpha * k.Lengthscale * k.Lengthscale)
	for i, ri := range r {
		q := c * ri * ri
		dst[i] = -2 * k.Variance * k.Alpha * c * ri * math.Exp(-(k.Alpha+1)*math.Log1p(q))
	}
}

// Periodic is the kernel v·exp(−2 sin²(πr/p)/l²) (MacKay 1998; Rasmussen and
// Williams 2006, eq. 4.31): exactly periodic functions of period p. Its
// lengthscale is a pure number, the amount of phase over which f varies. In d = 1 it
// is positive definite; for d > 1, where it takes the Euclidean distance, it
// need not be.
type Periodic struct{ Variance, Lengthscale, Period float64 }

func (k Periodic) Params() []Param {
	return []Param{
		{Name: "variance", Value: k.Variance, Transform: Log{}, Unit: unitY2, Role: RoleVariance},
		{Name: "lengthscale", Value: k.Lengthscale, Transform: Log{}, Role: RoleShape},
		{Name: "period", Value: k.Period, Transform: Log{}, Unit: unitX, Role: RolePeriod},
	}
}
func (k Periodic) WithParams(theta []float64) Kernel {
	want(theta, 3, "Periodic")
	return Periodic{theta[0], theta[1], theta[2]}
}
func (k Periodic) String() string { return describe("Periodic", k.Params()) }

func (k Periodic) Cov(dst, r []float64) {
	c := -2 / (k.Lengthscale * k.Lengthscale)
	for i, ri := range r {
		s := math.Sin(math.Pi * ri / k.Period)
		dst[i] = c * s * s
	}
	expScaled(dst[:len(r)], k.Variance)
}

func (k Periodic) Contract(grad, w, r []float64) {
	c := 2 / (k.Lengthscale * k.Lengthscale)
	var gv, gp, gl float64
	for i, ri := range r {
		a := math.Pi * ri / k.Period
		s, cs := math.Sincos(a)
		e := w[i] * math.Exp(-c*s*s)
		gv += e
		gp += e * a * s * cs
		gl += e * s * s
	}
	grad[0] += k.Variance * gv
	grad[1] += 2 * c * k.Variance * gl
	grad[2] += 2 * c * k.Variance * gp
}

func (k Periodic) Slope(dst, r []float64) {
	c := 2 / (k.Lengthscale * k.Lengthscale)
	f := math.Pi / k.Period
	for i, ri := range r {
		s, cs := math.Sincos(f * ri)
		dst[i] = -2 * c * f * k.Variance * s * cs * math.Exp(-c*s*s)
	}
}

// White is v for an observation with itself and 0 otherwise, even at the same
// x (see Self): noise as part of a sum, beside the model's own.
type White struct{ Variance float64 }

func (k White) Params() []Param {
	return []Param{{Name: "variance", Value: k.Variance, Transform: Log{}, Unit: unitY2, Role: RoleNoise}}
}
func (k White) WithParams(theta []float64) Kernel {
	want(theta, 1, "White")
	return White{theta[0]}
}
func (k White) String() string { return describe("White", k.Params()) }

func (k White) Cov(dst, r []float64) {
	for i, ri := range r {
		dst[i] = 0
		if isSelf(ri) {
			dst[i] = k.Variance
		}
	}
}

func (k White) Contract(grad, w, r []float64) {
	for i, ri := range r {
		if isSelf(ri) {
			grad[0] += k.Variance * w[i]
		}
	}
}

func (k White) Slope(dst, r []float64) { clear(dst[:len(r)]) }
