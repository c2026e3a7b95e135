package vexp

import "math"

// AddSquares adds (x − from[j])² to s[j].
func AddSquares(s []float64, x float64, from []float64) {
	from = from[:len(s)]
	for j := squaresOfFours(s, x, from); j < len(s); j++ {
		d := x - from[j]
		s[j] += float64(d * d)
	}
}

// Roots replaces each number by its root, and negative ones by NaN.
func Roots(x []float64) {
	for i := rootsOfFours(x); i < len(x); i++ {
		x[i] = math.Sqrt(x[i])
	}
}
