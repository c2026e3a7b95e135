package vexp

import "math"

// Roots replaces each number by its root, and negative ones by NaN.
func Roots(x []float64) {
	for i := rootsOfFours(x); i < len(x); i++ {
		x[i] = math.Sqrt(x[i])
	}
}
