package statespace

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// What a Filter does with columns beside the first. Their steps are in the loop of the
// first one's, which mostly waits for its covariance: they fill the gaps. What is linear in
// whole columns is done for a chunk of inputs at a time, in the nearest cache: the products
// e_aᵀS⁻¹e_b, and the combinations CR of errors and means that the way back needs.

// chunk is how many inputs are done at a time.
const chunk = 256

// seen returns the mean and the error of column c at observation i.
func (f *Filter) seen(c, i int) (mean []float64, e float64) {
	at := c*len(f.t) + i
	return f.mean[at*f.dim:][:f.dim], f.errs[at]
}

// addProducts adds what some inputs have of CᵀA⁻¹C to the lower triangle, but for the first
// column's own. scaled has e/s of the columns after the first.
func (f *Filter) addProducts(from, to int) {
	n, w := len(f.t), to-from
	for a := 1; a < f.cols; a++ {
		errs := blas64.General{Rows: a + 1, Cols: w, Stride: n, Data: f.errs[from:]}
		blas64.Gemv(blas.NoTrans, 1, errs, dense.Vec(f.scaled[(a-1)*chunk:][:w]), 1, dense.Vec(f.gram[a*f.cols:][:a+1]))
	}
}

// mix returns the means and errors of the first column of CR at some inputs, and sets
// mixedMean and mixedErrs to those of all, column j from j·chunk on. They are zeros if R has
// no column.
func (f *Filter) mix(r blas64.General, from, to int) (mean, errs []float64) {
	n, d, w := len(f.t), f.dim, to-from
	if f.cols == 1 && r.Cols == 1 && r.Data[0] == 1 {
		return f.mean[from*d : to*d], f.errs[from:to]
	}
	for j := range max(1, r.Cols) {
		mixed, mixedMean := f.mixedErrs[j*chunk:][:w], f.mixedMean[j*chunk*d:][:w*d]
		first, last := 0, 0
		for c := range f.cols {
			if r.Cols > 0 && r.Data[c*r.Stride+j] != 0 { // R is mostly triangular
				if last == 0 {
					first = c
				}
				last = c + 1
			}
		}
		if last == 0 {
			clear(mixed)
			clear(mixedMean)
			continue
		}
		of := blas64.Vector{N: last - first, Inc: r.Stride, Data: r.Data[first*r.Stride+j:]}
		errs := blas64.General{Rows: of.N, Cols: w, Stride: n, Data: f.errs[first*n+from:]}
		means := blas64.General{Rows: of.N, Cols: w * d, Stride: n * d, Data: f.mean[(first*n+from)*d:]}
		blas64.Gemv(blas.Trans, 1, errs, of, 0, dense.Vec(mixed))
		blas64.Gemv(blas.Trans, 1, means, of, 0, dense.Vec(mixedMean))
	}
	return f.mixedMean[:w*d], f.mixedErrs[:w]
}

// roomToMix makes room for what mix sets, and returns how many columns CR has after the
// first.
func (f *Filter) roomToMix(r blas64.General) (others int) {
	cols := max(1, r.Cols)
	f.mixedErrs, f.mixedMean = dense.Resize(f.mixedErrs, cols*chunk), dense.Resize(f.mixedMean, cols*chunk*f.dim)
	f.after = dense.Resize(f.after, (cols-1)*f.dim)
	clear(f.after)
	return cols - 1
}
