package dense

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// pieces sets c = alpha·op(a)·op(b) + beta·c by blas64.Gemm, in pieces of the result that are too small for gonum to spawn
// goroutines for.
func pieces(ta, tb blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) {
	const maxCols = 3 * Tile
	for i := 0; i < c.Rows; i += Tile {
		ci, ai := c, a
		ci.Rows, ci.Data = min(Tile, c.Rows-i), c.Data[i*c.Stride:]
		if ta == blas.NoTrans {
			ai.Rows, ai.Data = ci.Rows, a.Data[i*a.Stride:]
		} else {
			ai.Cols, ai.Data = ci.Rows, a.Data[i:]
		}
		for j := 0; j < c.Cols; j += maxCols {
			cij, bj := ci, b
			cij.Cols, cij.Data = min(maxCols, c.Cols-j), ci.Data[j:]
			if tb == blas.NoTrans {
				bj.Cols, bj.Data = cij.Cols, b.Data[j:]
			} else {
				bj.Rows, bj.Data = cij.Cols, b.Data[j*b.Stride:]
			}
			blas64.Gemm(ta, tb, alpha, ai, bj, beta, cij)
		}
	}
}

// tile is alpha·op(a), for the products with several matrices.
type tile struct {
	ta    blas.Transpose
	alpha float64
	a     blas64.General
}

// size returns the numbers of rows and columns of op(a).
func (t *tile) size() (rows, cols int) {
	if t.ta != blas.NoTrans {
		return t.a.Cols, t.a.Rows
	}
	return t.a.Rows, t.a.Cols
}

// addTo adds alpha·op(a)·b to c.
func (t *tile) addTo(b, c blas64.General) { Gemm(t.ta, blas.NoTrans, t.alpha, t.a, b, 1, c) }

// triangle says which part of the matrices of a product matters; all may be computed.
type triangle int

const (
	lowerB triangle = 1 << iota // b is zero above its diagonal
	lowerC                      // c is needed up to its diagonal

	none triangle = 0 // b and c are not triangular
)

// lowerIf returns of if i = j: tiles on the diagonal are triangular.
func lowerIf(i, j int, of triangle) triangle {
	if i == j {
		return of
	}
	return none
}
