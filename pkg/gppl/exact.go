package gppl

import (
	"fmt"
	"strings"
	"time"
)

var _ Loss = (*Exact)(nil)

// Exact is the negative log likelihood of all n observations (Rasmussen and
// Williams 2006, eq. 2.30 and 5.9; the paper's eq. (nll)):
//
//	NLL  = ½yᵀA⁻¹y + ½log|A| + (n/2)·log 2π,  A = K + σ²I
//	∂NLL = ½tr((A⁻¹ − ααᵀ)∂A),                α = A⁻¹y
//
// Which engine computes it, and in how many operations, depends on the kernel
// and on the inputs: see Explain. Densely, the value takes n³/3 flops and the
// gradient 2n³/3 more, in memory for n² numbers; on a time series, engines that
// use the structure of the kernel need far less.
type Exact struct {
	model   Model
	data    Data
	params  []Param
	kernel  kernelAt
	engines []exactEngine
	choice  choice
	report  LossReport
}

// NewExact returns the exact negative log likelihood of the data, to be trained
// from the parameters of m.
func NewExact(m Model, d Data, opts ...Option) (*Exact, error) {
	start := time.Now()
	if err := checkModelData(m, d); err != nil {
		return nil, err
	}
	o, err := optionsOf(opts)
	if err != nil {
		return nil, err
	}
	l := &Exact{model: m, data: d, params: m.Params(), kernel: kernelAt{family: m.Kernel}}
	if d.X.Dim() == 1 {
		series := newLine(d.X, d.Y)
		l.engines = append(l.engines, newStateSpaceExact(series), newSpectralExact(series, o), newToeplitzExact(series), newBandedExact(series))
	}
	l.engines = append(l.engines, newDenseExact(d))
	var names []string
	for _, e := range l.engines {
		names = append(names, e.name())
	}
	l.choice = newChoice(o, o.tolerance*float64(d.Len()), names)
	l.report = LossReport{Likelihood: true, Setup: time.Since(start)}
	return l, nil
}

func (l *Exact) Params() []Param             { return append([]Param(nil), l.params...) }
func (l *Exact) Model(theta []float64) Model { return l.model.WithParams(theta) }
func (l *Exact) String() string              { return fmt.Sprintf("exact NLL (n=%d)", l.data.Len()) }

func (l *Exact) Report() LossReport {
	r := l.report
	r.Engine = l.choice.engines()
	return r
}

// Explain says which engines were considered at the last evaluation, what each
// was expected to cost and to err, and which was taken.
func (l *Exact) Explain() string {
	var b strings.Builder
	l.choice.explain(&b)
	return b.String()
}

func (l *Exact) ValueGrad(grad, theta []float64) (float64, error) {
	if err := checkParams(l.params, theta); err != nil {
		return 0, err
	}
	last := len(theta) - 1
	k, noise := l.kernel.at(theta[:last]), theta[last]
	if err := checkVariance(k); err != nil {
		return 0, err
	}
	for i, e := range l.engines {
		l.choice.candidates[i] = e.forecast(k, noise)
	}
	l.choice.lastErr = nil
	var failed uint
	for {
		i := l.choice.next(failed)
		if i < 0 {
			return 0, l.choice.refused()
		}
		value, jitter, err := l.engines[i].nll(grad, k, noise)
		if err != nil { // the next engine may do better
			failed |= 1 << i
			l.choice.failed(i, err)
			continue
		}
		l.choice.took(i)
		l.report.note(&l.choice, jitter)
		if grad != nil {
			toNatural(grad, theta)
		}
		return value, nil
	}
}
