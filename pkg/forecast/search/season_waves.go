package search

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// refine returns the period in steps, within half a cycle over the span, at which the given number of harmonics explain most, and
// their gain there, in nats.
func (v *view) refine(steps float64, harmonics int) (best, more float64) {
	const rounds, tries, finer = 5, 3, 2.5
	span := float64(v.at[len(v.at)-1])
	at := func(shift float64) float64 { return 1 / (1/steps + shift/span) } // the period at a shift in cycles over the span
	here := v.gainAt(steps, harmonics)
	shift, top, reach := 0.0, here, 0.5
	for range rounds {
		centre := shift
		for k := -tries; k <= tries; k++ {
			to := centre + reach*float64(k)/tries
			if k == 0 || !(at(to) >= 2) {
				continue
			}
			if gain := v.gainAt(at(to), harmonics); gain > top {
				shift, top = to, gain
			}
		}
		reach /= finer
	}
	return at(shift), top - here
}

// settle sets the refined period of a season, unless the harmonics gain no more there than at the whole number of steps.
func (v *view) settle(f folded) folded {
	const (
		most      = 6 // harmonics
		leastGain = 2 // nats, the gain of one more coefficient by chance in one of twenty series
	)
	steps, more := v.refine(f.steps(), max(1, min(most, int((f.steps()-1)/2))))
	if f.parts > 1 || more > leastGain {
		f.refined = steps
	}
	return f
}

// gainAt returns the gain in nats, without a penalty, of the first harmonics of a period in steps.
func (v *view) gainAt(steps float64, harmonics int) float64 {
	n, k := len(v.y), 2*harmonics+2
	products, b, row := make([]float64, k*k), make([]float64, k), make([]float64, k) // the upper triangle of the first
	last, total := float64(v.at[n-1]), 0.0
	for i, y := range v.y {
		sin, cos := math.Sincos(2 * math.Pi * float64(v.at[i]) / steps)
		turn, now := complex(cos, sin), complex(1, 0)
		row[0], row[1] = 1, float64(v.at[i])/last // a wave of a few cycles has tilted the line that was subtracted
		for h := range harmonics {
			now *= turn
			row[2*h+2], row[2*h+3] = real(now), imag(now)
		}
		for c, r := range row {
			r *= v.weight[i]
			b[c] += r * y
			for d := c; d < k; d++ {
				products[c*k+d] += r * row[d]
			}
		}
		total += v.weight[i] * y * y
	}
	a, right := mat.NewSymDense(k, products), mat.NewVecDense(k, b)
	var chol mat.Cholesky
	var beta mat.VecDense
	if !chol.Factorize(a) || chol.SolveVecTo(&beta, right) != nil {
		return math.Inf(-1)
	}
	return gainOf(float64(n), total, mat.Dot(&beta, right), 0)
}
