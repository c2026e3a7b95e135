package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/vexp"
)

var (
	_ capability.Bandlimited = Periodic{}
	_ capability.Bandlimited = LocPer{}
	_ capability.Reacher     = LocPer{}
)

// Periodic is the kernel v·exp(−2 sin²(πr/p)/l²) (MacKay 1998; Rasmussen and Williams 2006, eq. 4.31): exactly periodic functions
// of period p. Its lengthscale is a pure number: the phase over which f varies. In d = 1 it is positive definite; for d > 1,
// where it takes the Euclidean distance, it need not be.
type Periodic struct{ Variance, Lengthscale, Period float64 }

func (k Periodic) Params() []Param {
	return []Param{varianceParam(k.Variance), shapeParam("lengthscale", k.Lengthscale), periodParam(k.Period)}
}
func (k Periodic) WithParams(theta []float64) Kernel {
	want(theta, 3, "Periodic")
	return Periodic{theta[0], theta[1], theta[2]}
}
func (k Periodic) String() string { return describe("Periodic", k.Params()) }

func (k Periodic) Bandwidth(eps float64) float64 {
	return harmonics(k.Lengthscale, -math.Log(eps)) / k.Period
}

func (k Periodic) Steepness(span float64) float64 {
	return span * periodicSteepness(k.Lengthscale, k.Period)
}

// still returns the kernel as a LocPer whose pattern never drifts.
func (k Periodic) still() LocPer { return LocPer{k.Variance, math.Inf(1), k.Period, k.Lengthscale} }

func (k Periodic) Cov(dst, r []float64)   { k.still().Cov(dst, r) }
func (k Periodic) Slope(dst, r []float64) { k.still().Slope(dst, r) }

func (k Periodic) Contract(grad, w, r []float64) {
	var g [4]float64
	k.still().Contract(g[:], w, r)
	grad[0] += g[0]
	grad[1] += g[3]
	grad[2] += g[2]
}

// LocPer is the locally periodic kernel v·exp(−r²/2l² − 2 sin²(πr/p)/l_p²): a periodic pattern that drifts over the lengthscale
// l. It is SE × Periodic with one variance.
type LocPer struct{ Variance, Lengthscale, Period, PeriodicLengthscale float64 }

func (k LocPer) Params() []Param {
	return append(varianceAndLengthscale(k.Variance, k.Lengthscale), periodParam(k.Period),
		shapeParam("periodic lengthscale", k.PeriodicLengthscale))
}
func (k LocPer) WithParams(theta []float64) Kernel {
	want(theta, 4, "LocPer")
	return LocPer{theta[0], theta[1], theta[2], theta[3]}
}
func (k LocPer) String() string { return describe("LocPer", k.Params()) }

// Reach returns the reach of the SE factor.
func (k LocPer) Reach(eps float64) float64 { return k.Lengthscale * math.Sqrt(-2*math.Log(eps)) }

// Bandwidth returns the sum of the bandwidths of the two factors.
func (k LocPer) Bandwidth(eps float64) float64 {
	digits := -math.Log(eps)
	return math.Sqrt(2*digits)/(2*math.Pi*k.Lengthscale) + harmonics(k.PeriodicLengthscale, digits)/k.Period
}

// Steepness uses that r·exp(−r²/2l²) is at most 0.61·l.
func (k LocPer) Steepness(span float64) float64 {
	return 1 + min(span, 0.61*k.Lengthscale)*periodicSteepness(k.PeriodicLengthscale, k.Period)
}

func (k LocPer) Cov(dst, r []float64) {
	cl := 0.5 / (k.Lengthscale * k.Lengthscale)
	cp := 2 / (k.PeriodicLengthscale * k.PeriodicLengthscale)
	var waves [2][chunk]float64
	for from := 0; from < len(r); from += chunk {
		part := r[from:min(from+chunk, len(r))]
		sin, _ := sincosPi(&waves, part, k.Period)
		for i, ri := range part {
			dst[from+i] = -cl*ri*ri - cp*sin[i]*sin[i]
		}
	}
	expScaled(dst[:len(r)], k.Variance)
}

// sincosPi returns sin and cos of πr/period, for up to chunk values of r.
func sincosPi(scratch *[2][chunk]float64, r []float64, period float64) (sin, cos []float64) {
	sin, cos = scratch[0][:len(r)], scratch[1][:len(r)]
	for i, ri := range r {
		sin[i] = ri / period
	}
	vexp.SincosPi(sin, cos, sin)
	return sin, cos
}

func (k LocPer) Contract(grad, w, r []float64) {
	cl := 0.5 / (k.Lengthscale * k.Lengthscale)
	cp := 2 / (k.PeriodicLengthscale * k.PeriodicLengthscale)
	var gv, gl, gp, glp float64
	turn := math.Pi / k.Period
	var waves [2][chunk]float64
	var buf [chunk]float64
	for len(r) > 0 {
		e := buf[:min(chunk, len(r))]
		sin, cos := sincosPi(&waves, r[:len(e)], k.Period)
		for i, ri := range r[:len(e)] {
			e[i] = -cl*ri*ri - cp*sin[i]*sin[i]
		}
		vexp.Exp(e, e)
		for i, ri := range r[:len(e)] {
			we := w[i] * e[i]
			gv += we
			gl += we * (cl * ri * ri)
			gp += we * (turn * ri * sin[i] * cos[i])
			glp += we * (sin[i] * sin[i])
		}
		w, r = w[len(e):], r[len(e):]
	}
	grad[0] += k.Variance * gv
	grad[1] += 2 * k.Variance * gl
	grad[2] += 2 * cp * k.Variance * gp
	grad[3] += 2 * cp * k.Variance * glp
}

func (k LocPer) Slope(dst, r []float64) {
	cl := 0.5 / (k.Lengthscale * k.Lengthscale)
	cp := 2 / (k.PeriodicLengthscale * k.PeriodicLengthscale)
	f := math.Pi / k.Period
	for i, ri := range r {
		s, cs := math.Sincos(f * ri)
		dst[i] = -k.Variance * (2*cl*ri + 2*cp*f*s*cs) * math.Exp(-cl*ri*ri-cp*s*s)
	}
}

// harmonics estimates the number of harmonics of exp(−2 sin²/l²): its coefficients are Bessel functions I_j(1/l²), which fall
// like a Gaussian and then faster.
func harmonics(l, digits float64) float64 {
	return 3 + math.Sqrt(2*digits)/l + digits/8
}

// periodicSteepness bounds the slope of exp(−2 sin²(πr/p)/l²): exp(−c·sin²a)
// turns at most by min(c, √(2c/e)) for each unit of a = πr/p.
func periodicSteepness(l, period float64) float64 {
	c := 2 / (l * l)
	return math.Pi / period * min(c, math.Sqrt(2*c/math.E))
}

var (
	_ capability.Bandlimited = Cosine{}
	_ capability.Steep       = Cosine{}
	_ capability.Waver       = Cosine{}
)

// Cosine is the kernel v·cos(2πr/p): a sinusoid of period p whose amplitude and phase never change. Its product (Mul) with a
// Matérn or another Markov kernel is a sinusoid that drifts. In d = 1 it is positive definite; for d > 1, where it takes the
// Euclidean distance, it need not be. On the line it is Markov, with a state of two numbers; its product with a Markov kernel
// is Markov, with twice the state of that kernel.
type Cosine struct{ Variance, Period float64 }

func (k Cosine) Params() []Param {
	return []Param{varianceParam(k.Variance), periodParam(k.Period)}
}
func (k Cosine) WithParams(theta []float64) Kernel {
	want(theta, 2, "Cosine")
	return Cosine{theta[0], theta[1]}
}
func (k Cosine) String() string { return describe("Cosine", k.Params()) }

func (k Cosine) Bandwidth(float64) float64                                  { return 1 / k.Period }
func (k Cosine) Steepness(span float64) float64                             { return 2 * math.Pi * span / k.Period }
func (k Cosine) PeriodParam() int                                           { return 1 }
func (k Cosine) Coefficients(dst []float64, _ float64, _ []capability.Band) { dst[0] = k.Variance }

// Bands implements Waver: one frequency.
func (k Cosine) Bands(dst []capability.Band, _, _ float64) (float64, []capability.Band) {
	return k.Period, append(dst, capability.Band{From: 1, To: 1})
}
func (k Cosine) ContractCoefficients(grad, w []float64, _ float64, _ []capability.Band) {
	grad[0] += k.Variance * w[0]
}

func (k Cosine) Cov(dst, r []float64) {
	f := 2 * math.Pi / k.Period
	for i, ri := range r {
		dst[i] = k.Variance * math.Cos(f*ri)
	}
}

func (k Cosine) Contract(grad, w, r []float64) {
	f := 2 * math.Pi / k.Period
	var gv, gp float64
	for i, ri := range r {
		s, c := math.Sincos(f * ri)
		gv += w[i] * c
		gp += w[i] * f * ri * s
	}
	grad[0] += k.Variance * gv
	grad[1] += k.Variance * gp
}

func (k Cosine) Slope(dst, r []float64) {
	f := 2 * math.Pi / k.Period
	for i, ri := range r {
		dst[i] = -k.Variance * f * math.Sin(f*ri)
	}
}

var (
	_ capability.Reacher     = SpectralMixture{}
	_ capability.Bandlimited = SpectralMixture{}
)

// SpectralMixture is one component of the spectral mixture kernel (Wilson and Adams 2013, eq. 12), v·exp(−r²/2l²)·cos(2πr/p): a
// sinusoid of period p that drifts over the lengthscale l. Its spectral density is a Gaussian centred at the frequency 1/p with
// standard deviation 1/(2πl), plus its mirror image. The kernel of several components is their sum, whose
// periods auto.StartFrom takes from the periodogram. In d = 1
// it is positive definite; for d > 1, where it takes the Euclidean distance, it need not be.
//
// It is not a Spectrum: the gridded engine would need the square root of its density, whose
// Fourier transform does not decay like a Gaussian.
type SpectralMixture struct{ Variance, Lengthscale, Period float64 }

func (k SpectralMixture) Params() []Param {
	return append(varianceAndLengthscale(k.Variance, k.Lengthscale), periodParam(k.Period))
}
func (k SpectralMixture) WithParams(theta []float64) Kernel {
	want(theta, 3, "SpectralMixture")
	return SpectralMixture{theta[0], theta[1], theta[2]}
}
func (k SpectralMixture) String() string { return describe("SpectralMixture", k.Params()) }

// Reach returns the reach of the SE factor.
func (k SpectralMixture) Reach(eps float64) float64 {
	return k.Lengthscale * math.Sqrt(-2*math.Log(eps))
}

// Bandwidth returns 1/p plus the bandwidth of the SE factor.
func (k SpectralMixture) Bandwidth(eps float64) float64 {
	return math.Sqrt(-2*math.Log(eps))/(2*math.Pi*k.Lengthscale) + 1/k.Period
}

// Steepness uses that r·exp(−r²/2l²) is at most 0.61·l.
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
