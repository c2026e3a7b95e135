package gppl

import "math"

var _ Spectrum = SE{}

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
