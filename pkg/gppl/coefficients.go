package gppl

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

// Coefficient is the learnt coefficient of one column of a mean.
type Coefficient struct {
	Name   string
	Value  float64 // the generalised least-squares estimate or, with a prior, the posterior mean
	StdErr float64 // given the kernel's parameters and the noise
}

// Coefficients returns the learnt coefficient of each column of the model's mean, in
// order; nil if it has no mean.
func (p *Posterior) Coefficients() []Coefficient {
	if p.mean == nil {
		return nil
	}
	return p.mean.coefficients(p.mean.fit)
}

// regressing is a loss that may have a mean: itself, or what it wraps.
type regressing interface {
	// coefficientsAt returns the coefficients at the natural values theta, nil if
	// there is no mean. It takes an evaluation of the value.
	coefficientsAt(theta []float64) ([]Coefficient, error)
}

var (
	_ regressing = (*Exact)(nil)
	_ regressing = (*Projected)(nil)
	_ regressing = (*VFE)(nil)
	_ regressing = (*MAP)(nil)
	_ regressing = (*Tied)(nil)
)

// coefficientsAt returns those of a loss at theta, nil if it has none.
func coefficientsAt(l Loss, theta []float64) ([]Coefficient, error) {
	if l, ok := l.(regressing); ok {
		return l.coefficientsAt(theta)
	}
	return nil, nil
}

func (m *MAP) coefficientsAt(theta []float64) ([]Coefficient, error) {
	return coefficientsAt(m.loss, theta)
}

func (t *Tied) coefficientsAt(theta []float64) ([]Coefficient, error) {
	theta = slices.Clone(theta)
	t.complete(theta)
	return coefficientsAt(t.loss, theta)
}

func (l *Exact) coefficientsAt(theta []float64) ([]Coefficient, error) {
	if l.mean == nil {
		return nil, nil
	}
	_, f, err := l.evaluate(l.chooser.ctx, nil, theta, true)
	if err != nil {
		return nil, err
	}
	defer f.release()
	fit, err := l.fitOf(f)
	if err != nil {
		return nil, err
	}
	return l.mean.coefficients(fit), nil
}

// fitOf returns the regression at a factor of the data.
func (l *Exact) fitOf(f exactFactor) (*regress.Fit, error) {
	g := dense.New(l.columns, l.columns)
	f.gram(g)
	return l.mean.fit(g)
}

// learnMean sets the coefficients of the mean at the best point.
func (r *Result) learnMean(l Loss, theta []float64) {
	coefficients, err := coefficientsAt(l, theta)
	if err != nil {
		r.warn("the coefficients of the mean are not known: %v", err)
		return
	}
	r.Mean = coefficients
}

// describeMean writes a line for each coefficient.
func (r *Result) describeMean(b *strings.Builder) {
	for _, c := range r.Mean {
		fmt.Fprintf(b, "  %-24s %.6g ± %.2g\n", "mean: "+c.Name, c.Value, c.StdErr)
	}
}

// drawMean adds a draw of the mean to f, of independent normals by next. It is an
// error if a prior is flat: there is no such distribution.
func (m Model) drawMean(f []float64, x Inputs, next func() float64) error {
	h, err := basisAt(m.Mean, x)
	if err != nil {
		return err
	}
	for j, c := range m.Mean.Columns() {
		if math.IsInf(c.Variance, 1) {
			return fmt.Errorf("gppl: the coefficient of column %q of the mean has a flat prior, which cannot be drawn from: give it a prior (GaussianBeta)", c.Name)
		}
		beta := math.Sqrt(c.Variance) * next()
		for i := range f {
			f[i] += beta * h.At(i, j)
		}
	}
	return nil
}
