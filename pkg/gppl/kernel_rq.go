package gppl

import (
	"math"
)

var (
	_ Kernel      = RQ{}
	_ Reacher     = RQ{}
	_ Bandlimited = RQ{}
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

// Reach returns where (1 + r²/2αl²)^−α = eps.
func (k RQ) Reach(eps float64) float64 {
	return k.Lengthscale * math.Sqrt(2*k.Alpha*math.Expm1(-math.Log(eps)/k.Alpha))
}

// Bandwidth follows from a density that falls like exp(−2πfl√(2α)).
func (k RQ) Bandwidth(eps float64) float64 {
	return -math.Log(eps) / (2 * math.Pi * k.Lengthscale * math.Sqrt(2*k.Alpha))
}

// Steepness: r·|k′|/v = 2α·s·(1 − s)^α, s = q/(1 + q), is below 1.
func (k RQ) Steepness(float64) float64 { return 1 }

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
