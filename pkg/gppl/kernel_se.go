package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/vexp"
)

var (
	_ Kernel      = SE{}
	_ Spectrum    = SE{}
	_ Reacher     = SE{}
	_ Bandlimited = SE{}
	_ Scaled      = SE{}
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

// Bandwidth returns where exp(−2π²l²f²) = eps.
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
