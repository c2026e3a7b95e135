package dense

import "gonum.org/v1/gonum/blas/blas64"

// Views of slices and matrices, and working memory that is kept from call to call.

// Vec returns x as a vector.
func Vec(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// Column returns column j of a.
func Column(a blas64.General, j int) blas64.Vector {
	return blas64.Vector{N: a.Rows, Inc: a.Stride, Data: a.Data[j:]}
}

// New returns a matrix of zeros.
func New(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: make([]float64, rows*cols)}
}

// Resize returns n elements in the memory of x, or in new memory, with room for an eighth more, if that does not suffice. They have any
// values.
func Resize[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n, n+n/8)
	}
	return x[:n]
}

// Reshape returns a matrix in the memory of a, as Resize does.
func Reshape(a blas64.General, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: Resize(a.Data, rows*cols)}
}
