package banded

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// NotPositive is the error of Cholesky: the pivot in Row is not positive, or NaN.
type NotPositive struct{ Row int }

func (e NotPositive) Error() string {
	return fmt.Sprintf("the matrix is not positive definite: elimination fails at row %d", e.Row)
}

// inward calls step(a, x, j) for every block j in the order of elimination. Each half is one goroutine. step is a function of
// a and x rather than a closure, which would be allocated.
func inward[T any](a *Matrix, x T, step func(a *Matrix, x T, j int)) {
	if a.m > 0 {
		parallel.For(2, func(half int) {
			if half == 0 {
				for j := range a.m {
					parallel.Look(a.Ctx)
					step(a, x, j)
				}
				return
			}
			for j := len(a.blocks) - 1; j >= a.h; j-- {
				parallel.Look(a.Ctx)
				step(a, x, j)
			}
		})
	}
	for j := a.m; j < a.h; j++ {
		parallel.Look(a.Ctx)
		step(a, x, j)
	}
}

// outward is inward in the opposite order.
func outward[T any](a *Matrix, x T, step func(a *Matrix, x T, j int)) {
	for j := a.h - 1; j >= a.m; j-- {
		parallel.Look(a.Ctx)
		step(a, x, j)
	}
	if a.m > 0 {
		parallel.For(2, func(half int) {
			if half == 0 {
				for j := a.m - 1; j >= 0; j-- {
					parallel.Look(a.Ctx)
					step(a, x, j)
				}
				return
			}
			for j := a.h; j < len(a.blocks); j++ {
				parallel.Look(a.Ctx)
				step(a, x, j)
			}
		})
	}
}

// Cholesky replaces A by its factor F, A = FFᵀ, in n·b² flops. F is lower triangular once the rows are put in the order of
// elimination. On a NotPositive error the contents are lost.
func (a *Matrix) Cholesky() error {
	a.bad = [3]int{-1, -1, -1}
	inward(a, struct{}{}, eliminate)
	for _, row := range a.bad {
		if row >= 0 {
			return NotPositive{row}
		}
	}
	return nil
}

// part returns to which part block j belongs: 0 and 1 are the halves, 2 is the middle.
func (a *Matrix) part(j int) int {
	switch {
	case j < a.m:
		return 0
	case j >= a.h:
		return 1
	}
	return 2
}

// eliminate takes block j, [D P], out of the matrix: D = UᵀU, P ← U⁻ᵀP, and A − PᵀP remains of the rows and columns [lo, hi).
func eliminate(a *Matrix, _ struct{}, j int) {
	part := a.part(j)
	if a.bad[part] >= 0 {
		return
	}
	b := &a.blocks[j]
	if i := potrf(b.diag); i >= 0 {
		a.bad[part] = b.at + i
		return
	}
	if b.off.Cols == 0 {
		return
	}
	from, to := b.lo/side, (b.hi-1)/side
	if to-from < spreadOut {
		dense.Trsm(blas.Left, blas.Trans, 1, upper(b.diag), b.off)
		for k := from; k <= to; k++ {
			a.update(j, k)
		}
		return
	}
	parallel.Within(a.Ctx, to-from+1, func(k int) {
		dense.Trsm(blas.Left, blas.Trans, 1, upper(b.diag), b.columns(b.within(from+k)))
	})
	parallel.Within(a.Ctx, to-from+1, func(k int) { a.update(j, from+k) })
}

// update subtracts from block k the contribution of eliminating block j.
func (a *Matrix) update(j, k int) {
	b, c := &a.blocks[j], &a.blocks[k]
	lo, hi := b.within(k)
	p := b.columns(lo, hi)
	d := dense.Sub(c.diag, lo-c.at, hi-c.at, lo-c.at, hi-c.at) // the whole block, or a corner
	blas64.Syrk(blas.Trans, -1, p, 1, symmetric(d))
	if l, h := max(b.lo, c.lo), min(b.hi, c.hi); l < h {
		dense.Gemm(blas.Trans, blas.NoTrans, -1, p, b.columns(l, h), 1, dense.Sub(c.off, lo-c.at, hi-c.at, l-c.lo, h-c.lo))
	}
}

// within returns the range of columns of b.off that are in block k.
func (b *block) within(k int) (lo, hi int) {
	return max(b.lo, k*side), min(b.hi, (k+1)*side)
}

// columns returns columns [lo, hi) of the matrix, all of them in b.off.
func (b *block) columns(lo, hi int) blas64.General {
	return columnRange(b.off, lo-b.lo, hi-b.lo)
}

// potrf replaces the upper triangle of d by U, d = UᵀU. It returns the row of the first bad pivot, or -1.
func potrf(d blas64.General) int {
	_, ok := lapack64.Potrf(symmetric(d))
	for i := range d.Rows {
		if p := d.Data[i*d.Stride+i]; !(p > 0) || math.IsInf(p, 0) {
			return i
		}
	}
	if !ok {
		panic("banded: Potrf failed, but no pivot is bad")
	}
	return -1
}

// Within returns a factor for one goroutine of many that share the band; its solves check ctx. It must not be factorised.
func (a *Matrix) Within(ctx context.Context) *Matrix {
	own := *a
	own.Ctx = ctx
	return &own
}

// SolveL replaces b (n×k) by F⁻¹b, in 2n·b·k flops: |F⁻¹y|² = yᵀA⁻¹y.
func (a *Matrix) SolveL(b blas64.General) {
	a.inStrips(b, func(a *Matrix, x blas64.General) { inward(a, x, forward) })
}

func forward(a *Matrix, x blas64.General, j int) {
	b := &a.blocks[j]
	xj := rowRange(x, b.at, b.at+b.diag.Rows)
	solve(blas.Trans, b.diag, xj)
	if b.off.Cols > 0 {
		add(blas.Trans, -1, b.off, xj, 1, rowRange(x, b.lo, b.hi))
	}
}

// Squares sets dst[c] to |F⁻¹b_c|² = b_cᵀA⁻¹b_c for the columns of b (n×k), which vanish outside rows [lo, hi), and clears b.
// It begins at the first of these rows in the order of elimination, and ends once the remaining terms are at most rest for all
// columns together. Elimination leaves r of b, and the Schur complement S of A; the remaining terms are rᵀS⁻¹r ≤ |r|²/least,
// since no eigenvalue of A, and hence none of S, is below least. It takes 2·b·k flops for each row that it passes.
func (a *Matrix) Squares(dst []float64, b blas64.General, lo, hi int, least, rest float64) {
	clear(dst)
	first, last := lo/side, (hi-1)/side
	step := func(j int) (done bool) { // r vanishes outside rows [lo, hi)
		forward(a, b, j)
		c := &a.blocks[j]
		own := rowRange(b, c.at, c.at+c.diag.Rows)
		dense.AddSquares(dst, 1, own)
		dense.Zero(own)
		if j < a.h {
			lo, hi = c.at+c.diag.Rows, max(hi, c.hi)
		} else {
			lo, hi = min(lo, c.lo), c.at
		}
		if lo >= hi {
			return true
		}
		left := rowRange(b, lo, hi)
		if done = squaresWithin(left, least*rest); done {
			dense.Zero(left)
		}
		return done
	}
	for j := first; j < a.m && lo < hi; j++ {
		if step(j) {
			return
		}
	}
	for j := last; j >= a.h && lo < hi; j-- {
		if step(j) {
			return
		}
	}
	for j := max(a.m, lo/side); j < a.h && lo < hi; j++ {
		if step(j) {
			return
		}
	}
}

// squaresWithin reports whether the sum of the squares of x is at most limit, and stops at the row that exceeds it.
func squaresWithin(x blas64.General, limit float64) bool {
	var sum float64
	for i := range x.Rows {
		for _, v := range x.Data[i*x.Stride:][:x.Cols] {
			sum += v * v
		}
		if !(sum <= limit) {
			return false
		}
	}
	return true
}

// SolveLT replaces b (n×k) by F⁻ᵀb, in 2n·b·k flops: A⁻¹y = F⁻ᵀF⁻¹y.
func (a *Matrix) SolveLT(b blas64.General) {
	a.inStrips(b, func(a *Matrix, x blas64.General) { outward(a, x, backward) })
}

func backward(a *Matrix, x blas64.General, j int) {
	b := &a.blocks[j]
	xj := rowRange(x, b.at, b.at+b.diag.Rows)
	if b.off.Cols > 0 {
		add(blas.NoTrans, -1, b.off, rowRange(x, b.lo, b.hi), 1, xj)
	}
	solve(blas.NoTrans, b.diag, xj)
}

// Inverse sets dst to the entries of A⁻¹ within the band, where a is a factor, in 2n·b² flops (Takahashi's recursion, last block
// first). dst may be a itself; else it must have been made or Reset with the same profile.
//
// With W = U⁻¹P, and Z the inverse of the part eliminated after block j: Z_j· = −WZ, and Z_jj = U⁻¹U⁻ᵀ + WZWᵀ. All entries of
// Z on the right are in the band, because the columns of a block have no gaps between them.
//
// An entry is as exact as one from a solve, however large n is: relative to the largest entry of its column the error is about
// 10·2⁻⁵³·κ, and at most 430·2⁻⁵³·κ at κ = 1e10, where A = K + σ²I and κ = v/σ² (TestInverseAccuracy, TestInverseLong). One
// step maps an error E of Z to MEMᵀ with M = [−W; I]. Further steps do not amplify E, because MZMᵀ ≤ Z in the entries that the
// next step reads. That holds for symmetric E only. Rounding leaves Z_jj slightly asymmetric, and a step passes on the square
// blocks of an antisymmetric E one by one, each with its own columns of W. These are large where A is a smooth covariance, and
// E grew exponentially: to 1e67 for SE at n = 3000, l = 32, σ² = 1e-6. Each Z_jj is therefore made symmetric to the last bit.
func (a *Matrix) Inverse(dst *Matrix) {
	same := func(b, c block) bool { return b.lo == c.lo && b.hi == c.hi }
	if dst.n != a.n || !slices.EqualFunc(a.blocks, dst.blocks, same) {
		panic("banded: the inverse has another profile than the factor")
	}
	outward(a, dst, invert)
}

func invert(a *Matrix, dst *Matrix, j int) {
	recur(a, dst, j)
	dense.Symmetrise(dst.blocks[j].diag)
}

// recur is a step of Takahashi's recursion, which leaves Z_jj symmetric up to rounding.
func recur(a *Matrix, dst *Matrix, j int) {
	b, z := &a.blocks[j], &dst.blocks[j]
	s := &dst.scratch[0]
	if j >= a.h {
		s = &dst.scratch[1]
	}
	u := upper(b.diag)
	inv := like(b.diag, s.diag) // U⁻¹
	clear(inv.Data)
	for i := range inv.Rows {
		inv.Data[i*inv.Stride+i] = 1
	}
	dense.Trsm(blas.Left, blas.NoTrans, 1, u, inv)
	if b.off.Cols == 0 {
		dense.Gemm(blas.NoTrans, blas.Trans, 1, inv, inv, 0, z.diag)
		return
	}
	w := like(b.off, s.off)
	copy(w.Data, b.off.Data)
	dense.Trsm(blas.Left, blas.NoTrans, 1, u, w)
	if (b.hi-b.lo)/side < spreadOut {
		dst.timesZ(j, w, 0, w.Rows)
	} else {
		parallel.Within(dst.Ctx, (w.Rows+piece-1)/piece, func(i int) {
			dst.timesZ(j, w, i*piece, min((i+1)*piece, w.Rows))
		})
	}
	dense.Gemm(blas.NoTrans, blas.Trans, 1, inv, inv, 0, z.diag)
	dense.Gemm(blas.NoTrans, blas.Trans, -1, z.off, w, 1, z.diag)
}

// piece is the number of rows that one processor takes in Inverse.
const piece = 16

// timesZ sets rows [r, r1) of z.blocks[j].off to −WZ, where Z is the inverse of the part that is eliminated after block j (see
// Inverse).
func (z *Matrix) timesZ(j int, w blas64.General, r, r1 int) {
	b := &z.blocks[j]
	w, y := rowRange(w, r, r1), rowRange(b.off, r, r1)
	clear(y.Data)
	for k := b.lo / side; k <= (b.hi-1)/side; k++ {
		c := &z.blocks[k]
		lo, hi := b.within(k)
		wk, yk := columnRange(w, lo-b.lo, hi-b.lo), columnRange(y, lo-b.lo, hi-b.lo)
		dense.Gemm(blas.NoTrans, blas.NoTrans, -1, wk, dense.Sub(c.diag, lo-c.at, hi-c.at, lo-c.at, hi-c.at), 1, yk)
		if l, h := max(b.lo, c.lo), min(b.hi, c.hi); l < h {
			zk := dense.Sub(c.off, lo-c.at, hi-c.at, l-c.lo, h-c.lo)
			dense.Gemm(blas.NoTrans, blas.NoTrans, -1, wk, zk, 1, columnRange(y, l-b.lo, h-b.lo))
			dense.Gemm(blas.NoTrans, blas.Trans, -1, columnRange(w, l-b.lo, h-b.lo), zk, 1, yk)
		}
	}
}

// like returns a matrix of the shape of t in the memory of data.
func like(t blas64.General, data []float64) blas64.General {
	t.Stride = max(1, t.Cols)
	t.Data = data[:t.Rows*t.Cols]
	return t
}

// Mul sets dst (n×k) to A·b, in 4n·b·k flops.
func (a *Matrix) Mul(dst, b blas64.General) {
	if dst.Rows != a.n || b.Rows != a.n || dst.Cols != b.Cols {
		panic("banded: shapes do not match")
	}
	if float64(len(a.data))*float64(b.Cols) < tooSmall {
		for j := range a.blocks {
			a.mulRows(dst, b, j)
		}
		return
	}
	parallel.Within(a.Ctx, len(a.blocks), func(j int) { a.mulRows(dst, b, j) })
}

// mulRows computes the rows of block j of A·b from its own tiles, and the tiles of other blocks that have these rows among their
// columns.
func (a *Matrix) mulRows(dst, x blas64.General, j int) {
	b := &a.blocks[j]
	at, end := b.at, b.at+b.diag.Rows
	y := rowRange(dst, at, end)
	add(blas.NoTrans, 1, b.diag, rowRange(x, at, end), 0, y)
	if b.off.Cols > 0 {
		add(blas.NoTrans, 1, b.off, rowRange(x, b.lo, b.hi), 1, y)
	}
	mirror := func(c *block) {
		lo, hi := max(at, c.lo), min(end, c.hi)
		add(blas.Trans, 1, c.columns(lo, hi), rowRange(x, c.at, c.at+c.diag.Rows), 1, rowRange(dst, lo, hi))
	}
	for k := min(j, a.h) - 1; k >= 0 && a.blocks[k].hi > at; k-- {
		mirror(&a.blocks[k])
	}
	for k := max(j+1, a.h); k < len(a.blocks) && a.blocks[k].lo < end; k++ {
		mirror(&a.blocks[k])
	}
}

// add sets c = alpha·op(a)·b + beta·c. For few columns Gemm would work on short rows; Gemv, one column at a time, is faster.
func add(ta blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) {
	if b.Cols >= fewColumns {
		dense.Gemm(ta, blas.NoTrans, alpha, a, b, beta, c)
		return
	}
	for i := range b.Cols {
		blas64.Gemv(ta, alpha, a, dense.Column(b, i), beta, dense.Column(c, i))
	}
}

// inStrips calls f for strips of columns of x: in parallel if the elimination of a does not occupy two processors and there is
// sufficient work.
func (a *Matrix) inStrips(x blas64.General, f func(a *Matrix, x blas64.General)) {
	if a.m > 0 || x.Cols < 2*fewColumns || float64(len(a.data))*float64(x.Cols) < tooSmall {
		f(a, x)
		return
	}
	width := min(dense.Tile, (x.Cols+1)/2)
	parallel.For((x.Cols+width-1)/width, func(i int) {
		f(a, columnRange(x, i*width, min((i+1)*width, x.Cols)))
	})
}

// solve replaces x by op(U)⁻¹x.
func solve(t blas.Transpose, d, x blas64.General) {
	if x.Cols >= fewColumns {
		dense.Trsm(blas.Left, t, 1, upper(d), x)
		return
	}
	for i := range x.Cols {
		blas64.Trsv(t, upper(d), dense.Column(x, i))
	}
}

const fewColumns = 4

// rowRange returns rows [lo, hi) of x.
func rowRange(x blas64.General, lo, hi int) blas64.General { return dense.Sub(x, lo, hi, 0, x.Cols) }

// columnRange returns columns [lo, hi) of x.
func columnRange(x blas64.General, lo, hi int) blas64.General { return dense.Sub(x, 0, x.Rows, lo, hi) }

func upper(d blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: d.Rows, Stride: d.Stride, Data: d.Data}
}

func symmetric(d blas64.General) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: d.Rows, Stride: d.Stride, Data: d.Data}
}
