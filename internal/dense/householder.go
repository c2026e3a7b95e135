package dense

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// This is the QR factorisation by Householder's reflections of gonum's Dgeqrf and Dorgqr, in the same blocks and with the same
// digits, but with looks at a context: for millions of rows one of their calls takes minutes.

// reflections works on a block of columns of a at a time.
type reflections struct {
	ctx  context.Context
	impl gonum.Implementation
	a    blas64.General // n×k with n ≥ k
	tau  []float64
	work []float64 // k numbers
	t    []float64 // triangle of the product of a block
	size int       // number of columns of a block
}

// pieceFlops is the number of operations between two looks: some tenths of a second at worst.
const pieceFlops = 3e8

func newReflections(ctx context.Context, a blas64.General, tau []float64) *reflections {
	r := &reflections{ctx: ctx, a: a, tau: tau, work: make([]float64, a.Cols)}
	r.size = r.impl.Ilaenv(1, "DGEQRF", " ", a.Rows, a.Cols, -1, -1)
	r.t = make([]float64, r.size*r.size)
	return r
}

// crossing returns the number of last columns that are not taken in blocks.
func (r *reflections) crossing(routine string) int {
	return max(0, r.impl.Ilaenv(3, routine, " ", r.a.Rows, r.a.Cols, r.a.Cols, -1))
}

// factorise replaces a by its factorisation in LAPACK's form.
func (r *reflections) factorise() {
	k, i := r.a.Cols, 0
	if nx := r.crossing("DGEQRF"); r.size < k && nx < k {
		for ; i < k-nx; i += r.size {
			ib := min(k-i, r.size)
			r.eliminate(i, ib)
			r.apply(blas.Trans, i, ib)
		}
	}
	r.eliminate(i, k-i)
}

// eliminate does as Dgeqr2 with the count columns from i on, below row i.
func (r *reflections) eliminate(i, count int) {
	a, lda, n := r.a.Data, r.a.Stride, r.a.Rows
	for j := i; j < i+count; j++ {
		parallel.Look(r.ctx)
		a[j*lda+j], r.tau[j] = r.impl.Dlarfg(n-j, a[j*lda+j], a[min(j+1, n-1)*lda+j:], lda)
		diagonal := a[j*lda+j]
		r.reflect(j, i+count)
		a[j*lda+j] = diagonal
	}
}

// reflect applies reflection j to the columns from j+1 to end−1.
func (r *reflections) reflect(j, end int) {
	a, lda := r.a.Data, r.a.Stride
	if j == end-1 {
		return
	}
	a[j*lda+j] = 1
	r.impl.Dlarf(blas.Left, r.a.Rows-j, end-j-1, a[j*lda+j:], lda, r.tau[j], a[j*lda+j+1:], lda, r.work)
}

// apply applies the product of count reflections, from i on, or its transpose to all columns after them, some at a time.
func (r *reflections) apply(trans blas.Transpose, i, count int) {
	a, lda, n := r.a.Data, r.a.Stride, r.a.Rows
	left := r.a.Cols - i - count
	if left <= 0 {
		return
	}
	parallel.Look(r.ctx)
	r.impl.Dlarft(lapack.Forward, lapack.ColumnWise, n-i, count, a[i*lda+i:], lda, r.tau[i:], r.t, r.size)
	piece := max(8, int(pieceFlops/(4*float64(n-i)*float64(count))))
	parallel.Within(r.ctx, (left+piece-1)/piece, func(p int) {
		from := p * piece
		cols := min(piece, left-from)
		r.impl.Dlarfb(blas.Left, trans, lapack.Forward, lapack.ColumnWise, n-i, cols, count, a[i*lda+i:], lda, r.t, r.size,
			a[i*lda+i+count+from:], lda, make([]float64, cols*r.size), r.size)
	})
}

// form replaces a factorisation by its Q.
func (r *reflections) form() {
	k, first, blocked := r.a.Cols, 0, 0
	if nx := r.crossing("DORGQR"); r.size < k && nx < k {
		first = (k - nx - 1) / r.size * r.size
		blocked = min(k, first+r.size)
		r.clear(0, blocked, blocked, k)
	}
	r.generate(blocked, k-blocked)
	if blocked == 0 {
		return
	}
	for i := first; i >= 0; i -= r.size {
		ib := min(r.size, k-i)
		r.apply(blas.NoTrans, i, ib)
		r.generate(i, ib)
		r.clear(0, i, i, i+ib)
	}
}

// generate does as Dorg2r with the count columns from i on, below row i.
func (r *reflections) generate(i, count int) {
	a, lda, n := r.a.Data, r.a.Stride, r.a.Rows
	for j := i + count - 1; j >= i; j-- {
		parallel.Look(r.ctx)
		r.reflect(j, i+count)
		if j < n-1 {
			blas64.Scal(-r.tau[j], blas64.Vector{N: n - j - 1, Inc: lda, Data: a[(j+1)*lda+j:]})
		}
		a[j*lda+j] = 1 - r.tau[j]
		r.clear(i, j, j, j+1)
	}
}

// clear sets the rows from … to−1 of the columns first … end−1 to zero.
func (r *reflections) clear(from, to, first, end int) {
	for i := from; i < to; i++ {
		clear(r.a.Data[i*r.a.Stride+first : i*r.a.Stride+end])
	}
}
