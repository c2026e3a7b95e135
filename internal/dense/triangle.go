package dense

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Trsm replaces b by alpha·op(t)⁻¹b (side Left) or alpha·b·op(t)⁻¹ (side Right), like blas64.Trsm and in as many operations:
// n²·m for n×n t and m columns or rows of b. Halves of t are solved one after another,
//
//	⎛T₁₁  0 ⎞⎛X₁⎞   ⎛B₁⎞
//	⎝T₂₁ T₂₂⎠⎝X₂⎠ = ⎝B₂⎠:   T₁₁X₁ = B₁,   T₂₂X₂ = B₂ − T₂₁X₁,
//
// so that most of the work is Gemm. From the right, bᵀ is solved for from the left.
func Trsm(side blas.Side, trans blas.Transpose, alpha float64, t blas64.Triangular, b blas64.General) {
	const least = 8 // number of columns or rows that Gemm computes at a time
	switch {
	case t.N <= smallTriangle || b.Rows*b.Cols < least*t.N:
		blas64.Trsm(side, trans, alpha, t, b)
	case side == blas.Right:
		trsmRight(trans, alpha, t, b)
	default:
		trsmLeft(trans, alpha, t, b)
	}
}

// trsmLeft does as Trsm from the left.
func trsmLeft(trans blas.Transpose, alpha float64, t blas64.Triangular, b blas64.General) {
	n, h := t.N, t.N/2
	if n <= smallTriangle {
		blas64.Trsm(blas.Left, trans, alpha, t, b)
		return
	}
	if t.Uplo == blas.Lower && trans == blas.NoTrans && solveByFours(false, alpha, t, b) {
		return
	}
	first, second, off := t, t, blas64.General{Rows: h, Cols: n - h, Stride: t.Stride, Data: t.Data[h:]}
	first.N, second.N, second.Data = h, n-h, t.Data[h*t.Stride+h:]
	if t.Uplo == blas.Lower {
		off = blas64.General{Rows: n - h, Cols: h, Stride: t.Stride, Data: t.Data[h*t.Stride:]}
	}
	x, y := Rows(b, 0, h), Rows(b, h, n-h)
	if (t.Uplo == blas.Lower) != (trans == blas.NoTrans) { // the last unknowns come first
		first, second, x, y = second, first, y, x
	}
	trsmLeft(trans, alpha, first, x)
	Gemm(trans, blas.NoTrans, -1, off, x, alpha, y)
	trsmLeft(trans, 1, second, y)
}

// transposes holds the memory for the transposes of Trsm.
var transposes = sync.Pool{New: func() any { return new([Tile * Tile]float64) }}

// trsmRight does as Trsm from the right, for as many rows of b at a time as the memory holds.
func trsmRight(trans blas.Transpose, alpha float64, t blas64.Triangular, b blas64.General) {
	if t.N > Tile {
		blas64.Trsm(blas.Right, trans, alpha, t, b)
		return
	}
	if trans == blas.NoTrans {
		trans = blas.Trans
	} else {
		trans = blas.NoTrans
	}
	memory := transposes.Get().(*[Tile * Tile]float64)
	for i := range Blocks(b.Rows) {
		rows := RowBlock(b, i)
		x := blas64.General{Rows: t.N, Cols: rows.Rows, Stride: rows.Rows, Data: memory[:t.N*rows.Rows]}
		transpose(x, rows)
		trsmLeft(trans, alpha, t, x)
		transpose(rows, x)
	}
	transposes.Put(memory)
}

// transposeEach sets dst to aᵀ, in squares that stay in the first cache.
func transposeEach(dst, a blas64.General) {
	const side = 8
	for i := 0; i < a.Rows; i += side {
		for j := 0; j < a.Cols; j += side {
			for r := i; r < min(i+side, a.Rows); r++ {
				for c, v := range a.Data[r*a.Stride+j:][:min(side, a.Cols-j)] {
					dst.Data[(j+c)*dst.Stride+r] = v
				}
			}
		}
	}
}
