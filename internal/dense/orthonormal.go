package dense

import (
	"context"
	"math"
	"sort"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Normalise scales each column of w to length one, except those that vanish, and returns the sum of the logs of their lengths,
// until ctx ends (parallel.Look).
func Normalise(ctx context.Context, w blas64.General) (logs float64) {
	for j := range w.Cols {
		parallel.Look(ctx)
		c := Column(w, j)
		length := blas64.Nrm2(c)
		logs += math.Log(length)
		if length > 0 {
			blas64.Scal(1/length, c)
		}
	}
	return logs
}

// QR describes the R of W = QR, W n×k.
type QR struct {
	Dependent []int   // columns that are numerically dependent on the earlier ones
	Rows      int     // number of rows n
	LogDet    float64 // log|det R|
	Cond      float64 // an estimate of the condition of W, whose columns should have one length
	Leading   int     // number of leading columns that are sound
}

// Unsound is the angle by which rounding may turn directions, in radians.
const Unsound = 1e-2

// Turned returns about the angle by which rounding turns the columns of Q, in radians. Each is computed as for a W that is off by
// the rounding of its entries, which the condition of the columns before it amplifies (Higham 2002, theorem 19.4 and section
// 20.7).
func (f *QR) Turned() float64 { return turned(f.Rows, f.Cond) }

func turned(rows int, cond float64) float64 { return math.Sqrt(float64(rows)) * 0x1p-52 * cond }

// Sound reports whether the span belongs to W rather than to its rounding.
func (f *QR) Sound() bool { return f.Dependent == nil && f.Turned() <= Unsound }

// Orthonormalise replaces the columns of q, n×k, by an orthonormal basis of their span, column j of it in the span of columns
// 0, …, j, in 4nk² flops, until ctx ends (parallel.Look). If columns are dependent, q is then meaningless.
func Orthonormalise(ctx context.Context, q blas64.General) *QR {
	k := q.Cols
	f := &QR{Rows: q.Rows, Leading: k}
	r := newReflections(ctx, q, make([]float64, k))
	r.factorise()
	tol := 16 * math.Sqrt(float64(q.Rows)) * 0x1p-52
	for j := range k {
		column := blas64.Nrm2(blas64.Vector{N: j + 1, Inc: q.Stride, Data: q.Data[j:]})
		diagonal := math.Abs(q.Data[j*q.Stride+j])
		if !(diagonal > tol*column) {
			f.Dependent = append(f.Dependent, j)
		}
		f.LogDet += math.Log(diagonal)
	}
	scratch, counts := make([]float64, 3*k), make([]int, k)
	condition := func(k int) float64 { // returns the condition of the first k columns
		if k == 0 {
			return 1
		}
		parallel.Look(ctx)
		r := blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: k, Stride: q.Stride, Data: q.Data}
		return 1 / lapack64.Trcon(lapack.MaxColumnSum, r, scratch, counts)
	}
	if f.Cond = condition(k); !f.Sound() && f.Dependent == nil {
		f.Leading = sort.Search(k, func(j int) bool { return !(turned(f.Rows, condition(j+1)) <= Unsound) })
	}
	r.form()
	return f
}

// OrthonormalBasis returns an orthonormal basis of the span of w, n×k, whose columns it scales to one length first, until
// ctx ends (parallel.Look).
func OrthonormalBasis(ctx context.Context, w blas64.General) (blas64.General, *QR) {
	q := New(w.Rows, w.Cols)
	Copy(q, w)
	if q.Cols > q.Rows {
		return q, &QR{Rows: q.Rows, Cond: math.Inf(1), Leading: q.Rows}
	}
	lengths := Normalise(ctx, q)
	f := Orthonormalise(ctx, q)
	f.LogDet += lengths
	return q, f
}

// Complement returns an orthonormal basis of what the columns of w add to the orthonormal columns of q. It drops columns of w
// that depend on earlier ones. It takes O(n·k·(k + columns of q)), until ctx ends (parallel.Look), and overwrites w.
func Complement(ctx context.Context, w, q blas64.General) blas64.General {
	Normalise(ctx, w)
	deflate(ctx, w, q)
	if !choleskyQR(ctx, w) {
		w = dropDependent(ctx, w)
		Orthonormalise(ctx, w)
	}
	// Rounding has left something of q, and of the columns in one another. Doing it twice suffices (Giraud, Langou, Rozložník and
	// van den Eshof 2005).
	deflate(ctx, w, q)
	if !choleskyQR(ctx, w) {
		Orthonormalise(ctx, w)
	}
	return w
}

// choleskyQR orthonormalises w by the Cholesky factor of wᵀw: w ← wL⁻ᵀ, to about the rounding times the square of its condition,
// in 2n·k² flops that run in parallel. It leaves w alone and reports false if that condition is bad.
func choleskyQR(ctx context.Context, w blas64.General) bool {
	if w.Cols == 0 {
		return true
	}
	n, k := w.Rows, w.Cols
	strip := func(c int) blas64.General {
		from, to := n*c/parallel.Lanes, n*(c+1)/parallel.Lanes
		return Rows(w, from, to-from)
	}
	part := make([]blas64.General, parallel.Lanes)
	parallel.Within(ctx, parallel.Lanes, func(c int) {
		part[c] = New(k, k)
		if s := strip(c); s.Rows > 0 {
			for i := range Blocks(k) { // only the lower triangle is computed
				parallel.Look(ctx)
				g, b := RowBlock(part[c], i), s
				g.Cols = i*Tile + g.Rows
				b.Cols = g.Cols
				Gemm(blas.Trans, blas.NoTrans, 1, columnBlock(s, i), b, 0, g)
			}
		}
	})
	for _, p := range part[1:] {
		Add(part[0].Data, p.Data)
	}
	factor := NewLower(k)
	factor.Ctx = ctx
	factor.Set(part[0])
	if factor.Cholesky() != nil || !(factor.MinDiagonal() > 1e-2) {
		return false
	}
	parallel.Within(ctx, parallel.Lanes, func(c int) {
		if s := strip(c); s.Rows > 0 {
			factor.SolveLTRight(s)
		}
	})
	return true
}

// independent is the smallest length that orthogonalisation may leave of a unit column for it to count as independent of the
// columns before it. A dropped column carries at most the square of this of its signal.
const independent = 1e-7

// dropDependent returns w without the columns that depend on those before them.
func dropDependent(ctx context.Context, w blas64.General) blas64.General {
	r := New(w.Rows, w.Cols)
	Copy(r, w)
	newReflections(ctx, r, make([]float64, w.Cols)).factorise()
	kept := 0
	for j := range w.Cols {
		if math.Abs(r.Data[j*r.Stride+j]) > independent {
			blas64.Copy(Column(w, j), Column(w, kept))
			kept++
		}
	}
	w.Cols = kept
	return w
}

// deflate sets w to (I − qqᵀ)w, in pieces of rows between looks at ctx.
func deflate(ctx context.Context, w, q blas64.General) {
	if q.Cols == 0 || w.Cols == 0 {
		return
	}
	along := New(q.Cols, w.Cols)
	rows := max(Tile, int(pieceFlops/(2*float64(q.Cols)*float64(w.Cols))))
	for from := 0; from < w.Rows; from += rows {
		parallel.Look(ctx)
		count := min(rows, w.Rows-from)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, Rows(q, from, count), Rows(w, from, count), 1, along)
	}
	for from := 0; from < w.Rows; from += rows {
		parallel.Look(ctx)
		count := min(rows, w.Rows-from)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, Rows(q, from, count), along, 1, Rows(w, from, count))
	}
}

// Repel replaces the columns of w (n×k), of length one, by columns that have repelled one another pairwise,
//
//	W ← normalise(W − rate·W·offdiag(WᵀW)),
//
// as often as steps says, until ctx ends (parallel.Look). It iterates on the k×k Gram matrix G = WᵀW and the accumulated factor
// in O(nk² + steps·k³), since W itself is only needed at the end.
func Repel(ctx context.Context, w *mat.Dense, steps int, rate float64) {
	_, k := w.Dims()
	var gram, next, step mat.Dense
	gram.CloneFrom(gramOf(ctx, w))
	factor := mat.NewDense(k, k, nil)
	for i := range k {
		factor.Set(i, i, 1)
	}
	for range steps {
		// step is I − rate·offdiag(G), with its columns scaled so that the columns of W·step have length one.
		step.Scale(-rate, &gram)
		for j := range k {
			step.Set(j, j, 1)
		}
		next.CloneFrom(product(ctx, blas.NoTrans, &gram, &step))
		for j := range k {
			length := math.Sqrt(mat.Dot(step.ColView(j), next.ColView(j)))
			for i := range k {
				step.Set(i, j, step.At(i, j)/length)
				next.Set(i, j, next.At(i, j)/length)
			}
		}
		gram.CloneFrom(product(ctx, blas.Trans, &step, &next))
		factor = product(ctx, blas.NoTrans, factor, &step)
	}
	w.Copy(product(ctx, blas.NoTrans, w, factor))
	Normalise(ctx, w.RawMatrix())
}

// gramOf returns wᵀw, in pieces of rows between looks at ctx.
func gramOf(ctx context.Context, w *mat.Dense) mat.Symmetric {
	n, k := w.Dims()
	g := mat.NewSymDense(k, nil)
	rows := max(Tile, int(pieceFlops/(float64(k)*float64(k))))
	for from := 0; from < n; from += rows {
		parallel.Look(ctx)
		blas64.Syrk(blas.Trans, 1, Rows(w.RawMatrix(), from, min(rows, n-from)), 1, g.RawSymmetric())
	}
	return g
}

// product returns op(a)·b, until ctx ends (parallel.Look).
func product(ctx context.Context, ta blas.Transpose, a, b *mat.Dense) *mat.Dense {
	c := ProductWithin(ctx, ta, a.RawMatrix(), b.RawMatrix())
	return mat.NewDense(c.Rows, c.Cols, c.Data)
}
