package regress

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Sparse is Q = [D, S]·Mix, where nearly all entries of S are zero. Code that solves with few dense columns, and with rows of
// A⁻¹ for the others, then needs no column of Q. The entries of S are H's, in prior standard deviations.
type Sparse struct {
	Columns blas64.General // [D, S], n×h
	Dense   int            // the number of columns of D
	Mix     blas64.General // h×h
}

const (
	// fewSparse is the least number of sparse columns that pay.
	fewSparse = 4
	// mostFilled is the largest share of nonzero entries in a sparse column.
	mostFilled = 1. / 32
	// cancelled is the largest ratio of the parts of a column of Q to the column: three digits of sixteen cancel.
	cancelled = 1e3
	// rounded is the largest rounding of an entry, in units of these parts.
	rounded = 0x1p-48
)

// sparse returns Q by the sparse columns of H. It returns nil if there are few, or if the product differs from Q by more than
// rounding: where columns of H nearly depend on one another, T has large entries that cancel.
func (b *Basis) sparse(ctx context.Context, h *mat.Dense, variance []float64) *Sparse {
	n, cols := h.Dims()
	var order, full []int // columns of H: first the flat ones, then the full ones, then the sparse ones
	var thin []int
	for j, flat := range b.flat {
		filled := 0
		for i := range n {
			if h.At(i, j) != 0 {
				filled++
			}
		}
		switch {
		case flat:
			order = append(order, j)
		case float64(filled) <= mostFilled*float64(n):
			thin = append(thin, j)
		default:
			full = append(full, j)
		}
	}
	if len(thin) < fewSparse {
		return nil
	}
	order = append(append(order, full...), thin...)
	s := &Sparse{Columns: dense.New(n, cols), Dense: cols - len(thin), Mix: dense.New(cols, cols)}
	q, flats := b.Q.RawMatrix(), dense.Sub(s.Columns, 0, n, 0, b.count)
	for k, j := range order {
		parallel.Look(ctx)
		if b.flat[j] {
			blas64.Copy(dense.Column(q, j), dense.Column(s.Columns, k))
			s.Mix.Data[k*cols+j] = 1
			continue
		}
		deviation := math.Sqrt(variance[j])
		for i := range n {
			s.Columns.Data[i*cols+k] = deviation * h.At(i, j)
		}
		if k < s.Dense { // D has no flat columns in the others
			for f := range b.count {
				column := dense.Column(flats, f)
				blas64.Axpy(-blas64.Dot(column, dense.Column(s.Columns, k)), column, dense.Column(s.Columns, k))
			}
		}
		for to := range cols {
			if !b.flat[to] {
				s.Mix.Data[k*cols+to] = b.T.At(j, to) / deviation
			}
		}
	}
	if b.count > 0 { // subtracts the projection of S on the flat columns
		products := dense.ProductWithin(ctx, blas.Trans, flats, dense.Sub(s.Columns, 0, n, s.Dense, cols))
		less := dense.Sub(s.Mix, 0, b.count, 0, cols)
		dense.Gemm(blas.NoTrans, blas.NoTrans, -1, products, dense.Sub(s.Mix, s.Dense, cols, 0, cols), 1, less)
	}
	if !s.makesUp(ctx, q) {
		return nil
	}
	return s
}

// makesUp reports whether [D, S]·Mix is q to rounding.
func (s *Sparse) makesUp(ctx context.Context, q blas64.General) bool {
	rest := dense.ProductWithin(ctx, blas.NoTrans, s.Columns, s.Mix)
	lengths := columnLengths(s.Columns)
	for j, length := range columnLengths(q) {
		var parts, off float64
		for k, l := range lengths {
			parts += l * math.Abs(s.Mix.Data[k*s.Mix.Stride+j])
		}
		for i := range rest.Rows {
			off = max(off, math.Abs(rest.Data[i*rest.Stride+j]-q.Data[i*q.Stride+j]))
		}
		if !(parts <= cancelled*length && off <= rounded*parts) {
			return false
		}
	}
	return true
}

func columnLengths(a blas64.General) []float64 {
	lengths := make([]float64, a.Cols)
	for j := range lengths {
		lengths[j] = blas64.Nrm2(dense.Column(a, j))
	}
	return lengths
}
