package dense

import "gonum.org/v1/gonum/blas/blas64"

// The functions below return views of slices and matrices, and working memory that is kept from call to call.

// Vec returns x as a vector.
func Vec(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// Column returns column j of a.
func Column(a blas64.General, j int) blas64.Vector {
	return blas64.Vector{N: a.Rows, Inc: a.Stride, Data: a.Data[j:]}
}

// Row returns row i of a.
func Row(a blas64.General, i int) blas64.Vector { return Vec(a.Data[i*a.Stride:][:a.Cols]) }

// Diagonal returns the diagonal of a square matrix.
func Diagonal(a blas64.General) blas64.Vector {
	return blas64.Vector{N: a.Rows, Inc: a.Stride + 1, Data: a.Data}
}

// Slice returns the entries of x, copied unless they lie side by side.
func Slice(x blas64.Vector) []float64 {
	if x.Inc == 1 {
		return x.Data[:x.N]
	}
	s := make([]float64, x.N)
	blas64.Copy(x, Vec(s))
	return s
}

// AsColumn returns x as a matrix of one column.
func AsColumn(x []float64) blas64.General {
	return blas64.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}
}

// Rows returns count rows of a, from the given one on.
func Rows(a blas64.General, from, count int) blas64.General {
	a.Rows, a.Data = count, a.Data[from*a.Stride:]
	return a
}

// RowBlock returns block i of Tile rows of a.
func RowBlock(a blas64.General, i int) blas64.General { return Rows(a, i*Tile, Width(a.Rows, i)) }

// columnBlock returns block j of Tile columns of a.
func columnBlock(a blas64.General, j int) blas64.General {
	a.Cols, a.Data = Width(a.Cols, j), a.Data[j*Tile:]
	return a
}

// Sub returns rows [i, i1) and columns [j, j1) of a.
func Sub(a blas64.General, i, i1, j, j1 int) blas64.General {
	if i == i1 || j == j1 {
		return blas64.General{Rows: i1 - i, Cols: j1 - j, Stride: a.Stride}
	}
	a.Data = a.Data[i*a.Stride+j : (i1-1)*a.Stride+j1]
	a.Rows, a.Cols = i1-i, j1-j
	return a
}

// ScaleRows multiplies the rows of a by factors.
func ScaleRows(a blas64.General, by []float64) {
	for i := range a.Rows {
		blas64.Scal(by[i], Row(a, i))
	}
}

// Scatter copies the rows of a to the given rows of dst.
func Scatter(dst, a blas64.General, rows []int) {
	for j, i := range rows {
		copy(dst.Data[i*dst.Stride:][:dst.Cols], a.Data[j*a.Stride:])
	}
}

// Transposed returns aᵀ.
func Transposed(a blas64.General) blas64.General {
	t := New(a.Cols, a.Rows)
	transpose(t, a)
	return t
}

// Zero clears a.
func Zero(a blas64.General) {
	for i := range a.Rows {
		if a.Cols > 0 {
			clear(a.Data[i*a.Stride:][:a.Cols])
		}
	}
}

// New returns a matrix of zeros.
func New(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: make([]float64, rows*cols)}
}

// Resize returns n elements in the memory of x or, if that does not suffice, in new memory with an eighth more. They have any
// values.
func Resize[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n, n+n/8)
	}
	return x[:n]
}

// Reshape returns a rows×cols matrix in the memory of a or, if that does not suffice, in new memory. Its entries have any values.
func Reshape(a blas64.General, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: Resize(a.Data, rows*cols)}
}
