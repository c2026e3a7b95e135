package gppl

import (
	"fmt"
	"math"
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
	data    Data // zero if only sums of them are known
	n       int
	params  []Param
	kernel  kernelAt
	scale   scaling
	engines []exactEngine
	choice  choice
	span    float64 // the largest distance there is
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
	var engines []exactEngine
	if d.X.Dim() == 1 {
		series := newLine(d.X, d.Y)
		engines = append(engines, newStateSpaceExact(series), newSpectralExact(series, o), newGriddedExact(series), newToeplitzExact(series), newBandedExact(series))
	}
	engines = append(engines, newDenseExact(d))
	l := newExact(m, d.Len(), engines, o, extent(d.X))
	l.data = d
	l.report.Setup = time.Since(start)
	return l, nil
}

// newExact returns the loss of n observations, which the engines know, over the given
// range of inputs.
func newExact(m Model, n int, engines []exactEngine, o options, span float64) *Exact {
	l := &Exact{model: m, n: n, params: m.Params(), kernel: kernelAt{family: m.Kernel}, engines: engines, span: span}
	var names []string
	for _, e := range l.engines {
		names = append(names, e.name())
	}
	l.choice = newChoice(o, o.tolerance*float64(n), names)
	l.report = LossReport{Likelihood: true}
	return l
}

func (l *Exact) Params() []Param             { return append([]Param(nil), l.params...) }
func (l *Exact) Model(theta []float64) Model { return l.model.WithParams(theta) }
func (l *Exact) String() string              { return fmt.Sprintf("exact NLL (n=%d)", l.n) }

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
	k := l.kernel.at(theta[:last])
	noise := theta[last] + Nugget(k)
	if err := checkVariance(k); err != nil {
		return 0, err
	}
	n := float64(l.n)
	blur := n * phases(k, l.span, noise, 1)
	for i, e := range l.engines {
		l.choice.candidates[i] = e.forecast(k, noise)
		l.choice.candidates[i].err += blur
	}
	l.choice.lastErr = nil
	var failed uint
	coarse := -1 // an engine whose value may err by too much, but there was none better
	for {
		i := l.choice.next(failed)
		if i < 0 {
			if i = coarse; i < 0 {
				return 0, l.choice.refused()
			}
		}
		value, jitter, err := l.engines[i].nll(grad, k, noise)
		if err != nil { // the next engine may do better
			if i == coarse {
				return 0, err
			}
			failed |= 1 << i
			l.choice.failed(i, err)
			continue
		}
		form, extra := measure(l.engines[i], value, n, noise)
		if _, exact := l.engines[i].(measured); exact && grad != nil && jitter == 0 {
			if err := verifyScale(grad, &l.scale, k, n, form); err != nil {
				if i == coarse {
					return 0, err
				}
				failed |= 1 << i
				l.choice.failed(i, err)
				continue
			}
		}
		l.choice.took(i)
		l.choice.promise(form, extra, value, n)
		if i != coarse && l.choice.better(failed|1<<i, form, n) >= 0 {
			failed |= 1 << i
			coarse = i
			l.choice.fallbacks++
			continue
		}
		l.report.note(&l.choice, jitter)
		l.report.promise(l.choice.bound())
		if grad != nil {
			shareNoise(grad, k, theta[last], noise)
			toNatural(grad, theta)
		}
		return value, nil
	}
}

// measure returns yᵀA⁻¹y and what the value may err by beyond the forecast. An
// engine that does not say has a form of at most 2·value − n·log 2πσ², since
// log|A| ≥ n·log σ².
func measure(e exactEngine, value, n, noise float64) (form, extra float64) {
	if m, ok := e.(measured); ok {
		return m.measure()
	}
	return max(0, 2*value-n*(log2Pi+math.Log(noise))), 0
}
