package gppl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/descent"
)

// Settings configures Fit. The zero value is recommended: L-BFGS to a vanishing gradient, from the loss's own parameters.
type Settings struct {
	// Method returns a fresh optimisation method: gonum's optimize.LBFGS, BFGS, CG, NelderMead, …, FisherScoring, or AdamRate.
	// nil means L-BFGS. (A method keeps state, so each run needs its own.)
	Method func() optimize.Method
	// GradientTolerance ends training in success once no derivative of the loss with respect to a raw parameter is larger, in nats.
	// For a log transform that is nats per unit of log θ. A negative value disables this criterion.
	//
	// 0 means 1e-4 or, for L-BFGS with up to twelve parameters, 1e-4 in units of standard errors, √(gᵀH⁻¹g) for the gradient g and
	// the curvature H: the same for any number of observations, within 5e-9 nats of the minimum.
	GradientTolerance float64
	// Stop returns a further stopping rule, such as StopBelow(1e-3); nil means none.
	Stop func() optimize.Converger
	// MaxEvaluations and MaxIterations limit each start; 0 means 1000 evaluations and no limit of iterations.
	MaxEvaluations, MaxIterations int
	// EvaluationSeconds, unless 0, makes MaxEvaluations a limit on estimated time: an evaluation that is estimated to take c >
	// 1 times EvaluationSeconds counts as c evaluations. One that would exceed the limit is left out, as if its loss were
	// +Inf.
	EvaluationSeconds float64
	// Starts is the number of starting points; 0 means 1. The first is the loss's own, the others are normally distributed around it
	// in the raw parameters with standard deviation Spread (0 means 1), drawn from Seed. Locations on the axis of x move in units of
	// the shortest lengthscale or period.
	Starts int
	Spread float64
	Seed   uint64
	// Guide, unless nil, is a loss of the same parameters, such as an approximation of the likelihood, whose information at
	// the start approximates the curvature of the loss near the optimum. BFGS then moves in its metric, H^−½z for the
	// information H in raw parameters, and takes fewer evaluations if the start is near the optimum. The optimum remains the
	// loss's own. A guide is ignored by other methods, by L-BFGS of more than twelve parameters, and by a training with a
	// GradientTolerance that begins more than 20 standard errors, √(gᵀH⁻¹g), from the optimum, where the curvature does not
	// help.
	Guide Informed
	// NoStandardErrors leaves out the 2p evaluations, for p trained parameters, that standard errors take.
	NoStandardErrors bool
	// Progress, unless nil, is called after every evaluation.
	Progress func(Progress)
}

// String returns the type of the method and the stopping criteria; a function is described by the value that it returns.
func (s Settings) String() string {
	var parts []string
	add := func(is bool, format string, a ...any) {
		if is {
			parts = append(parts, fmt.Sprintf(format, a...))
		}
	}
	method := optimize.Method(&optimize.LBFGS{})
	if s.Method != nil {
		method = s.Method()
	}
	parts = append(parts, named(method))
	add(s.MaxIterations > 0, "at most %d iterations", s.MaxIterations)
	add(s.MaxEvaluations > 0, "at most %d evaluations", s.MaxEvaluations)
	add(s.EvaluationSeconds > 0, "of %.3g s each", s.EvaluationSeconds)
	add(s.GradientTolerance > 0, "until no derivative is above %.3g nats", s.GradientTolerance)
	add(s.GradientTolerance < 0, "whatever the gradient")
	if s.Stop != nil {
		parts = append(parts, "until "+named(s.Stop()))
	}
	add(s.Starts > 1, "%d starts (spread %g, seed %d)", s.Starts, s.Spread, s.Seed)
	if s.Guide != nil {
		parts = append(parts, fmt.Sprintf("guided by %v", s.Guide))
	}
	add(s.NoStandardErrors, "without standard errors")
	return strings.Join(parts, ", ")
}

// named returns the String of a value, or the name of its type.
func named(v any) string {
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	name := fmt.Sprintf("%T", v)
	return name[strings.LastIndexByte(name, '.')+1:]
}

// Progress reports how far training has come.
type Progress struct {
	Start, Starts int // index of the running start, from 0, and their number
	Evaluations   int // so far, over all starts
	Value, Best   float64
	Elapsed       time.Duration
}

// lbfgs returns the default method.
func lbfgs() optimize.Method { return &optimize.LBFGS{} }

// BFGS returns a fresh optimize.BFGS for Settings.Method.
func BFGS() optimize.Method { return &optimize.BFGS{} }

// AdamRate returns a function for Settings.Method that makes Adam (Kingma and Ba 2015, algorithm 1) with the given rate
// α, a step in raw parameters. Adam has no stopping rule of its own: set Stop or a limit.
func AdamRate(rate float64) func() optimize.Method {
	return func() optimize.Method { return &descent.Adam{Rate: rate} }
}

// StopBelow returns the paper's stopping rule for Settings.Stop: five iterations in a row that change the loss by less than tol.
func StopBelow(tol float64) func() optimize.Converger {
	return func() optimize.Converger { return &descent.Still{Absolute: tol} }
}

// Status says how training ended.
type Status string

const (
	// Converged: the gradient vanished within GradientTolerance or, if rounding hides any further descent, so far that less than
	// 1e-6 nats remain to be gained according to the curvature.
	Converged Status = "converged"
	// Stopped: the rule in Settings.Stop ended training.
	Stopped Status = "stopped by rule"
	// Limited: MaxEvaluations or MaxIterations was reached.
	Limited Status = "limit reached"
	// Cancelled: the context ended.
	Cancelled Status = "cancelled"
	// Unconfirmed: the gradient does not agree with differences of the loss's value, so that training did not end at an optimum.
	// The warnings say where and by how much they differ. Do not treat it as a success.
	Unconfirmed Status = "gradient not confirmed"
	// Stalled: the method found no lower value although the gradient does not vanish, or rounding leaves no certain digit of the
	// loss at the best point.
	Stalled Status = "stalled"
	// Doubtful: training converged to parameters that the data do not determine; the warnings name them. Package auto
	// says so, Fit does not. Do not treat it as a success.
	Doubtful Status = "doubtful"
)

// Fit minimises loss over its parameters that are not Fixed, in their raw values. It returns the best point that it
// evaluated, with a full report of the training. start gives the initial values and the transforms: all parameters of the loss
// in their order, as loss.Params() or, if the loss has no parameters of its own, a model's Params() return them. nil means
// loss.Params(). Fit panics if their number is wrong, or if loss is nil.
//
// If ctx ends, Fit returns the best point so far together with ctx's error; its Value is +Inf if ctx ended during the first
// evaluation. Fit returns an error without a result if the loss cannot be evaluated at the start, or only by engines that are
// wrong there. Elsewhere such a loss counts as +Inf.
func Fit(ctx context.Context, loss Loss, start []Param, s Settings) (*Result, error) {
	notNil("Fit", "the loss", loss)
	began := time.Now()
	o := newObjective(ctx, loss, start, s)
	first, err := o.evaluate(o.start)
	if o.interrupted() {
		run := StartResult{Value: math.Inf(1), Status: Cancelled, Reason: ctx.Err().Error(), Theta: Values(o.params),
			Evaluations: o.evaluations}
		r := o.result([]StartResult{run}, 0)
		r.FitTime = time.Since(began)
		return r, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("gppl: fit: the loss cannot be evaluated at its start: %w", err)
	}
	if !numeric.IsFinite(first) {
		return nil, fmt.Errorf("gppl: fit: the loss is %v at its start", first)
	}
	rnd := rand.New(rand.NewPCG(s.Seed, 1))
	spread := cmp.Or(s.Spread, 1)
	var starts []StartResult
	best := -1
	for i := range max(1, s.Starts) {
		if i > 0 && ctx.Err() != nil {
			break
		}
		u := slices.Clone(o.start)
		if i > 0 {
			for j := range u {
				u[j] += spread * rnd.NormFloat64()
			}
		}
		o.startIndex = i
		run := o.run(u)
		starts = append(starts, run)
		if best < 0 || run.Value < starts[best].Value {
			best = i
		}
	}
	if end := starts[best]; math.IsInf(end.Value, 1) && end.Status != Cancelled { // the first value came from a wrong engine
		return nil, errors.New("gppl: fit: " + end.Reason)
	}
	r := o.result(starts, best)
	r.FitTime = time.Since(began)
	if r.Status == Cancelled {
		return r, ctx.Err()
	}
	return r, nil
}

// objective is the loss as a function of the raw values of the trained parameters, for the optimiser. Value and gradient are
// computed together and kept, since gonum requests them one after the other.
type objective struct {
	ctx      context.Context
	loss     Loss
	settings Settings
	params   []Param
	through  []transform.Transform // maps each parameter to the raw value that training moves
	trained  []int                 // indices of the parameters that are not fixed
	start    []float64             // raw values
	gradTol  float64
	guidable bool                 // the method is the default, and there are few parameters
	scored   bool                 // training ends by the gradient in units of standard errors
	curved   curvatureAt          // the last curvature that newton used
	ahead    []evaluation         // evaluations made before newton requests them
	metric   *descent.Coordinates // metric of the guide; nil without one
	units    []float64            // units of the trained parameters that have no logarithm, see findUnits
	held     []bool               // parameters at a bound, which differences do not move; nil if there are none

	theta, gradTheta []float64
	u, grad          []float64 // place and gradient of the last evaluation
	value            float64
	known            bool
	lastErr          error
	withGrad         bool // the method wants gradients
	withHess         bool // the method wants Hessians: it gets the Fisher information
	informed         int  // number of evaluations of the information

	began       time.Time
	startIndex  int
	evaluations int
	counted     float64  // evaluations and checks of the running start, in the units of MaxEvaluations
	leftOut     bool     // some evaluation of the running start would have exceeded the limit
	checks      int      // number of values computed to check gradients
	faults      []string // faults found in the running start
	replaced    []string // engines left out because of faults
	failures    int      // number of evaluations that ended in an error
	failure     error    // the last such error
	best        point    // best point of the running start
	trace       []TracePoint
}

// point is an evaluated place.
type point struct {
	u, grad []float64
	value   float64
}

func newObjective(ctx context.Context, loss Loss, start []Param, s Settings) *objective {
	o := &objective{ctx: ctx, loss: loss, settings: s, params: loss.Params(), began: time.Now()}
	if s.Guide != nil && len(s.Guide.Params()) != len(o.params) {
		panic(fmt.Sprintf("gppl: Fit: the guide %v has %d parameters, but %v has %d",
			s.Guide, len(s.Guide.Params()), loss, len(o.params)))
	}
	if start != nil {
		if len(start) != len(o.params) {
			panic(fmt.Sprintf("gppl: Fit: len(start) = %d, but %v has %d parameters", len(start), loss, len(o.params)))
		}
		o.params = slices.Clone(start)
		for i, leader := range leaders(loss) {
			if leader != i {
				o.params[i].Transform = transform.Fixed{} // it takes the leader's value
			}
		}
	}
	o.theta, o.through = Values(o.params), RawTransforms(o.params)
	o.gradTheta = make([]float64, len(o.theta))
	for i, p := range o.params {
		if !p.IsFixed() {
			o.trained = append(o.trained, i)
			o.start = append(o.start, o.through[i].Raw(p.Value))
		}
	}
	o.u, o.grad = make([]float64, len(o.start)), make([]float64, len(o.start))
	o.gradTol = cmp.Or(s.GradientTolerance, 1e-4)
	if o.settings.Method == nil {
		o.settings.Method = lbfgs
		o.guidable = len(o.start) <= maxNewton
		o.scored = o.guidable && s.GradientTolerance == 0 && s.Stop == nil
	}
	_, informed := loss.(Informed)
	uses, err := o.settings.Method().Uses(optimize.Available{Grad: true, Hess: informed})
	if err != nil {
		panic(fmt.Sprintf("gppl: Settings.Method cannot train %v, a function with a gradient: %v", loss, err))
	}
	o.withGrad, o.withHess = uses.Grad, uses.Hess
	return o
}

// evaluate computes value and gradient at u, unless they were computed last.
func (o *objective) evaluate(u []float64) (float64, error) {
	if !o.known || !slices.Equal(u, o.u) {
		o.compute(u)
	}
	if o.best.u == nil || o.value < o.best.value {
		o.best = point{slices.Clone(u), slices.Clone(o.grad), o.value}
	}
	return o.value, o.lastErr
}

func (o *objective) compute(u []float64) {
	copy(o.u, u)
	for j, i := range o.trained {
		o.theta[i] = o.through[i].Natural(u[j])
	}
	grad := o.gradTheta
	if !o.withGrad {
		grad = nil
	}
	if count := o.count(o.theta); count > 1 && o.best.u != nil && o.counted+count > o.limit() {
		o.value, o.lastErr, o.leftOut = 0, errTooLong, true
	} else {
		o.counted += count
		o.value, o.lastErr = o.valueGrad(grad)
	}
	o.known = true
	o.evaluations++
	if o.lastErr != nil || math.IsNaN(o.value) {
		o.value = math.Inf(1) // line searches handle +Inf, but loop on NaN
		clear(o.grad)
		if !o.interrupted() {
			o.failures++
			o.failure = o.lastErr
		}
	} else if o.withGrad {
		for j, i := range o.trained {
			o.grad[j] = o.gradTheta[i] * o.through[i].Slope(u[j])
		}
	}
	o.trace = append(o.trace, TracePoint{Start: o.startIndex, Evaluation: o.evaluations, Seconds: time.Since(o.began).Seconds(),
		Value: o.value})
	if o.settings.Progress != nil {
		best := o.value
		if o.best.u != nil {
			best = min(best, o.best.value)
		}
		o.settings.Progress(Progress{
			Start: o.startIndex, Starts: max(1, o.settings.Starts),
			Evaluations: o.evaluations, Value: o.value, Best: best, Elapsed: time.Since(o.began),
		})
	}
}

// errTooLong is the error of an evaluation that was left out.
var errTooLong = errors.New("an evaluation would take longer than the limit leaves, by the estimate")

// count returns the evaluations that one at theta counts as in MaxEvaluations; limit returns the limit for each start.
func (o *objective) count(theta []float64) float64 {
	if o.settings.EvaluationSeconds <= 0 {
		return 1
	}
	return max(1, capability.Seconds(o.loss, theta)/o.settings.EvaluationSeconds)
}

func (o *objective) limit() float64 { return float64(cmp.Or(o.settings.MaxEvaluations, 1000)) }

// interrupted reports whether the end of the context interrupted the last evaluation.
func (o *objective) interrupted() bool {
	err := o.ctx.Err()
	return err != nil && errors.Is(o.lastErr, err)
}

// run trains from u. A line search that fails away from the optimum is restarted from the best point, as long as that improves
// the value.
func (o *objective) run(u []float64) StartResult {
	began, before := time.Now(), o.evaluations
	if o.startIndex == 0 {
		before-- // Fit evaluated this start already
	} else {
		o.counted = 0
	}
	o.best, o.faults, o.leftOut = point{}, nil, false
	o.checkStart(u)
	o.evaluate(u)
	var result StartResult
	if len(o.faults) > 0 { // further training would be of no use
		return o.finish(result, began, before)
	}
	if len(u) == 0 {
		result.Status, result.Reason = Converged, "no parameter is trained"
		return o.finish(result, began, before)
	}
	if o.metric = nil; o.settings.Guide != nil && o.guidable {
		if o.metric = o.newMetric(o.settings.Guide, u); !o.scored && o.errorsAway(o.metric) > guidedErrors {
			o.metric = nil
		}
	}
	left := func() int { return int(o.limit() - max(o.counted, float64(o.evaluations-before))) }
	for scored := o.scored; ; {
		from := o.best.value
		res, err := o.minimize(scored, max(1, left()))
		if res != nil {
			result.Iterations += res.MajorIterations
		}
		if scored && err == nil && res.Status == optimize.FunctionConvergence && o.ctx.Err() == nil {
			if why := o.nothingLeft(); why != "" {
				result.Status, result.Reason = Converged, why
				return o.finish(result, began, before)
			}
			if scored, o.metric = false, nil; o.ctx.Err() == nil && left() > 0 {
				continue
			}
		}
		var again bool
		if result.Status, result.Reason, again = o.verdict(res, err, from); !again || left() <= 0 {
			return o.finish(result, began, before)
		}
	}
}

// minimize runs the method from the best point, with at most the given number of evaluations. If scored, it stops as soon as
// little remains to be gained, otherwise by the rule of the settings.
func (o *objective) minimize(scored bool, evaluations int) (*optimize.Result, error) {
	stop := optimize.Converger(optimize.NeverTerminate{})
	switch {
	case scored:
		stop = &descent.LittleLeft{Gain: 0.5 * scoreTolerance * scoreTolerance}
	case o.settings.Stop != nil:
		stop = o.settings.Stop()
	case o.metric != nil:
		stop = smallGradient{o}
	case !o.withGrad:
		stop = &optimize.FunctionConverge{Absolute: 1e-8, Iterations: 100}
	}
	// gonum evaluates in a goroutine of its own, where the caller could not recover from a panic.
	var panicked parallel.First
	metric, from, threshold := o.metric, o.best.u, max(o.gradTol, 0)
	z := from
	method := o.settings.Method()
	if metric != nil {
		metric.From(from)
		method = new(descent.Metric)
		z, threshold = make([]float64, len(from)), 0 // the threshold is for raw parameters
	}
	problem := optimize.Problem{
		Func: func(z []float64) (v float64) {
			v = math.Inf(1)
			if !panicked.Ended() {
				panicked.Call(func() { v, _ = o.evaluate(metric.Point(z)) })
			}
			return v
		},
		Grad: func(grad, z []float64) {
			panicked.Call(func() { o.evaluate(metric.Point(z)); metric.Slope(grad, o.grad) })
		},
		Status: func() (optimize.Status, error) {
			if panicked.Ended() {
				return optimize.Failure, errPanicked
			}
			if o.counted >= o.limit() {
				return optimize.FunctionEvaluationLimit, o.ctx.Err()
			}
			return optimize.NotTerminated, o.ctx.Err()
		},
	}
	if o.withHess {
		problem.Hess = func(h *mat.SymDense, u []float64) { panicked.Call(func() { o.hessian(h, u) }) }
	}
	res, err := optimize.Minimize(problem, z, &optimize.Settings{
		GradientThreshold: threshold,
		Converger:         stop,
		MajorIterations:   o.settings.MaxIterations,
		FuncEvaluations:   evaluations,
	}, method)
	panicked.Raise()
	if !o.withGrad { // judge by the gradient nevertheless
		o.withGrad, o.known = true, false
		u := o.best.u
		o.best = point{}
		o.evaluate(u)
		o.withGrad = false
	}
	return res, err
}

// smallGradient stops where the gradient in raw parameters is within the tolerance.
type smallGradient struct{ o *objective }

func (smallGradient) Init(int) {}

func (s smallGradient) Converged(*optimize.Location) optimize.Status {
	if floats.Norm(s.o.best.grad, math.Inf(1)) <= s.o.gradTol {
		return optimize.GradientThreshold
	}
	return optimize.NotTerminated
}

// errPanicked ends a minimisation; minimize then raises the panic again.
var errPanicked = errors.New("an evaluation panicked")

// nothingLeft says why the best point is the optimum although no gradient was computed there, or "".
func (o *objective) nothingLeft() string {
	if o.settings.NoStandardErrors || !o.loss.Report().Likelihood {
		return "what is left to gain is below 5e-9 nats, by the last step"
	}
	if score, ok := o.newton(); ok {
		return fmt.Sprintf("gradient %.2g ≤ %.2g standard errors", score, scoreTolerance)
	}
	return ""
}

// verdict says how a run that began at the value from ended, and whether another run from the best point may improve the
// value.
func (o *objective) verdict(res *optimize.Result, err error, from float64) (status Status, reason string, again bool) {
	switch gradient := floats.Norm(o.best.grad, math.Inf(1)); {
	case o.ctx.Err() != nil:
		return Cancelled, o.ctx.Err().Error(), false
	case math.IsInf(o.best.value, 1):
		return Stalled, fmt.Sprint("no finite value found: ", o.lastErr), false
	case gradient <= o.gradTol:
		return Converged, fmt.Sprintf("gradient %.2g ≤ %.2g", gradient, o.gradTol), false
	// met away from the best point, whose value is lower and gradient larger
	case err == nil && res.Status == optimize.GradientThreshold:
		at, last := o.best.value, floats.Norm(res.Gradient, math.Inf(1))
		if !(res.F-at <= sameValue*math.Abs(at)) || !(last <= o.gradTol) {
			return Stalled, fmt.Sprintf("%v, gradient %.2g", res.Status, gradient), at < from
		}
		o.best = point{slices.Clone(res.X), slices.Clone(res.Gradient), res.F}
		return Converged, fmt.Sprintf("gradient %.2g ≤ %.2g", last, o.gradTol), false
	case err == nil && res.Status == optimize.FunctionConvergence:
		return Stopped, fmt.Sprintf("stopping rule, gradient %.2g", gradient), false
	case err == nil && res.Status == optimize.MethodConverge:
		return Stopped, fmt.Sprintf("the method's own rule, gradient %.2g", gradient), false
	case err != nil && o.leftOut:
		return Limited, fmt.Sprintf("%v, gradient %.2g", errTooLong, gradient), false
	case err == nil:
		return Limited, fmt.Sprintf("%v, gradient %.2g", res.Status, gradient), false
	default:
		return Stalled, fmt.Sprintf("%v, gradient %.2g", err, gradient), o.best.value < from-sameValue*math.Abs(from)
	}
}

// sameValue is the relative difference up to which values count as equal, because of rounding.
const sameValue = 1e-10

// finish confirms the outcome if it is still unconfirmed, and completes it.
func (o *objective) finish(r StartResult, began time.Time, before int) StartResult {
	switch {
	case r.Status == Stalled && o.withGrad && !math.IsInf(o.best.value, 0):
		if fault := o.confirmGradient(o.best.u, o.best.grad, o.best.value); fault != "" {
			o.faults = append(o.faults, "the gradient is wrong where training ended: "+fault)
		}
	case r.Status == Converged && (o.settings.NoStandardErrors || !o.loss.Report().Likelihood):
		if fault := o.confirmOptimum(o.best.u, o.best.value); fault != "" {
			o.faults = append(o.faults, fault)
		}
	}
	if r.faults = o.faults; len(r.faults) > 0 && r.Status != Cancelled {
		r.Status, r.Reason = Unconfirmed, r.faults[0]
	}
	r.Value = o.best.value
	r.Evaluations = o.evaluations - before
	r.Seconds = time.Since(began).Seconds()
	r.Theta = Values(o.params)
	for j, i := range o.trained {
		r.Theta[i] = o.through[i].Natural(o.best.u[j])
	}
	for i, leader := range leaders(o.loss) {
		r.Theta[i] = r.Theta[leader]
	}
	r.gradient = o.best.grad
	return r
}
