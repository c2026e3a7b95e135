package dense

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Normalise scales each column of w to length one, except those that vanish, and returns the sum of the logs of their lengths.
func Normalise(w blas64.General) (logs float64) {
	for j := range w.Cols {
		c := Column(w, j)
		length := blas64.Nrm2(c)
		logs += math.Log(length)
		if length > 0 {
			blas64.Scal(1/length, c)
		}
	}
	return logs
}

// QR is what is known of the R of W = QR, W n×k.
type QR struct {
	Dependent []int   // columns that are numerically dependent on the earlier ones
	Rows      int     // n
	LogDet    float64 // log|det R|
	Cond      float64 // an estimate of the condition of W, whose columns should have one length
	Leading   int     // as many leading columns are sound
}

// Unsound is how far rounding may turn directions, in radians.
const Unsound = 1e-2

// Turned is about how far rounding turns the columns of Q: each is computed as for a W that is off by the rounding of its
// entries, which the condition of those before it amplifies (Higham 2002, theorem 19.4 and section 20.7).
func (f *QR) Turned() float64 { return turned(f.Rows, f.Cond) }

func turned(rows int, cond float64) float64 { return math.Sqrt(float64(rows)) * 0x1p-52 * cond }

// Sound reports whether the span is that of W rather than of its rounding.
func (f *QR) Sound() bool { return f.Dependent == nil && f.Turned() <= Unsound }

// Orthonormalise replaces the columns of q, n×k, by an orthonormal basis of their span, column j of it in the span of columns
// 0, …, j, in 4nk² flops. If columns are dependent, q is then meaningless.
func Orthonormalise(q blas64.General) *QR {
	k := q.Cols
	f := &QR{Rows: q.Rows, Leading: k}
	tau, work := householder(q)
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
	condition := func(k int) float64 { // of the leading columns
		if k == 0 {
			return 1
		}
		r := blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: k, Stride: q.Stride, Data: q.Data}
		return 1 / lapack64.Trcon(lapack.MaxColumnSum, r, scratch, counts)
	}
	if f.Cond = condition(k); !f.Sound() && f.Dependent == nil {
		f.Leading = sort.Search(k, func(j int) bool { return !(turned(f.Rows, condition(j+1)) <= Unsound) })
	}
	lapack64.Orgqr(q, tau, work, len(work))
	return f
}

// householder replaces a by its QR factorisation in LAPACK's form, and returns the rest of it and working memory.
func householder(a blas64.General) (tau, work []float64) {
	tau, work = make([]float64, a.Cols), make([]float64, 1)
	lapack64.Geqrf(a, tau, work, -1)
	work = make([]float64, int(work[0]))
	lapack64.Geqrf(a, tau, work, len(work))
	return tau, work
}

// OrthonormalBasis returns an orthonormal basis of the span of w, n×k, whose columns it scales to one length first.
func OrthonormalBasis(w blas64.General) (blas64.General, *QR) {
	q := New(w.Rows, w.Cols)
	Copy(q, w)
	if q.Cols > q.Rows {
		return q, &QR{Rows: q.Rows, Cond: math.Inf(1), Leading: q.Rows}
	}
	lengths := Normalise(q)
	f := Orthonormalise(q)
	f.LogDet += lengths
	return q, f
}

// Complement returns an orthonormal basis of what the columns of w add to the orthonormal columns of q, without those of w
// that depend on the ones before them, in O(n·k·(k + columns of q)). It overwrites w.
func Complement(w, q blas64.General) blas64.General {
	Normalise(w)
	deflate(w, q)
	if !choleskyQR(w) {
		w = dropDependent(w)
		Orthonormalise(w)
	}
	// Rounding has left something of q, and of the columns in one another: twice
	// is enough (Giraud, Langou, Rozložník and van den Eshof 2005).
	deflate(w, q)
	if !choleskyQR(w) {
		Orthonormalise(w)
	}
	return w
}

// choleskyQR orthonormalises w by the Cholesky factor of wᵀw: w ← wL⁻ᵀ, to about
// the rounding times the square of its condition, in 2n·k² flops that run in
// parallel. It leaves w alone and reports false if that condition is bad.
func choleskyQR(w blas64.General) bool {
	if w.Cols == 0 {
		return true
	}
	n, k := w.Rows, w.Cols
	strip := func(c int) blas64.General {
		from, to := n*c/parallel.Lanes, n*(c+1)/parallel.Lanes
		return Rows(w, from, to-from)
	}
	part := make([]blas64.General, parallel.Lanes)
	parallel.For(parallel.Lanes, func(c int) {
		part[c] = New(k, k)
		if s := strip(c); s.Rows > 0 {
			for i := range Blocks(k) { // the lower triangle
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
	factor.Set(part[0])
	if factor.Cholesky() != nil || !(factor.MinDiagonal() > 1e-2) {
		return false
	}
	parallel.For(parallel.Lanes, func(c int) {
		if s := strip(c); s.Rows > 0 {
			factor.SolveLTRight(s)
		}
	})
	return true
}

// independent is the smallest length that orthogonalisation may leave of a unit column
// for it to count as independent of those before. A dropped column carries at most the
// square of this of its signal.
const independent = 1e-7

// dropDependent returns w without the columns that depend on those before them.
func dropDependent(w blas64.General) blas64.General {
	r := New(w.Rows, w.Cols)
	Copy(r, w)
	householder(r)
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

// deflate sets w to (I − qqᵀ)w.
func deflate(w, q blas64.General) {
	if q.Cols == 0 || w.Cols == 0 {
		return
	}
	along := New(q.Cols, w.Cols)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, q, w, 0, along)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, -1, q, along, 1, w)
}

// Repel replaces the columns of w (n×k), of length one, by what repelling each other pairwise makes of them,
//
//	W ← normalise(W − rate·W·offdiag(WᵀW)),
//
// as often as steps says. It iterates on the k×k Gram matrix G = WᵀW and the accumulated factor in O(nk² + steps·k³), since W
// itself is only needed at the end.
func Repel(w *mat.Dense, steps int, rate float64) {
	_, k := w.Dims()
	var gram, next, step, moved mat.Dense
	gram.Mul(w.T(), w)
	factor := mat.NewDense(k, k, nil)
	for i := range k {
		factor.Set(i, i, 1)
	}
	for range steps {
		// step = I − rate·offdiag(G), then its columns scaled so that W·step
		// has columns of length one.
		step.Scale(-rate, &gram)
		for j := range k {
			step.Set(j, j, 1)
		}
		next.Mul(&gram, &step)
		for j := range k {
			length := math.Sqrt(mat.Dot(step.ColView(j), next.ColView(j)))
			for i := range k {
				step.Set(i, j, step.At(i, j)/length)
				next.Set(i, j, next.At(i, j)/length)
			}
		}
		gram.Mul(step.T(), &next)
		next.Mul(factor, &step)
		factor.Copy(&next)
	}
	moved.Mul(w, factor)
	w.Copy(&moved)
	Normalise(w.RawMatrix())
}
