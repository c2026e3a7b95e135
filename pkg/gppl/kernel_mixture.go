package gppl

import (
	"fmt"
	"math"
)

var (
	_ Kernel      = SpectralMixture{}
	_ Reacher     = SpectralMixture{}
	_ Bandlimited = SpectralMixture{}
)

// SpectralMixture is one component of the spectral mixture kernel (Wilson and Adams 2013,
// eq. 12), v·exp(−r²/2l²)·cos(2πr/p): a sinusoid of period p that drifts over the
// lengthscale l. Its spectral density is a Gaussian centred at the frequency 1/p with
// standard deviation 1/(2πl), plus its mirror image. The kernel of several components is
// their sum, NewSpectralMixture. In d = 1 it is positive definite; for d > 1, where it takes
// the Euclidean distance, it need not be.
//
// It is not a Spectrum: the gridded engine would need the square root of its density, whose
// Fourier transform does not decay like a Gaussian.
type SpectralMixture struct{ Variance, Lengthscale, Period float64 }

// NewSpectralMixture returns the spectral mixture kernel of q components, all parameters 1.
// auto.StartFrom takes their periods from the periodogram. It panics if q < 1.
func NewSpectralMixture(q int) Sum {
	if q < 1 {
		panic(fmt.Sprintf("gppl: NewSpectralMixture: q = %d, want at least 1", q))
	}
	terms := make([]Kernel, q)
	for i := range terms {
		terms[i] = SpectralMixture{1, 1, 1}
	}
	return Add(terms...)
}

func (k SpectralMixture) Params() []Param {
	return append(varianceAndLengthscale(k.Variance, k.Lengthscale),
		Param{Name: "period", Value: k.Period, Transform: Log{}, Unit: UnitX, Role: RolePeriod})
}
func (k SpectralMixture) WithParams(theta []float64) Kernel {
	want(theta, 3, "SpectralMixture")
	return SpectralMixture{theta[0], theta[1], theta[2]}
}
func (k SpectralMixture) String() string { return describe("SpectralMixture", k.Params()) }

// Reach is that of the SE factor.
func (k SpectralMixture) Reach(eps float64) float64 {
	return k.Lengthscale * math.Sqrt(-2*math.Log(eps))
}

// Bandwidth is 1/p plus the bandwidth of the SE factor.
func (k SpectralMixture) Bandwidth(eps float64) float64 {
	return math.Sqrt(-2*math.Log(eps))/(2*math.Pi*k.Lengthscale) + 1/k.Period
}

// Steepness: r·exp(−r²/2l²) is at most 0.61·l.
func (k SpectralMixture) Steepness(span float64) float64 {
	return 1 + min(span, 0.61*k.Lengthscale)*2*math.Pi/k.Period
}

func (k SpectralMixture) Cov(dst, r []float64) {
	c := -0.5 / (k.Lengthscale * k.Lengthscale)
	w := 2 * math.Pi / k.Period
	for i, ri := range r {
		dst[i] = k.Variance * math.Exp(c*ri*ri) * math.Cos(w*ri)
	}
}

func (k SpectralMixture) Contract(grad, w, r []float64) {
	c := 0.5 / (k.Lengthscale * k.Lengthscale)
	f := 2 * math.Pi / k.Period
	var gv, gl, gp float64
	for i, ri := range r {
		q := c * ri * ri
		s, cs := math.Sincos(f * ri)
		e := w[i] * math.Exp(-q)
		gv += e * cs
		gl += e * cs * q
		gp += e * s * f * ri
	}
	grad[0] += k.Variance * gv
	grad[1] += 2 * k.Variance * gl
	grad[2] += k.Variance * gp
}

func (k SpectralMixture) Slope(dst, r []float64) {
	c := 1 / (k.Lengthscale * k.Lengthscale)
	f := 2 * math.Pi / k.Period
	for i, ri := range r {
		s, cs := math.Sincos(f * ri)
		dst[i] = -k.Variance * math.Exp(-0.5*c*ri*ri) * (c*ri*cs + f*s)
	}
}
