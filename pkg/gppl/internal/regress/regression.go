package regress

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// A Regression is a basis with the observations that it is fitted to. Engines that solve with A treat it as further columns
// beside y:
//
//	C = [y − Qγ₀, Q],  Q = HT,
//
// where Q is the basis in coordinates in which its columns are orthogonal, and γ₀ their least-squares fit (Basis.Shift). A nil
// Regression has no columns: C = y. A Regression is immutable.
type Regression struct {
	Names  []string // names of the columns of H
	Basis  *Basis
	Gamma0 []float64 // h entries
}

// New returns the regression of y on the columns h of a basis, and C. It panics with a parallel.Stop once ctx has ended.
func New(ctx context.Context, names []string, b *Basis, h mat.Matrix, y []float64) (*Regression, blas64.General) {
	gamma0, rest := b.Shift(ctx, h, y)
	return &Regression{names, b, gamma0}, b.beside(rest)
}

// Again is New for other observations, on the columns as they are rounded.
func (r *Regression) Again(y []float64) (*Regression, blas64.General) {
	gamma0, rest := r.Basis.ShiftRounded(y)
	return &Regression{r.Names, r.Basis, gamma0}, r.Basis.beside(rest)
}

// beside returns [rest, Q].
func (b *Basis) beside(rest []float64) blas64.General {
	cols, q := b.Len(), b.Q.RawMatrix()
	c := dense.New(len(rest), 1+cols)
	for i, v := range rest {
		row := c.Data[i*c.Stride:][:1+cols]
		row[0] = v
		copy(row[1:], q.Data[i*q.Stride:])
	}
	return c
}

// Row returns the row of C of a further observation y, at which the basis is h.
func (r *Regression) Row(h mat.Matrix, y float64) []float64 {
	q := r.Basis.Apply(h).RawRowView(0)
	c := append([]float64{y}, q...)
	for j, g := range r.Gamma0 {
		c[0] -= g * q[j]
	}
	return c
}

// Len returns the number of columns of C.
func (r *Regression) Len() int {
	if r == nil {
		return 1
	}
	return 1 + r.Basis.Len()
}

// Complete sets root, c×c, to the R of gradients (Fit.Root), and returns the mean's contribution to the value of a likelihood,
// given G = CᵀA⁻¹C.
func (r *Regression) Complete(root, g blas64.General) (added float64, err error) {
	if r == nil {
		root.Data[0] = 1
		return 0, nil
	}
	c, err := r.Given(g)
	if err != nil {
		return 0, err
	}
	c.Root(root)
	return c.Value(), nil
}

// Given solves the regression from G = CᵀA⁻¹C: nil for a nil regression.
func (r *Regression) Given(g blas64.General) (*Conditioned, error) {
	if r == nil {
		return nil, nil
	}
	fit, err := r.Basis.NewFit(dense.Symmetric(g), r.Gamma0)
	if err != nil {
		return nil, err
	}
	return &Conditioned{r, fit}, nil
}

// Conditioned is a regression given its observations, with γ₀, for predictions. A nil regression has a nil Conditioned.
type Conditioned struct {
	*Regression
	Fit *Fit
}

// Of returns the regression, nil for nil.
func (c *Conditioned) Of() *Regression {
	if c == nil {
		return nil
	}
	return c.Regression
}

// Root sets root, c×c, to the R of gradients (Fit.Root).
func (c *Conditioned) Root(root blas64.General) {
	if c == nil {
		root.Data[0] = 1
		return
	}
	c.Fit.Root(root.Data)
}

// Value returns the mean's contribution to the value of a likelihood (Fit.Value).
func (c *Conditioned) Value() float64 {
	if c == nil {
		return 0
	}
	return c.Fit.Value()
}

// Len returns the number of columns of C.
func (c *Conditioned) Len() int { return c.Of().Len() }

// Coefficients returns the coefficient of each column of H, and its standard error.
func (c *Conditioned) Coefficients() (beta, se []float64) {
	shift := mat.NewVecDense(len(c.Gamma0), nil)
	shift.MulVec(c.Basis.T, mat.NewVecDense(len(c.Gamma0), c.Gamma0))
	beta = c.Fit.Beta()
	floats.Add(beta, shift.RawVector().Data)
	return beta, c.Fit.StdErr()
}

// PriorMeans returns the prior mean of the coefficient of each column of Q, of prior variance 1; NaN for a flat prior.
func (c *Conditioned) PriorMeans() []float64 {
	if c == nil {
		return nil
	}
	means := slices.Clone(c.Gamma0)
	for j := range means {
		if means[j] = -means[j]; c.Basis.IsFlat(j) {
			means[j] = math.NaN()
		}
	}
	return means
}

// Quad returns yᵀA⁻¹y minus the part that the mean explains (Fit.Quad), from G.
func (c *Conditioned) Quad(g blas64.General) float64 {
	if c == nil {
		return max(0, g.Data[0])
	}
	return max(0, c.Fit.Quad())
}

// Predict returns the mean at an input whose basis is q, a row of Q, and the increase of the variance from the uncertainty of
// the coefficients. means is k(x, ·)A⁻¹C.
func (c *Conditioned) Predict(q, means []float64) (mean, more float64) {
	mean, more = c.Fit.Predict(q, means)
	for j, g := range c.Gamma0 {
		mean += q[j] * g
	}
	return mean, more
}

// Spread returns S, h×len(x), such that the covariance of predictions grows by SᵀS = RM⁻¹Rᵀ. R is the basis at each x minus
// the rows k(x, ·)A⁻¹C of means (Rasmussen and Williams 2006, eq. 2.42).
func (c *Conditioned) Spread(q *mat.Dense, means blas64.General) blas64.General {
	rows, h := q.Dims()
	s := dense.New(h, rows)
	for i := range rows {
		for j := range h {
			s.Data[j*s.Stride+i] = q.At(i, j) - means.Data[i*means.Stride+1+j]
		}
	}
	c.Fit.Whiten(s)
	return s
}
