package gppl

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/workers"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

var _ Loss = (*Exact)(nil)

// Exact is the negative log likelihood of all n observations (Rasmussen and
// Williams 2006, eq. 2.30 and 5.9; the paper's eq. (nll)):
//
//	NLL  = ½yᵀA⁻¹y + ½log|A| + (n/2)·log 2π,  A = K + σ²I
//	∂NLL = ½tr((A⁻¹ − ααᵀ)∂A),                α = A⁻¹y
//
// With a mean function (Model.Mean) the coefficients are integrated out: with flat
// priors this is the restricted likelihood of the contrasts of y that are free of
// them (eq. 2.45), made invariant to the scaling of the basis by −½log|HᵀH|.
//
// Which engine computes it, and in how many operations, depends on the kernel
// and on the inputs: see Explain. Densely, the value takes n³/3 flops and the
// gradient 2n³/3 more, in memory for n² numbers; on a time series, engines that
// use the structure of the kernel need far less.
//
// It is safe for concurrent use, in working memory for as many evaluations as
// run at once.
type Exact struct {
	model   Model
	data    Data // zero if only sums of them are known
	n       int
	params  []Param
	scale   scaling
	span    float64     // the largest distance there is
	mean    *regression // nil for a mean of zero
	columns int         // c, of y and the basis of the mean
	rows    rowNoise    // what is known of each observation's noise
	engines []exactEngine
	chooser *chooser
	tally   *tally
	calls   *pool[exactCall]
}

// exactCall is the working memory of one evaluation.
type exactCall struct {
	compiled
	selection
	value float64
	g, r  blas64.General // CᵀA⁻¹C, and the R of the gradient
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
	if d.X.Dim() != 1 && IsPlaced(m.Kernel) {
		return nil, fmt.Errorf("gppl: %v changes along a scalar axis, and the inputs have dimension %d", m.Kernel, d.X.Dim())
	}
	mean, columns, err := dataColumns(m, d)
	if err != nil {
		return nil, err
	}
	rows := d.rowNoise()
	var engines []exactEngine
	if d.X.Dim() == 1 {
		series := sortLine(d.X)
		series.setColumns(columns)
		series.setNoise(rows)
		engines = append(engines, newStateSpaceExact(series).within(o.tolerance), newSpectralExact(series, o), newGriddedExact(series),
			newToeplitzExact(series, o), newBandedExact(series), newMixedExact(series, o))
	}
	engines = append(engines, newDenseExact(d.X, columns, rows))
	l := newExact(m, d.Len(), engines, o, extent(d.X))
	l.data, l.mean, l.columns, l.rows = d, mean, columns.Cols, rows
	l.tally.setUp(time.Since(start))
	return l, nil
}

// newExact returns the loss of n observations, which the engines know, over the given
// range of inputs, with a mean of zero.
func newExact(m Model, n int, engines []exactEngine, o options, span float64) *Exact {
	l := &Exact{model: m, n: n, params: m.Params(), scale: scalingOf(m.Kernel), columns: 1, engines: engines, span: span}
	var names []string
	for _, e := range engines {
		names = append(names, e.name())
	}
	l.chooser = newChooser(o, o.tolerance*float64(n), names)
	l.tally, l.calls = &tally{report: LossReport{Likelihood: true}}, new(pool[exactCall])
	return l
}

func (l *Exact) Params() []Param             { return append([]Param(nil), l.params...) }
func (l *Exact) Model(theta []float64) Model { return l.model.WithParams(theta) }
func (l *Exact) String() string              { return fmt.Sprintf("exact NLL (n=%d)", l.n) }

func (l *Exact) Report() LossReport {
	r := l.tally.get()
	r.Engine = l.chooser.engines()
	return r
}

// Explain reports the last evaluation: for each engine the expected time and error,
// and which one was used.
func (l *Exact) Explain() string {
	var b strings.Builder
	l.chooser.explain(&b)
	return b.String()
}

func (l *Exact) ValueGrad(grad, theta []float64) (float64, error) {
	return l.ValueGradContext(l.chooser.ctx, grad, theta)
}

// ValueGradContext implements Interruptible.
func (l *Exact) ValueGradContext(ctx context.Context, grad, theta []float64) (float64, error) {
	value, _, err := l.evaluate(ctx, grad, theta, false)
	if err == nil {
		err = checkAnswer(l.params, value, grad, theta)
	}
	return value, err
}

// evaluate is ValueGrad that returns the factor too, if it is to be kept.
func (l *Exact) evaluate(ctx context.Context, grad, theta []float64, keep bool) (value float64, f exactFactor, err error) {
	defer workers.Stopped(&err)
	if err := checkEvaluation(l.params, grad, theta); err != nil {
		return 0, nil, err
	}
	c := l.calls.get()
	c.ctx = ctx
	value, f, err = l.evaluateIn(c, grad, theta, keep)
	l.calls.put(c)
	return value, f, err
}

func (l *Exact) evaluateIn(c *exactCall, grad, theta []float64, keep bool) (value float64, f exactFactor, err error) {
	if err := c.compile(l.model.Kernel, theta); err != nil {
		return 0, nil, err
	}
	l.forecast(c)
	var jitter float64
	err = l.chooser.evaluate(&c.selection, func(i int) (o outcome, err error) {
		if f != nil {
			f.release() // of an engine that promised too little
		}
		if f, err = l.engines[i].factor(&c.compiled); err != nil {
			return o, err
		}
		jitter = f.jitter()
		if o, err = l.assemble(f, c.candidates[i].err, grad, c); err != nil {
			f.release()
			f = nil
		}
		c.value = o.value
		return o, err
	})
	if f != nil && (!keep || err != nil) {
		f.release()
		f = nil
	}
	l.tally.note(&c.selection, jitter)
	if err != nil {
		return 0, nil, kernelFault(c.kernel, l.data.X, l.span, err)
	}
	if grad != nil {
		c.naturalGradient(grad, theta)
	}
	return c.value, f, nil
}

// forecast collects the forecasts of all engines for the compiled model.
func (l *Exact) forecast(c *exactCall) {
	l.chooser.begin(&c.selection)
	blur := float64(l.n) * phases(c.kernel, l.span, l.rows.least(c.noise), 1)
	for i, e := range l.engines {
		if _, ok := e.(takesPlaced); c.plain != nil && !ok {
			c.candidates[i] = cannot(notPlaced)
			continue
		}
		c.candidates[i] = e.forecast(&c.compiled).within(l.chooser.memory)
		c.candidates[i].err += blur
	}
}

// assemble computes the value and, unless grad is nil, its derivatives in logs. expected
// is the error bound of the forecast.
func (l *Exact) assemble(f exactFactor, expected float64, grad []float64, c *exactCall) (outcome, error) {
	n, cols := float64(l.n), l.columns
	c.g, c.r = dense.Reshape(c.g, cols, cols), dense.Reshape(c.r, cols, cols)
	f.gram(c.g)
	added, err := l.mean.complete(c.r, c.g)
	if err != nil {
		return outcome{}, fmt.Errorf("gppl: %w (kernel %v, noise variance %.4g)", err, c.kernel, c.noise)
	}
	form := formOf(c.g, c.r)
	size := spread(diagonalOf(c.g), c.r)
	o := outcome{value: 0.5*(c.g.Data[0]+f.logDet()+n*log2Pi) + added, terms: n, form: form, size: size, extra: f.uncertainty(c.r)}
	if grad == nil {
		return o, nil
	}
	if err := f.gradient(grad, c.r); err != nil {
		return o, err
	}
	if f.jitter() == 0 && l.data.Errors == nil { // known errors do not scale
		return o, verifyScale(grad, &l.scale, c.kernel, n, form, completed(expected, size, n)+o.extra)
	}
	return o, nil
}

// Cost predicts the engine and the time in seconds of an evaluation of value and
// gradient at m, with a share of the set-up. It counts operations and measures nothing,
// so that decisions based on it are the same on every machine. seconds is +Inf if no
// engine takes m, or if m is out of the range of float64.
func (l *Exact) Cost(m Model) (engine string, seconds float64) {
	c := l.calls.get()
	engine, seconds = "", math.Inf(1)
	if err := c.compile(l.model.Kernel, values(m.Params())); err == nil {
		l.forecast(c)
		if i := l.chooser.next(&c.selection); i >= 0 {
			engine, seconds = l.chooser.names[i], c.candidates[i].cost()
		}
	}
	l.calls.put(c)
	return engine, seconds
}

// withoutEngine returns the loss without the engine of the last evaluation, and
// its name.
func (l *Exact) withoutEngine() (Loss, string) {
	other := *l
	var engine string
	if other.chooser, engine = l.chooser.leaveOut(); engine == "" {
		return nil, ""
	}
	return &other, engine
}
