// Package numeric has numerics of a few lines that statistics need everywhere and packages math and gonum lack: which numbers are
// finite, quantiles, a robust scale, corrected p values, the minimum of a function of one variable, and second derivatives by
// differences of gradients.
package numeric

import "math"

// IsFinite reports whether v is neither NaN nor infinite.
func IsFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// AllFinite reports whether each of the values is finite.
func AllFinite(values ...float64) bool { return FirstNotFinite(values) < 0 }

// FirstNotFinite returns the index of the first value that is not finite; −1 if there is none.
func FirstNotFinite(values []float64) int {
	for i, v := range values {
		if !IsFinite(v) {
			return i
		}
	}
	return -1
}

// OnlyFinite returns the finite ones of the values, in their order.
func OnlyFinite(values []float64) (some []float64) {
	for _, v := range values {
		if IsFinite(v) {
			some = append(some, v)
		}
	}
	return some
}
