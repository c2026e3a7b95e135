package gppl

import "math"

var (
	_ Kernel      = Cosine{}
	_ Bandlimited = Cosine{}
	_ Steep       = Cosine{}
	_ Waver       = Cosine{}
)

// Cosine is the kernel v·cos(2πr/p): a sinusoid of period p whose amplitude and phase never change. Times a Matérn or another
// Markov kernel (Mul) it is a sinusoid that drifts. In d = 1 it is positive definite; for d > 1, where it takes the Euclidean
// distance, it need not be. On the line it is Markov, with a state of two numbers, and so is its product with a Markov kernel,
// with twice as many as that.
type Cosine struct{ Variance, Period float64 }

func (k Cosine) Params() []Param {
	return []Param{
		{Name: "variance", Value: k.Variance, Transform: Log{}, Unit: UnitY2, Role: RoleVariance},
		{Name: "period", Value: k.Period, Transform: Log{}, Unit: UnitX, Role: RolePeriod},
	}
}
func (k Cosine) WithParams(theta []float64) Kernel {
	want(theta, 2, "Cosine")
	return Cosine{theta[0], theta[1]}
}
func (k Cosine) String() string { return describe("Cosine", k.Params()) }

func (k Cosine) Bandwidth(float64) float64                       { return 1 / k.Period }
func (k Cosine) Steepness(span float64) float64                  { return 2 * math.Pi * span / k.Period }
func (k Cosine) PeriodParam() int                                { return 1 }
func (k Cosine) Coefficients(dst []float64, _ float64, _ []Band) { dst[0] = k.Variance }

// Bands implements Waver: one frequency.
func (k Cosine) Bands(dst []Band, _, _ float64) (float64, []Band) {
	return k.Period, append(dst, Band{1, 1})
}
func (k Cosine) ContractCoefficients(grad, w []float64, _ float64, _ []Band) {
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
