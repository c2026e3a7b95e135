package gppl

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// mixedPosterior is Bayesian linear regression on the waves: at x within the range of the data, with e = C^½φ(x),
//
//	mean = eᵀh,  covariance = eᵀT⁻¹e′,
//
// in O(p²) for each x. Beyond it, where the waves do not represent the covariances k of x with the data, with κ = B^−½k and
//
//	g = T⁻¹Eᵀκ,  r = κ − Eg
//	mean = κᵀ(z − Eh),  covariance = k(x, x′) − rᵀr′ − gᵀg′
//
// where rᵀr + gᵀg = kᵀA⁻¹k is stationary in g, so that rounding of g counts by its square. That takes O(np) for each x.
type mixedPosterior struct {
	*mixedFactor // from now on it does not change
}

func newMixedPosterior(f *mixedFactor) predictor {
	f.Ctx, f.T.Ctx = nil, nil // of the evaluation, not of predictions
	if f.base.factor != nil {
		return newBasedPosterior(f)
	}
	return &mixedPosterior{f}
}

func (p *mixedPosterior) represented(x float64) bool {
	l := p.engine.line
	return l.lo <= x && x <= l.lo+l.span
}

// solved returns e at represented inputs, and L⁻¹e.
func (p *mixedPosterior) solved(x Inputs) (e, solved blas64.General) {
	e = p.At(x.at)
	solved = dense.New(e.Rows, e.Cols)
	copy(solved.Data, e.Data)
	p.T.SolveL(solved)
	return e, solved
}

func (p *mixedPosterior) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	within, beyond := apart(x, p.represented)
	inBatches(ctx, means, variances, x, within, func(m blas64.General, v []float64, x Inputs) {
		e, solved := p.solved(x)
		dense.Gemm(blas.Trans, blas.NoTrans, 1, e, p.H, 0, m)
		dense.AddSquares(v, 1, solved)
	})
	inBatches(ctx, means, variances, x, beyond, func(m blas64.General, v []float64, x Inputs) {
		variancesAt(v, p.kernel, x)
		g := p.Regress(m, p.cross(x), func(r blas64.General) { dense.AddSquares(v, -1, r) })
		dense.AddSquares(v, -1, g)
	})
	return ctx.Err()
}

// cross returns the covariances of observations with x.
func (p *mixedPosterior) cross(x Inputs) func(from, count int) blas64.General {
	t := Scalars(p.Data.T)
	return func(from, count int) blas64.General { return crossCovariance(t.Slice(from, from+count), x, p.kernel) }
}

func (p *mixedPosterior) joint(_ context.Context, means blas64.General, cov *dense.Lower, x Inputs) error {
	lo, hi := x.Range(0)
	if p.represented(lo) && p.represented(hi) {
		e, solved := p.solved(x)
		dense.Gemm(blas.Trans, blas.NoTrans, 1, e, p.H, 0, means)
		cov.EachTile(func(_, _ int, t blas64.General) { clear(t.Data) })
		cov.AddOuter(1, solved)
		return nil
	}
	fillGram(cov, x, p.kernel, 0)
	g := p.Regress(means, p.cross(x), func(r blas64.General) { cov.AddOuter(-1, r) })
	cov.AddOuter(-1, g)
	return nil
}

// basedPosterior predicts with a base of other terms: given the weights w ~ N(h, T⁻¹) of the waves, the rest is the posterior
// of the base for Y − Ew. With m_Y and m_E, what the base predicts from the columns Y and E, and e the waves at x,
//
//	q = e − m_E,  mean = m_Y + qᵀh,  covariance = that of the base + qᵀT⁻¹q′.
//
// The waves represent the covariance with the data within a range of the data on either side; beyond that the model is
// factorised again over a longer one.
type basedPosterior struct {
	*mixedFactor // from now on it does not change
	of           predictor
}

func newBasedPosterior(f *mixedFactor) *basedPosterior {
	own := *f.model // the evaluation's may be used again
	f.model, own.ctx = &own, nil
	return &basedPosterior{f, f.base.factor.posterior()}
}

// over returns a posterior whose waves represent the covariances of x with the data.
func (p *basedPosterior) over(ctx context.Context, x Inputs) (*basedPosterior, error) {
	lo, hi := x.Range(0)
	l := p.engine.line
	far := max(hi-l.lo, l.lo+l.span-lo)
	if far <= p.span {
		return p, nil
	}
	m := *p.model
	m.ctx = ctx
	f, err := p.engine.factorOver(&m, far)
	if err != nil {
		return nil, err
	}
	f.gram(dense.New(f.B.Cols, f.B.Cols))
	return newBasedPosterior(f), nil
}

// conditioned sets the means at x, given those of the base for all columns, and returns L⁻¹q.
func (p *basedPosterior) conditioned(means, wide blas64.General, x Inputs) (solved blas64.General) {
	count, c := p.Columns(), means.Cols
	q := p.At(x.at)
	for j := range x.Len() {
		of := wide.Data[j*wide.Stride:]
		copy(means.Data[j*means.Stride:][:c], of)
		for i, m := range of[c:][:count] {
			q.Data[i*q.Stride+j] -= m
		}
	}
	dense.Gemm(blas.Trans, blas.NoTrans, 1, q, p.H, 1, means)
	p.T.SolveL(q)
	return q
}

func (p *basedPosterior) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	p, err := p.over(ctx, x)
	if err != nil {
		return err
	}
	wide := dense.New(x.Len(), p.base.g.Cols)
	if err := p.of.latent(ctx, wide, variances, x); err != nil {
		return err
	}
	dense.AddSquares(variances, 1, p.conditioned(means, wide, x))
	return nil
}

func (p *basedPosterior) joint(ctx context.Context, means blas64.General, cov *dense.Lower, x Inputs) error {
	p, err := p.over(ctx, x)
	if err != nil {
		return err
	}
	wide := dense.New(x.Len(), p.base.g.Cols)
	if err := p.of.joint(ctx, wide, cov, x); err != nil {
		return err
	}
	cov.AddOuter(1, p.conditioned(means, wide, x))
	return nil
}
