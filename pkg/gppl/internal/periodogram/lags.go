package periodogram

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Lags holds the weights for the expectation of a periodogram of tapered values on an even grid, at the frequencies j/Period,
// j = 0 … ⌊Period/2⌋, in cycles a step:
//
//	E I_j = Σ_d Pairs_|d|·k(d)·cos(2πjd/Period), over lags d of both signs,
//
// where Pairs_d = Σ_t h_t·h_{t+d} for a taper h with Σ h² = 1 that is 0 where there is no value.
type Lags struct {
	Period int
	Pairs  []float64 // for the lags from 0 on
}

// Fold sets dst, of ⌊Period/2⌋ + 1 entries, to the values of the lags times Pairs as an even sequence of that period; its
// Transform.Cosines are the expectation. Pairs of values beyond len(Pairs) are 1.
func (l *Lags) Fold(dst, values []float64) {
	near := min(len(values), (l.Period+1)/2) // lags that nothing wraps to, mostly all
	copy(dst, values[:near])
	if l.Pairs != nil {
		floats.Mul(dst[:near], l.Pairs[:near])
	}
	clear(dst[near:])
	for d := near; d < len(values); d++ {
		v := values[d]
		if l.Pairs != nil {
			v *= l.Pairs[d]
		}
		at := d % l.Period
		at = min(at, l.Period-at)
		if at == 0 || 2*at == l.Period {
			v *= 2 // the lags d and −d share a place
		}
		dst[at] += v
	}
}

// Slopes sets dst, by lag, to the derivatives in k(d) of Σ_j a_j·E I_j, given cosines_t = Σ_j a_j·cos(2πjt/Period).
func (l *Lags) Slopes(dst, cosines []float64) {
	for d := range dst {
		at := d % l.Period
		v := cosines[min(at, l.Period-at)]
		if l.Pairs != nil {
			v *= l.Pairs[d]
		}
		if d > 0 {
			v *= 2
		}
		dst[d] = v
	}
}

// LogLikelihood returns Whittle's W = Σ_j w_j·(log E_j + I_j/E_j) and sets slopes_j, unless slopes is nil, to ∂W/∂E_j. Ordinates
// of weight 0 are left out.
func LogLikelihood(slopes, weights, data, expected []float64) (value float64) {
	for j, w := range weights {
		if w == 0 {
			if slopes != nil {
				slopes[j] = 0
			}
			continue
		}
		e := expected[j]
		value += w * (math.Log(e) + data[j]/e)
		if slopes != nil {
			slopes[j] = w * (1 - data[j]/e) / e
		}
	}
	return value
}
