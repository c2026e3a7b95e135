package forecast

import (
	"math"

	"github.com/projected-likelihood/gppl/internal/quantile"
)

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

// quantile returns the quantile at level p, which lies in [lo, hi].
func (m mixture) quantile(p, lo, hi float64) float64 { return quantile.Of(p, lo, hi, m.distribution) }
