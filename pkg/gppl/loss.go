package gppl

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

// A Loss is the function that training minimises: a negative log likelihood, or a bound
// on one, in nats, of the natural values θ of its parameters.
//
// A loss may also have the methods
//
//	Posterior(ctx context.Context, theta []float64) (*Posterior, error) // the process given its data
//	Cost(theta []float64) (engine string, seconds float64)            // a prediction, without an evaluation
//	Information(ctx context.Context, theta []float64) (*mat.SymDense, error) // see Informed
//	ScoreCovariance(ctx context.Context, theta []float64) (*mat.SymDense, error) // see Whittle
//	Priors() []ParamPrior                                             // priors of its parameters, included in the value
//	LogPrior(theta []float64) float64                                 // their log density
//
// A Loss is safe for concurrent use. Its answers do not depend on earlier calls, beyond the promised tolerance. It uses all
// processors by itself, and keeps sums over the data and working memory between calls.
type Loss interface {
	// Params returns the parameters with their start values: the parameters of
	// the model, noise variance last, and then the loss's own, if it has any.
	Params() []Param
	// ValueGrad returns the value at theta and, unless grad is nil, sets grad to ∂L/∂θ. One call shares one factorisation between
	// the two. It is an error if a parameter is out of range or a covariance cannot be factorised; grad is then meaningless. theta
	// is not modified. It ends soon after ctx has, with an error that wraps ctx's: losses of this package look at ctx every few
	// milliseconds of work.
	ValueGrad(ctx context.Context, grad, theta []float64) (float64, error)
	// Model returns the model at theta.
	Model(theta []float64) Model
	// Report returns the engine, and jitter, fallbacks and error bounds so far.
	Report() LossReport
	// String names the loss with its sizes.
	fmt.Stringer
}

var (
	_ Loss = (*Exact)(nil)
	_ Loss = (*Projected)(nil)
	_ Loss = (*VFE)(nil)
	_ Loss = (*MAP)(nil)
	_ Loss = (*Tied)(nil)
	_ Loss = (*Panel)(nil)
)

// costing is a loss that predicts its cost.
type costing interface {
	Cost(theta []float64) (engine string, seconds float64)
}

var (
	_ costing = (*Exact)(nil)
	_ costing = (*Projected)(nil)
	_ costing = (*MAP)(nil)
	_ costing = (*Tied)(nil)
	_ costing = (*Panel)(nil)
)

// LossReport describes how a loss is computed.
type LossReport struct {
	Engine     string        // the engine that computes it
	Likelihood bool          // whether its curvature, or the sandwich with ScoreCovariance, gives standard errors
	Setup      time.Duration // time to build the loss: projections, k-means, precomputation
	Jitter     float64       // the largest jitter that had to be added to a diagonal so far, 0 if none
	LastJitter float64       // jitter of the last evaluation
	Fallbacks  int           // evaluations where an engine failed and another took over
	Inexact    float64       // the largest error bound, in nats, of an evaluation that missed the tolerance; 0: none did

	// LastBound is the error bound of the last value, in nats. The error of a derivative in log θ is at most 20·s·LastBound,
	// where s is the largest of 1, |∂k/∂log θ|/k(0), |tr A⁻¹∂A|/n and |αᵀ∂Aα|/yᵀA⁻¹y. For a variance s = 1; it is larger for a
	// parameter in which the kernel is steep, such as a period that fits into the range many times.
	LastBound   float64
	LastInexact float64 // LastBound if no engine could keep the tolerance, else 0
}

// String names the engine, with its set-up time, its error bound, and jitter and replaced evaluations if there were any.
func (r LossReport) String() string {
	s := fmt.Sprintf("engine %s, %v set-up, error at most %.2g nats", r.Engine, r.Setup.Round(time.Microsecond),
		max(r.LastBound, r.Inexact))
	if r.Jitter > 0 {
		s += fmt.Sprintf(", jitter %.2g", r.Jitter)
	}
	if r.Fallbacks > 0 {
		s += fmt.Sprintf(", another engine took over %d times", r.Fallbacks)
	}
	return s
}

// tally is the report of a loss that several goroutines may use.
type tally struct {
	mu     sync.Mutex
	report LossReport
}

// note records the fallbacks and the jitter of an evaluation, and the error bound of its value.
func (t *tally) note(s *choice.Selection, jitter float64) {
	t.add(s.Fallbacks, jitter)
	if s.Chosen >= 0 {
		t.promise(s.Nats, s.WithinTolerance())
	}
}

// add counts engines that failed, and jitter.
func (t *tally) add(fallbacks int, jitter float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Jitter, t.report.LastJitter = max(t.report.Jitter, jitter), jitter
	t.report.Fallbacks += fallbacks
}

// promise records the error bound of the last value, and whether the tolerance was kept. A bound that cannot be computed is +Inf.
func (t *tally) promise(nats float64, kept bool) {
	if math.IsNaN(nats) {
		nats = math.Inf(1)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.LastBound, t.report.LastInexact = nats, 0
	if !kept {
		t.report.LastInexact = nats
		t.report.Inexact = max(t.report.Inexact, nats)
	}
}

// setUp counts time that was spent before.
func (t *tally) setUp(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report.Setup += d
}

// get returns the report so far.
func (t *tally) get() LossReport {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.report
}

// chosen reports the evaluations of a loss with one choice of engines.
type chosen struct {
	chooser *choice.Chooser
	tally   *tally
}

// Report returns the engine, and jitter, fallbacks and error bounds so far.
func (c *chosen) Report() LossReport {
	r := c.tally.get()
	r.Engine = c.chooser.Engines()
	return r
}

// Explain reports the last evaluation: for each engine the expected time and error, and which one was used.
func (c *chosen) Explain() string {
	var b strings.Builder
	c.chooser.Explain(&b)
	return b.String()
}

// notNil panics, with the names of a function and its argument, if the argument is nil, or a pointer that is: the one
// that a constructor returns with an error which was not looked at.
func notNil(where, what string, argument any) {
	v := reflect.ValueOf(argument)
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		panic(fmt.Sprintf("gppl: %s: %s is nil", where, what))
	}
}

// checked returns a copy of the data of a loss, which no caller can change after the check, and the options, or what is wrong
// with them or the model.
func checked(m Model, d Data, opts []Option) (Data, options, error) {
	d = d.clone()
	if err := cmp.Or(m.covers(d), m.checkWith(d), d.Check(), m.CheckAxes(d.X)); err != nil {
		return d, options{}, err
	}
	o, err := optionsOf(opts)
	return d, o, err
}

// wrapping is a loss that is made of another one with as many parameters: MAP and Tied.
type wrapping interface {
	// within returns the wrapped loss, and its parameters if the parameters of the whole are theta, which may be nil.
	within(theta []float64) (Loss, []float64)
}

// regressing is a loss that may have a mean.
type regressing interface {
	// conditionedAt returns the mean given the data at the natural values theta, nil if
	// there is none. It takes an evaluation of the value.
	conditionedAt(ctx context.Context, theta []float64) (*regress.Conditioned, error)
}

// knowing is a loss that may know errors of observations.
type knowing interface {
	// negligible reports whether parameter p is a noise variance that, at this value, is negligible beside the known errors of every
	// observation that has it.
	negligible(p int, value float64) bool
}

// noiseNegligible calls negligible of a loss or of the loss that it wraps; false if that has no known errors.
func noiseNegligible(l Loss, p int, value float64) bool {
	switch l := l.(type) {
	case knowing:
		return l.negligible(p, value)
	case wrapping:
		inner, _ := l.within(nil)
		return noiseNegligible(inner, p, value)
	}
	return false
}

// conditionedAt returns the mean of a loss, or of what it wraps, given its data at theta, nil if it has none.
func conditionedAt(ctx context.Context, l Loss, theta []float64) (of *regress.Conditioned, err error) {
	defer parallel.Stopped(&err)
	switch l := l.(type) {
	case regressing:
		return l.conditionedAt(ctx, theta)
	case wrapping:
		within, at := l.within(theta)
		return conditionedAt(ctx, within, at)
	}
	return nil, nil
}

var (
	_ regressing = (*Exact)(nil)
	_ regressing = (*Projected)(nil)
	_ regressing = (*VFE)(nil)

	_ knowing = (*Exact)(nil)
	_ knowing = (*VFE)(nil)
)

// withoutEngine returns the loss without the engine that it used last, and the name of
// that engine; nil if it has no other engine.
func withoutEngine(l Loss) (Loss, string) {
	if w, ok := l.(interface{ withoutEngine() (Loss, string) }); ok {
		return w.withoutEngine()
	}
	return nil, ""
}
