package toeplitz

import (
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// short is the number of rows up to which convolutions are inner products, of n² flops each, which are then faster than
// transforms.
const short = 192

func (f *Factor) short() bool { return f.n <= short }

// direct has what the convolutions of a short factor need.
type direct struct {
	reversed []float64 // x, from its end
	both     []float64 // c_|d| for −n < d < n
}

// arrange sets direct from x and the first column of A, and backward.
func (f *Factor) arrange(c []float64, w *Workspace) {
	n := f.n
	f.reversed, f.both = dense.Resize(f.reversed, n), dense.Resize(f.both, 2*n-1)
	for i, v := range f.x {
		f.reversed[n-1-i] = v
		f.both[n-1+i], f.both[n-1-i] = c[i], c[i]
	}
	w.rest = dense.Resize(w.rest, n)
	for i := range w.rest {
		w.rest[i] = f.row(i, f.x)
	}
	w.rest[0]--
	f.backward = floats.Norm(w.rest, 2) / floats.Norm(f.x, 2)
}

// row returns entry i of A·b, A over all rows.
func (f *Factor) row(i int, b []float64) float64 { return floats.Dot(f.both[f.n-1-i:][:f.n], b) }

// spread sets dst to L(x)ᵀb, and other to L(x̃)ᵀb.
func (f *Factor) spread(dst, other, b []float64) {
	n := f.n
	for i := range b {
		dst[i] = floats.Dot(f.x[:n-i], b[i:])
		other[i] = floats.Dot(f.reversed[:n-1-i], b[i+1:])
	}
}

// invert sets dst to A⁻¹b, A over all rows. dst may be b.
func (f *Factor) invert(dst, b []float64, w *Workspace) {
	n := f.n
	w.spread[0], w.spread[1] = dense.Resize(w.spread[0], n), dense.Resize(w.spread[1], n)
	u, v := w.spread[0], w.spread[1]
	f.spread(u, v, b)
	for i := range dst {
		dst[i] = (floats.Dot(f.reversed[n-1-i:], u[:i+1]) - floats.Dot(f.x[n-i:], v[:i])) / f.x[0]
	}
}

// solveShort is SolveColumns.
func (f *Factor) solveShort(s *Solutions, w *Workspace) {
	for j := range s.Alpha.Rows {
		b, alpha, rest := dense.Row(s.columns.rows, j).Data, dense.Row(s.Alpha, j).Data, dense.Row(s.Rest, j).Data
		f.invert(alpha, b, w)
		w.along = f.correct(alpha, b, w.along)
		for i, v := range b {
			rest[i] = v - f.row(i, alpha)
		}
		f.mask(rest)
	}
}

// columnsShort sets the rows of b to the columns of A⁻¹ of the missing rows.
func (f *Factor) columnsShort(w *Workspace) {
	for k, at := range f.missing {
		column := dense.Row(f.b, k).Data
		clear(column)
		column[at] = 1
		f.invert(column, column, w)
	}
}

// formShort is Form of b, whose missing entries are zero, over all rows.
func (f *Factor) formShort(b []float64, w *Workspace) float64 {
	w.spread[0], w.spread[1] = dense.Resize(w.spread[0], f.n), dense.Resize(w.spread[1], f.n)
	u, v := w.spread[0], w.spread[1]
	f.spread(u, v, b)
	return (floats.Dot(u, u) - floats.Dot(v, v)) / f.x[0]
}

// sumsShort is CombinedSums for α_k one after the other in alpha.
func (f *Factor) sumsShort(dst, alpha []float64, w *Workspace) {
	n := f.n
	w.rest = dense.Resize(w.rest, n)
	for j, v := range f.x {
		w.rest[j] = (0.5*float64(n) - float64(j)) * v / f.x[0]
	}
	for d := range dst {
		dst[d] = floats.Dot(w.rest[:n-d], f.x[d:]) + floats.Dot(f.x[:n-d], w.rest[d:])
	}
	for _, rows := range [2][]float64{alpha, f.b.Data[:len(f.missing)*n]} {
		for ; len(rows) > 0; rows = rows[n:] {
			row := rows[:n]
			for d := range dst {
				dst[d] -= floats.Dot(row[:n-d], row[d:])
			}
		}
	}
}
