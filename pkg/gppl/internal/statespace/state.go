package statespace

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// The state of a Filter. Its methods are in the files above this one: steps, allocation, sweeps.

// A Filter factorises A = K + σ²diag(w) + diag(s) for one set of inputs. w holds relative noise variances, 1 unless SetScale
// was called, and s the known variances of the observations' errors. It computes CᵀA⁻¹C for columns C. It is the Kalman
// filter, which is A = LDLᵀ with unit lower triangular L, row by row, in O(nD³): with m and P the mean and covariance of the
// state given all observations before y_i,
//
//	e = y_i − hᵀm    s = hᵀPh + σ²w_i + s_i    k = Ph/s     D_ii = s, (L⁻¹y)_i = e
//	m ← Φ(m + k·e)   P ← Φ(P − s·k·kᵀ)Φᵀ + Q
//
// and back, where r and N sum up the information of the later observations, so the mean and covariance of the state given all
// observations are m + Pr and P − PNP (the smoother of Bryson and Frazier and of de Jong; Durbin and Koopman 2012, section
// 4.4),
//
//	α_i = e/s − kᵀr              (A⁻¹)_ii = 1/s + kᵀNk
//	r ← Φᵀ(r + h·α_i)            N ← Φᵀ((I − hkᵀ)N(I − khᵀ) + hhᵀ/s)Φ
//
// P, k, N and s are the same for all columns y of C; m, e, r and α are each column's own, in O(nD²) more. The rounding error
// of ½yᵀA⁻¹y + ½log|A| is at most
//
//	2.2e-16·((n + q)·√(1 + v/σ²) + √n·(q + |log|A||)),  q = yᵀA⁻¹y, v = Σ v_c
//
// and four times that for a derivative, in all tests (v/σ² up to 1e12): in dense algebra the error grows with v/σ², not with its
// root.
//
// Memory, D² + 2 numbers per input, 3 per component and D + 1 per column, is kept from call to call: calls allocate only when
// they need more than ever before. Methods other than Factorise leave the factorisation unchanged, but use working memory of
// the Filter: it is not safe for concurrent use. See Reader.
type Filter struct {
	// Ctx, unless nil, is checked every few inputs of a sweep: once it has ended, methods panic with a parallel.Stop.
	Ctx context.Context

	t     []float64
	known []float64                      // s, or nil
	share []float64                      // w, or nil
	most  struct{ known, share float64 } // largest known and share
	own   []float64                      // σ²w + s, or nil if all noise variances are σ²
	cs    []component
	given []component // the components of the blocks
	noise float64     // σ²
	dim   int         // D
	first []int       // index of h's 1 for each component
	until []int       // end of each row of Φ, which begins on the diagonal
	steps []steps     // one per component
	cov   []float64   // n×D×D: P
	inv   []float64   // 1/s
	cols  int         // number of columns of C
	mean  []float64   // m, n×D for each column, or only for the first, see means; m of a column of zeros if C is empty
	marks []float64   // if mean has only the first: D numbers for each chunk and column, see mark
	errs  []float64   // e, n for each column
	logS  float64     // Σ log s
	quad  float64     // yᵀA⁻¹y of the first column
	gram  []float64   // lower triangle of CᵀA⁻¹C of all columns, c×c, without quad

	// The basis of the state has the sum hᵀx in the first place, followed by all of x except its own first number, so h = (1,
	// 0, …) for sums as well: the observed number is a number of the state, not a difference of large ones.
	drift [][]entry // F of each component in that basis

	system system        // used instead of components for blocks
	twice  *doubledState // the last doubled factorisation, kept for its memory

	scratch
}

// scratch is the working memory of a Filter's methods.
type scratch struct {
	panels              panels
	beside              parallel.Aside // products of the previous chunk
	work                []float64
	phi                 []float64   // Φ in that basis, D×D, upper triangular
	block, q            [][]float64 // Φ and Q of each component, d×d
	r, k, w, p, n, m, x []float64   // D or D×D each
	diag                []float64   // diagonal of A⁻¹ − UUᵀ, where noise variances differ
	after               []float64   // the state of each column after the first
	replayed            []float64   // state of each column of CR at a chunk of inputs, see replay
	recalled            int         // number of the chunk, from 1, whose means of all columns are in mixedMean, see recall
	// e/s of the columns after the first at this chunk of inputs and the previous one, see scaledIn
	scaled    []float64
	mixedMean []float64 // m and e of CR at a chunk of inputs
	mixedErrs []float64
	blockWork blockWork // working memory for blocks
	tailErrs  []float64 // errors of each column at an input after the last
	sums      []float64 // contributions of a chunk of inputs to M, −rᵀFm and the diagonal of A⁻¹ − UUᵀ, see backward3
}

// system is a Filter's representation of its blocks.
type system struct {
	blocks []Block
	units  []piece
	rows   []int       // starts of the pairs of a unit in P, and finally the size of P
	phi, q [][]float64 // Φ and Q of the process of each block at each input, n×d×d
	low    [][]float64 // low parts of Q beyond float64, for exposures in a doubled filter; else nil
	h      []float64   // h of each unit, n×units
	phases []float64   // 2π(t − origin)/p of each block with weights, n each
	gain   []float64   // Ph, n×D
	origin float64
	twos   bool  // all processes have two numbers
	matern bool  // and all are Matérn 3/2
	firsts []int // starts of the derivatives of each block
	viewed viewed

	exposures *Schedule     // exposures that end at each input; nil without exposures
	doubled   *doubledState // nil for a factorisation in float64
}

// blockWork is the working memory of a Filter with blocks.
type blockWork struct {
	ahead, zero     []float64   // matrices of the size of P
	g, gk, u, uk, q []float64   // D each
	observed        []float64   // h of each unit
	phi, noise, low [][]float64 // transition of each block over a gap between other places than inputs
	slopes          []float64   // derivatives of a process
	forms           [][]float64 // the adjoints of Φ and of Q of each block, d×d each
	pair            [4][]float64
	rates           []float64 // a and e⁻ᵃ of each block, if all are Matérn 3/2
	turned          []float64 // P·q of each block, at its first number
	tilted          []float64 // contribution of the means to the derivative in the lengthscale of each block
	views           []float64 // derivatives in h of each view, D each
	windows         []windows // windows of each block
}

// viewed is a Filter's representation of its views. Where an observation is hᵀx, the state is kept as T·x, where T is |h|
// times the reflection with h/|h| as its first row: every sweep then observes the first number of the state, as without views,
// with the transitions TΦT⁻¹ and TQTᵀ. A multiple of a reflection is perfectly conditioned, and likelihoods do not depend on
// its other rows.
type viewed struct {
	views   []View
	of      []int       // view of each input
	glasses [][]glass   // one for each block and view
	rate    [][]float64 // g of each block
	slopes  [][]float64 // ∂g of each block
	phi, q  [][]float64 // Φ and Q of each block without views
	most    float64     // largest variance in a view
}

// doubledState is a doubled factorisation, with the state in the basis of the processes, without views.
type doubledState struct {
	h    [][]doubled.Float // h of each view, D
	cov  []doubled.Float   // P, n×D×D
	gain []doubled.Float   // Ph, n×D
	s    []doubled.Float
	mean []doubled.Float // m, n×c×D
	errs []doubled.Float // e, n×c
	gram []doubled.Float // CᵀA⁻¹C, c×c
	low  blas64.General  // low part of R of a gradient beyond float64; no rows if there is none
}

// panels are products shared by several processors, a panel of columns each.
type panels struct {
	from, to int
	r        blas64.General
	add, mix func(k int)
}

// entry is an entry of a sparse matrix.
type entry struct {
	row, col int
	v        float64
}

// NotPositive is the error for a matrix A whose leading minor that ends in Row is not positive definite to working precision.
type NotPositive struct{ Row int }

func (e NotPositive) Error() string {
	return fmt.Sprintf("statespace: the leading minor of order %d is not positive definite", e.Row+1)
}

// logSum adds up logarithms of numbers in (0, 1] by multiplying them.
type logSum struct{ sum, prod float64 }

const tiny = 1e-100 // its square is far from underflow

func (l *logSum) add(x float64) {
	l.prod *= x
	if l.prod < tiny {
		l.sum += math.Log(l.prod)
		l.prod = 1
	}
}

// noiseAt returns the noise variance of input i.
func (f *Filter) noiseAt(i int) float64 {
	if f.own == nil {
		return f.noise
	}
	return f.own[i]
}

func (f *Filter) shareAt(i int) float64 {
	if f.share == nil {
		return 1
	}
	return f.share[i]
}

// scale returns Σv and an upper bound on the noise variances, s included.
func (f *Filter) scale() float64 {
	s := f.noise*f.most.share + f.most.known
	for _, c := range f.cs {
		s += c.Variance
	}
	return s
}

// lookAt checks the context at every sixteenth step if a step takes O(D³) or more, possibly a millisecond.
func (f *Filter) lookAt(step int) {
	if step%16 == 0 {
		parallel.Look(f.Ctx)
	}
}
