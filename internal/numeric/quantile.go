package numeric

import "math"

// NormalQuantile returns Φ⁻¹(p), the quantile of the standard normal distribution.
func NormalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// Quantile returns the quantile at level p, 0 < p < 1, of a distribution in [lo, hi], to 2⁻⁴⁰ of this bracket or to rounding.
// distribution returns the probability of a value below v, or at v, and its derivative, the density at v.
//
// It takes Newton's steps, and bisects wherever a step would leave the bracket or is not half of the one before (Press et al.,
// Numerical Recipes, rtsafe). A mixture of similar Gaussians takes six to eight evaluations, very different ones more.
func Quantile(p, lo, hi float64, distribution func(v float64) (below, density float64)) float64 {
	v, step := lo+0.5*(hi-lo), hi-lo
	const reached = 1e-9 // a tiny step farther from the level is within a part of tiny deviation, and bisection follows
	for tolerance := max(0x1p-40*step, 0x1p-52*max(math.Abs(lo), math.Abs(hi))); step > tolerance; {
		below, density := distribution(v)
		if below < p {
			lo = v
		} else {
			hi = v
		}
		newton, before := (p-below)/density, step
		step = math.Abs(newton)
		switch inside := v+newton > lo && v+newton < hi; {
		case step > tolerance && step < 0.5*before && inside, step <= tolerance && math.Abs(p-below) < reached:
			v += newton
		default:
			v, step = lo+0.5*(hi-lo), 0.5*(hi-lo)
		}
	}
	return v
}
