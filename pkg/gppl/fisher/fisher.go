// Package fisher computes the Fisher information that observations carry about the parameters of a model, how much of it
// projections keep, in which terms they lose the rest, and the resulting standard errors. gppl.Projected.Information computes
// what projections keep without the observations' n×n matrices; gppl.Whittle.Information approximates the information of a long
// series.
package fisher

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	algebra "github.com/projected-likelihood/gppl/pkg/gppl/internal/fisher"
)

// Information is the Fisher information that n observations at given inputs, or projections of them, carry about the parameters
// of a model. It does not depend on the observed values. With A = K + σ²I and Ȧ_p = ∂A/∂log θ_p, for the q parameters that
// training moves (all but the Fixed ones, noise last),
//
//	I_Y[a,b] = ½tr(A⁻¹Ȧ_a A⁻¹Ȧ_b)                 of the observations y
//	I_Z[a,b] = ½tr(S⁻¹ΩᵀȦ_aΩ S⁻¹ΩᵀȦ_bΩ)           of the projections z = Ωᵀy
//	ΔI       = I_Y − I_Z ≥ 0                      lost by projecting
//
// (Cazelles and Tobar, theorem 1, for q parameters rather than one). All
// matrices are q×q, in the logs of the parameters and so without a unit.
//
// It is dense and takes any kernel in any dimension: about (1.3q + 1)n³ flops once and memory for 2(q + 1)n² numbers, then from
// 2qn²k flops for each projection. Its methods may be called from several goroutines at once.
type Information struct {
	model  gppl.Model
	x      gppl.Inputs
	params []gppl.Param        // parameters that training moves
	of     algebra.Information // information of y, or of its contrasts
	flat   blas64.General      // H, the flat columns of the mean; none: empty
	free   blas64.General      // N, n×(n−h), orthonormal and orthogonal to H
	data   *mat.SymDense       // I_Y
}

// String has the model and I_Y, a line for each parameter.
func (i *Information) String() string {
	return fmt.Sprintf("information of %d observations of %v\n%s", i.x.Len(), i.model, lines(i.data, i.params))
}

// lines prints a symmetric matrix, a line for each row, headed by its parameter.
func lines(m *mat.SymDense, params []gppl.Param) string {
	var b strings.Builder
	for i := range m.SymmetricDim() {
		name := "log " + params[i].Name
		if params[i].Role == gppl.RoleLocation {
			name = params[i].Name
		}
		fmt.Fprintf(&b, "  %-24s", name)
		for j := range m.SymmetricDim() {
			fmt.Fprintf(&b, " %11.5g", m.At(i, j))
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// New computes the information that observations at x carry about the parameters of m, at their current values. With a mean, it
// is the information of the contrasts of y that do not depend on the flat coefficients (n minus their number), on which the
// restricted likelihood is based. It is an error if x or m is not valid, if every parameter is fixed, if the matrices would not
// fit in memory (12 GB), or if A cannot be factorised: no jitter is added, since it would add information that is not there.
func New(ctx context.Context, m gppl.Model, x gppl.Inputs) (info *Information, err error) {
	defer parallel.Stopped(&err)
	if err := cmp.Or(x.Check(), m.CheckPlain("fisher.New", gppl.Data{}), m.Check()); err != nil {
		return nil, err
	}
	if err := m.CheckAxes(x); err != nil {
		return nil, err
	}
	n := x.Len()
	i := &Information{model: m, x: x}
	var moved []int
	for j, p := range m.Params() {
		if !p.IsFixed() {
			moved = append(moved, j)
			i.params = append(i.params, p)
		}
	}
	if len(moved) == 0 {
		return nil, fmt.Errorf("gppl: every parameter of %v is fixed: there is nothing to inform about", m)
	}
	if bytes := 16 * float64(len(moved)+1) * float64(n) * float64(n); bytes > choice.DefaultMemory {
		what := fmt.Sprintf("the information of n = %d observations about %d parameters", n, len(moved))
		return nil, &gppl.MemoryError{What: what, Needed: bytes, Limit: choice.DefaultMemory}
	}
	i.derivatives(ctx, moved)
	if m.Mean != nil {
		if err := i.contrasts(ctx); err != nil {
			return nil, err
		}
	}
	of, err := algebra.New(ctx, i.of.A, i.of.Dot)
	if err != nil {
		return nil, i.notFactorised(err, "gppl: the covariance of %d observations cannot be factorised: %v", i.of.A.Rows, err)
	}
	i.of, i.data = *of, of.Data()
	return i, nil
}

// derivatives sets A and Ȧ, pair by pair of observations.
func (i *Information) derivatives(ctx context.Context, moved []int) {
	n := i.x.Len()
	i.of.A = dense.New(n, n)
	for range moved {
		i.of.Dot = append(i.of.Dot, dense.New(n, n))
	}
	gram, dots := i.of.A, i.of.Dot
	nkernel := len(i.model.Kernel.Params())
	nb := dense.Blocks(n)
	parallel.Within(ctx, nb, func(c int) {
		b := nb - 1 - c // longest row first
		grad := make([]float64, nkernel)
		for a := range b + 1 {
			rows, cols := dense.Width(n, b), dense.Width(n, a)
			for s := range rows {
				parallel.Look(ctx)
				u := b*dense.Tile + s
				for t := range cols {
					v := a*dense.Tile + t
					k := i.model.PairGrad(grad, i.x.At(u), i.x.At(v))
					gram.Data[u*n+v], gram.Data[v*n+u] = k, k
					for q, p := range moved {
						if p < nkernel {
							dots[q].Data[u*n+v], dots[q].Data[v*n+u] = grad[p], grad[p]
						}
					}
				}
			}
		}
	})
	dense.AddDiagonal(gram, i.model.Noise+capability.Nugget(i.model.Kernel))
	nugget := make([]float64, nkernel)
	if k, ok := i.model.Kernel.(capability.Nuggeter); ok {
		k.ContractNugget(nugget, 1)
	}
	for q, p := range moved {
		if p < nkernel {
			dense.AddDiagonal(dots[q], nugget[p])
		}
	}
	if last := len(moved) - 1; moved[last] == nkernel {
		dense.AddDiagonal(dots[last], i.model.Noise)
	}
}

// Params returns the parameters of the rows and columns of the matrices, in order.
func (i *Information) Params() []gppl.Param { return slices.Clone(i.params) }

// Data returns I_Y, q×q.
func (i *Information) Data() *mat.SymDense {
	info := mat.NewSymDense(len(i.params), nil)
	info.CopySym(i.data)
	return info
}

// Covariance returns A = K + σ²I, n×n.
func (i *Information) Covariance() *mat.SymDense { return dense.Symmetric(i.of.A) }

// Derivative returns Ȧ = ∂A/∂log θ_p for parameter p of Params, n×n.
func (i *Information) Derivative(p int) *mat.SymDense { return dense.Symmetric(i.of.Dot[p]) }

// Projected returns I_Z, q×q, from S and ΩᵀȦΩ alone, in 2qn²k flops. It depends on the span of Ω alone, and computes with an
// orthonormal basis. It is an error if columns of Ω, given or Raw, depend on each other so nearly that rounding decides what they
// span (the error has the condition number), or if S cannot be factorised. It panics if p has another number of observations.
func (i *Information) Projected(ctx context.Context, p *gppl.Projection) (info *mat.SymDense, err error) {
	defer parallel.Stopped(&err)
	omega, err := i.basisOf(ctx, p)
	if err != nil {
		return nil, err
	}
	info, err = i.of.Projected(ctx, omega)
	return info, i.explain(err, omega)
}

// explain is the error of a covariance of projections that cannot be factorised, nil for nil.
func (i *Information) explain(err error, omega blas64.General) error {
	if err == nil {
		return nil
	}
	return i.notFactorised(err, "gppl: the covariance of %d projections cannot be factorised: %v", omega.Cols, err)
}

// Loss holds the two terms of ΔI, each positive semi-definite, q×q
// (Cazelles and Tobar, eq. inf_loss). With K̄_p = A⁻¹Ȧ_pA⁻¹ and Σ = Cov(Y|Z),
//
//	Quadratic[a,b] = ½tr(K̄_aΣK̄_bΣ)
//	Cross[a,b]     = tr(K̄_aΣK̄_b(A − Σ))
//
// As Σ shrinks, Quadratic falls with its square and Cross in proportion to it, so that Cross becomes the larger.
type Loss struct {
	Quadratic, Cross *mat.SymDense

	params []gppl.Param
}

// String has both terms, a line for each parameter.
func (l Loss) String() string {
	return fmt.Sprintf("first term, ½tr(K̄ΣK̄Σ)\n%s\nsecond term, tr(K̄ΣK̄(A − Σ))\n%s", lines(l.Quadratic, l.params),
		lines(l.Cross, l.params))
}

// Total returns ΔI, q×q.
func (l Loss) Total() *mat.SymDense {
	var total mat.SymDense
	total.AddSym(l.Quadratic, l.Cross)
	return &total
}

// Loss returns the two terms of ΔI by the formulas of the theorem, independently of Projected, in 4qn²k flops.
//
// In the coordinates L⁻¹y, where A = LLᵀ, the projections see the span of Q = orth(LᵀΩ) and Σ = L(I − QQᵀ)Lᵀ. With W = L⁻¹ȦL⁻ᵀ
// and P = I − QQᵀ the terms are ½‖PWP‖² and ‖PWQ‖². In this form they keep their digits as Σ vanishes, unlike I_Y − I_Z and the
// printed formula, which subtracts matrices to form Σ: the absolute error is about ε·‖W‖·√ΔI, not ε·I_Y. All formulas lose about
// as many digits as v/σ² has.
//
// It is an error if columns of LᵀΩ are linearly dependent. It panics if p has another number of observations.
func (i *Information) Loss(ctx context.Context, p *gppl.Projection) (loss Loss, err error) {
	defer parallel.Stopped(&err)
	omega, err := i.basisOf(ctx, p)
	if err != nil {
		return Loss{}, err
	}
	quadratic, cross, f := i.of.Loss(ctx, omega)
	if f.Dependent != nil {
		return Loss{}, dependentError(f, p.Design, omega.Cols)
	}
	return Loss{Quadratic: quadratic, Cross: cross, params: i.params}, nil
}

// Conditional returns Σ = Cov(Y|Z) = A − AΩS⁻¹ΩᵀA, n×n, of rank n − k, in 4n²k flops. Rounding leaves about 1e-16 of the largest
// eigenvalue of A where there should be 0, of either sign. Errors are as in Projected.
func (i *Information) Conditional(ctx context.Context, p *gppl.Projection) (cov *mat.SymDense, err error) {
	defer parallel.Stopped(&err)
	return i.conditional(ctx, p, 0)
}

// ConditionalLatent returns Cov(f|Z) = K − KΩS⁻¹ΩᵀK, n×n: the uncertainty about the
// noise-free function that the projections leave. See Conditional.
func (i *Information) ConditionalLatent(ctx context.Context, p *gppl.Projection) (cov *mat.SymDense, err error) {
	defer parallel.Stopped(&err)
	return i.conditional(ctx, p, -i.model.Noise)
}

// conditional returns the covariance given Z of y with as much noise more.
func (i *Information) conditional(ctx context.Context, p *gppl.Projection, more float64) (*mat.SymDense, error) {
	omega, err := i.basisOf(ctx, p)
	if err != nil {
		return nil, err
	}
	c, err := i.of.Conditional(ctx, omega, more)
	return c, i.explain(err, omega)
}

// ConditionalTrace returns tr Cov(Y|Z) and tr Cov(f|Z), in 2n²k flops and without the matrices. Errors are as in Projected.
func (i *Information) ConditionalTrace(ctx context.Context, p *gppl.Projection) (observed, latent float64, err error) {
	defer parallel.Stopped(&err)
	omega, err := i.basisOf(ctx, p)
	if err != nil {
		return 0, 0, err
	}
	b, err := i.of.Explained(ctx, omega, 0, -i.model.Noise)
	if err != nil {
		return 0, 0, i.explain(err, omega)
	}
	all := dense.Trace(i.of.A)
	observed = all - blas64.Dot(dense.Vec(b[0].Data), dense.Vec(b[0].Data))
	latent = all - float64(i.of.A.Rows)*i.model.Noise - blas64.Dot(dense.Vec(b[1].Data), dense.Vec(b[1].Data))
	return observed, latent, nil
}

// With a mean with flat coefficients, the restricted likelihood sees only the contrasts Nᵀy, where N is an orthonormal basis of
// the complement of the flat columns H. The information of a model with a mean is therefore the information of the contrasts,
// with NᵀAN and NᵀȦN instead of A and Ȧ. Projections see the contrasts of z, by N_z orthogonal to ΩᵀH. Since (ΩN_z)ᵀH = 0,
// these are projections of the contrasts of y by NᵀΩN_z, which is orthonormal if Ω is. All properties of I_Y, I_Z and ΔI hold
// for them. Columns with a normal prior belong to the covariance, to which they add HBHᵀ.

// contrasts replaces A and Ȧ by the same for the contrasts of y.
func (i *Information) contrasts(ctx context.Context) error {
	if err := i.model.CheckBasis(ctx, i.x); err != nil {
		return err
	}
	h, err := i.model.Mean.Basis(i.x)
	if err != nil {
		return err
	}
	n := i.x.Len()
	var flat []int
	for j, column := range i.model.Mean.Columns() {
		if math.IsInf(column.Variance, 1) {
			flat = append(flat, j)
			continue
		}
		of := dense.Vec(mat.Col(nil, j, h))
		blas64.Ger(column.Variance, of, of, i.of.A)
	}
	if len(flat) == 0 {
		return nil
	}
	if n <= len(flat) {
		return fmt.Errorf("gppl: %d observations and %d flat coefficients leave no contrasts to inform about", n, len(flat))
	}
	columns := mat.NewDense(n, len(flat), nil)
	for k, j := range flat {
		columns.SetCol(k, mat.Col(nil, j, h))
	}
	i.flat, i.free = columns.RawMatrix(), algebra.Complement(columns)
	i.of.A = algebra.Sandwich(ctx, i.of.A, i.free)
	for p, dot := range i.of.Dot {
		i.of.Dot[p] = algebra.Sandwich(ctx, dot, i.free)
	}
	return nil
}

// span returns an orthonormal basis of the span of Ω, on which alone all depends. In coordinates where A = I rounding
// turns the span by √(‖A‖/σ²) times as much as it turns the basis. It is an error if that is too much.
func (i *Information) span(ctx context.Context, p *gppl.Projection) (blas64.General, error) {
	if p == nil {
		panic("gppl: Information: the projection p is nil")
	}
	if n, _ := p.Dims(); n != i.x.Len() {
		panic(fmt.Sprintf("gppl: Information: the projection p is of %d observations, want n = %d", n, i.x.Len()))
	}
	formed, err := p.Omega(ctx)
	if err != nil {
		return blas64.General{}, err
	}
	omega := formed.RawMatrix()
	if p.Orthonormal {
		return omega, nil
	}
	q, f := dense.OrthonormalBasis(ctx, omega)
	root := math.Sqrt(max(1, dense.Trace(i.of.A))) / i.of.Factor.MinDiagonal()
	if f.Dependent != nil {
		return q, fmt.Errorf("%w: the condition of Ω is %.2g", dependentError(f, p.Design, q.Cols), f.Cond)
	}
	if !(f.Turned()*root <= dense.Unsound) {
		return q, fmt.Errorf("gppl: the information of %d projections is lost in rounding, with a noise variance of %.4g: %w",
			q.Cols, i.model.Noise, dependentError(f, p.Design, q.Cols))
	}
	return q, nil
}

// notFactorised returns the FactorError of err, which says in the words of format what was to be factorised.
func (i *Information) notFactorised(err error, format string, args ...any) error {
	return &gppl.FactorError{Kernel: i.model.Kernel, Noise: i.model.Noise, Err: err, What: fmt.Sprintf(format, args...)}
}

// dependentError returns what is wrong with the k directions of a design.
func dependentError(f *dense.QR, design string, k int) error {
	return &gppl.DependentError{Design: design, N: f.Rows, K: k, Columns: f.Dependent, Condition: f.Cond, Sound: f.Leading}
}

// basisOf returns an orthonormal basis of what p sees, with a mean of the contrasts. It is an error if there
// are no contrasts, or if rounding decides the basis. It runs until ctx ends (parallel.Look).
func (i *Information) basisOf(ctx context.Context, p *gppl.Projection) (blas64.General, error) {
	omega, err := i.span(ctx, p)
	if err != nil {
		return omega, err
	}
	if i.free.Rows == 0 {
		return omega, nil
	}
	free, rank, err := algebra.Null(dense.ProductWithin(ctx, blas.Trans, omega, i.flat))
	if err != nil {
		return omega, fmt.Errorf("gppl: the projected basis of the mean %v: %w", i.model.Mean, err)
	}
	if rank == omega.Cols {
		return omega, fmt.Errorf("gppl: %d projections and %d flat coefficients leave no contrasts to inform about", omega.Cols, rank)
	}
	return dense.ProductWithin(ctx, blas.Trans, i.free, dense.ProductWithin(ctx, blas.NoTrans, omega, free)), nil
}

// NotIdentified is the error of StdErrLog where the information matrix is singular: the data, or their projections, do not
// determine some combinations of the parameters.
type NotIdentified struct {
	Params []gppl.Param // the parameters without a standard error
	Null   *mat.Dense   // q×r: orthonormal directions in the logs of all q parameters about which there is no information
}

func (e *NotIdentified) Error() string {
	var names []string
	for _, p := range e.Params {
		names = append(names, fmt.Sprintf("%q", p.Name))
	}
	q, r := e.Null.Dims()
	return fmt.Sprintf("gppl: the information is singular in %d of %d directions: %s not identified",
		r, q, strings.Join(names, ", "))
}

// StdErrLog returns the Cramér–Rao bounds √(I⁻¹)_pp on the standard errors of the logs of the parameters, from their information
// matrix (q×q); the standard error of a parameter θ itself is about θ times as large. A parameter that is not identified gets
// +Inf, and the error is then a *NotIdentified that names it; the other values are still correct. Parameters are not identified
// if the matrix, scaled to a unit diagonal, has an eigenvalue below 1e-11, or if a diagonal entry of the unscaled matrix is below
// 1e-20 of the largest. It panics if len(params) is not q. A matrix with entries that are not finite is an error.
func StdErrLog(info mat.Symmetric, params []gppl.Param) ([]float64, error) {
	q := info.SymmetricDim()
	if len(params) != q {
		panic(fmt.Sprintf("gppl: fisher.StdErrLog: len(params) = %d, want %d", len(params), q))
	}
	for a := range q {
		for b := range q {
			if v := info.At(a, b); !numeric.IsFinite(v) {
				return nil, fmt.Errorf("gppl: the information about %q and %q is %v", params[a].Name, params[b].Name, v)
			}
		}
	}
	se, null, err := algebra.Bounds(info)
	if err != nil {
		return nil, fmt.Errorf("gppl: %w", err)
	}
	if null == nil {
		return se, nil
	}
	unknown := &NotIdentified{Null: null}
	for a, p := range params {
		if math.IsInf(se[a], 1) {
			unknown.Params = append(unknown.Params, p)
		}
	}
	return se, unknown
}
