// Package inducing computes the variational free energy of n observations y with m inducing variables (Titsias 2009, eq. 9), from
// products over the observations,
//
//	−log N(y | 0, Q + σ²I) + tr(K − Q)/2σ²,  Q = K_xu·K_uu⁻¹·K_ux
//	K_uu = LLᵀ,  Φ = σ⁻¹K_xu·L⁻ᵀ (n×m),  B = I + ΦᵀΦ = L_B·L_Bᵀ
//
// B stays well conditioned. Y are c columns, the first of which is y.
package inducing

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// Bound is the algebra of one evaluation. It is working memory, for one goroutine.
type Bound struct {
	Luu, Lb *dense.Lower   // L, which the caller sets, and L_B
	PhiPhi  blas64.General // ΦᵀΦ, m×m
	C       blas64.General // ΦᵀY, m×c; after Factorise L_B⁻¹ΦᵀY
	G, R    blas64.General // Yᵀ(Q + σ²I)⁻¹Y, c×c, and R, by which package regress completes it: RRᵀ weighs the columns
	BInvC   blas64.General // B⁻¹ΦᵀYR = L_B⁻ᵀCR, m×c
	Unit    float64        // σ²

	BInv, E blas64.General // B⁻¹ and the E of Weights, m×m
	U       blas64.General // K_uu⁻¹K_ux β, m×c
	TraceG  float64        // trace of the weight on ∂K_uu: the derivative in a jitter of K_uu

	x []float64 // working memory of InverseNorm
}

// Bytes returns the memory that Init allocates for m inducing variables and few columns.
func Bytes(m int) float64 { return 8 * float64(m) * (4*float64(m) + dense.Tile) }

// Init allocates memory for m inducing variables and c columns, once.
func (w *Bound) Init(m, c int) {
	if w.Luu != nil {
		return
	}
	w.Luu, w.Lb = dense.NewLower(m), dense.NewLower(m)
	w.PhiPhi, w.BInv, w.E = dense.New(m, m), dense.New(m, m), dense.New(m, m)
	w.C, w.BInvC, w.U = dense.New(m, c), dense.New(m, c), dense.New(m, c)
	w.G, w.R = dense.New(c, c), dense.New(c, c)
	w.x = make([]float64, m)
}

// InverseNorm returns 1/λ for the smallest eigenvalue λ of K_uu, by three steps
// of inverse iteration from a vector that no eigenvector is orthogonal to. It
// takes O(m²).
func (w *Bound) InverseNorm() (norm float64) {
	const golden = 0.6180339887498949
	x := w.x
	for i := range x {
		_, fraction := math.Modf(golden * float64(i+1))
		x[i] = fraction - 0.5
	}
	for range 3 {
		w.Luu.SolveL(dense.AsColumn(x))
		w.Luu.SolveLT(dense.AsColumn(x))
		if norm = blas64.Nrm2(dense.Vec(x)); math.IsInf(norm, 1) {
			break
		}
		blas64.Scal(1/norm, dense.Vec(x))
	}
	return norm
}

// Factorise computes L_B and C, given ΦᵀΦ and ΦᵀY, and G, given YᵀY. The error is dense.NotPositive.
func (w *Bound) Factorise(yy blas64.General) error {
	w.Lb.Set(w.PhiPhi)
	w.Lb.AddDiagonal(1)
	if err := w.Lb.Cholesky(); err != nil {
		return err
	}
	w.Lb.SolveL(w.C)
	dense.Square(w.G, w.C, 0)
	for i, v := range yy.Data {
		w.G.Data[i] = (v - w.G.Data[i]) / w.Unit
	}
	return nil
}

// Complete sets BInvC, given R.
func (w *Bound) Complete() {
	w.BInvC = dense.Combine(w.BInvC, w.C, w.R)
	w.Lb.SolveLT(w.BInvC)
}

// Weights prepares the gradient and returns tr B⁻¹. With β = (Q + σ²I)⁻¹YR and u = K_uu⁻¹K_ux β, the weights are
//
//	on ∂K_xu: Φ(B⁻¹ − I)L⁻¹/σ − βuᵀ = ΦE − βUᵀ
//	on ∂K_uu: ½[L⁻ᵀ(B + B⁻¹ − 2I)L⁻¹ + uuᵀ]
//	on each ∂k(x, x): 1/2σ²
func (w *Bound) Weights() (trBInv float64) {
	sigma := math.Sqrt(w.Unit)
	clear(w.BInv.Data)
	dense.AddDiagonal(w.BInv, 1)
	w.Lb.SolveL(w.BInv)
	w.Lb.SolveLT(w.BInv)
	trBInv = dense.Trace(w.BInv)

	copy(w.E.Data, w.BInv.Data)
	dense.AddDiagonal(w.E, -1)
	w.Luu.SolveLRight(w.E)
	copy(w.U.Data, w.BInvC.Data)
	w.Luu.SolveLT(w.U)
	for i := range w.E.Data {
		w.E.Data[i] /= sigma
	}
	for i := range w.U.Data {
		w.U.Data[i] /= sigma
	}
	return trBInv
}

// Inner returns the weight on ∂K_uu (see Weights, which must come first) in the memory of BInv, and sets TraceG to its trace.
func (w *Bound) Inner() blas64.General {
	g := w.BInv
	dense.Add(g.Data, w.PhiPhi.Data)
	dense.AddDiagonal(g, -1)
	w.Luu.SolveLRight(g)
	w.Luu.SolveLT(g)
	for j := range w.U.Cols {
		blas64.Ger(1, dense.Column(w.U, j), dense.Column(w.U, j), g)
	}
	for i := range g.Data {
		g.Data[i] *= 0.5
	}
	w.TraceG = dense.Trace(g)
	return g
}

// Weigh sets U, and TraceG to a little more than Inner does, since it leaves out B⁻¹ ≤ I, in 2m³ flops.
func (w *Bound) Weigh() {
	copy(w.U.Data, w.BInvC.Data)
	w.Luu.SolveLT(w.U)
	blas64.Scal(1/math.Sqrt(w.Unit), dense.Vec(w.U.Data))
	copy(w.E.Data, w.PhiPhi.Data)
	w.Luu.SolveLRight(w.E)
	w.Luu.SolveLT(w.E)
	w.TraceG = 0.5 * (dense.Trace(w.E) + blas64.Dot(dense.Vec(w.U.Data), dense.Vec(w.U.Data)))
}

// Norms returns |W|²/σ² and |u|², Frobenius norms, once Inner or Weigh is done. An observation is interpolated with the weights
// W = K_xu·K_uu⁻¹, so that errors of size ε in the covariances move the free energy by at most
//
//	ε(|W|²/σ² + |u|²) from K_uu,  ε(2√n·|W|/σ² + √n·|β||u|) from K_xu.
func (w *Bound) Norms() (w2, u2 float64) {
	u2 = blas64.Dot(dense.Vec(w.U.Data), dense.Vec(w.U.Data))
	return max(0, 2*w.TraceG-u2), u2
}
