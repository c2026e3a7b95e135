package gppl

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/workers"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// Information is the Fisher information that n observations at given inputs,
// or projections of them, carry about the parameters of a model. It does not
// depend on the observed values. With A = K + σ²I and Ȧ_p = ∂A/∂log θ_p, for
// the q parameters that training moves (all but the Fixed ones, noise last),
//
//	I_Y[a,b] = ½tr(A⁻¹Ȧ_a A⁻¹Ȧ_b)                 of the observations y
//	I_Z[a,b] = ½tr(S⁻¹ΩᵀȦ_aΩ S⁻¹ΩᵀȦ_bΩ)           of the projections z = Ωᵀy
//	ΔI       = I_Y − I_Z ≥ 0                      lost by projecting
//
// (Cazelles and Tobar, theorem 1, for q parameters rather than one). All
// matrices are q×q, in the logs of the parameters and so without a unit.
//
// It is dense and takes any kernel in any dimension: about (1.3q + 1)n³ flops
// once and memory for 2(q + 1)n² numbers, then from 2qn²k flops for each
// projection. Its methods may be called from several goroutines at once.
type Information struct {
	ctx    context.Context // of WithContext
	model  Model
	x      Inputs
	params []Param          // that training moves
	gram   blas64.General   // A, n×n
	dot    []blas64.General // Ȧ, n×n each
	flat   blas64.General   // H, the flat columns of the mean; none: empty
	free   blas64.General   // N, n×(n−h), orthonormal and orthogonal to H
	factor *dense.Lower     // L, where A = LLᵀ
	white  []blas64.General // L⁻¹ȦL⁻ᵀ, n×n each
	data   *mat.SymDense    // I_Y
}

// NewInformation computes the information that observations at x carry about the parameters of m,
// at their current values. With a mean, it is the information of the contrasts of y that do not
// depend on the flat coefficients (n minus their number), on which the restricted likelihood is
// based. It is an error if x or m is not valid, if every parameter is fixed, if the matrices would
// not fit in memory, if it is interrupted (WithContext, the only option), or if A cannot be factorised: no jitter is added, since it would add
// information that is not there.
func NewInformation(m Model, x Inputs, opts ...Option) (info *Information, err error) {
	defer workers.Stopped(&err)
	o, err := optionsOf(opts)
	if err != nil {
		return nil, err
	}
	if err := x.check("x"); err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := needsDistances("NewInformation", m.Kernel); err != nil {
		return nil, err
	}
	n := x.Len()
	i := &Information{model: m, x: x, ctx: o.ctx}
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
	if bytes := 16 * float64(len(moved)+1) * float64(n) * float64(n); bytes > maxMemory {
		what := fmt.Sprintf("the information of n = %d observations about %d parameters", n, len(moved))
		return nil, &MemoryError{What: what, Needed: bytes, Limit: maxMemory}
	}
	i.derivatives(moved)
	if m.Mean != nil {
		if err := i.contrasts(); err != nil {
			return nil, err
		}
	}
	if err := i.factorise(); err != nil {
		return nil, err
	}
	for _, d := range i.dot {
		parallel.Look(i.ctx)
		w := dense.New(d.Rows, d.Cols)
		copy(w.Data, d.Data)
		i.factor.Whiten(w)
		i.white = append(i.white, w)
	}
	i.data = dense.HalfProducts(i.white)
	i.ctx, i.factor.Ctx = nil, nil // of what was computed here
	return i, nil
}

// derivatives sets gram and dot, pair by pair of observations.
func (i *Information) derivatives(moved []int) {
	n := i.x.Len()
	i.gram = dense.New(n, n)
	for range moved {
		i.dot = append(i.dot, dense.New(n, n))
	}
	nkernel := len(i.model.Kernel.Params())
	nb := dense.Blocks(n)
	parallel.Within(i.ctx, nb, func(c int) {
		b := nb - 1 - c // longest row first
		grad := make([]float64, nkernel)
		one := []float64{1}
		r := make([]float64, dense.Tile*dense.Tile)
		for a := range b + 1 {
			rows, cols := dense.Width(n, b), dense.Width(n, a)
			tileDistances(r[:rows*cols], i.x, b, a)
			for s := range rows {
				parallel.Look(i.ctx)
				u := b*dense.Tile + s
				for t := range cols {
					v := a*dense.Tile + t
					at := r[s*cols+t:][:1]
					clear(grad)
					i.model.Kernel.Contract(grad, one, at)
					i.model.Kernel.Cov(at, at)
					i.gram.Data[u*n+v], i.gram.Data[v*n+u] = at[0], at[0]
					for q, p := range moved {
						if p < nkernel {
							i.dot[q].Data[u*n+v], i.dot[q].Data[v*n+u] = grad[p], grad[p]
						}
					}
				}
			}
		}
	})
	dense.AddDiagonal(i.gram, i.model.Noise+Nugget(i.model.Kernel))
	nugget := make([]float64, nkernel)
	contractNugget(nugget, i.model.Kernel, 1)
	for q, p := range moved {
		if p < nkernel {
			dense.AddDiagonal(i.dot[q], nugget[p])
		}
	}
	if last := len(moved) - 1; moved[last] == nkernel {
		dense.AddDiagonal(i.dot[last], i.model.Noise)
	}
}

// factorise sets factor to the Cholesky factor of gram.
func (i *Information) factorise() error {
	n := i.gram.Rows
	i.factor = dense.NewLower(n)
	i.factor.Ctx = i.ctx
	i.factor.Set(i.gram)
	if err := i.factor.Cholesky(); err != nil {
		return notFactorised(i.model.Kernel, i.model.Noise, err, "gppl: the covariance of %d observations cannot be factorised: %v", n, err)
	}
	return nil
}

// Params returns the parameters of the rows and columns of the matrices, in order.
func (i *Information) Params() []Param { return slices.Clone(i.params) }

// Data returns I_Y, q×q.
func (i *Information) Data() *mat.SymDense {
	info := mat.NewSymDense(len(i.params), nil)
	info.CopySym(i.data)
	return info
}

// Covariance returns A = K + σ²I, n×n.
func (i *Information) Covariance() *mat.SymDense { return dense.Symmetric(i.gram) }

// Derivative returns Ȧ = ∂A/∂log θ_p for parameter p of Params, n×n.
func (i *Information) Derivative(p int) *mat.SymDense { return dense.Symmetric(i.dot[p]) }

// Projected returns I_Z, q×q, from S and ΩᵀȦΩ alone, in 2qn²k flops. It depends on the
// span of Ω alone, and computes with an orthonormal basis. It is an error if columns of Ω, given or
// Raw, depend on each other so nearly that rounding decides what they span, with the condition, or if S
// cannot be factorised. It panics if p is of another number of observations.
func (i *Information) Projected(p *Projection) (*mat.SymDense, error) {
	omega, err := i.seen(p)
	if err != nil {
		return nil, err
	}
	s, err := i.factoriseS(omega, dense.Product(blas.NoTrans, i.gram, omega))
	if err != nil {
		return nil, err
	}
	var whitened []blas64.General
	for _, dot := range i.dot {
		g := dense.Product(blas.Trans, omega, dense.Product(blas.NoTrans, dot, omega))
		s.Whiten(g)
		whitened = append(whitened, g)
	}
	return dense.HalfProducts(whitened), nil
}

// InformationLoss holds the two terms of ΔI, each positive semi-definite, q×q
// (Cazelles and Tobar, eq. inf_loss). With K̄_p = A⁻¹Ȧ_pA⁻¹ and Σ = Cov(Y|Z),
//
//	Quadratic[a,b] = ½tr(K̄_aΣK̄_bΣ)
//	Cross[a,b]     = tr(K̄_aΣK̄_b(A − Σ))
//
// As Σ shrinks, Quadratic falls with its square and Cross in proportion to it, so that
// Cross becomes the larger.
type InformationLoss struct {
	Quadratic, Cross *mat.SymDense
}

// Total returns ΔI, q×q.
func (l InformationLoss) Total() *mat.SymDense {
	var total mat.SymDense
	total.AddSym(l.Quadratic, l.Cross)
	return &total
}

// Loss returns the two terms of ΔI by the formulas of the theorem, independently of
// Projected, in 4qn²k flops.
//
// In the coordinates L⁻¹y, where A = LLᵀ, the projections see the span of
// Q = orth(LᵀΩ) and Σ = L(I − QQᵀ)Lᵀ. With W = L⁻¹ȦL⁻ᵀ and P = I − QQᵀ the terms
// are ½‖PWP‖² and ‖PWQ‖². In this form they keep their digits as Σ vanishes, unlike I_Y
// − I_Z and the printed formula, which subtracts matrices to form Σ: the absolute error
// is about ε·‖W‖·√ΔI, not ε·I_Y. All formulas lose about as many digits as v/σ² has.
//
// It is an error if columns of LᵀΩ are linearly dependent. It panics if p has another
// number of observations.
func (i *Information) Loss(p *Projection) (InformationLoss, error) {
	omega, err := i.seen(p)
	if err != nil {
		return InformationLoss{}, err
	}
	n, k := omega.Rows, omega.Cols
	q := dense.New(n, k)
	dense.Copy(q, omega)
	i.factor.MulLT(q)
	if f := factoriseQR(q); f.dependent != nil {
		return InformationLoss{}, f.error(p.Design, k)
	}
	var residual, half []blas64.General
	for _, w := range i.white {
		u := dense.Product(blas.NoTrans, w, q)
		inner := dense.Product(blas.Trans, q, u)
		qh := dense.Product(blas.NoTrans, q, inner)
		r, f := dense.New(n, k), dense.New(n, k)
		for j, v := range u.Data {
			r.Data[j] = v - qh.Data[j]     // PWQ
			f.Data[j] = v - 0.5*qh.Data[j] // PWP = W − QFᵀ − FQᵀ
		}
		residual, half = append(residual, r), append(half, f)
	}
	cross := dense.HalfProducts(residual)
	cross.ScaleSym(2, cross)
	return InformationLoss{Quadratic: i.quadratic(q, half), Cross: cross}, nil
}

// quadratic returns ½⟨PW_aP, PW_bP⟩, where PWP = W − QFᵀ − FQᵀ, tile by tile.
func (i *Information) quadratic(q blas64.General, f []blas64.General) *mat.SymDense {
	n, np := q.Rows, len(f)
	nb := dense.Blocks(n)
	sums := make([][]float64, min(parallel.Lanes, nb)) // a fixed share each, so that the result does not depend on the processors
	parallel.For(len(sums), func(c int) {
		sum := make([]float64, np*np)
		tiles := make([]blas64.General, np)
		for a := range tiles {
			tiles[a] = dense.New(dense.Tile, dense.Tile)
		}
		for s := c; s < nb; s += parallel.Lanes {
			for t := range s + 1 {
				weight := 1.0 // ½ of the tile and its mirror image
				if s == t {
					weight = 0.5
				}
				for a, w := range i.white {
					g := &tiles[a]
					g.Rows, g.Cols = dense.Width(n, s), dense.Width(n, t)
					for r := range g.Rows {
						copy(g.Data[r*g.Stride:][:g.Cols], w.Data[(s*dense.Tile+r)*n+t*dense.Tile:])
					}
					dense.Gemm(blas.NoTrans, blas.Trans, -1, dense.RowBlock(q, s), dense.RowBlock(f[a], t), 1, *g)
					dense.Gemm(blas.NoTrans, blas.Trans, -1, dense.RowBlock(f[a], s), dense.RowBlock(q, t), 1, *g)
					for b := range a + 1 {
						for r := range g.Rows {
							from, to := r*g.Stride, r*g.Stride+g.Cols
							sum[a*np+b] += weight * blas64.Dot(dense.Vec(g.Data[from:to]), dense.Vec(tiles[b].Data[from:to]))
						}
					}
				}
			}
		}
		sums[c] = sum
	})
	total := mat.NewSymDense(np, nil)
	for a := range np {
		for b := range a + 1 {
			var v float64
			for _, s := range sums {
				v += s[a*np+b]
			}
			total.SetSym(a, b, v)
		}
	}
	return total
}

// Conditional returns Σ = Cov(Y|Z) = A − AΩS⁻¹ΩᵀA, n×n, of rank n − k, in 4n²k
// flops. Rounding leaves about 1e-16 of the largest eigenvalue of A where there
// should be 0, of either sign. Errors are those of Projected.
func (i *Information) Conditional(p *Projection) (*mat.SymDense, error) {
	return i.conditional(p, i.model.Noise)
}

// ConditionalLatent returns Cov(f|Z) = K − KΩS⁻¹ΩᵀK, n×n: the uncertainty about the
// noise-free function that the projections leave. See Conditional.
func (i *Information) ConditionalLatent(p *Projection) (*mat.SymDense, error) {
	return i.conditional(p, 0)
}

// conditional returns the covariance given Z of y with as much noise.
func (i *Information) conditional(p *Projection, noise float64) (*mat.SymDense, error) {
	explained, err := i.explained(p, noise)
	if err != nil {
		return nil, err
	}
	b := explained[0]
	n := b.Rows
	c := dense.Symmetric(i.gram)
	for j := range n {
		c.SetSym(j, j, c.At(j, j)-i.model.Noise+noise)
	}
	raw := c.RawSymmetric()
	parallel.For(dense.Blocks(n), func(s int) {
		rows := dense.RowBlock(b, s)
		for t := s; t < dense.Blocks(n); t++ { // the upper triangle is what SymDense keeps
			g := blas64.General{Rows: rows.Rows, Cols: dense.Width(n, t), Stride: raw.Stride, Data: raw.Data[s*dense.Tile*raw.Stride+t*dense.Tile:]}
			dense.Gemm(blas.NoTrans, blas.Trans, -1, rows, dense.RowBlock(b, t), 1, g)
		}
	})
	return c, nil
}

// ConditionalTrace returns tr Cov(Y|Z) and tr Cov(f|Z), in 2n²k flops and
// without the matrices. Errors are those of Projected.
func (i *Information) ConditionalTrace(p *Projection) (observed, latent float64, err error) {
	b, err := i.explained(p, i.model.Noise, 0)
	if err != nil {
		return 0, 0, err
	}
	all := dense.Trace(i.gram)
	observed = all - blas64.Dot(dense.Vec(b[0].Data), dense.Vec(b[0].Data))
	latent = all - float64(i.gram.Rows)*i.model.Noise - blas64.Dot(dense.Vec(b[1].Data), dense.Vec(b[1].Data))
	return observed, latent, nil
}

// explained returns, for each of the given noise variances, B (n×k) such that
// BBᵀ = CΩS⁻¹ΩᵀC, where C = K + noise·I.
func (i *Information) explained(p *Projection, noises ...float64) (all []blas64.General, err error) {
	omega, err := i.seen(p)
	if err != nil {
		return nil, err
	}
	aOmega := dense.Product(blas.NoTrans, i.gram, omega)
	s, err := i.factoriseS(omega, aOmega)
	if err != nil {
		return nil, err
	}
	for _, noise := range noises {
		b := dense.New(aOmega.Rows, aOmega.Cols)
		copy(b.Data, aOmega.Data)
		for r := range b.Rows {
			blas64.Axpy(noise-i.model.Noise, dense.Vec(omega.Data[r*omega.Stride:][:b.Cols]), dense.Vec(b.Data[r*b.Stride:][:b.Cols]))
		}
		parallel.For(dense.Blocks(b.Rows), func(r int) { s.SolveLTRight(dense.RowBlock(b, r)) })
		all = append(all, b)
	}
	return all, nil
}

// factoriseS returns the Cholesky factor of S = ΩᵀAΩ, given AΩ.
func (i *Information) factoriseS(omega, aOmega blas64.General) (*dense.Lower, error) {
	k := omega.Cols
	g := dense.Product(blas.Trans, omega, aOmega)
	s := dense.NewLower(k)
	s.Set(g)
	if err := s.Cholesky(); err != nil {
		return nil, notFactorised(i.model.Kernel, i.model.Noise, err, "gppl: the covariance of %d projections cannot be factorised: %v", k, err)
	}
	return s, nil
}

func (i *Information) check(p *Projection) {
	notNil("Information", "the projection p", p)
	if n, _ := p.Dims(); n != i.x.Len() {
		panic(fmt.Sprintf("gppl: Information: the projection p is of %d observations, want n = %d", n, i.x.Len()))
	}
}
