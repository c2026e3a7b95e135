package toeplitz

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// short is the largest number of rows for which convolutions are inner products, of n² flops each, in half the time of
// transforms (BenchmarkLikelihood).
const short = 512

func (f *Factor) short() bool { return f.n <= short }

// direct holds the operands of the convolutions of a short factor.
type direct struct {
	reversed []float64 // x in reverse order
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
	f.product(w.rest, f.x, w)
	w.rest[0]--
	f.backward = floats.Norm(w.rest, 2) / floats.Norm(f.x, 2)
}

// product sets dst to A·b, A over all rows. dst may be b.
func (f *Factor) product(dst, b []float64, w *Workspace) {
	w.correlated = dense.Correlate(dst, f.both, b, w.correlated) // in reverse order of the rows
	slices.Reverse(dst)
}

// spread sets dst to L(x)ᵀb, and other to L(x̃)ᵀb.
func (f *Factor) spread(dst, other, b []float64, w *Workspace) {
	w.correlated = dense.Correlate(dst, b, f.x, w.correlated)
	w.correlated = dense.Correlate(other, b[1:], f.reversed, w.correlated)
}

// invert sets dst to A⁻¹b, A over all rows. dst may be b.
func (f *Factor) invert(dst, b []float64, w *Workspace) {
	w.spread[0], w.spread[1] = dense.Resize(w.spread[0], f.n), dense.Resize(w.spread[1], f.n)
	u, v := w.spread[0], w.spread[1]
	f.spread(u, v, b, w)
	w.correlated = dense.Correlate(u, f.reversed, u, w.correlated) // L(x)u and L(x̃)v, in reverse order
	w.correlated = dense.Correlate(v, f.x[1:], v, w.correlated)
	for i := range dst {
		dst[f.n-1-i] = (u[i] - v[i]) / f.x[0]
	}
}

// solveShort is SolveColumns for a short factor.
func (f *Factor) solveShort(s *Solutions, w *Workspace) {
	for j := range s.columns.full {
		b, alpha, rest := dense.Row(s.columns.rows, j).Data, dense.Row(s.Alpha, j).Data, dense.Row(s.Rest, j).Data
		f.invert(alpha, b, w)
		w.along = f.correct(alpha, b, w.along)
		f.product(rest, alpha, w)
		floats.SubTo(rest, b, rest)
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

// formShort is Form over all rows, for a b whose missing entries are zero.
func (f *Factor) formShort(b []float64, w *Workspace) float64 {
	w.spread[0], w.spread[1] = dense.Resize(w.spread[0], f.n), dense.Resize(w.spread[1], f.n)
	u, v := w.spread[0], w.spread[1]
	f.spread(u, v, b, w)
	return (floats.Dot(u, u) - floats.Dot(v, v)) / f.x[0]
}

// sumsShort is CombinedSums for a short factor. alpha holds the vectors α_k in sequence, n numbers each.
func (f *Factor) sumsShort(dst, alpha []float64, w *Workspace) {
	n := f.n
	w.rest, w.spread[0] = dense.Resize(w.rest, n), dense.Resize(w.spread[0], n)
	sums := w.spread[0]
	for j, v := range f.x {
		w.rest[j] = (0.5*float64(n) - float64(j)) * v / f.x[0]
	}
	w.correlated = dense.Correlate(dst, f.x, w.rest, w.correlated)
	w.correlated = dense.Correlate(sums, w.rest, f.x, w.correlated)
	floats.Add(dst, sums)
	for _, rows := range [2][]float64{alpha, f.b.Data[:len(f.missing)*n]} {
		for ; len(rows) > 0; rows = rows[n:] {
			w.correlated = dense.Correlate(sums, rows[:n], rows[:n], w.correlated)
			floats.Sub(dst, sums)
		}
	}
}
