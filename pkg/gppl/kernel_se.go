package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/vexp"
)

var (
	_ capability.Spectrum    = SE{}
	_ capability.Reacher     = SE{}
	_ capability.Bandlimited = SE{}
	_ capability.Scaled      = SE{}
)

// SE is the squared exponential kernel v·exp(−r²/2l²) (Rasmussen and Williams
// 2006, eq. 4.9): infinitely smooth.
type SE struct{ Variance, Lengthscale float64 }

func (k SE) Params() []Param { return varianceAndLengthscale(k.Variance, k.Lengthscale) }
func (k SE) WithParams(theta []float64) Kernel {
	want(theta, 2, "SE")
	return SE{theta[0], theta[1]}
}
func (k SE) String() string { return describe("SE", k.Params()) }

// Reach returns l·√(−2·log eps).
func (k SE) Reach(eps float64) float64 { return k.Lengthscale * math.Sqrt(-2*math.Log(eps)) }

// Bandwidth returns the f at which exp(−2π²l²f²) = eps.
func (k SE) Bandwidth(eps float64) float64 {
	return math.Sqrt(-2*math.Log(eps)) / (2 * math.Pi * k.Lengthscale)
}
func (k SE) Scale() (variance, lengthscale float64) { return k.Variance, k.Lengthscale }
func (k SE) Steepness(float64) float64              { return 1 }

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

// Density sets dst[i] = v·l·√(2π)·exp(−2π²l²f²).
func (k SE) Density(dst, f []float64) {
	c := -2 * math.Pi * math.Pi * k.Lengthscale * k.Lengthscale
	for i, fi := range f {
		dst[i] = c * fi * fi
	}
	expScaled(dst[:len(f)], k.Variance*k.Lengthscale*math.Sqrt(2*math.Pi))
}

// ContractDensity uses ∂S/∂log v = S and ∂S/∂log l = S·(1 − 4π²l²f²).
func (k SE) ContractDensity(grad, w, f []float64) {
	c := -2 * math.Pi * math.Pi * k.Lengthscale * k.Lengthscale
	var gv, gl float64
	for i, fi := range f {
		a := c * fi * fi
		s := w[i] * math.Exp(a)
		gv += s
		gl += s * (1 + 2*a)
	}
	scale := k.Variance * k.Lengthscale * math.Sqrt(2*math.Pi)
	grad[0] += scale * gv
	grad[1] += scale * gl
}

var (
	_ Kernel                 = RQ{}
	_ capability.Reacher     = RQ{}
	_ capability.Bandlimited = RQ{}
)

// RQ is the rational quadratic kernel v·(1 + r²/2αl²)^−α (Rasmussen and
// Williams 2006, eq. 4.19): a scale mixture of SE kernels, SE as α → ∞.
type RQ struct{ Variance, Lengthscale, Alpha float64 }

func (k RQ) Params() []Param {
	return append(varianceAndLengthscale(k.Variance, k.Lengthscale), shapeParam("alpha", k.Alpha))
}
func (k RQ) WithParams(theta []float64) Kernel {
	want(theta, 3, "RQ")
	return RQ{theta[0], theta[1], theta[2]}
}
func (k RQ) String() string { return describe("RQ", k.Params()) }

// Reach returns the r at which (1 + r²/2αl²)^−α = eps.
func (k RQ) Reach(eps float64) float64 {
	return k.Lengthscale * math.Sqrt(2*k.Alpha*math.Expm1(-math.Log(eps)/k.Alpha))
}

// Bandwidth follows from the density, zᵛ·K_v(z) with z = 2πfl√(2α) and v = α − ½, which falls like exp(−v·(t − ln(1 + t/2))),
// t = √(1 + z²/v²) − 1 (Abramowitz and Stegun 1972, 9.7.8): like exp(−z) for small α, and like SE's density for large α.
func (k RQ) Bandwidth(eps float64) float64 {
	fall, v := -math.Log(eps), math.Max(k.Alpha-0.5, 1e-3)
	c := fall / v
	t := 2 * c
	for range 20 { // Newton's method from above, for a convex function
		step := (t - math.Log1p(t/2) - c) * (2 + t) / (1 + t)
		if t -= step; step <= 1e-6*t {
			break
		}
	}
	return v * math.Sqrt(t*(t+2)) / (2 * math.Pi * k.Lengthscale * math.Sqrt(2*k.Alpha))
}

// Steepness returns 1, since r·|k′|/v = 2α·s·(1 − s)^α, q = r²/2αl², s = q/(1 + q), is below 1.
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

var (
	_ Kernel                 = White{}
	_ capability.Reacher     = White{}
	_ capability.Bandlimited = White{}
	_ capability.Nuggeter    = White{}
	_ capability.Steep       = White{}
	_ capability.Amplified   = White{}
)

// White is v for an observation with itself and 0 otherwise, even at the same
// x: noise as part of a sum, beside the model's own. Its covariance is 0 at
// every distance, and v is its nugget, which losses add to the noise variance.
type White struct{ Variance float64 }

func (k White) Params() []Param {
	return []Param{{Name: "variance", Value: k.Variance, Transform: transform.Log{}, Unit: UnitY2, Role: RoleNoise}}
}
func (k White) WithParams(theta []float64) Kernel {
	want(theta, 1, "White")
	return White{theta[0]}
}
func (k White) String() string { return describe("White", k.Params()) }

func (k White) Reach(float64) float64     { return 0 }
func (k White) Bandwidth(float64) float64 { return 0 }
func (k White) Steepness(float64) float64 { return 0 }

// Nugget returns v.
func (k White) Nugget() float64                          { return k.Variance }
func (k White) ContractNugget(grad []float64, w float64) { grad[0] += w * k.Variance }
func (k White) Amplitudes() (at []int, known bool)       { return nil, true } // it has no signal

func (k White) Cov(dst, r []float64)       { clear(dst[:len(r)]) }
func (k White) Contract(_, _, _ []float64) {}
func (k White) Slope(dst, r []float64)     { clear(dst[:len(r)]) }
