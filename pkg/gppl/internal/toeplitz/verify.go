package toeplitz

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/costs"
	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// Measured times for every missing row: seconds per row for its solve, and per row and missing row.
const (
	solveSeconds   = 3e-7
	missingSeconds = 4e-9
)

// Seconds estimates the time of a factor of n rows, with the given number of missing ones, and of the sums along diagonals.
func Seconds(n, missing int) float64 {
	rows, m := float64(n), float64(missing)
	long := max(0, rows-short)
	return costs.Of(costs.ToeplitzSquare, rows*rows) + costs.Of(costs.ToeplitzRow, rows) + costs.Of(costs.ToeplitzLong, long) +
		costs.Of(costs.ToeplitzOnce, 1) + m*rows*(solveSeconds+m*missingSeconds)
}

// vectors is the number of vectors of n numbers in a factor and a Workspace, including transforms of twice the next power of
// two.
const vectors = 56

// Bytes estimates the memory of a factor and a Workspace.
func Bytes(n, missing int) float64 { return 8 * float64(n) * (vectors + float64(missing)) }

// trusted is the relative error that the checks allow, far above rounding. Backward and the Rest of Solutions report smaller
// errors.
const trusted = 1e-8

// Verify compares A, whose first column is c, times the first column of A⁻¹ with 1, and A times the solutions with their
// columns (for sparse ones, their sum), by the residuals that Factorise and SolveColumns kept.
func (f *Factor) Verify(s *Solutions, c []float64) error {
	norm := -c[0]
	for _, v := range c {
		norm += 2 * math.Abs(v)
	}
	if err := verify.Near("the factor of the Toeplitz matrix", f.backward, 0, trusted*norm); err != nil {
		return err
	}
	near := func(rest, column, alpha blas64.Vector) error {
		limit := trusted * (blas64.Nrm2(column) + norm*blas64.Nrm2(alpha))
		return verify.Near("the solution by the Toeplitz factor", blas64.Nrm2(rest), 0, limit)
	}
	for j := range s.Rest.Rows {
		if err := near(dense.Row(s.Rest, j), dense.Row(s.columns.rows, j), dense.Row(s.Alpha, j)); err != nil {
			return err
		}
	}
	if len(s.columns.entries) == 0 {
		return nil
	}
	return near(dense.Vec(s.sumRest), dense.Vec(s.columns.sum), dense.Vec(s.sum))
}

// VerifySums compares the sums along two diagonals, the first and a given one, with their definition, without the transforms.
// sums belong to A⁻¹ − uᵀu, where u is c×n.
func (f *Factor) VerifySums(sums []float64, u blas64.General, other int) error {
	var size float64 // size of the terms
	for _, d := range [...]int{0, other} {
		want, terms := f.DiagonalSum(d, u.Data)
		size = max(size, terms)
		if err := verify.Near("a sum along a diagonal of the inverse", sums[d], want, trusted*size); err != nil {
			return err
		}
	}
	return nil
}
