package gppl

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/costs"
	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/banded"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// denseExact factorises A = LLᵀ in n³/3 flops and contracts with A⁻¹ in 2n³/3
// more. A factor holds the lower triangles of L and of L⁻¹: n² numbers.
type denseExact struct {
	x       Inputs
	columns blas64.General // C, n×c
	rows    observed.Noise // in the order of x
	factors parallel.Pool[denseFactor]
}

func newDenseExact(x Inputs, columns blas64.General, rows observed.Noise) *denseExact {
	return &denseExact{x: x, columns: columns, rows: rows}
}

func (e *denseExact) name() string { return EngineDense }
func (*denseExact) takesPlaced()   {}

func (e *denseExact) estimate(m *compiled) choice.Estimate {
	n := float64(e.x.Len())
	return choice.Estimate{
		Seconds: costs.Of(costs.DenseCube, n*n*n) + costs.Of(costs.DensePair, n*n) + costs.Of(costs.DenseOnce, 1),
		Bytes:   16*triangle(e.x.Len()) + 8*float64(dense.FusedSize(e.x.Len())),
		Err:     n * rounding(m.variance, e.rows.Least(m.noise)),
	}
}

// denseFactor is A = LLᵀ.
type denseFactor struct {
	engine  *denseExact
	kernel  Kernel
	noise   float64
	added   float64 // jitter
	l       *dense.Lower
	inverse *dense.Lower   // L⁻¹, made when a gradient is first asked for
	half    blas64.General // L⁻¹C
	alpha   blas64.General // A⁻¹C
	probe   blas64.General // the same by L⁻¹, for the check
	u       blas64.General // A⁻¹CR
	lanes   dense.Lanes

	diagonal []float64 // diagonal of the noise
	weights  []float64 // diagonal of A⁻¹ − UUᵀ, made by a gradient
}

func (e *denseExact) factor(m *compiled) (exactFactor, error) {
	f := e.factors.Get()
	f.engine, f.kernel, f.noise = e, m.kernel, m.noise
	if f.l == nil {
		f.l = dense.NewLower(e.x.Len())
		f.l.Fused = true
		f.half = dense.New(e.columns.Rows, e.columns.Cols)
		f.alpha = dense.New(e.columns.Rows, e.columns.Cols)
		f.lanes = dense.NewLanes(e.x.Len())
	}
	f.l.Ctx = m.ctx
	var err error
	f.added, err = f.l.CholeskyWithJitter(m.variance+m.noise, func() {
		fillGram(f.l, e.x, f.kernel, e.rows.OnDiagonal(f.noise))
		f.diagonal = e.rows.Add(f.l, f.diagonal, e.x.Len(), f.noise)
	})
	if err != nil {
		f.release()
		return nil, notFactorised(m.kernel, m.noise, err, "gppl: the covariance of %d observations cannot be factorised: %v",
			e.x.Len(), err)
	}
	return f, nil
}

func (f *denseFactor) release()                           { f.engine.factors.Put(f) }
func (f *denseFactor) jitter() float64                    { return f.added }
func (f *denseFactor) logDet() float64                    { return f.l.LogDet() }
func (f *denseFactor) uncertainty(blas64.General) float64 { return 0 }

func (f *denseFactor) gram(g blas64.General) {
	dense.Copy(f.half, f.engine.columns)
	f.l.SolveL(f.half)
	dense.Square(g, f.half, 0)
}

// solve sets alpha to A⁻¹C, given L⁻¹C.
func (f *denseFactor) solve() {
	dense.Copy(f.alpha, f.half)
	f.l.SolveLT(f.alpha)
}

// gradient is ½⟨A⁻¹ − UUᵀ, ∂A⟩, a tile at a time.
func (f *denseFactor) gradient(grad []float64, r blas64.General) error {
	f.solve()
	f.u = dense.Combine(f.u, f.alpha, r)
	n := f.engine.x.Len()
	if f.inverse == nil {
		f.inverse = dense.NewLower(n)
		f.inverse.Fused = true
	}
	f.l.InvertL(f.inverse)
	f.inverse.Ctx = f.l.Ctx
	last, rows := len(grad)-1, &f.engine.rows
	f.weights = dense.Resize(f.weights, n)
	f.lanes.Begin(len(grad))
	f.lanes.EachColumn(n, func(l *dense.Lane, i int) {
		f.inverse.InverseColumn(i, l.W, func(j int, weight blas64.General) {
			dense.SubtractOuter(weight, dense.Rows(f.u, j*dense.Tile, weight.Rows), dense.Rows(f.u, i*dense.Tile, weight.Cols))
			w := weight.Data
			if i == j {
				for d := range weight.Rows {
					at, own := j*dense.Tile+d, w[d*weight.Cols+d]
					l.Grad[last] += 0.5 * f.noise * rows.Weight(at) * own
					f.weights[at] = own
				}
				for p := range w {
					w[p] *= 0.5
				}
			}
			contractions(l.Grad[:last], f.kernel, w, f.engine.x.block(j), f.engine.x.block(i), l.R[:len(w)])
		})
	})
	clear(grad)
	f.lanes.AddTo(grad)
	return f.checkInverse()
}

// residuals implements residualFactor.
func (f *denseFactor) residuals(alpha, precisions []float64, r blas64.General) bool {
	if precisions == nil {
		f.solve()
		r.Cols = 1
		f.u = dense.Combine(f.u, f.alpha, r)
	}
	blas64.Copy(dense.Column(f.u, 0), dense.Vec(alpha))
	if precisions != nil {
		for i, a := range alpha {
			precisions[i] = f.weights[i] + a*a
		}
	}
	return true
}

// checkInverse compares α = L⁻ᵀ(L⁻¹C) by a solve with the same by the L⁻¹ that the gradient is made of, in n² flops a column.
func (f *denseFactor) checkInverse() error {
	n, norm := float64(f.alpha.Rows), blas64.Nrm2(dense.Vec(f.half.Data))
	f.probe = dense.Reshape(f.probe, f.half.Rows, f.half.Cols)
	dense.Copy(f.probe, f.half)
	f.inverse.MulLT(f.probe)
	var off float64
	for i, a := range f.alpha.Data {
		if d := math.Abs(a - f.probe.Data[i]); !(d <= off) {
			off = d
		}
	}
	// Rounding of L⁻¹: its norm is at most 1/σ, its condition √(1 + n·v/σ²).
	least := f.engine.rows.Least(f.noise)
	limit := 0x1p-46 * n * math.Sqrt((1+n*variance(f.kernel)/least)/least) * norm
	return verify.Near("the inverse of the Cholesky factor", off, 0, limit)
}

func (f *denseFactor) posterior() predictor {
	f.solve()
	f.l.Ctx = nil // the context belongs to the evaluation, not to predictions
	lambda := f.engine.rows.Set(nil, f.engine.x.Len(), f.noise)
	for i := range lambda {
		lambda[i] += f.added
	}
	return newExactPosterior(f.kernel, &exactFactors{x: f.engine.x, factor: f.l, alpha: f.alpha,
		columns: f.engine.columns, lambda: lambda}, timeline.Range(0, f.engine.x.Len()))
}

// block returns block b of the points of x.
func (x Inputs) block(b int) Inputs {
	from := b * dense.Tile
	return x.Slice(from, from+dense.Width(x.Len(), b))
}

// fillGram sets l to the lower triangle of K + noise·I.
func fillGram(l *dense.Lower, x Inputs, k Kernel, noise float64) {
	l.EachTile(func(i, j int, t blas64.General) {
		covariances(t.Data, k, x.block(i), x.block(j))
	})
	l.AddDiagonal(noise)
}

// conditioner predicts from matrices whose squared columns are subtracted from
// and added to the prior covariance: cov = K** − lessᵀless + moreᵀmore.
type conditioner struct {
	kernel  Kernel
	factors factors
}

// factors gives the means, q×c, of what has the covariances cross with the inputs, and those matrices, a column for each. more
// may be empty. It may keep cross.
type factors interface {
	// inputs are those that it conditions on.
	inputs() Inputs
	condition(ctx context.Context, means, cross blas64.General) (less, more blas64.General)
	// rows returns the numbers of rows of less and more.
	rows() (less, more int)
}

func (c conditioner) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	variancesAt(variances, c.kernel, x)
	return parallel.Parts(ctx, x.Len(), dense.Tile, func(from, to int) {
		less, more := c.factors.condition(ctx, dense.Rows(means, from, to-from),
			crossCovariance(c.factors.inputs(), x.Slice(from, to), c.kernel))
		v := variances[from:to]
		dense.AddSquares(v, -1, less)
		dense.AddSquares(v, 1, more)
	})
}

func (c conditioner) joint(ctx context.Context, means blas64.General, cov *dense.Lower, x Inputs) error {
	fillGram(cov, x, c.kernel, 0)
	return c.given(ctx, means, cov, valuesOf(c.kernel, x))
}

// crossCovariance returns k(a, b), len(a) by len(b).
func crossCovariance(a, b Inputs, k Kernel) blas64.General {
	c := dense.New(a.Len(), b.Len())
	covariances(c.Data, k, a, b)
	return c
}

// valuesOf is f(x) of a kernel, or a term of it.
func valuesOf(k Kernel, x Inputs) functionals {
	return func(of Inputs, from, to int) blas64.General { return crossCovariance(of, x.Slice(from, to), k) }
}

// triangular is L of A = LLᵀ: it replaces b by L⁻¹b, or by L⁻ᵀb.
type triangular interface {
	SolveL(b blas64.General)
	SolveLT(b blas64.General)
}

// exactFactors condition on all observations, by any factor of A = LLᵀ.
type exactFactors struct {
	x      Inputs
	factor triangular
	alpha  blas64.General // A⁻¹C

	columns blas64.General // C
	lambda  []float64      // A − K
}

// exactPosterior predicts by a factor A = LLᵀ.
type exactPosterior struct {
	conditioner
	of   *exactFactors
	rows []int // row of L for each observation
}

func newExactPosterior(k Kernel, of *exactFactors, rows []int) exactPosterior {
	return exactPosterior{conditioner{k, of}, of, rows}
}

func (p *exactFactors) inputs() Inputs { return p.x }

func (p *exactFactors) condition(ctx context.Context, means, less blas64.General) (_, more blas64.General) {
	dense.Gemm(blas.Trans, blas.NoTrans, 1, less, p.alpha, 0, means)
	until(ctx, p.factor).SolveL(less) // L⁻¹K_x*
	return less, more
}

func (p *exactFactors) rows() (less, more int) { return p.x.Len(), 0 }

// until returns the factor with solves that look at ctx.
func until(ctx context.Context, f triangular) triangular {
	switch f := f.(type) {
	case *dense.Lower:
		return f.Within(ctx)
	case *banded.Matrix:
		return f.Within(ctx)
	case *kroneckerRoot:
		return &kroneckerRoot{f.of, ctx}
	}
	return f
}

func (p exactPosterior) observations(context.Context) (*conditions, error) {
	n := float64(p.of.x.Len())
	return &conditions{x: p.of.x, lambda: p.of.lambda, columns: p.of.columns, seconds: 1e-6 + 0.5e-9*n*n,
		solve: func(ctx context.Context, b blas64.General) error {
			f := until(ctx, p.of.factor)
			f.SolveL(b)
			f.SolveLT(b)
			return ctx.Err()
		}}, nil
}

func (c conditioner) given(ctx context.Context, means blas64.General, cov *dense.Lower, of functionals) error {
	q := means.Rows
	down, up := c.factors.rows()
	less, more := dense.New(down, q), dense.New(up, q)
	err := parallel.Parts(ctx, q, dense.Tile, func(from, to int) {
		l, m := c.factors.condition(ctx, dense.Rows(means, from, to-from), of(c.factors.inputs(), from, to))
		dense.Copy(dense.Sub(less, 0, down, from, to), l)
		if up > 0 {
			dense.Copy(dense.Sub(more, 0, up, from, to), m)
		}
	})
	if err != nil {
		return err
	}
	cov.AddOuter(-1, less)
	cov.AddOuter(1, more)
	return nil
}
