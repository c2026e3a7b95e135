package gppl

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

// regression is the mean of a model on the data of a loss, or on projections of them,
// with the coefficients integrated out. An engine sees a mean only as further columns
// beside y:
//
//	C = [y − Qγ₀, Q],  Q = HT,
//
// Q being the basis in coordinates in which its columns are orthogonal. γ₀ is their
// least-squares fit: likelihoods do not change by it, and what the mean explains does
// not cancel in them.
type regression struct {
	mean   Mean
	basis  *regress.Basis
	gamma0 []float64 // h
}

// newRegression returns the regression on the basis h of m, and its columns C. The
// error names the column of the basis that the data do not determine.
func newRegression(m Mean, h *mat.Dense, y []float64) (*regression, blas64.General, error) {
	basis, err := regressionOn(m, h)
	if err != nil {
		return nil, blas64.General{}, err
	}
	r, c := regressionOf(m, basis, h, y)
	return r, c, nil
}

// regressionOf is newRegression on a basis that is known, of the columns h.
func regressionOf(m Mean, basis *regress.Basis, h *mat.Dense, y []float64) (*regression, blas64.General) {
	r := &regression{mean: m, basis: basis}
	var rest []float64
	r.gamma0, rest = basis.Shift(h, y)
	return r, r.columns(rest)
}

// again is regressionOf for other observations, on the columns as they are rounded.
func (r *regression) again(y []float64) (*regression, blas64.General) {
	other := &regression{mean: r.mean, basis: r.basis}
	var rest []float64
	other.gamma0, rest = r.basis.ShiftRounded(y)
	return other, other.columns(rest)
}

// columns returns C.
func (r *regression) columns(rest []float64) blas64.General {
	cols, q := r.basis.Len(), r.basis.Q.RawMatrix()
	c := dense.New(len(rest), 1+cols)
	for i, v := range rest {
		row := c.Data[i*c.Stride:][:1+cols]
		row[0] = v
		copy(row[1:], q.Data[i*q.Stride:])
	}
	return c
}

// complete sets root, c×c, to the R of gradients (see exactFactor), and returns what the
// mean adds to the value of a likelihood, given G = CᵀA⁻¹C. nil is a mean of zero.
func (r *regression) complete(root, g blas64.General) (added float64, err error) {
	if r == nil {
		root.Data[0] = 1
		return 0, nil
	}
	c, err := r.given(g)
	if err != nil {
		return 0, err
	}
	c.fit.Root(root.Data)
	return c.fit.Value(), nil
}

// conditioned is a regression given the data: what it adds to predictions. nil is that of a mean of zero.
type conditioned struct {
	*regression
	fit *regress.Fit
}

// given solves the regression from G = CᵀA⁻¹C.
func (r *regression) given(g blas64.General) (*conditioned, error) {
	if r == nil {
		return nil, nil
	}
	fit, err := r.basis.NewFit(dense.Symmetric(g), r.gamma0)
	if err != nil {
		return nil, err
	}
	return &conditioned{r, fit}, nil
}

// coefficients returns the coefficient of each column.
func (c *conditioned) coefficients() (all []Coefficient) {
	if c == nil {
		return nil
	}
	shift := mat.NewVecDense(len(c.gamma0), nil)
	shift.MulVec(c.basis.T, mat.NewVecDense(len(c.gamma0), c.gamma0))
	beta, se := c.fit.Beta(), c.fit.StdErr()
	for j, column := range c.mean.Columns() {
		all = append(all, Coefficient{column.Name, beta[j] + shift.AtVec(j), se[j]})
	}
	return all
}

// form returns yᵀA⁻¹y less what the mean explains (regress.Fit.Quad), from the G that it was given.
func (c *conditioned) form(g blas64.General) float64 {
	if c == nil {
		return max(0, g.Data[0])
	}
	return max(0, c.fit.Quad())
}

// basisOf returns the basis at x in the coordinates of the regression.
func (c *conditioned) basisOf(x Inputs) (*mat.Dense, error) {
	h, err := basisAt(c.mean, x)
	if err != nil {
		return nil, err
	}
	return c.basis.Apply(h), nil
}

// predict returns the mean at an input whose basis is q and what the uncertainty of
// the coefficients adds to the variance, where the engine's means are k(x, ·)A⁻¹C.
func (c *conditioned) predict(q, means []float64) (mean, more float64) {
	mean, more = c.fit.Predict(q, means)
	for j, g := range c.gamma0 {
		mean += q[j] * g
	}
	return mean, more
}

// spread returns S, h×len(x), such that the covariance of predictions grows by SᵀS =
// RM⁻¹Rᵀ: R, what each basis has more than the engine's means (Rasmussen and Williams
// 2006, eq. 2.42).
func (c *conditioned) spread(q *mat.Dense, means blas64.General) blas64.General {
	rows, h := q.Dims()
	s := dense.New(h, rows)
	for i := range rows {
		for j := range h {
			s.Data[j*s.Stride+i] = q.At(i, j) - means.Data[i*means.Stride+1+j]
		}
	}
	c.fit.Whiten(s)
	return s
}

// dataColumns returns y as the columns of an engine, with the basis of m beside it if
// m has a mean.
func dataColumns(m Model, d Data) (*regression, blas64.General, error) {
	if m.Mean == nil {
		return nil, dense.AsColumn(d.Y), nil
	}
	h, err := basisAt(m.Mean, d.X)
	if err != nil {
		return nil, blas64.General{}, err
	}
	return newRegression(m.Mean, h, d.Y)
}

// Coefficient is the learnt coefficient of one column of a mean.
type Coefficient struct {
	Name   string
	Value  float64 // the generalised least-squares estimate or, with a prior, the posterior mean
	StdErr float64 // given the kernel's parameters and the noise
}
