package gppl

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Detrend subtracts from y its least-squares cubic in x, or a polynomial of lower
// degree if x has fewer distinct values. For inputs of several dimensions it subtracts
// the mean.
func Detrend(d Data) Data {
	rest := slices.Clone(d.Y)
	if y := floats.Norm(rest, math.Inf(1)); y > mostMagnitude { // sums would overflow
		scale := math.Exp2(-100)
		floats.Scale(scale, rest)
		rest = Detrend(Data{X: d.X, Y: rest}).Y
		floats.Scale(1/scale, rest)
		return Data{X: d.X, Y: rest}
	}
	for _, q := range trend(d.X) {
		floats.AddScaled(rest, -floats.Dot(q, rest), q)
	}
	return Data{X: d.X, Y: rest}
}

// trend returns an orthonormal basis of the cubics in x, by the three-term
// recurrence of their orthogonal polynomials on x (Forsythe 1957); of the
// constants, for inputs of several dimensions.
func trend(x Inputs) (basis [][]float64) {
	n := x.Len()
	q := slices.Repeat([]float64{1 / math.Sqrt(float64(n))}, n)
	basis = append(basis, q)
	if x.Dim() != 1 {
		return basis
	}
	lo, hi := x.Range(0)
	for range 3 {
		next := make([]float64, n)
		for i, t := range x.at {
			next[i] = (2*(t-lo)/(hi-lo) - 1) * q[i]
		}
		for range 2 { // again, against rounding
			for _, b := range basis {
				floats.AddScaled(next, -floats.Dot(b, next), b)
			}
		}
		length := floats.Norm(next, 2)
		if !(length > 1e-9) { // too few distinct x, or all equal: NaN
			return basis
		}
		floats.Scale(1/length, next)
		basis, q = append(basis, next), next
	}
	return basis
}
