package toeplitz

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// Cycles is a factorisation of the covariance A of a series that is observed at the same b places of every cycle: over all K
// cycles, its holes included, a Toeplitz matrix of b×b blocks. Shifted by one cycle, it differs from itself by
//
//	A − ZAZᵀ = UᵀU − VᵀV
//
// with the first block row U of Lᵀ, A = LLᵀ, and V, the same without its first block. Schur's algorithm turns them by hyperbolic
// reflections into one block row of Lᵀ after the other (Kailath and Sayed 1995, SIAM Rev. 37): 2bn² flops for n³/3.
// With the first and last block columns X and Y of A⁻¹,
//
//	A⁻¹ − ZA⁻¹Zᵀ = X X₀⁻¹ Xᵀ − (ZY) Y_K⁻¹ (ZY)ᵀ
//
// so that the sums of A⁻¹ along its lags are products of the blocks of X and of Y. Without the rows of the holes, H,
//
//	A⁻¹ becomes A⁻¹ − WWᵀ,  W = A⁻¹_:H R⁻ᵀ,  A⁻¹_HH = RRᵀ.
//
// The zero value is empty.
type Cycles struct {
	Ctx   context.Context // as of a Workspace
	Alpha blas64.General  // A⁻¹C, a row for each open place, 0 in holes

	of       *timeline.Cycles
	l        *dense.Lower
	corner   *dense.Lower // b×b
	root     *dense.Lower // R
	u, v     blas64.General
	block    blas64.General // b×b
	along    []float64
	head     []float64      // working memory of a reflection
	holes, g blas64.General // A⁻¹_HH and WᵀC
	solved   blas64.General // A⁻¹ of the first block of I, the holes, C, and the last block of I
	w        blas64.General // n×h
	first    blas64.General // X X₀^−½ and, one cycle later, Y Y_K^−½
	last     blas64.General
	logDet   float64
	backward float64
	norm     float64 // norm of A, by its rows

	fft      *fourier.FFT
	seq      []float64
	hat      []complex128
	spectrum []complex128
}

// Places returns the number of steps from the first open place to the last, both included.
func Places(of *timeline.Cycles) int { return of.At(of.Len()-1) + 1 }

// Measured times of a factor of cycles: seconds per squared row, the same for each generator and for each column, and seconds per
// step and transform.
const (
	pairSeconds      = 3e-9
	generatorSeconds = 0.2e-9
	columnSeconds    = 0.1e-9
	transformSeconds = 90e-9
)

// CyclesSeconds predicts the time of a factor, with columns to solve for, and the sums along lags.
func CyclesSeconds(of *timeline.Cycles, columns int) float64 {
	n, b := float64(of.Len()), float64(len(of.Open))
	solved := 2*b + float64(len(of.Holes)+columns)
	return n*n*(pairSeconds+b*generatorSeconds+solved*columnSeconds) +
		float64(Places(of))*float64(len(of.Holes)+columns+4)*transformSeconds
}

// CyclesBytes is its memory.
func CyclesBytes(of *timeline.Cycles, columns int) float64 {
	n, b := float64(of.Len()), float64(len(of.Open))
	return 8 * (n*(0.5*n+dense.Tile+6*b+2*float64(len(of.Holes)+columns)) + 8*float64(Places(of)))
}

// Factorise sets f to the factor of the A with the covariances c at the lags from 0 on, noise included, and Alpha to A⁻¹C for
// the columns of C, a row for each open place, 0 in holes. It returns dense.NotPositive if A is not positive definite.
func (f *Cycles) Factorise(of *timeline.Cycles, c []float64, columns blas64.General) error {
	n, b := of.Len(), len(of.Open)
	if f.l == nil || f.l.N() != n {
		f.l = dense.NewLower(n)
	}
	f.of, f.l.Ctx = of, f.Ctx
	if err := f.generate(c); err != nil {
		return err
	}
	for k := range of.Count {
		parallel.Look(f.Ctx)
		if k > 0 {
			if err := f.reflect(k); err != nil {
				return err
			}
		}
		f.keep(k)
	}
	f.logDet = f.l.LogDet()
	if err := f.solve(columns); err != nil {
		return err
	}
	f.first, f.last = dense.Reshape(f.first, n, b), dense.Reshape(f.last, n, b)
	dense.Copy(f.first, dense.Sub(f.solved, 0, n, 0, b))
	dense.Zero(dense.Rows(f.last, 0, b))
	before := f.solved.Cols - b // the columns of Y
	dense.Copy(dense.Rows(f.last, b, n-b), dense.Sub(f.solved, 0, n-b, before, before+b))
	if err := f.cornerOf(dense.Sub(f.solved, 0, b, 0, b)); err != nil {
		return err
	}
	f.corner.SolveLTRight(f.first)
	if err := f.cornerOf(dense.Sub(f.solved, n-b, n, before, before+b)); err != nil {
		return err
	}
	f.corner.SolveLTRight(f.last)
	f.measure(c, columns)
	return nil
}

// generate sets the first U and V.
func (f *Cycles) generate(c []float64) error {
	n, b := f.of.Len(), len(f.of.Open)
	f.u, f.v, f.along = dense.Reshape(f.u, b, n), dense.Reshape(f.v, b, n), dense.Resize(f.along, n)
	for i := range b {
		for j := range n {
			lag := f.of.At(j) - f.of.Open[i]
			f.u.Data[i*n+j] = c[max(lag, -lag)]
		}
	}
	f.head = dense.Resize(f.head, b)
	if err := f.cornerOf(dense.Sub(f.u, 0, b, 0, b)); err != nil {
		return err
	}
	f.corner.SolveL(f.u)
	dense.Copy(f.v, f.u)
	dense.Zero(dense.Sub(f.v, 0, b, 0, b))
	return nil
}

// negligible is the length of a column of V, as a share of the diagonal of L, below which it counts as zero: the square of less
// has too few digits in float64.
const negligible = 1e-140

// reflect eliminates block k of V, by reflections of its rows onto the first, and of that with a row of the shifted U.
func (f *Cycles) reflect(k int) error {
	n, b := f.of.Len(), len(f.of.Open)
	left := n - k*b
	for j := range b {
		v := dense.Sub(f.v, 0, b, k*b+j, n)
		along := dense.Vec(f.along[:v.Cols])
		length, head := blas64.Nrm2(dense.Column(v, 0)), f.u.Data[j*n+j]
		if length <= negligible*head {
			continue
		}
		if v.Data[0] > 0 {
			length = -length
		}
		// v − length·e is reflected onto e.
		w := f.head[:b]
		for i := range w {
			w[i] = v.Data[i*v.Stride]
		}
		w[0] -= length
		if square := floats.Dot(w, w); square > 0 {
			blas64.Gemv(blas.Trans, 1, v, dense.Vec(w), 0, along)
			blas64.Ger(-2/square, dense.Vec(w), along, v)
		}
		ratio := length / head
		rest := math.Sqrt((1 - ratio) * (1 + ratio))
		if !(rest > 0) {
			return dense.NotPositive{Row: k*b + j}
		}
		up, down := f.u.Data[j*n+j:][:left-j], v.Data[:v.Cols]
		for x, a := range up {
			a = (a - ratio*down[x]) / rest
			up[x] = a
			down[x] = rest*down[x] - ratio*a
		}
		for i := range b {
			v.Data[i*v.Stride] = 0
		}
	}
	return nil
}

// keep copies U, shifted by k cycles, to the columns of L.
func (f *Cycles) keep(k int) {
	n, b := f.of.Len(), len(f.of.Open)
	for j := range b {
		from := f.u.Data[j*n:]
		column := k*b + j
		for row := column; row < n; {
			tile := f.l.At(row/dense.Tile, column/dense.Tile)
			for r := row % dense.Tile; r < tile.Rows; r++ {
				tile.Data[r*tile.Stride+column%dense.Tile] = from[row-k*b]
				row++
			}
		}
	}
}

// solve sets solved, w and Alpha.
func (f *Cycles) solve(columns blas64.General) error {
	n, b, h, c := f.of.Len(), len(f.of.Open), len(f.of.Holes), columns.Cols
	f.solved = dense.Reshape(f.solved, n, b+h+c+b)
	dense.Zero(f.solved)
	for i, at := range f.of.Holes {
		f.solved.Data[at*f.solved.Stride+b+i] = 1
	}
	dense.Copy(dense.Sub(f.solved, 0, n, b+h, b+h+c), columns)
	// The last block of L⁻¹ has no rows above it.
	last := dense.Sub(f.solved, n-b, n, b+h+c, b+h+c+b)
	for i := range b {
		f.solved.Data[i*f.solved.Stride+i], last.Data[i*last.Stride+i] = 1, 1
		for j := range i + 1 {
			f.corner.SetEntry(i, j, f.u.Data[j*n+i])
		}
	}
	f.corner.EachTile(func(i, j int, t blas64.General) {
		if i == j {
			for row := range t.Rows {
				clear(t.Data[row*t.Stride+row+1:][:t.Cols-row-1])
			}
		}
	})
	f.corner.SolveL(last)
	f.l.SolveL(dense.Sub(f.solved, 0, n, 0, b+h+c))
	f.l.SolveLT(f.solved)
	f.Alpha = dense.Reshape(f.Alpha, n, c)
	dense.Copy(f.Alpha, dense.Sub(f.solved, 0, n, b+h, b+h+c))
	f.w = dense.Reshape(f.w, n, h)
	if h == 0 {
		return nil
	}
	dense.Copy(f.w, dense.Sub(f.solved, 0, n, b, b+h))
	f.holes, f.g = dense.Reshape(f.holes, h, h), dense.Reshape(f.g, h, c)
	for i, at := range f.of.Holes {
		copy(f.holes.Data[i*h:][:h], f.w.Data[at*h:][:h])
	}
	if f.root == nil || f.root.N() != h {
		f.root = dense.NewLower(h)
	}
	f.root.Set(f.holes)
	if err := f.root.Cholesky(); err != nil {
		return err
	}
	f.logDet += f.root.LogDet()
	f.root.SolveLTRight(f.w)
	dense.Gemm(blas.Trans, blas.NoTrans, 1, f.w, columns, 0, f.g)
	dense.Gemm(blas.NoTrans, blas.NoTrans, -1, f.w, f.g, 1, f.Alpha)
	for _, at := range f.of.Holes {
		clear(f.Alpha.Data[at*f.Alpha.Stride:][:c])
	}
	return nil
}

// cornerOf sets corner to the factor of a b×b block.
func (f *Cycles) cornerOf(block blas64.General) error {
	if f.corner == nil || f.corner.N() != block.Cols {
		f.corner = dense.NewLower(block.Cols)
	}
	f.corner.Set(block)
	return f.corner.Cholesky()
}

// transforms sets the length of transforms to at least twice the places.
func (f *Cycles) transforms() (places int) {
	places = Places(f.of)
	size := math.MaxInt
	for _, factor := range []int{1, 3, 5, 9, 15} {
		for factor < 2*places {
			factor *= 2
		}
		size = min(size, factor)
	}
	if f.fft == nil {
		f.fft = fourier.NewFFT(size)
	}
	f.fft.Reset(size)
	f.seq, f.hat, f.spectrum = dense.Resize(f.seq, size), dense.Resize(f.hat, size/2+1), dense.Resize(f.spectrum, size/2+1)
	return places
}

// forward sets dst to the transform of column j of x at its places.
func (f *Cycles) forward(dst []complex128, x blas64.General, j int) {
	clear(f.seq)
	b := len(f.of.Open)
	for row := range x.Rows {
		f.seq[row/b*f.of.Length+f.of.Open[row%b]] = x.Data[row*x.Stride+j]
	}
	f.fft.Coefficients(dst, f.seq)
}

// measure sets backward by the residual, over the observed rows, of the sum of the columns of X and of Alpha, each divided by its
// length.
func (f *Cycles) measure(c []float64, columns blas64.General) {
	f.transforms()
	clear(f.seq)
	f.seq[0], f.norm = c[0], c[0]
	for d := 1; d < len(c); d++ {
		f.seq[d], f.seq[len(f.seq)-d] = c[d], c[d]
		f.norm += 2 * math.Abs(c[d])
	}
	f.fft.Coefficients(f.spectrum, f.seq)
	n, b := f.of.Len(), len(f.of.Open)
	sum := dense.Reshape(f.u, n, 1) // U and V are not needed any more
	want := dense.Reshape(f.v, n, 1)
	dense.Zero(want)
	for i := range n {
		sum.Data[i] = floats.Sum(f.solved.Data[i*f.solved.Stride:][:b])
	}
	length := floats.Norm(sum.Data, 2)
	floats.Scale(1/length, sum.Data)
	for i := range b {
		want.Data[i] = 1 / length
	}
	for j := range columns.Cols {
		if length := blas64.Nrm2(dense.Column(f.Alpha, j)); length > 0 {
			blas64.Axpy(1/length, dense.Column(f.Alpha, j), dense.Vec(sum.Data))
			blas64.Axpy(1/length, dense.Column(columns, j), dense.Vec(want.Data))
		}
	}
	f.forward(f.hat, sum, 0)
	for i, v := range f.spectrum {
		f.hat[i] *= complex(real(v)/float64(len(f.seq)), 0)
	}
	f.fft.Sequence(f.seq, f.hat)
	for row := range want.Data {
		want.Data[row] -= f.seq[f.of.At(row)]
	}
	for _, at := range f.of.Holes {
		want.Data[at] = 0
	}
	f.backward = floats.Norm(want.Data, 2)
}

// Verify compares A times columns of A⁻¹, and times Alpha, with what they should be, by the residual that Factorise kept.
func (f *Cycles) Verify() error {
	return verify.Near("the factor of the Toeplitz matrix", f.backward, 0, trusted*f.norm)
}

// Condition replaces b, with a row for each open place and 0 in holes, by L⁻¹b, and returns Wᵀb: bᵀA⁻¹b over the observed rows is
// the difference of their squares.
func (f *Cycles) Condition(ctx context.Context, b blas64.General) (more blas64.General) {
	more = dense.New(len(f.of.Holes), b.Cols)
	if more.Rows > 0 {
		dense.Gemm(blas.Trans, blas.NoTrans, 1, f.w, b, 0, more)
	}
	f.l.Within(ctx).SolveL(b)
	return more
}

// Solve replaces b, with a row for each open place and 0 in holes, by A⁻¹b of the observed rows, with 0 in holes.
func (f *Cycles) Solve(ctx context.Context, b blas64.General) {
	more := f.Condition(ctx, b)
	f.l.Within(ctx).SolveLT(b)
	if more.Rows == 0 {
		return
	}
	dense.Gemm(blas.NoTrans, blas.NoTrans, -1, f.w, more, 1, b)
	for _, at := range f.of.Holes {
		clear(b.Data[at*b.Stride:][:b.Cols])
	}
}

// LogDet returns log|A| of the observed rows.
func (f *Cycles) LogDet() float64 { return f.logDet }

// Backward returns ‖Ax − b‖ for a solution x of columns of A⁻¹ and of Alpha, each of length 1. As for a Factor, this is about the
// change of A for which the results are exact.
func (f *Cycles) Backward() float64 { return f.backward }

// Sums sets dst to the sums of A⁻¹ − UUᵀ over the pairs of observations at each lag, for U with a row for each open place, 0 in
// holes.
func (f *Cycles) Sums(dst []float64, u blas64.General) {
	places := f.transforms()
	clear(f.spectrum)
	for _, x := range [2]blas64.General{f.w, u} {
		for j := range x.Cols {
			parallel.Look(f.Ctx)
			f.forward(f.hat, x, j)
			for i, v := range f.hat {
				f.spectrum[i] -= complex(real(v)*real(v)+imag(v)*imag(v), 0)
			}
		}
	}
	f.fft.Sequence(f.seq, f.spectrum)
	for d := range dst[:places] {
		dst[d] = f.seq[d] / float64(len(f.seq))
	}
	f.addShifted(dst)
}

// addShifted adds the sums of all Zᵏ(X X₀⁻¹ Xᵀ − (ZY) Y_K⁻¹ (ZY)ᵀ)Zᵏᵀ: of two blocks, the later is shifted over as many cycles as
// are left from its own. Each lag of whole cycles is a product of matrices with a row for each place of a cycle.
func (f *Cycles) addShifted(dst []float64) {
	n, b := f.of.Len(), len(f.of.Open)
	f.u, f.v, f.block = dense.Reshape(f.u, b, n), dense.Reshape(f.v, b, n), dense.Reshape(f.block, b, b)
	for i, x := range [2]blas64.General{f.first, f.last} {
		sign := float64(1 - 2*i)
		for row := range n {
			k, p := row/b, row%b
			left := float64(f.of.Count - k)
			for c, v := range x.Data[row*b:][:b] {
				f.u.Data[p*n+k*b+c], f.v.Data[p*n+k*b+c] = left*v, v
			}
		}
		for d := range f.of.Count {
			parallel.Look(f.Ctx)
			inner := n - d*b
			dense.Gemm(blas.NoTrans, blas.Trans, sign, dense.Sub(f.u, 0, b, d*b, n), dense.Sub(f.v, 0, b, 0, inner), 0, f.block)
			for p, later := range f.of.Open {
				for q, at := range f.of.Open {
					if lag := d*f.of.Length + later - at; lag >= 0 {
						dst[lag] += f.block.Data[p*b+q]
					}
				}
			}
		}
	}
}
