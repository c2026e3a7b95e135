package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// What engines do with the columns C for which a loss needs A⁻¹.

// copyGeneral copies src into dst, of the same size.
func copyGeneral(dst, src blas64.General) {
	if dst.Stride == dst.Cols && src.Stride == src.Cols {
		copy(dst.Data, src.Data[:src.Rows*src.Cols])
		return
	}
	for i := range src.Rows {
		copy(dst.Data[i*dst.Stride:][:dst.Cols], src.Data[i*src.Stride:])
	}
}

// products sets g to aᵀb.
func products(g, a, b blas64.General) {
	if a.Cols == 1 && b.Cols == 1 {
		g.Data[0] = blas64.Dot(dense.Column(a, 0), dense.Column(b, 0))
		return
	}
	parallel.For(dense.Blocks(a.Cols), func(i int) {
		part := a
		part.Cols, part.Data = dense.Width(a.Cols, i), a.Data[i*dense.Tile:]
		dense.Gemm(blas.Trans, blas.NoTrans, 1, part, b, 0, rowsFrom(g, i*dense.Tile, part.Cols))
	})
}

// combine returns a·r, in the memory of dst where it does.
func combine(dst, a, r blas64.General) blas64.General {
	dst = dense.Reshape(dst, a.Rows, r.Cols)
	if a.Cols == 1 && r.Cols == 1 {
		copyGeneral(dst, a)
		if r.Data[0] != 1 {
			blas64.Scal(r.Data[0], dense.Column(dst, 0))
		}
		return dst
	}
	dense.Gemm(blas.NoTrans, blas.NoTrans, 1, a, r, 0, dst)
	return dst
}

// manyColumns is from how many columns on matrix products are worth their memory.
const manyColumns = 16

// formOf returns tr(RᵀGR).
func formOf(g, r blas64.General) (form float64) {
	if r.Cols > manyColumns {
		gr := dense.New(g.Rows, r.Cols)
		dense.Gemm(blas.NoTrans, blas.NoTrans, 1, g, r, 0, gr)
		for a := range r.Rows {
			form += blas64.Dot(row(r, a), row(gr, a))
		}
		return form
	}
	for j := range r.Cols {
		for a := range g.Rows {
			for b := range g.Cols {
				form += r.Data[a*r.Stride+j] * g.Data[a*g.Stride+b] * r.Data[b*r.Stride+j]
			}
		}
	}
	return form
}

// spread returns Σ_ij |W_ij|·√(e_i·e_j), W = RRᵀ: twice what a value errs by if the entries g_ij of CᵀA⁻¹C err,
// each by itself, by up to √(e_i·e_j). Columns that A hardly tells apart make W large, and this with it.
func spread(e blas64.Vector, r blas64.General) (sum float64) {
	for i := range r.Rows {
		for j := range i + 1 {
			w := math.Abs(blas64.Dot(row(r, i), row(r, j))) * math.Sqrt(max(0, e.Data[i*e.Inc])) * math.Sqrt(max(0, e.Data[j*e.Inc]))
			if i != j {
				w *= 2
			}
			sum += w
		}
	}
	return sum
}

// diagonalOf returns the diagonal of g.
func diagonalOf(g blas64.General) blas64.Vector {
	return blas64.Vector{N: g.Rows, Inc: g.Stride + 1, Data: g.Data}
}

// sliceOf returns the entries of x, copied unless they lie side by side.
func sliceOf(x blas64.Vector) []float64 {
	if x.Inc == 1 {
		return x.Data[:x.N]
	}
	s := make([]float64, x.N)
	blas64.Copy(x, dense.Vec(s))
	return s
}

// rowsFrom returns count rows of a.
func rowsFrom(a blas64.General, from, count int) blas64.General {
	a.Rows, a.Data = count, a.Data[from*a.Stride:]
	return a
}

// subtractOuter subtracts a·bᵀ from w; with one column in each it is a rank-one
// update.
func subtractOuter(w, a, b blas64.General) {
	if a.Cols == 1 {
		blas64.Ger(-1, dense.Column(a, 0), dense.Column(b, 0), w)
		return
	}
	dense.Gemm(blas.NoTrans, blas.Trans, -1, a, b, 1, w)
}

// combineRows returns rᵀ·a, the combinations of the rows of a, in the memory of dst
// where it does.
func combineRows(dst, a, r blas64.General) blas64.General {
	dst = dense.Reshape(dst, r.Cols, a.Cols)
	clear(dst.Data)
	for j := range r.Cols {
		for i := range a.Rows {
			blas64.Axpy(r.Data[i*r.Stride+j], row(a, i), row(dst, j))
		}
	}
	return dst
}

// row returns row i of a.
func row(a blas64.General, i int) blas64.Vector { return dense.Vec(a.Data[i*a.Stride:][:a.Cols]) }

// quadraticForms sets g to CᵀA⁻¹C = σ⁻²(CᵀC − σ⁻²bᵀh), for A of low rank plus σ²I that
// features represent: b is C on the features, h the solution for it.
func quadraticForms(g, cc, b, h blas64.General, noise float64) {
	for i := range g.Rows {
		for j := range i + 1 {
			bh := blas64.Dot(dense.Column(b, i), dense.Column(h, j))
			v := (cc.Data[i*cc.Stride+j] - bh/noise) / noise
			g.Data[i*g.Stride+j], g.Data[j*g.Stride+i] = v, v
		}
	}
}
