package analysis

import "math"

// mixture is the distribution of one forecast value: Gaussians of y, or of log y.
type mixture []component

type component struct {
	weight   float64
	log      bool // of log y
	mean, sd float64
}

// quantile returns the quantile whose standard normal one is z.
func (c component) quantile(z float64) float64 {
	v := c.mean + z*c.sd
	if c.log {
		v = math.Exp(v)
	}
	return v
}

// distribution returns the probability of a value below v, and its derivative, the density at v.
func (m mixture) distribution(v float64) (below, density float64) {
	logV := math.Log(v)
	for _, c := range m {
		at, slope := v, 1.0
		if c.log {
			if v <= 0 {
				continue
			}
			at, slope = logV, 1/v
		}
		u := (at - c.mean) / c.sd
		if at == c.mean {
			u = 0 // also with no deviation
		}
		below += c.weight * 0.5 * math.Erfc(-u/math.Sqrt2)
		density += c.weight * slope * math.Exp(-0.5*u*u) / (c.sd * math.Sqrt(2*math.Pi))
	}
	return below, density
}

// quantile returns the quantile at level p, which lies in [lo, hi], to 2⁻⁴⁰ of this bracket or to rounding: by Newton's method, with a
// bisection wherever a step would leave the bracket or is not half of the one before (Press et al., Numerical Recipes, rtsafe). Parts that
// are alike take six to eight evaluations, very different ones more (BenchmarkMixtureQuantile).
func (m mixture) quantile(p, lo, hi float64) float64 {
	v, step := lo+0.5*(hi-lo), hi-lo
	const reached = 1e-9 // a tiny step away from another level is one within a part of tiny deviation: bisect
	for tolerance := max(0x1p-40*step, 0x1p-52*max(math.Abs(lo), math.Abs(hi))); step > tolerance; {
		below, density := m.distribution(v)
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
