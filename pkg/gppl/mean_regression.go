package gppl

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

// The mean of a model is a regress.Regression on the data of a loss, or on projections of them, with the coefficients integrated out. An
// engine sees a mean only as further columns beside y.

// columnNames returns the names of the columns of m.
func columnNames(m Mean) (names []string) {
	for _, c := range m.Columns() {
		names = append(names, c.Name)
	}
	return names
}

// dataColumns returns y as the columns of an engine, with the basis of m beside it if
// m has a mean. The error names the column of the basis that the data do not determine.
func dataColumns(m Model, d Data) (*regress.Regression, blas64.General, error) {
	if m.Mean == nil {
		return nil, dense.AsColumn(d.Y), nil
	}
	h, err := basisAt(m.Mean, d.X)
	if err != nil {
		return nil, blas64.General{}, err
	}
	basis, err := regressionOn(m.Mean, h)
	if err != nil {
		return nil, blas64.General{}, err
	}
	r, c := regress.New(columnNames(m.Mean), basis, h, d.Y)
	return r, c, nil
}

// Coefficient is the learnt coefficient of one column of a mean.
type Coefficient struct {
	Name   string
	Value  float64 // the generalised least-squares estimate or, with a prior, the posterior mean
	StdErr float64 // given the kernel's parameters and the noise
}

// coefficients returns those of a mean given its data, nil for nil.
func coefficients(c *regress.Conditioned) (all []Coefficient) {
	if c == nil {
		return nil
	}
	beta, se := c.Coefficients()
	for j, name := range c.Names {
		all = append(all, Coefficient{name, beta[j], se[j]})
	}
	return all
}
