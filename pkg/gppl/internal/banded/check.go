package banded

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// Check compares an Inverse with solutions by its Cholesky factor: call Solve with the factor, then Discrepancy with the
// inverse. It owns 3n numbers, kept for the next matrix. The zero value is ready for use.
//
// Solving shares only the factor with the recursion. Errors of the recursion show where it ends. One right-hand side e is
// therefore random in the rows of the block that is eliminated first in each half; a third is in the first block of the
// middle, where the halves meet and begin. Where the band closes (no entries beside a block), the recursion begins anew, so
// each such stretch has its own e. Their solutions do not overlap.
type Check struct {
	x    [3][]float64  // A⁻¹e for the first half, the second and the middle
	peak [3]float64    // the largest entry of F⁻¹e so far
	e    [side]float64 // the entries of e in a block that has any
}

// vanished is the size at which F⁻¹e counts as zero, relative to its largest entry: it adds less than rounding to the compared
// part of the solution, at any condition up to 1e15. F⁻¹e decays away from e. Zeros save work, and avoid subnormal numbers,
// which are slow.
const vanished = 1e-40

// signs are the signs of e: the first 32 bits of π after the point.
const signs uint32 = 0x243f6a88

// ends reports whether the recursion ends at block j: whether j is the first block of its part, or of a stretch of it, in the
// order of elimination.
func (a *Matrix) ends(j int) bool {
	switch {
	case j >= a.h:
		return j == len(a.blocks)-1 || a.blocks[j+1].off.Cols == 0
	case j == 0 || j == a.m:
		return true
	}
	return a.blocks[j-1].off.Cols == 0
}

// Solve computes the solutions for Discrepancy, in at most 4n·b flops and 8b² for the middle.
func (c *Check) Solve(a *Matrix) {
	for i := range c.e {
		c.e[i] = float64(signs>>i&1)*2 - 1
	}
	for i := range c.x {
		c.x[i] = dense.Resize(c.x[i], a.n)
		clear(c.x[i])
	}
	for j := range a.blocks {
		if a.ends(j) {
			b := &a.blocks[j]
			copy(c.x[a.part(j)][b.at:b.at+b.diag.Rows], c.e[:])
		}
	}
	inward(a, c, checkForward)
	outward(a, c, checkBackward)
}

// checkForward is forward for the right-hand sides that concern block j: a half's own, or all three in the middle.
func checkForward(a *Matrix, c *Check, j int) { c.each(a, j, (*Check).forward) }

func checkBackward(a *Matrix, c *Check, j int) { c.each(a, j, (*Check).backward) }

func (c *Check) each(a *Matrix, j int, step func(c *Check, a *Matrix, part, j int)) {
	p := a.part(j)
	if a.ends(j) {
		c.peak[p] = 0
	}
	step(c, a, p, j)
	if p == 2 && a.m > 0 {
		step(c, a, 0, j)
		step(c, a, 1, j)
	}
}

func (c *Check) forward(a *Matrix, part, j int) {
	b, x := &a.blocks[j], c.x[part]
	own := x[b.at : b.at+b.diag.Rows]
	if m := largest(own); m == 0 || m < vanished*c.peak[part] {
		clear(own)
		return
	}
	forward(a, dense.AsColumn(x), j)
	c.peak[part] = max(c.peak[part], largest(own))
}

func (c *Check) backward(a *Matrix, part, j int) {
	b, x := &a.blocks[j], c.x[part]
	if largest(x[b.at:b.at+b.diag.Rows]) != 0 || largest(x[b.lo:b.hi]) != 0 {
		backward(a, dense.AsColumn(x), j)
	}
}

// Discrepancy returns the largest difference between Ze and the solution, within the band of each block that was solved for,
// relative to the largest entry of the solution there. It is about the relative error of Z = A⁻¹ where the recursion ends. z
// must be the inverse of the matrix given to Solve. The result is NaN if any compared number is. A second call needs a second
// Solve.
func (c *Check) Discrepancy(z *Matrix) float64 {
	var worst float64
	for j := range z.blocks {
		if !z.ends(j) {
			continue
		}
		b := &z.blocks[j]
		x := c.x[z.part(j)]
		own, beside := x[b.at:b.at+b.diag.Rows], x[b.lo:b.hi]
		most := max(largest(own), largest(beside))
		e := c.e[:b.diag.Rows]
		blas64.Gemv(blas.NoTrans, -1, b.diag, dense.Vec(e), 1, dense.Vec(own))
		if b.off.Cols > 0 {
			blas64.Gemv(blas.Trans, -1, b.off, dense.Vec(e), 1, dense.Vec(beside))
		}
		worst = max(worst, max(largest(own), largest(beside))/most)
	}
	return worst
}

// largest returns max |x_i|, or NaN if any x_i is NaN.
func largest(x []float64) float64 {
	var m float64
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}

// Verify compares Z = A⁻¹ with the solutions of Solve, and checks 1/most ≤ Z_ii ≤ 1/least for all i, where A has no eigenvalue
// below least and no diagonal entry above most. limit is relative. A second call needs a second Solve.
func (c *Check) Verify(z *Matrix, least, most, limit float64) error {
	if err := verify.Near("the inverse within the band", c.Discrepancy(z), 0, limit); err != nil {
		return err
	}
	lo, hi := z.DiagonalRange()
	if err := verify.Near("1/(v + σ²) over the least entry on the diagonal of A⁻¹", max(1, 1/(most*lo)), 1, limit); err != nil {
		return err
	}
	return verify.Near("the largest entry on the diagonal of A⁻¹ times σ²", max(1, hi*least), 1, limit)
}

// DiagonalRange returns the smallest and the largest entry on the diagonal, NaN if any is NaN.
func (a *Matrix) DiagonalRange() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	a.eachDiagonal(func(_ int, v *float64) { lo, hi = min(lo, *v), max(hi, *v) })
	return lo, hi
}
