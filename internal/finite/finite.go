// Package finite tells finite numbers from NaN and infinities.
package finite

import (
	"math"
)

// Is reports whether v is neither NaN nor infinite.
func Is(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// All reports whether each of the values is finite.
func All(values ...float64) bool { return First(values) < 0 }

// First returns the index of the first value that is not finite; −1 if there is none.
func First(values []float64) int {
	for i, v := range values {
		if !Is(v) {
			return i
		}
	}
	return -1
}

// Of returns the finite ones of the values, in their order.
func Of(values []float64) (some []float64) {
	for _, v := range values {
		if Is(v) {
			some = append(some, v)
		}
	}
	return some
}
