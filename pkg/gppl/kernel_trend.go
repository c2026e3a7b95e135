package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
)

var (
	_ capability.Reacher     = DampedTrend{}
	_ capability.Bandlimited = DampedTrend{}
	_ capability.Steep       = DampedTrend{}
	_ capability.Markovian   = DampedTrend{}
)

// DampedTrend is the kernel of a level f that follows a slope s, both of which return to zero: with l the Lengthscale, m =
// Memory·l and a Wiener process W,
//
//	df = (s − f/l) dx,  ds = −s/m dx + σ dW,  k(r) = v·(l·exp(−r/l) − m·exp(−r/m))/(l − m).
//
// With a small Memory and a Lengthscale far beyond the range of x it is the local linear trend with damping of exponential
// smoothing (Gardner and McKenzie 1985), without noise of the level: a slope lasts for about m, a step Δ has the factor φ =
// exp(−Δ/m), and over longer gaps, m ≪ r ≪ l, the level is a random walk whose increments have the variance 2vr/l. The
// derivative of f has the variance v/lm. As Memory → 0, k becomes Laplace. At equal times, Memory = 1, k is Matern32's v·(1 +
// r/l)·exp(−r/l). Its paths are once differentiable. It is the SHO of Period 2πl·√Memory and Quality √Memory/(1 + Memory) ≤ ½,
// and on the line it is Markov, with a state of two numbers.
type DampedTrend struct{ Variance, Lengthscale, Memory float64 }

func (k DampedTrend) Params() []Param {
	return append(varianceAndLengthscale(k.Variance, k.Lengthscale), shapeParam("memory", k.Memory))
}
func (k DampedTrend) WithParams(theta []float64) Kernel {
	want(theta, 3, "DampedTrend")
	return DampedTrend{theta[0], theta[1], theta[2]}
}
func (k DampedTrend) String() string { return describe("DampedTrend", k.Params()) }

// Oscillator returns the equivalent SHO.
func (k DampedTrend) Oscillator() SHO {
	root := math.Sqrt(k.Memory)
	return SHO{k.Variance, 2 * math.Pi * k.Lengthscale * root, root / (1 + k.Memory)}
}

// oscillation returns the process with the chain rule: ∂log quality/∂log memory = ½ − memory/(1 + memory). Where the two times
// are far apart, they are the parameters of the process: the longer one, and the ratio of the shorter to it.
func (k DampedTrend) oscillation() oscillation {
	o := k.Oscillator().oscillation([][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0.5, 0.5 * (1 - k.Memory) / (1 + k.Memory)}})
	if _, parted := o.process.Parted(); parted {
		o.chain[2] = [3]float64{0, 0, 1}
		if k.Memory > 1 {
			o.chain[2] = [3]float64{0, 1, -1}
		}
	}
	return o
}

func (k DampedTrend) Cov(dst, r []float64)   { k.Oscillator().Cov(dst, r) }
func (k DampedTrend) Slope(dst, r []float64) { k.Oscillator().Slope(dst, r) }
func (k DampedTrend) Contract(grad, w, r []float64) {
	o := k.oscillation()
	o.contract(grad, w, r)
}

func (k DampedTrend) Processes(dst []capability.Process) []capability.Process {
	o := k.oscillation()
	return append(dst, &o)
}

func (k DampedTrend) Reach(eps float64) float64      { return k.Oscillator().Reach(eps) }
func (k DampedTrend) Bandwidth(eps float64) float64  { return k.Oscillator().Bandwidth(eps) }
func (k DampedTrend) Steepness(span float64) float64 { return k.Oscillator().Steepness(span) }
