package toeplitz

import (
	"fmt"
	"math/cmplx"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"

	smooth "github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Columns are right-hand sides of n entries, with their transforms, for the factors of any A of n rows. They do not change.
type Columns struct {
	rows blas64.General // c×n
	hat  []complex128   // of each
	half int
}

// NewColumns returns the rows of c, each a right-hand side whose missing entries are zero. It keeps c.
func NewColumns(c blas64.General) *Columns {
	if c.Cols <= short {
		return &Columns{rows: c}
	}
	size := smooth.Smooth(2*c.Cols - 1)
	columns := &Columns{rows: c, half: size/2 + 1}
	columns.hat = make([]complex128, c.Rows*columns.half)
	l := lane{fft: fourier.NewFFT(size), seq: make([]float64, size)}
	for j := range c.Rows {
		l.forward(columns.of(columns.hat, j), c.Data[j*c.Stride:][:c.Cols])
	}
	return columns
}

// of returns the part of column j.
func (c *Columns) of(hat []complex128, j int) []complex128 { return hat[j*c.half:][:c.half] }

// Solutions are A⁻¹C of some columns and what rounding left of them.
type Solutions struct {
	Alpha blas64.General // (A⁻¹C)ᵀ, c×n; zero at missing entries
	Rest  blas64.General // (C − A·A⁻¹C)ᵀ in the observed rows (see Residual)

	columns  *Columns
	hat      []complex128   // transforms of Alpha
	power    []float64      // of CombinedSums
	combined blas64.General // of a short factor, Alpha of CombinedSums
}

// SolveColumns sets s to the solutions for c, by 7 transforms a column, where Solve,
// Residual and their part of CombinedSums take 10. Processors share the columns.
func (f *Factor) SolveColumns(s *Solutions, c *Columns, w *Workspace) {
	if c.rows.Cols != f.n {
		panic(fmt.Sprintf("toeplitz: columns of %d entries for %d rows", c.rows.Cols, f.n))
	}
	s.columns = c
	s.Alpha, s.Rest = dense.Reshape(s.Alpha, c.rows.Rows, f.n), dense.Reshape(s.Rest, c.rows.Rows, f.n)
	if f.short() {
		f.solveShort(s, w)
		return
	}
	w.reset(f.size)
	s.hat = dense.Resize(s.hat, len(c.hat))
	if w.solve == nil {
		w.solve, w.combine = w.solveShare, w.combineShare
	}
	w.f, w.solutions = f, s
	parallel.Within(w.Ctx, lanes, w.solve)
	w.f, w.solutions = nil, nil
}

// solveShare solves for every other column.
func (w *Workspace) solveShare(i int) {
	f, s, l := w.f, w.solutions, &w.lanes[i]
	c := s.columns
	scale := 1 / (f.x[0] * float64(f.size) * float64(f.size))
	for j := i; j < c.rows.Rows; j += lanes {
		parallel.Look(w.Ctx)
		rhs, b := c.of(c.hat, j), c.rows.Data[j*c.rows.Stride:][:f.n]
		alpha, rest := s.Alpha.Data[j*f.n:][:f.n], s.Rest.Data[j*f.n:][:f.n]
		for k, v := range rhs {
			l.hat[k] = cmplx.Conj(f.hat[k]) * v
		}
		l.twice(f.hat, f.n)
		copy(l.rhs, l.hat)
		for k, v := range rhs {
			l.hat[k] = cmplx.Conj(f.tilde[k]) * v
		}
		l.twice(f.tilde, f.n)
		for k, v := range l.rhs {
			v -= l.hat[k]
			l.hat[k] = complex(scale*real(v), scale*imag(v))
		}
		l.fft.Sequence(l.seq, l.hat)
		copy(alpha, l.seq[:f.n])
		l.along = f.correct(alpha, b, l.along)
		hat := c.of(s.hat, j)
		l.forward(hat, alpha)
		for k, v := range hat {
			e := f.eigen[k] / float64(f.size)
			l.hat[k] = complex(e*real(v), e*imag(v))
		}
		l.fft.Sequence(l.seq, l.hat)
		for k, v := range b {
			rest[k] = v - l.seq[k]
		}
		f.mask(rest)
	}
}

// CombinedSums sets dst to the n sums s_d = Σ_i (A⁻¹ − Σ_k α_kα_kᵀ)_(i,i+d) over the pairs of observed rows that are d apart, for
// α_k = (A⁻¹CR)_k, R having a row for each column of C, by 3 + m transforms: those of A⁻¹C are known. With one, α = A⁻¹y, ½yᵀA⁻¹y
// + ½log|A| has the derivatives ½s_0 with respect to c_0 and s_d with respect to c_d.
func (f *Factor) CombinedSums(dst []float64, s *Solutions, r blas64.General, w *Workspace) {
	if r.Cols > 0 && r.Rows != s.Alpha.Rows {
		panic(fmt.Sprintf("toeplitz: R has %d rows for %d columns", r.Rows, s.Alpha.Rows))
	}
	f.check("dst", dst)
	if f.short() {
		s.combined = dense.CombineRows(s.combined, s.Alpha, r)
		f.sumsShort(dst, s.combined.Data, w)
		return
	}
	w.reset(f.size)
	s.power = dense.Resize(s.power, s.columns.half)
	w.f, w.solutions, w.root = f, s, r
	parallel.Within(w.Ctx, lanes, w.combine)
	f.diagonalSums(dst, nil, s.power, w)
	w.solutions, w.root = nil, blas64.General{}
}

// combineShare sets half of power to Σ_k |α̂_k|².
func (w *Workspace) combineShare(i int) {
	s, r := w.solutions, w.root
	half, c := s.columns.half, s.Alpha.Rows
	from, to := i*half/lanes, (i+1)*half/lanes
	for k := from; k < to; k++ {
		var power float64
		for j := range r.Cols {
			var re, im float64
			for a := range c {
				if weight := r.Data[a*r.Stride+j]; weight != 0 { // R is mostly triangular
					v := s.hat[a*half+k]
					re += weight * real(v)
					im += weight * imag(v)
				}
			}
			power += re*re + im*im
		}
		s.power[k] = power
	}
}
