package gppl

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/workers"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// WithObservations returns the likelihood of other observations y at the same inputs under the same model, with other known errors, nil for none.
// It shares what was computed from the inputs, and working memory: what an iteration of reweighted Gaussian models needs (package
// observe). It is an error as for NewData and Data.WithErrors, and panics if lengths differ.
func (l *Exact) WithObservations(y, errors []float64) (*Exact, error) {
	if len(y) != l.n || errors != nil && len(errors) != l.n {
		panic(fmt.Sprintf("gppl: WithObservations: %d observations and %d errors, want %d", len(y), len(errors), l.n))
	}
	d := l.data
	d.Y, d.Errors = slices.Clone(y), slices.Clone(errors)
	if err := d.Check(); err != nil {
		return nil, err
	}
	other := *l
	mean, columns := l.mean, blas64.General{Rows: l.n, Cols: 1, Stride: 1, Data: d.Y}
	if mean != nil {
		mean, columns = mean.again(d.Y)
	}
	series := l.series
	if series != nil {
		moved := *series
		series = &moved
	}
	other.observe(d, series, mean, columns)
	for i, e := range other.engines {
		if e, ok := e.(sharingEngine); ok {
			e.share(l.engines[i])
		}
	}
	other.chooser.leftOut = l.chooser.leftOut
	return &other, nil
}

// Residuals is ValueGradContext that also sets alpha and, unless nil, precisions to
//
//	α = Py,  diag P,  P = A⁻¹ − A⁻¹Q(QᵀA⁻¹Q)⁻¹QᵀA⁻¹
//
// (A⁻¹ without a mean; with priors of coefficients as in likelihoods), all of length n. The noise of y_i, with its variance λ_i = σ²e_i² + s_i²,
// has the posterior mean λ_iα_i and variance λ_i − λ_i²P_ii, and a part of it in proportion: s_i²α_i and
// s_i² − s_i⁴P_ii. Given all other observations, y_i is N(y_i − α_i/P_ii, 1/P_ii). Where the state space is the engine, α costs half as much
// as the value, and precisions nothing beside a gradient; by other engines they cost a posterior at the inputs.
func (l *Exact) Residuals(ctx context.Context, alpha, precisions, grad, theta []float64) (value float64, err error) {
	defer workers.Stopped(&err)
	if len(alpha) != l.n || precisions != nil && len(precisions) != l.n {
		panic(fmt.Sprintf("gppl: Residuals: room for %d and %d, want %d", len(alpha), len(precisions), l.n))
	}
	if err := checkEvaluation(l.params, grad, theta); err != nil {
		return 0, err
	}
	natural := grad
	if grad == nil && precisions != nil {
		natural = make([]float64, len(theta))
	}
	c := l.calls.Get()
	c.ctx = ctx
	value, f, err := l.evaluateIn(c, natural, theta, true)
	if s, ok := f.(residualFactor); ok && s.residuals(alpha, precisions, c.r) {
		f.release()
	} else if err == nil {
		if natural != nil { // some factors are used up by a gradient
			f.release()
			_, f, err = l.evaluateIn(c, nil, theta, true)
		}
		if err == nil {
			err = l.residuals(c, f, alpha, precisions)
		}
	}
	l.calls.Put(c)
	if err == nil {
		err = checkAnswer(l.params, value, grad, theta)
	}
	return value, err
}

// residuals sets them by the posterior of a factor, which it keeps.
func (l *Exact) residuals(c *exactCall, f exactFactor, alpha, precisions []float64) error {
	p, err := l.posteriorBy(f, Model{Kernel: c.kernel, Noise: c.own, Mean: l.model.Mean}, l.data.X)
	if err != nil {
		return err
	}
	_, columns, err := dataColumns(l.model, l.data)
	if err != nil {
		return err
	}
	leave := p.leaver(c.ctx, l.data, columns)
	return leave.residuals(alpha, precisions)
}

// residuals is Exact.Residuals by a posterior.
func (l *leaver) residuals(alpha, precisions []float64) error {
	all := make([]int, len(alpha))
	for i := range all {
		all[i] = i
	}
	solved, inverse := dense.New(len(alpha), l.columns.Cols), make([]float64, len(alpha))
	if err := l.diagonal(solved, inverse, all); err != nil {
		return err
	}
	for i := range alpha {
		row := dense.Row(solved, i).Data
		alpha[i] = row[0]
		if c := l.p.mean; c != nil {
			alpha[i] = blas64.Dot(dense.Vec(row), dense.Vec(c.fit.Contrast()))
			inverse[i] -= c.fit.Form(row[1:], row[1:])
		}
	}
	copy(precisions, inverse)
	return nil
}
