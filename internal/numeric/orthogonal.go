package numeric

import "gonum.org/v1/gonum/floats"

// Orthogonalise subtracts from v its projections on orthonormal vectors, and returns their coefficients. It does so twice, so
// that what is left is orthogonal to rounding even if v is nearly a sum of them.
func Orthogonalise(v []float64, basis [][]float64) (coefficients []float64) {
	coefficients = make([]float64, len(basis))
	for range 2 {
		for i, q := range basis {
			c := floats.Dot(q, v)
			floats.AddScaled(v, -c, q)
			coefficients[i] += c
		}
	}
	return coefficients
}
