package toeplitz

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// Rows reads rows of A⁻¹, for one goroutine: one row by a solution and its refinement, the following rows from one another
// (see Inverse), in 4n flops each and 2nm for m missing rows.
type Rows struct {
	f       *Factor
	w       *Workspace
	back    []float64 // x_(n−1), …, x_0
	full    []float64 // row number at, over all rows of A
	at, end int       // full is row at, −1 for none; the rows up to end follow from it
	off     float64   // the largest |e − A·row|/|row| found among these, over A₀₀
}

// mostOff is the largest off for following rows from one another: a millionth of the noise, where the noise is a
// ten-thousandth of the variance.
const mostOff = 1e-10

// run is the number of rows that follow from one another: rounding adds up in each step.
const run = 256

// NewRows returns a reader that uses w as working memory.
func (f *Factor) NewRows(w *Workspace) *Rows {
	r := &Rows{f: f, w: w, back: make([]float64, f.n), full: make([]float64, f.n), at: -1, end: -1}
	for i, v := range f.x {
		r.back[f.n-1-i] = v
	}
	return r
}

// Read sets dst to row i, which is not missing, with zeros in the missing ones. It returns an estimate of the change of A,
// relative to A₀₀, for which the row is exact; 0 if it solved for the row, as alone requires, with the accuracy of the factor
// (Backward).
func (r *Rows) Read(dst []float64, i int, alone bool) (off float64) {
	r.f.check("dst", dst)
	if r.at >= 0 && r.at == r.end && i == r.at+1 && !alone {
		r.begin()
	}
	within := r.at >= 0 && r.at <= i && i <= r.end
	if alone || !within || r.off > mostOff {
		r.solve(dst, i)
		switch {
		case alone:
			return 0
		case !within:
			r.end, r.off = i, 0
		}
		r.at = i
		copy(r.full, dst)
		r.add(r.full, 1, i)
		return 0
	}
	for r.at < i {
		r.step()
	}
	r.observed(dst)
	return r.off
}

// begin starts a run of rows at row at, and measures how accurate some of them are: the error of the column x cancels at
// others.
func (r *Rows) begin() {
	const looks = 4
	first, from, row := slices.Clone(r.full), r.at, make([]float64, r.f.n)
	r.end, r.off = min(from+run, r.f.n-1), 0
	for i := range looks {
		for at := from + (r.end-from)*(i+1)/looks; r.at < at; {
			r.step()
		}
		r.observed(row)
		if size := blas64.Nrm2(dense.Vec(row)); size > 0 { // a missing row has none
			r.off = max(r.off, r.residual(row, r.at)/(size*r.f.diagonal))
		}
	}
	copy(r.full, first)
	r.at = from
}

// observed sets dst to row at, without the missing entries.
func (r *Rows) observed(dst []float64) {
	copy(dst, r.full)
	r.add(dst, -1, r.at)
	r.f.mask(dst)
}

// step advances to the next row.
func (r *Rows) step() {
	n, x := r.f.n, r.f.x
	copy(r.full[1:], r.full[:n-1])
	i := r.at
	r.at++
	r.full[0] = x[r.at]
	blas64.Axpy(x[r.at]/x[0], dense.Vec(x[1:]), dense.Vec(r.full[1:]))
	blas64.Axpy(-x[n-1-i]/x[0], dense.Vec(r.back[:n-1]), dense.Vec(r.full[1:]))
}

// add adds row i of s·BBᵀ.
func (r *Rows) add(dst []float64, s float64, i int) {
	for k := range r.f.missing {
		b := r.f.b.Data[k*r.f.b.Stride:][:r.f.n]
		blas64.Axpy(s*b[i], dense.Vec(b), dense.Vec(dst))
	}
}

// solve sets dst to row i by itself.
func (r *Rows) solve(dst []float64, i int) {
	unit := make([]float64, r.f.n)
	unit[i] = 1
	r.f.Solve(dst, unit, r.w)
	r.f.Refine(dst, unit, r.w)
}

// residual returns |e_i − A·row|.
func (r *Rows) residual(row []float64, i int) float64 {
	off := make([]float64, r.f.n)
	off[i] = 1
	r.f.multiply(off, row, r.w, off)
	r.f.mask(off)
	return blas64.Nrm2(dense.Vec(off))
}
