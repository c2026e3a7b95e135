package gppl

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
)

// newPrior returns the prior as a posterior: no input is near any data.
func newPrior(m Model, opts []Option) (*Posterior, error) {
	o, err := optionsOf(opts)
	if err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	if len(m.Channels) > 0 {
		return nil, errors.New("gppl: the prior of a model with channels is not available")
	}
	nugget := capability.Nugget(m.Kernel)
	if err := checkVariance(m.Kernel, variance(m.Kernel)+nugget); err != nil {
		return nil, err
	}
	if m.Mean != nil {
		if err := checkDrawn(m.Mean); err != nil {
			return nil, err
		}
	}
	return &Posterior{model: m, engine: EngineDense, nugget: nugget, memory: o.Memory,
		horizon: horizon{kernel: m.Kernel, variance: variance(m.Kernel)}}, nil
}

// noConditions returns the conditions before any data.
func noConditions(dim int) *conditions {
	return &conditions{x: Inputs{d: dim}, columns: dense.New(0, 1),
		solve: func(ctx context.Context, _ blas64.General) error { return ctx.Err() }}
}

// basis returns the basis of the mean at x, with zeros in the columns that the part lacks; a nil part has all. A part without
// columns does not read the regressors of x.
func (p *ofTerms) basis(m Mean, x Inputs) (*mat.Dense, error) {
	if p == nil {
		return basisAt(m, x)
	}
	kept := mat.NewDense(x.Len(), len(p.columns), nil)
	if !slices.Contains(p.columns, true) {
		return kept, nil
	}
	h, err := basisAt(m, x)
	if err != nil {
		return nil, err
	}
	for j, has := range p.columns {
		for i := 0; i < x.Len() && has; i++ {
			kept.Set(i, j, h.At(i, j))
		}
	}
	return kept, nil
}

// priorSpread returns S of the prior of the coefficients, for rows of the basis: HBHᵀ is SᵀS.
func (p *Posterior) priorSpread(h *mat.Dense) blas64.General {
	rows, cols := h.Dims()
	s := dense.New(cols, rows)
	for j, c := range p.model.Mean.Columns() {
		for i := range rows {
			s.Data[j*s.Stride+i] = math.Sqrt(c.Variance) * h.At(i, j)
		}
	}
	return s
}

// addPriorMean adds the variance of the mean at the x with the given indices, if the mean is a draw from its prior.
func (p *Posterior) addPriorMean(variances []float64, x Inputs, at []int) error {
	if p.model.Mean == nil {
		return nil
	}
	h, err := p.part.basis(p.model.Mean, x.Pick(at))
	if err != nil {
		return err
	}
	own := make([]float64, len(at))
	dense.AddSquares(own, 1, p.priorSpread(h))
	for j, i := range at {
		variances[i] += own[j]
	}
	return nil
}
