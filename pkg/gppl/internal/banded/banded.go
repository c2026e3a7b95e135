// Package banded does the linear algebra of symmetric positive definite matrices whose entries lie near the diagonal. Where the
// band ends may differ from row to row, as long as it never moves back.
//
// The matrix is divided into blocks of rows. A block holds its square on the diagonal and, in one further tile, the entries
// beside it that are still to be eliminated with the block. Elimination runs from both ends towards the middle: two
// independent halves, so two processors share a narrow band at no cost in flops. The halves differ only in which columns a
// block holds; the arithmetic is the same for every block, all of it in Gemm and in Trsm from the left.
//
// Costs are given for n rows that reach b columns to either side. The blocks add about 30 to b.
package banded

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Matrix is a symmetric n×n matrix within a band, its Cholesky factor, or the inverse within the band. It holds about n·(b +
// 30) numbers. Methods that do not change it may run at the same time. The zero value is an empty matrix: call Reset.
type Matrix struct {
	// Ctx, unless nil, is checked at every block: once it has ended, methods panic with a parallel.Stop.
	Ctx context.Context

	n       int
	m, h    int // blocks [0, m) and, from the end, [h, …) are eliminated first, then [m, h)
	blocks  []block
	data    []float64
	work    []float64
	scratch [2]scratch // one for each half; the middle uses the first
	bad     [3]int     // rows where the first half, the second and the middle failed, or -1
}

// block is a block of rows, beginning at row at, and the columns [lo, hi) beside the diagonal: to its right in the first half
// and in the middle, to its left in the second half.
type block struct {
	at, lo, hi int
	diag, off  blas64.General
}

type scratch struct{ off, diag []float64 }

// side is the number of rows of a block; the last may have fewer. At 32, little is wasted on entries outside the band, and the
// tile beside the diagonal is long enough for Gemm; dense.Tile was slower at every width of band.
const side = 32

// spreadOut is the number of blocks to update from which the updates by one block run in parallel.
const spreadOut = 16

// tooSmall is the number of flops below which one processor does all the work.
var tooSmall = 2e6 // a variable for the tests

// Reset makes a a matrix whose row i begins at column first[i], and reuses its memory if it is large enough. It panics if first
// decreases or passes the diagonal.
func (a *Matrix) Reset(first []int) {
	n := len(first)
	for i, f := range first {
		if f < 0 || f > i || i > 0 && f < first[i-1] {
			panic(fmt.Sprintf("banded: bad profile: first[%d] = %d", i, f))
		}
	}
	a.n = n
	nb := (n + side - 1) / side
	a.blocks = slices.Grow(a.blocks[:0], nb)[:nb]
	end := 0 // the first row without entries in the columns of the block
	for j := range a.blocks {
		at := j * side
		next := min(at+side, n)
		for end < n && first[end] < next {
			end++
		}
		a.blocks[j] = block{at: at, lo: next, hi: end}
	}
	a.cut(first)

	size, widest := 0, 0
	for j := range a.blocks {
		b := &a.blocks[j]
		if j >= a.h {
			b.lo, b.hi = first[b.at], b.at
		} else {
			b.hi = min(b.hi, a.h*side) // what is beyond belongs to the second half
		}
		size += a.rows(j) * (a.rows(j) + b.hi - b.lo)
		widest = max(widest, b.hi-b.lo)
	}
	a.data = dense.Resize(a.data, size)
	rest := a.data
	tile := func(r, c int) blas64.General {
		t := blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: rest[: r*c : r*c]}
		rest = rest[r*c:]
		return t
	}
	for j := range a.blocks {
		b := &a.blocks[j]
		b.diag = tile(a.rows(j), a.rows(j))
		b.off = tile(a.rows(j), b.hi-b.lo)
	}
	a.work = dense.Resize(a.work, 2*side*(side+widest))
	rest = a.work
	for i := range a.scratch {
		a.scratch[i] = scratch{tile(side, widest).Data, tile(side, side).Data}
	}
}

// cut chooses m and h such that the longer half and the middle after it take the least time. The halves must not share a row:
// the last row of block m−1 ends before the first row of block h begins.
func (a *Matrix) cut(first []int) {
	nb := len(a.blocks)
	right := func(j int) float64 { w := float64(a.blocks[j].hi - a.blocks[j].at); return w * w }
	left := func(j int) float64 { w := float64(a.blocks[j].lo - first[a.blocks[j].at]); return w * w }
	var top, middle, bottom, all float64
	for j := range nb {
		all += right(j)
		bottom += left(j)
	}
	a.m, a.h = 0, nb
	if all*side < tooSmall {
		return
	}
	best := 0.75 * all // a smaller gain is not worth the split
	for m, h := 1, 0; m < nb; m++ {
		top += right(m - 1)
		middle -= right(m - 1)
		for h < nb && (h < m || first[h*side] < a.blocks[m-1].hi) {
			middle += right(h)
			bottom -= left(h)
			h++
		}
		if h == nb {
			return
		}
		if t := max(top, bottom) + middle; t < best {
			best, a.m, a.h = t, m, h
		}
	}
}

// rows returns the number of rows of block j.
func (a *Matrix) rows(j int) int { return min(side, a.n-j*side) }

// Blocks returns the number of blocks of rows.
func (a *Matrix) Blocks() int { return len(a.blocks) }

// Block calls f for the tiles of block j; over all blocks, f gets every entry of the band once. The first tile is the square
// on the diagonal (row = col) with both its triangles. The second, if any, is beside it, in the lower or in the upper
// triangle, so a sum over the matrix counts it twice. A tile holds the entries from (row, col); its Stride is its number of
// columns.
func (a *Matrix) Block(j int, f func(row, col int, tile blas64.General)) {
	b := &a.blocks[j]
	f(b.at, b.at, b.diag)
	if b.off.Cols > 0 {
		f(b.at, b.lo, b.off)
	}
}

// EachTile calls f once for every tile, in parallel: see Block.
func (a *Matrix) EachTile(f func(row, col int, tile blas64.General)) {
	parallel.Within(a.Ctx, len(a.blocks), func(j int) { a.Block(j, f) })
}

// Farthest returns the largest difference, over the entries of all tiles, between t at their rows and at their columns, and
// the number of entries. t is ascending, with one number for each row.
func (a *Matrix) Farthest(t []float64) (most float64, entries int) {
	for j := range a.blocks {
		a.Block(j, func(row, col int, tile blas64.General) {
			most = max(most, t[row+tile.Rows-1]-t[col], t[col+tile.Cols-1]-t[row])
			entries += tile.Rows * tile.Cols
		})
	}
	return most, entries
}

// MaxTile returns the number of entries of the largest tile.
func (a *Matrix) MaxTile() int {
	var size int
	for _, b := range a.blocks {
		size = max(size, b.diag.Rows*b.diag.Cols, b.off.Rows*b.off.Cols)
	}
	return size
}

// eachDiagonal calls f for every diagonal entry.
func (a *Matrix) eachDiagonal(f func(i int, v *float64)) {
	for _, b := range a.blocks {
		for i := range b.diag.Rows {
			f(b.at+i, &b.diag.Data[i*(b.diag.Stride+1)])
		}
	}
}

// AddDiagonal adds v to every diagonal entry.
func (a *Matrix) AddDiagonal(v float64) { a.eachDiagonal(func(_ int, own *float64) { *own += v }) }

// AddDiagonals adds d[i] to diagonal entry i.
func (a *Matrix) AddDiagonals(d []float64) {
	a.checkDiagonal(d)
	a.eachDiagonal(func(i int, v *float64) { *v += d[i] })
}

// Diagonal sets dst to the diagonal.
func (a *Matrix) Diagonal(dst []float64) {
	a.checkDiagonal(dst)
	a.eachDiagonal(func(i int, v *float64) { dst[i] = *v })
}

func (a *Matrix) checkDiagonal(d []float64) {
	if len(d) != a.n {
		panic(fmt.Sprintf("banded: %d numbers for a diagonal of %d", len(d), a.n))
	}
}

// LogDet returns log|A| = 2·Σ log F_ii of a Cholesky factor.
func (a *Matrix) LogDet() float64 {
	var s float64
	a.eachDiagonal(func(_ int, v *float64) { s += math.Log(*v) })
	return 2 * s
}
