package regress

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Polynomials returns an orthonormal basis of the polynomials in x up to the given degree, or of those that x distinguishes,
// by the three-term recurrence of their orthogonal polynomials on x (Forsythe 1957). It takes O(n·degree²).
func Polynomials(x []float64, degree int) (basis [][]float64) {
	n := len(x)
	q := slices.Repeat([]float64{1 / math.Sqrt(float64(n))}, n)
	basis = append(basis, q)
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, t := range x {
		lo, hi = min(lo, t), max(hi, t)
	}
	for range degree {
		next := make([]float64, n)
		for i, t := range x {
			next[i] = (2*(t-lo)/(hi-lo) - 1) * q[i]
		}
		for range 2 { // again, against rounding
			for _, b := range basis {
				floats.AddScaled(next, -floats.Dot(b, next), b)
			}
		}
		length := floats.Norm(next, 2)
		if !(length > 1e-9) { // there are too few distinct x; NaN if all are equal
			return basis
		}
		floats.Scale(1/length, next)
		basis, q = append(basis, next), next
	}
	return basis
}
