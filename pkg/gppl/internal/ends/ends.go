// Package ends finds between which values a transform of a parameter keeps it.
package ends

import "math"

// Of returns the limits of a monotone function θ(u) as u goes to −∞ and to +∞, the smaller one first, and −Inf or +Inf where it
// has none. It evaluates the function at raw values of up to 1e12: a limit is taken for one if the last tenfold changes θ by less
// than a hundredth. Values that are no numbers, where the function overflows, are passed over.
func Of(natural func(u float64) float64) (lo, hi float64) {
	lo, hi = limit(natural, -1), limit(natural, 1)
	if lo > hi || math.IsInf(lo, 1) || math.IsInf(hi, -1) {
		lo, hi = hi, lo
	}
	return lo, hi
}

// limit returns where natural goes on one side, ±Inf if it grows or vanishes slowly without end.
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
