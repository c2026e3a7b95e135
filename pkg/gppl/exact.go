package gppl

import (
	"fmt"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
)

var _ Loss = (*Exact)(nil)

// Exact is the negative log likelihood of all n observations (Rasmussen and
// Williams 2006, eq. 2.30 and 5.9; the paper's eq. (nll)):
//
//	NLL  = ½yᵀA⁻¹y + ½log|A| + (n/2)·log 2π,  A = K + σ²I
//	∂NLL = ½tr((A⁻¹ − ααᵀ)∂A),                α = A⁻¹y
//
// Densely, the value takes n³/3 flops and the gradient 2n³/3 more, in memory
// for n² numbers.
type Exact struct {
	model  Model
	data   Data
	params []Param
	engine exactEngine
	alpha  []float64
	report LossReport
}

// NewExact returns the exact negative log likelihood of the data, to be trained
// from the parameters of m.
func NewExact(m Model, d Data) (*Exact, error) {
	start := time.Now()
	if err := checkModelData(m, d); err != nil {
		return nil, err
	}
	e := newExactEngine(d.X)
	return &Exact{
		model: m, data: d, params: m.Params(), engine: e,
		alpha:  make([]float64, d.Len()),
		report: LossReport{Engine: e.name(), Likelihood: true, Setup: time.Since(start)},
	}, nil
}

func (l *Exact) Params() []Param             { return append([]Param(nil), l.params...) }
func (l *Exact) Model(theta []float64) Model { return l.model.WithParams(theta) }
func (l *Exact) Report() LossReport          { return l.report }
func (l *Exact) String() string              { return fmt.Sprintf("exact NLL (n=%d)", l.data.Len()) }

func (l *Exact) ValueGrad(grad, theta []float64) (float64, error) {
	if err := checkParams(l.params, theta); err != nil {
		return 0, err
	}
	last := len(theta) - 1
	jitter, err := l.engine.factorise(l.model.Kernel.WithParams(theta[:last]), theta[last])
	l.report.Jitter = max(l.report.Jitter, jitter)
	if err != nil {
		return 0, err
	}
	l.engine.solve(l.alpha, l.data.Y)
	if grad != nil {
		l.engine.contract(grad, l.alpha)
		toNatural(grad, theta)
	}
	quad := blas64.Dot(vec(l.data.Y), vec(l.alpha))
	return 0.5 * (quad + l.engine.logDet() + float64(l.data.Len())*log2Pi), nil
}
