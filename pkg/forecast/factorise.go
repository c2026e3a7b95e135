package forecast

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// factorise returns the factor of the latest observations, at most most, under the best model. It keeps the last one.
func (a *Analysis) factorise(ctx context.Context, most int) (*factor, error) {
	same := func(f *factor) bool { return len(f.x) == min(most, len(a.Series.X)) }
	return a.factor.get(same, func() (*factor, error) {
		data, err := a.standardised(ctx)
		if err != nil {
			return nil, err
		}
		return a.newFactor(ctx, a.Result.Model, data, most)
	})
}

// newFactor returns the factor of the latest observations, at most most, under the model m. Once ctx has ended, the error wraps
// ctx's.
func (a *Analysis) newFactor(ctx context.Context, m gppl.Model, data gppl.Data, most int) (f *factor, err error) {
	defer parallel.Stopped(&err)
	f = &factor{from: max(0, data.Len()-most), x: a.Series.X, z: data.Y}
	f.x, f.z = f.x[f.from:], f.z[f.from:]
	n := len(f.x)
	gram := dense.New(n, n)
	parallel.Within(ctx, n, func(i int) {
		row := gram.Data[i*n:][:i+1]
		gppl.Covariance(ctx, row, m.Kernel, gppl.Scalars(f.x[i:i+1]), gppl.Scalars(f.x[:i+1]))
		noise := m.Noise + capability.Nugget(m.Kernel)
		if data.Relative != nil {
			noise *= data.Relative[f.from+i] * data.Relative[f.from+i]
		}
		row[i] += noise
		if data.Errors != nil {
			row[i] += data.Errors[f.from+i] * data.Errors[f.from+i]
		}
	})
	f.l = dense.NewLower(n)
	f.l.Ctx = ctx
	f.l.Set(gram)
	trend, err := a.trendBasis(m, f.x)
	if err != nil {
		return nil, err
	}
	if trend != nil {
		f.l.AddOuter(1, dense.Transposed(trend.RawMatrix()))
	}
	if err := f.l.Cholesky(); err != nil {
		return nil, fmt.Errorf("the covariance of the observations is singular to working precision, "+
			"the learnt noise is too small: %w", err)
	}
	f.alpha = slices.Clone(f.z)
	f.l.Solve(dense.AsColumn(f.alpha))
	f.l.Ctx = nil // ctx was for the factorisation alone
	return f, nil
}

// trendBasis returns the columns of the model's trend at x, each multiplied by the prior standard deviation of its coefficient,
// so that the covariance of the trend is the sum of their outer products. It is nil for a model without a trend.
func (a *Analysis) trendBasis(of gppl.Model, x []float64) (*mat.Dense, error) {
	m := of.Mean
	if m == nil {
		return nil, nil
	}
	in, err := a.Series.Inputs(x)
	if err != nil {
		return nil, err
	}
	h, err := m.Basis(in)
	if err != nil {
		return nil, err
	}
	for j, c := range m.Columns() {
		for i := range x {
			h.Set(i, j, h.At(i, j)*math.Sqrt(c.Variance))
		}
	}
	return h, nil
}
