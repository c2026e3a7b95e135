package gppl

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

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
	f.gram(dense.New(f.b.Cols, f.b.Cols))
	return newBasedPosterior(f), nil
}

// conditioned sets the means at x, given those of the base for all columns, and returns L⁻¹q.
func (p *basedPosterior) conditioned(means, wide blas64.General, x Inputs) (solved blas64.General) {
	count, c := p.features(), means.Cols
	q := p.waves(x)
	for j := range x.Len() {
		of := wide.Data[j*wide.Stride:]
		copy(means.Data[j*means.Stride:][:c], of)
		for i, m := range of[c:][:count] {
			q.Data[i*q.Stride+j] -= m
		}
	}
	dense.Gemm(blas.Trans, blas.NoTrans, 1, q, p.h, 1, means)
	p.t.SolveL(q)
	return q
}

func (p *basedPosterior) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	p, err := p.over(ctx, x)
	if err != nil {
		return err
	}
	wide := dense.New(x.Len(), p.base.line.columns.Cols)
	if err := p.of.latent(ctx, wide, variances, x); err != nil {
		return err
	}
	addSquares(variances, 1, p.conditioned(means, wide, x))
	return nil
}

func (p *basedPosterior) joint(ctx context.Context, means blas64.General, cov *dense.Lower, x Inputs) error {
	p, err := p.over(ctx, x)
	if err != nil {
		return err
	}
	wide := dense.New(x.Len(), p.base.line.columns.Cols)
	if err := p.of.joint(ctx, wide, cov, x); err != nil {
		return err
	}
	addOuter(cov, 1, p.conditioned(means, wide, x))
	return nil
}
