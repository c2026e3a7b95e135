package toeplitz

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Workspace is scratch memory for Factor. Reused from call to call, it saves allocations. One goroutine at a time may use it, for
// any n. The zero value is ready.
type Workspace struct {
	// Ctx, unless nil, is checked between stages and columns: once it has ended, work on this workspace panics with a
	// parallel.Stop.
	Ctx context.Context

	lattice lattice
	lanes   []lane
	size    int

	rest, step, along []float64
	slid, reversed    []float64    // rows of A⁻¹ for sparse columns, and x from its end
	spread            [2][]float64 // working memory for a short factor, like correlated
	correlated        []float64

	// Loops that run in parallel, made once so that calls do not allocate, and their operands.
	columns, convolve, correlate func(int)
	f                            *Factor
	rhs                          []float64

	solve, combine func(int) // loops over columns
	solutions      *Solutions
	root           blas64.General
}

// lane is the working memory of one of two processors for transforms.
type lane struct {
	fft      *fourier.FFT
	seq      []float64
	hat, rhs []complex128
	power    []float64
	along    []float64
}

// lanes is the number of fixed shares of the transforms.
const lanes = 2

func (w *Workspace) reset(size int) {
	if w.size == size {
		return
	}
	if w.lanes == nil {
		w.lanes = make([]lane, lanes)
		for i := range w.lanes {
			w.lanes[i].fft = fourier.NewFFT(size)
		}
		w.columns, w.convolve, w.correlate = w.columnsShare, w.convolveShare, w.correlateShare
	}
	w.size = size
	for i := range w.lanes {
		l := &w.lanes[i]
		l.fft.Reset(size)
		l.seq = dense.Resize(l.seq, size)
		l.hat, l.rhs = dense.Resize(l.hat, size/2+1), dense.Resize(l.rhs, size/2+1)
		l.power = dense.Resize(l.power, size/2+1)
	}
}

// forward sets dst to the transform of x.
func (l *lane) forward(dst []complex128, x []float64) {
	copy(l.seq, x)
	clear(l.seq[len(x):])
	l.fft.Coefficients(dst, l.seq)
}

// Solve sets dst to A⁻¹b, by 7 transforms of 2n numbers, or by 4n² flops for few rows, and 4nm flops for m missing rows. It
// does not read missing entries of b, and sets dst's to zero. dst may be b.
func (f *Factor) Solve(dst, b []float64, w *Workspace) {
	f.check("dst", dst)
	f.check("b", b)
	w.rest = dense.Resize(w.rest, f.n)
	copy(w.rest, b)
	f.mask(w.rest)
	f.apply(dst, w.rest, w)
}

// Form returns bᵀA⁻¹b = (|L(x)ᵀb|² − |L(x̃)ᵀb|²)/x_0 − |Bᵀb|², by 3 transforms of 2n numbers, and 2nm flops for m
// missing rows. Missing entries of b are not read.
func (f *Factor) Form(b []float64, w *Workspace) float64 {
	f.check("b", b)
	w.rest = dense.Resize(w.rest, f.n)
	copy(w.rest, b)
	f.mask(w.rest)
	form := f.formOver(w.rest, w)
	if m := len(f.missing); m > 0 {
		w.along = dense.Resize(w.along, m)
		blas64.Gemv(blas.NoTrans, 1, f.b, dense.Vec(w.rest), 0, dense.Vec(w.along))
		form -= blas64.Dot(dense.Vec(w.along), dense.Vec(w.along))
	}
	return form
}

// formOver is Form over all rows, for a b whose missing entries are zero.
func (f *Factor) formOver(b []float64, w *Workspace) float64 {
	if f.short() {
		return f.formShort(b, w)
	}
	w.reset(f.size)
	l := &w.lanes[0]
	l.forward(l.rhs, b)
	norm := func(column []complex128) float64 {
		for j, v := range l.rhs {
			l.hat[j] = cmplx.Conj(column[j]) * v
		}
		l.fft.Sequence(l.seq, l.hat)
		return blas64.Dot(dense.Vec(l.seq[:f.n]), dense.Vec(l.seq[:f.n]))
	}
	return (norm(f.hat) - norm(f.tilde)) / (f.x[0] * float64(f.size) * float64(f.size))
}

// Refine adds A⁻¹(b − Ax) to x: one step of iterative refinement, 9 transforms. The error of Solve is up to 6 times the effect
// of rounding A; Refine reduces it to 2 times (TestDense).
func (f *Factor) Refine(x, b []float64, w *Workspace) {
	f.check("x", x)
	f.check("b", b)
	w.rest, w.step = dense.Resize(w.rest, f.n), dense.Resize(w.step, f.n)
	f.multiply(w.rest, x, w, b)
	f.mask(w.rest)
	f.apply(w.step, w.rest, w)
	for i, v := range w.step {
		x[i] += v
	}
}

func (f *Factor) check(name string, x []float64) {
	if len(x) != f.n {
		panic(fmt.Sprintf("toeplitz: %s has %d entries for %d rows", name, len(x), f.n))
	}
}

func (f *Factor) mask(x []float64) {
	for _, i := range f.missing {
		x[i] = 0
	}
}

// multiply sets dst to b − A·x, A over all rows. dst may be b.
func (f *Factor) multiply(dst, x []float64, w *Workspace, b []float64) {
	if f.short() {
		w.spread[0] = dense.Resize(w.spread[0], f.n)
		f.product(w.spread[0], x, w)
		floats.SubTo(dst, b, w.spread[0])
		return
	}
	w.reset(f.size)
	l := &w.lanes[0]
	l.forward(l.hat, x)
	for i, v := range l.hat {
		e := f.eigen[i] / float64(f.size)
		l.hat[i] = complex(e*real(v), e*imag(v))
	}
	l.fft.Sequence(l.seq, l.hat)
	for i, v := range b {
		dst[i] = v - l.seq[i]
	}
}

// apply sets dst to (A⁻¹ − BBᵀ)b, where the missing entries of b are zero.
func (f *Factor) apply(dst, b []float64, w *Workspace) {
	if f.short() {
		f.invert(dst, b, w)
	} else {
		f.applyTransforms(dst, b, w)
	}
	w.along = f.correct(dst, b, w.along)
}

// applyTransforms sets dst to A⁻¹b over all rows.
func (f *Factor) applyTransforms(dst, b []float64, w *Workspace) {
	w.reset(f.size)
	w.f, w.rhs = f, b
	parallel.Within(w.Ctx, lanes, w.convolve)
	w.f, w.rhs = nil, nil
	l := &w.lanes[0]
	other := w.lanes[1].hat
	scale := 1 / (f.x[0] * float64(f.size) * float64(f.size))
	for i, v := range l.hat {
		v -= other[i]
		l.hat[i] = complex(scale*real(v), scale*imag(v))
	}
	l.fft.Sequence(l.seq, l.hat)
	copy(dst, l.seq[:f.n])
}

// correct subtracts BBᵀb from dst, and sets missing entries to zero. It returns work, its working memory.
func (f *Factor) correct(dst, b, work []float64) []float64 {
	m := len(f.missing)
	if m == 0 {
		return work
	}
	work = dense.Resize(work, m)
	blas64.Gemv(blas.NoTrans, 1, f.b, dense.Vec(b), 0, dense.Vec(work))
	blas64.Gemv(blas.Trans, -1, f.b, dense.Vec(work), 1, dense.Vec(dst))
	f.mask(dst)
	return work
}

// convolveShare sets the spectrum of lane 0 to the transform of L(x)L(x)ᵀb, of lane 1 to the transform of L(x̃)L(x̃)ᵀb, times
// size.
func (w *Workspace) convolveShare(i int) {
	f, l := w.f, &w.lanes[i]
	column := f.hat
	if i == 1 {
		column = f.tilde
	}
	l.forward(l.hat, w.rhs)
	for j, v := range l.hat {
		l.hat[j] = cmplx.Conj(column[j]) * v
	}
	l.twice(column, f.n)
}

// twice converts the spectrum of Lᵀb, still cyclic, to the spectrum of L·Lᵀb.
func (l *lane) twice(column []complex128, n int) {
	l.fft.Sequence(l.seq, l.hat)
	clear(l.seq[n:])
	l.fft.Coefficients(l.hat, l.seq)
	for j, v := range l.hat {
		l.hat[j] = column[j] * v
	}
}

// columnsShare sets every other row of b to the column of A⁻¹ of a missing row.
func (w *Workspace) columnsShare(i int) {
	f, l := w.f, &w.lanes[i]
	scale := 1 / (f.x[0] * float64(f.size))
	for k := i; k < len(f.missing); k += lanes {
		parallel.Look(w.Ctx)
		at := f.missing[k]
		// L(x)ᵀe = (x_at, …, x_0, 0, …); for x̃ it is the same with 0 at place at.
		clear(l.seq)
		for j := range at + 1 {
			l.seq[j] = f.x[at-j]
		}
		l.fft.Coefficients(l.rhs, l.seq)
		clear(l.seq)
		for j := range at {
			l.seq[j] = f.x[f.n-at+j]
		}
		l.fft.Coefficients(l.hat, l.seq)
		for j, v := range l.rhs {
			v = f.hat[j]*v - f.tilde[j]*l.hat[j]
			l.hat[j] = complex(scale*real(v), scale*imag(v))
		}
		l.fft.Sequence(l.seq, l.hat)
		copy(f.b.Data[k*f.n:][:f.n], l.seq)
	}
}

// DiagonalSum returns entry d of CombinedSums from its definition, without a transform, and the sum of the absolute values of its
// terms, in O(n(1 + m)) operations and O(n) for each α_k. With x the first column of A⁻¹,
//
//	Σ_i (A⁻¹)_(i,i+d) = Σ_j (n − d − 2j)·x_j·x_(j+d)/x_0.
func (f *Factor) DiagonalSum(d int, alpha []float64) (sum, size float64) {
	weight := float64(f.n - d)
	for j, v := range f.x[:f.n-d] {
		term := weight * v * f.x[j+d] / f.x[0]
		sum += term
		size += math.Abs(term)
		weight -= 2
	}
	subtract := func(rows []float64) {
		for ; len(rows) > 0; rows = rows[f.n:] {
			for i, v := range rows[:f.n-d] {
				term := v * rows[i+d]
				sum -= term
				size += math.Abs(term)
			}
		}
	}
	subtract(alpha)
	subtract(f.b.Data[:len(f.missing)*f.n])
	return sum, size
}

// diagonalSums is CombinedSums for the vectors α_k that alpha holds in sequence, n numbers each. If power is not nil, the sums
// whose transform it is are subtracted.
func (f *Factor) diagonalSums(dst, alpha, power []float64, w *Workspace) {
	w.f, w.rhs = f, alpha
	parallel.Within(w.Ctx, lanes, w.correlate)
	w.f, w.rhs = nil, nil
	l := &w.lanes[0]
	other := w.lanes[1].power
	for i, v := range power {
		other[i] -= v
	}
	for i, v := range l.power {
		l.hat[i] = complex((v+other[i])/float64(f.size), 0)
	}
	l.fft.Sequence(l.seq, l.hat)
	copy(dst, l.seq[:f.n])
}

// correlateShare sets the power of a lane to its share of the transform of the sums along diagonals.
func (w *Workspace) correlateShare(i int) {
	f, l := w.f, &w.lanes[i]
	if i == 0 {
		clear(l.seq[f.n:])
		for j, v := range f.x {
			l.seq[j] = (0.5*float64(f.n) - float64(j)) * v
		}
		l.fft.Coefficients(l.hat, l.seq)
		for j, v := range l.hat {
			x := f.hat[j]
			l.power[j] = 2 * (real(x)*real(v) + imag(x)*imag(v)) / f.x[0]
		}
	} else {
		clear(l.power)
	}
	for k := lanes - 1 - i; k*f.n < len(w.rhs); k += lanes { // the first one belongs to the other lane
		l.subtractPower(w.rhs[k*f.n:][:f.n])
	}
	for k := i; k < len(f.missing); k += lanes {
		parallel.Look(w.Ctx)
		l.subtractPower(f.b.Data[k*f.n:][:f.n])
	}
}

// subtractPower subtracts |x̂|² from power.
func (l *lane) subtractPower(x []float64) {
	l.forward(l.hat, x)
	for j, v := range l.hat {
		l.power[j] -= real(v)*real(v) + imag(v)*imag(v)
	}
}
