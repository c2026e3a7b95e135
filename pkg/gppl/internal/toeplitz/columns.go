package toeplitz

import (
	"cmp"
	"fmt"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"

	smooth "github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Columns holds right-hand sides of n entries for the factors of any A of n rows: with their transforms, or by their entries
// where nearly all of these are zero. It is immutable.
type Columns struct {
	rows blas64.General // c×n
	hat  []complex128   // one per full column
	half int
	full int

	entries []entry   // entries of the sparse columns, in the order of their depth
	sum     []float64 // sum of the sparse columns
}

// entry is an entry of a sparse column.
type entry struct {
	row, depth, column int // depth is the distance of the row from the nearer end
	value              float64
}

// NewColumns returns the rows of c, each a right-hand side whose missing entries are zero. It keeps c.
func NewColumns(c blas64.General) *Columns {
	columns := &Columns{rows: c, full: c.Rows}
	columns.transform()
	return columns
}

// NewSparseColumns is NewColumns where all right-hand sides after the first full ones have few nonzero entries. These take one
// recursion of 2n² flops instead of five transforms each.
func NewSparseColumns(c blas64.General, full int) *Columns {
	columns := &Columns{rows: c, full: full, sum: make([]float64, c.Cols)}
	columns.transform()
	for j := full; j < c.Rows; j++ {
		for i, v := range dense.Row(c, j).Data {
			if v != 0 {
				columns.entries = append(columns.entries, entry{i, min(i, c.Cols-1-i), j, v})
				columns.sum[i] += v
			}
		}
	}
	slices.SortStableFunc(columns.entries, func(a, b entry) int { return cmp.Compare(a.depth, b.depth) })
	return columns
}

// transform sets the transforms of the full columns, unless they are short.
func (c *Columns) transform() {
	n := c.rows.Cols
	if n <= short {
		return
	}
	size := smooth.Smooth(2*n - 1)
	c.half = size/2 + 1
	c.hat = make([]complex128, c.full*c.half)
	l := lane{fft: fourier.NewFFT(size), seq: make([]float64, size)}
	for j := range c.full {
		l.forward(c.of(c.hat, j), c.rows.Data[j*c.rows.Stride:][:n])
	}
}

// of returns the part of column j.
func (c *Columns) of(hat []complex128, j int) []complex128 { return hat[j*c.half:][:c.half] }

// Solutions holds A⁻¹C of some columns and the remainders by rounding.
type Solutions struct {
	Alpha    blas64.General // (A⁻¹C)ᵀ, c×n; zero at missing entries
	Rest     blas64.General // (C − A·A⁻¹C)ᵀ of the full columns, in the observed rows
	Combined blas64.General // (A⁻¹CR)ᵀ from CombinedSums

	columns *Columns
	hat     []complex128 // transforms of Alpha, for full columns
	power   []float64    // working memory of CombinedSums
	sum     []float64    // sum of the solutions of sparse columns
	sumRest []float64    // its remainder by rounding
}

// SolveColumns sets s to the solutions for c, by 7 transforms a column; Solve, the residual and their part of CombinedSums
// would take 10. Processors share the columns. Sparse columns use rows of A⁻¹.
func (f *Factor) SolveColumns(s *Solutions, c *Columns, w *Workspace) {
	if c.rows.Cols != f.n {
		panic(fmt.Sprintf("toeplitz: columns of %d entries for %d rows", c.rows.Cols, f.n))
	}
	s.columns = c
	s.Alpha, s.Rest = dense.Reshape(s.Alpha, c.rows.Rows, f.n), dense.Reshape(s.Rest, c.full, f.n)
	if f.short() {
		f.solveShort(s, w)
	} else {
		w.reset(f.size)
		s.hat = dense.Resize(s.hat, len(c.hat))
		if w.solve == nil {
			w.solve, w.combine = w.solveShare, w.combineShare
		}
		w.f, w.solutions = f, s
		parallel.Within(w.Ctx, lanes, w.solve)
		w.f, w.solutions = nil, nil
	}
	if len(c.entries) > 0 {
		f.solveSparse(s, w)
	}
}

// solveShare solves for every other column.
func (w *Workspace) solveShare(i int) {
	f, s, l := w.f, w.solutions, &w.lanes[i]
	c := s.columns
	scale := 1 / (f.x[0] * float64(f.size) * float64(f.size))
	for j := i; j < c.full; j += lanes {
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

// solveSparse solves for the sparse columns by sums of rows of A⁻¹, the missing ones included. Each row follows from the
// previous one,
//
//	(A⁻¹)_(i+1,j+1) = (A⁻¹)_ij + (x_(i+1)·x_(j+1) − x_(n−1−i)·x_(n−1−j))/x_0,
//
// and the rows of the second half are the reversed rows of the first half.
func (f *Factor) solveSparse(s *Solutions, w *Workspace) {
	c, n := s.columns, f.n
	first := s.Alpha.Data[c.full*n:]
	clear(first)
	deepest := c.entries[len(c.entries)-1].depth
	w.slid, w.reversed = dense.Resize(w.slid, deepest+n), dense.Resize(w.reversed, n)
	copy(w.reversed, f.x)
	slices.Reverse(w.reversed)
	row := w.slid[deepest:][:n]
	copy(row, f.x)
	depth := 0
	for _, e := range c.entries {
		for ; depth < e.depth; depth++ {
			if depth%64 == 0 {
				parallel.Look(w.Ctx)
			}
			row = w.slid[deepest-depth-1:][:n]
			row[0] = f.x[depth+1]
			blas64.Axpy(f.x[depth+1]/f.x[0], dense.Vec(f.x[1:]), dense.Vec(row[1:]))
			blas64.Axpy(-f.x[n-1-depth]/f.x[0], dense.Vec(w.reversed[:n-1]), dense.Vec(row[1:]))
		}
		alpha := s.Alpha.Data[e.column*n:][:n]
		if e.row == e.depth {
			blas64.Axpy(e.value, dense.Vec(row), dense.Vec(alpha))
			continue
		}
		for i, v := range row {
			alpha[n-1-i] += e.value * v
		}
	}
	s.sum, s.sumRest = dense.Resize(s.sum, n), dense.Resize(s.sumRest, n)
	clear(s.sum)
	for j := c.full; j < c.rows.Rows; j++ {
		alpha := s.Alpha.Data[j*n:][:n]
		w.along = f.correct(alpha, c.rows.Data[j*c.rows.Stride:][:n], w.along)
		dense.Add(s.sum, alpha)
	}
	f.multiply(s.sumRest, s.sum, w, c.sum)
	f.mask(s.sumRest)
}

// Gram sets g to CᵀA⁻¹C: (A⁻¹C)ᵀC plus a correction from the remainders, to second order for full columns.
func (s *Solutions) Gram(g blas64.General) {
	c := s.columns
	for i := range c.full {
		for j := range i + 1 {
			rest := blas64.Dot(dense.Row(s.Rest, i), dense.Row(s.Alpha, j))
			setBoth(g, i, j, blas64.Dot(dense.Row(s.Alpha, i), dense.Row(c.rows, j))+rest)
		}
		for j := c.full; j < c.rows.Rows; j++ {
			setBoth(g, i, j, blas64.Dot(dense.Row(s.Rest, i), dense.Row(s.Alpha, j)))
		}
	}
	for i := c.full; i < c.rows.Rows; i++ {
		for j := c.full; j <= i; j++ {
			setBoth(g, i, j, 0)
		}
	}
	for _, e := range c.entries {
		for i := range c.rows.Rows {
			if v := e.value * s.Alpha.Data[i*s.Alpha.Stride+e.row]; i <= e.column {
				setBoth(g, i, e.column, g.Data[i*g.Stride+e.column]+v)
			}
		}
	}
}

// setBoth sets an entry of a symmetric matrix.
func setBoth(g blas64.General, i, j int, v float64) {
	g.Data[i*g.Stride+j], g.Data[j*g.Stride+i] = v, v
}

// CombinedSums sets dst to the n sums s_d = Σ_i (A⁻¹ − Σ_k α_kα_kᵀ)_(i,i+d) over the pairs of observed rows at distance d, for
// α_k = (A⁻¹CR)_k, which it keeps as Combined. R has a row for each column of C. It takes 3 + m transforms, since the
// transforms of A⁻¹C are known, and one for each α_k if there are sparse columns. With a single α = A⁻¹y, ½yᵀA⁻¹y + ½log|A|
// has the derivatives ½s_0 with respect to c_0 and s_d with respect to c_d.
func (f *Factor) CombinedSums(dst []float64, s *Solutions, r blas64.General, w *Workspace) {
	if r.Cols > 0 && r.Rows != s.Alpha.Rows {
		panic(fmt.Sprintf("toeplitz: R has %d rows for %d columns", r.Rows, s.Alpha.Rows))
	}
	f.check("dst", dst)
	s.Combined = dense.CombineRows(s.Combined, s.Alpha, r)
	if f.short() {
		f.sumsShort(dst, s.Combined.Data, w)
		return
	}
	w.reset(f.size)
	if len(s.columns.entries) > 0 {
		f.diagonalSums(dst, s.Combined.Data, nil, w)
		return
	}
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
