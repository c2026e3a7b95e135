package statespace

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// What a Filter holds. Its methods are in the files above this one: steps, allocation, sweeps.

// A Filter factorises A = K + σ²diag(w) + diag(s) for one set of inputs, w being the noise variances relative to one another, 1
// unless SetScale was called, and s known variances of the observations' errors. It knows CᵀA⁻¹C for some columns C. It is the
// Kalman filter, which is A = LDLᵀ with unit lower triangular L, row by row, in O(nD³): with m and P the mean and covariance of
// the state before y_i is seen, given all before it,
//
//	e = y_i − hᵀm    s = hᵀPh + σ²w_i + s_i    k = Ph/s     D_ii = s, (L⁻¹y)_i = e
//	m ← Φ(m + k·e)   P ← Φ(P − s·k·kᵀ)Φᵀ + Q
//
// and back, r and N summing up what the later observations say of the state, so that its mean and covariance given all are m + Pr
// and P − PNP (the smoother of Bryson and Frazier and of de Jong; Durbin and Koopman 2012, section 4.4),
//
//	α_i = e/s − kᵀr              (A⁻¹)_ii = 1/s + kᵀNk
//	r ← Φᵀ(r + h·α_i)            N ← Φᵀ((I − hkᵀ)N(I − khᵀ) + hhᵀ/s)Φ
//
// P, k, N and s are the same for all columns y of C; m, e, r and α are each column's
// own, in O(nD²) more. What rounding costs ½yᵀA⁻¹y + ½log|A| is no more than
//
//	2.2e-16·((n + q)·√(1 + v/σ²) + √n·(q + |log|A||)),  q = yᵀA⁻¹y, v = Σ v_c
//
// and four times that for a derivative, as far as tested (v/σ² up to 1e12): dense algebra loses v/σ², not its root.
//
// Memory, D² + 2 numbers per input, 3 per component and D + 1 per column, is kept from call to call: calls allocate only when
// they need more than any before. Methods other than Factorise leave the factorisation as it is, but work in memory of the
// Filter: it is not safe for concurrent use. See Reader.
type Filter struct {
	// Ctx, unless nil, is looked at every few inputs of a sweep: once it has ended, methods panic with a parallel.Stop.
	Ctx context.Context

	t     []float64
	known []float64                      // s, or nil
	share []float64                      // w, or nil
	most  struct{ known, share float64 } // the largest of each
	own   []float64                      // σ²w + s, or nil where all have σ²
	cs    []component
	given []component // what Factorise has of its blocks
	noise float64     // σ²
	dim   int         // D
	first []int       // the place of h's 1 for each component
	until []int       // where each row of Φ ends, which begins on the diagonal
	steps []steps     // for each component
	cov   []float64   // n×D×D: P
	inv   []float64   // 1/s
	cols  int         // of C
	mean  []float64   // m, n×D for each column, or for the first alone, see means; of a column of zeros if there is none
	marks []float64   // where they are for the first alone: of each chunk and column, D numbers, see mark
	errs  []float64   // e, n for each column
	logS  float64     // Σ log s
	quad  float64     // yᵀA⁻¹y of the first column
	gram  []float64   // CᵀA⁻¹C of all columns: the lower triangle, c×c, but for quad

	// The state's basis is the sum hᵀx in the first place and all of x but its own first place after it, so that h = (1, 0, …) for
	// sums as well: what an observation fixes is a number of its own, not a difference of large ones.
	drift [][]entry // F of each component in that basis

	system system        // instead of components, if there are blocks
	twice  *doubledState // that of the last doubled factorisation, for its memory

	scratch
}

// scratch is what the methods of a Filter work in.
type scratch struct {
	panels              panels
	beside              parallel.Aside // the products of the chunk before
	work                []float64
	phi                 []float64   // Φ in that basis, D×D, upper triangular
	block, q            [][]float64 // Φ and Q of each component, d×d
	r, k, w, p, n, m, x []float64   // D or D×D each
	diag                []float64   // of A⁻¹ − UUᵀ, where noise variances differ
	after               []float64   // the state of each column after the first
	replayed            []float64   // that of each column of CR at a chunk of inputs, see replay
	recalled            int         // the chunk, from one on, whose means of all columns are in mixedMean, see recall
	scaled              []float64   // e/s of these at a chunk of inputs and the one before, see scaledIn
	mixedMean           []float64   // m and e of CR at a chunk of inputs
	mixedErrs           []float64
	room                room      // for blocks
	tailErrs            []float64 // of each column at an input after the last
	sums                []float64 // what a chunk of inputs has of M, −rᵀFm and the diagonal of A⁻¹ − UUᵀ, see backward3
}

// system is what a Filter knows of its blocks.
type system struct {
	blocks []Block
	units  []piece
	rows   []int       // where the pairs of a unit begin in P, and the size of P at the end
	phi, q [][]float64 // Φ and Q of the process of each block at each input, n×d×d
	low    [][]float64 // what Q has beyond float64, of exposures where the filter is doubled; else nil
	h      []float64   // of each unit, n×units
	phases []float64   // 2π(t − origin)/p of each block with weights, n each
	gain   []float64   // Ph, n×D
	origin float64
	twos   bool  // all processes have two numbers
	matern bool  // and are Matérn 3/2
	firsts []int // where the derivatives of each block begin
	viewed viewed

	exposures *Schedule     // those that end at each input; nil: none
	doubled   *doubledState // nil: in float64
}

// room is what a Filter with blocks works in.
type room struct {
	ahead, zero     []float64   // as P
	g, gk, u, uk, q []float64   // D each
	seen            []float64   // h of each unit
	phi, noise, low [][]float64 // of each block over a gap that is none of the inputs'
	slopes          []float64   // of a process
	forms           [][]float64 // the adjoints of Φ and of Q of each block, d×d each
	pair            [4][]float64
	rates           []float64 // a and e⁻ᵃ of each block, where all are Matérn 3/2
	turned          []float64 // Pq at their first numbers
	tilted          []float64 // of each block, what the means add to the derivative in its lengthscale
	views           []float64 // the derivatives in h of each view, D each
	windows         []windows // of each block
}

// viewed is what a Filter knows of its views. Where an observation sees hᵀx, x is kept as T·x, where T is |h| times the
// reflection with h/|h| as its first row: every sweep then sees the first number of the state, as without views, by the
// transitions TΦT⁻¹ and TQTᵀ. A multiple of a reflection is as well conditioned as can be, and likelihoods do not depend on what
// is below the first row.
type viewed struct {
	views   []View
	of      []int       // the view of each input
	glasses [][]glass   // by block and view
	rate    [][]float64 // g of each block
	slopes  [][]float64 // ∂g of each block
	phi, q  [][]float64 // Φ and Q of each block as they are without views
	most    float64     // the largest variance that a view sees
}

// doubledState is a doubled factorisation: what Filter keeps, with the state in the basis of the processes, without views.
type doubledState struct {
	h    [][]doubled.Float // of each view, D
	cov  []doubled.Float   // P, n×D×D
	gain []doubled.Float   // Ph, n×D
	s    []doubled.Float
	mean []doubled.Float // m, n×c×D
	errs []doubled.Float // e, n×c
	gram []doubled.Float // CᵀA⁻¹C, c×c
	low  blas64.General  // what R of a gradient has beyond float64; no rows: nothing
}

// panels are the products that several processors work on, a panel of columns each.
type panels struct {
	from, to int
	r        blas64.General
	add, mix func(k int)
}

// An entry of a sparse matrix.
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

// scale returns Σv and more than any noise variance, which no s exceeds.
func (f *Filter) scale() float64 {
	s := f.noise*f.most.share + f.most.known
	for _, c := range f.cs {
		s += c.Variance
	}
	return s
}

// lookAt looks at the context at every sixteenth step of what takes O(D³) or more for each, which may be a millisecond.
func (f *Filter) lookAt(step int) {
	if step%16 == 0 {
		parallel.Look(f.Ctx)
	}
}
