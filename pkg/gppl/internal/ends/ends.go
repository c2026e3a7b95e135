// Package ends finds the limits between which a transform keeps a parameter.
package ends

import "math"

// Of returns the limits of a monotone function θ(u) as u goes to −∞ and to +∞, the smaller one first, and −Inf or +Inf where
// there is none. It evaluates the function at raw values of up to 1e12: a limit is accepted if the last tenfold change of u
// changes θ by less than a hundredth. NaN values, where the function overflows, are skipped.
func Of(natural func(u float64) float64) (lo, hi float64) {
	lo, hi = limit(natural, -1), limit(natural, 1)
	if lo > hi || math.IsInf(lo, 1) || math.IsInf(hi, -1) {
		lo, hi = hi, lo
	}
	return lo, hi
}

// limit returns the limit of natural on one side, ±Inf if it grows or vanishes slowly without end.
func limit(natural func(u float64) float64, side float64) float64 {
	far, near := math.NaN(), math.NaN()
	for u := 1e12; u >= 1 && math.IsNaN(near); u /= 10 {
		switch v := natural(side * u); {
		case math.IsNaN(v):
		case math.IsNaN(far):
			far = v
		default:
			near = v
		}
	}
	const settled = 0.01
	switch {
	case math.IsInf(far, 0), math.Abs(far-near) <= settled*max(math.Abs(far), math.Abs(near)):
		return far
	case near > far:
		return math.Inf(-1)
	}
	return math.Inf(1)
}
