package gppl

import (
	"math"
)

var (
	_ Kernel = RQ{}
)

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
