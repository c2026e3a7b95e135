package gppl

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fisher"
	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/numeric"
)

// Result is the outcome of Fit: the learned model, standard errors, and how training went. Package store writes it to files.
type Result struct {
	Model Model   `json:"model"` // at the best point
	Value float64 // value of the loss at the best point, in nats
	Loss  string  // name of the loss
	// log density of the priors at the best point, 0 without any: log likelihood = −Value − LogPrior
	LogPrior float64      `json:",omitempty"`
	Priors   []ParamPrior `json:",omitempty"`
	Params   []FittedParam
	Mean     []Coefficient `json:",omitempty"` // coefficients of the model's mean, nil without one
	Inducing []float64     `json:",omitempty"` // inducing inputs, row-major, if the loss trains any

	Status       Status
	Reason       string
	GradientNorm float64 // largest derivative with respect to a raw parameter

	Evaluations int           // evaluations of value and gradient, over all starts
	Checks      int           `json:",omitempty"` // further evaluations, to check gradients and parameters close to a bound
	Iterations  int           // iterations of the best start
	SetupTime   time.Duration `json:"-"`
	FitTime     time.Duration `json:"-"` // duration without the set-up
	Engine      string
	Jitter      float64       // added to the diagonal of the covariance matrix at the best point, 0 if none
	Warnings    []string      `json:",omitempty"`
	Starts      []StartResult // one for each starting point
	Best        int           // index of the best start
	Trace       []TracePoint
}

// Theta returns the natural values of all parameters of the loss at the best point.
func (r *Result) Theta() []float64 { return slices.Clone(r.Starts[r.Best].Theta) }

// FittedParam is a hyperparameter of the model after training.
type FittedParam struct {
	Param
	Start float64 // value at which training began
	// StdErrLog is the standard error of log θ from the curvature of the loss at the best point (the observed information) and,
	// for a loss that is not a likelihood but has the method ScoreCovariance, from the covariance of its gradient (the sandwich).
	// It is +Inf if it exceeds 10: the parameter is then not identified. It is NaN if unknown: for a fixed parameter, for one at
	// a bound, for one of any sign, for a loss that is not a likelihood, and if the curvature is not positive. StdErr returns the
	// standard error of θ itself.
	StdErrLog float64
	// AtBound says that the parameter ended close to a bound of its transform (a floor, an end of an interval) because the loss
	// is lower beyond the bound, or that training drove it to the end of its range because the data do not determine it. A
	// warning says which of the two. An optimum that merely lies close to a bound does not set AtBound.
	AtBound bool
	// Negligible says that this is a noise variance below a hundredth of the known variance of every observation that has it: it
	// changes no error bar by more than half a per cent. Its value then does not matter, and it has no standard error.
	Negligible bool
	TiedTo     string // name of the parameter whose value it takes (Tie), "" if none
	// StdErrPlace is the standard error of θ itself, for a parameter of any sign; 0 if unknown.
	StdErrPlace float64
}

// StdErr returns the standard error of θ itself, +Inf if it is not identified and NaN if unknown: about θ·StdErrLog or, for a
// parameter of any sign, the one from the curvature of the loss in θ. For the location of a change point, the loss may have
// further minima, which a standard error ignores.
func (p FittedParam) StdErr() float64 {
	switch {
	case p.Param.IsScale():
		return p.Value * p.StdErrLog
	case p.StdErrPlace > 0:
		return p.StdErrPlace
	}
	return math.NaN()
}

// String returns the name, the value and its standard error, or why there is none.
func (p FittedParam) String() string { return p.Name + " " + p.said() }

// said returns String without the name.
func (p FittedParam) said() string {
	s := fmt.Sprintf("%.6g", p.Value)
	switch se := p.StdErr(); {
	case math.IsInf(se, 1):
		s += " (not identified)"
	case se > 0:
		s += fmt.Sprintf(" ± %.2g", se)
	case p.Negligible:
		s += " (negligible beside the known errors)"
	}
	if p.TiedTo != "" {
		s += fmt.Sprintf(" (tied to %s)", p.TiedTo)
	} else if p.Param.IsFixed() {
		s += " (fixed)"
	}
	return s
}

// StartResult describes the training from one starting point.
type StartResult struct {
	Value       float64
	Status      Status
	Reason      string
	Theta       []float64 // natural values at the best point, in the loss's order
	Evaluations int
	Iterations  int
	Seconds     float64

	gradient []float64
	faults   []string // faults found by the checks of its gradients
}

// String returns the loss and why training ended.
func (s StartResult) String() string {
	return fmt.Sprintf("%.6g nats, %s (%s) after %d evaluations", s.Value, s.Status, s.Reason, s.Evaluations)
}

// TracePoint is one evaluation of the loss. Value is +Inf where the loss could not be evaluated.
type TracePoint struct {
	Start      int
	Evaluation int
	Seconds    float64 // since training began
	Value      float64
}

// result gathers the report of Fit, with standard errors and warnings.
func (o *objective) result(starts []StartResult, best int) *Result {
	win := starts[best]
	m := o.loss.Model(win.Theta)
	r := &Result{
		Model: m, Value: win.Value, Loss: o.loss.String(),
		Status: win.Status, Reason: win.Reason,
		GradientNorm: floats.Norm(win.gradient, math.Inf(1)),
		Iterations:   win.Iterations,
		Starts:       starts, Best: best, Trace: o.trace,
	}
	if len(win.gradient) == 0 {
		r.GradientNorm = 0
	}
	hyper := slices.IndexFunc(o.params, func(p Param) bool { return p.Role == RoleInput })
	if hyper < 0 {
		hyper = len(o.params) // the others belong to a likelihood
	}
	for i, p := range o.params[:hyper] {
		fitted := FittedParam{Param: p, Start: p.Value, StdErrLog: math.NaN()}
		fitted.Value = win.Theta[i]
		fitted.Negligible = !p.IsFixed() && noiseNegligible(o.loss, i, win.Theta[i])
		r.Params = append(r.Params, fitted)
	}
	stuck := o.bounded(r, win)
	r.Inducing = append(r.Inducing, win.Theta[hyper:]...)
	if l, ok := o.loss.(believing); ok {
		r.LogPrior, r.Priors = l.LogPrior(win.Theta), l.Priors()
	}
	o.curvature(r, win)
	if stuck != "" && r.Status == Converged {
		r.Status, r.Reason = Stalled, stuck
	}
	if o.ctx.Err() == nil {
		mean, err := conditionedAt(o.ctx, o.loss, win.Theta)
		if r.Mean = coefficients(mean); err != nil {
			r.warn("the coefficients of the mean are not known: %v", err)
		}
	}
	for i, leader := range leaders(o.loss) {
		if i < hyper && leader != i {
			r.Params[i].TiedTo, r.Params[i].StdErrLog, r.Params[i].StdErrPlace = o.params[leader].Name, r.Params[leader].StdErrLog,
				r.Params[leader].StdErrPlace
		}
	}
	rep := o.loss.Report()
	r.Engine, r.SetupTime = rep.Engine, rep.Setup
	for _, fault := range win.faults {
		r.warn("%s", fault)
	}
	for _, what := range o.replaced {
		r.warn("%s", what)
	}
	nats, jitter := o.compromised(win)
	if r.Status == Converged && nats > max(1, math.Abs(r.Value)) {
		r.Status, r.Reason = Stalled, fmt.Sprintf("rounding: the loss may be wrong by up to %.2g nats at the best point", nats)
	}
	if r.Jitter = jitter; jitter > 0 {
		r.warn("jitter of %.3g had to be added to the covariance matrix at the best point", r.Jitter)
	}
	if rep.Fallbacks > 0 {
		r.warn("%d times an engine could not keep its promise and another took over", rep.Fallbacks)
	}
	if nats > 0 {
		r.warn("no engine could keep the tolerance: the loss may be wrong by up to %.2g nats at the best point, where the noise is"+
			" tiny against the variance", nats)
	}
	r.Evaluations, r.Checks = o.evaluations, o.checks
	if o.failures > 0 && r.Status != Converged { // an optimum counts, whatever failed on the way
		r.warn("%s", o.failed())
	}
	if r.Status == Stalled || r.Status == Limited {
		r.warn("training ended before the optimum: %s", r.Reason)
	}
	return r
}

// failed says how many evaluations could not be computed, and why the last one could not.
func (o *objective) failed() string {
	why := "its value is not a number"
	if o.failure != nil {
		why = strings.TrimPrefix(o.failure.Error(), "gppl: ")
	}
	return fmt.Sprintf("in %d of %d evaluations training tried parameters at which the loss cannot be computed, and went back"+
		" from them; the last time: %s", o.failures, o.evaluations, why)
}

// compromised returns the error bound of the loss at the best point if no engine kept the tolerance there, or 0, and the
// jitter that it needed there. Evaluations elsewhere do not count. It evaluates the loss once, only if some evaluation missed
// the tolerance or needed jitter.
func (o *objective) compromised(win StartResult) (nats, jitter float64) {
	if rep := o.loss.Report(); rep.Inexact == 0 && rep.Jitter == 0 || o.ctx.Err() != nil {
		return 0, 0
	}
	o.checks++
	if _, err := o.loss.ValueGrad(o.ctx, nil, win.Theta); err != nil {
		return 0, 0
	}
	rep := o.loss.Report()
	return rep.LastInexact, rep.LastJitter
}

func (r *Result) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// curvature computes the Hessian of the loss in the logs of the trained hyperparameters (parameters of any sign are not
// logged), by central differences of its gradient. It sets the standard errors, conditional on the parameters that are at a
// bound or negligible. Where the line search gave up, it also decides whether that was at the optimum.
func (o *objective) curvature(r *Result, win StartResult) {
	if !o.loss.Report().Likelihood || o.settings.NoStandardErrors || r.Status == Cancelled || r.Status == Limited && o.leftOut ||
		len(o.trained) == 0 {
		return
	}
	p := len(o.trained)
	h, first, ok := o.logCurvature(win)
	if !ok && slices.ContainsFunc(r.Params, func(p FittedParam) bool { return p.AtBound }) {
		// The loss may have no value beyond the bound of a parameter.
		o.held = nil
		for _, p := range r.Params {
			o.held = append(o.held, p.AtBound)
		}
		h, first, ok = o.logCurvature(win)
	}
	if !ok {
		r.warn("no standard errors: the loss cannot be evaluated around the optimum")
		return
	}
	var given []int // indices among the trained parameters
	for a, i := range o.trained {
		if r.Params[i].AtBound || r.Params[i].Negligible {
			given = append(given, a)
			for b := range p {
				h.SetSym(a, b, 0)
			}
			h.SetSym(a, a, 1)
		}
	}
	var c mat.Cholesky
	if !c.Factorize(h) {
		r.warn("no standard errors: the curvature of the loss is not positive, so that some parameter is not identified or this is" +
			" no minimum")
		return
	}
	var cov mat.SymDense
	if err := c.InverseTo(&cov); err != nil {
		r.warn("no standard errors: the curvature of the loss is singular to working precision")
		return
	}
	for _, a := range given {
		cov.SetSym(a, a, 0)
	}
	spread, err := o.sandwich(&cov, win.Theta)
	if err != nil {
		r.warn("no standard errors: %v", err)
		return
	}
	for a, i := range o.trained {
		if slices.Contains(given, a) {
			continue
		}
		se := math.Sqrt(spread.At(a, a))
		if o.params[i].IsScale() {
			if r.Params[i].StdErrLog = se * o.units[a]; r.Params[i].StdErrLog > fisher.Unidentified {
				r.Params[i].StdErrLog = math.Inf(1)
			}
		} else {
			r.Params[i].StdErrPlace = se * o.units[a]
		}
	}
	if r.Status == Converged {
		if fault := o.confirmByCurvature(first, &cov, win); fault != "" {
			r.Status, r.Reason = Unconfirmed, fault
			r.warn("%s", fault)
		}
	}
	if r.Status == Stalled {
		plus := make([]float64, p)
		if _, err := o.logGradient(plus, win.Theta, make([]float64, p)); err != nil { // the units are the curvature's
			return
		}
		g := mat.NewVecDense(p, plus)
		if excess := 0.5 * mat.Inner(g, &cov, g); excess < 1e-6 {
			r.Status, r.Reason = Converged, fmt.Sprintf("to rounding: the curvature puts the optimum %.1g nats below", excess)
		}
	}
}

// sandwich returns H⁻¹JH⁻¹ for the inverse of the curvature, in the units of findUnits, and the covariance J of the gradient
// of a loss that is not a likelihood; for a likelihood it returns H⁻¹.
func (o *objective) sandwich(inverse *mat.SymDense, theta []float64) (*mat.SymDense, error) {
	all, err := scoreCovariance(o.ctx, o.loss, theta)
	if all == nil || err != nil {
		return inverse, err
	}
	p := len(o.trained)
	j, units := mat.NewSymDense(p, nil), slices.Clone(o.units)
	for a, i := range o.trained {
		if !o.params[i].IsScale() { // the parameter itself counts, not its log
			units[a] /= theta[i]
		}
	}
	for a, i := range o.trained {
		for b := a; b < p; b++ {
			j.SetSym(a, b, all.At(i, o.trained[b])*units[a]*units[b])
		}
	}
	var half, whole mat.Dense
	half.Mul(j, inverse)
	whole.Mul(inverse, &half)
	spread := mat.NewSymDense(p, nil)
	for a := range p {
		for b := a; b < p; b++ {
			spread.SetSym(a, b, 0.5*(whole.At(a, b)+whole.At(b, a)))
		}
	}
	return spread, nil
}

// logCurvature returns the Hessian of the loss in the logs of the trained
// parameters, in the units of findUnits, and first differences of its values.
func (o *objective) logCurvature(win StartResult) (h *mat.SymDense, first []float64, ok bool) {
	if !o.findUnits(win.Theta) {
		return nil, nil, false
	}
	if h, first, ok := o.knownCurvature(win); ok {
		return h, first, true
	}
	h, first, err := numeric.Hessian(func(grad, moved []float64) (float64, error) {
		return o.logGradient(grad, win.Theta, moved)
	}, make([]float64, len(o.trained)), numeric.GradientStep)
	return h, first, err == nil
}

// curvedNear is the largest distance, in standard errors, between the end of training and the place of the curvature. The
// third derivatives of a log likelihood change standard errors by about that distance times the standard errors of the logs.
const curvedNear = 1e-3

// knownCurvature is logCurvature if newton computed it at the end of training, or within curvedNear of it, in raw parameters
// that are the logs in the units of findUnits, up to their signs: with Log and Cycles.
func (o *objective) knownCurvature(win StartResult) (h *mat.SymDense, first []float64, ok bool) {
	if o.curved.h == nil {
		return nil, nil, false
	}
	p := len(o.trained)
	moved, sign := mat.NewVecDense(p, nil), make([]float64, p)
	for j, i := range o.trained {
		t, theta := o.through[i], win.Theta[i]
		u := t.Raw(theta)
		sign[j] = math.Copysign(1, t.Slope(u))
		if raw := t.Slope(u) * sign[j] / theta; !o.params[i].IsScale() || math.Abs(raw/o.units[j]-1) > 1e-6 {
			return nil, nil, false
		}
		moved.SetVec(j, u-o.curved.u[j])
	}
	var c mat.Cholesky
	if !c.Factorize(o.curved.h) {
		ok = mat.Norm(moved, math.Inf(1)) == 0
	} else {
		ok = mat.Inner(moved, o.curved.h, moved) <= curvedNear*curvedNear
	}
	if !ok {
		return nil, nil, false
	}
	h, first = mat.NewSymDense(p, nil), make([]float64, p)
	for a := range p {
		first[a] = sign[a] * o.curved.first[a]
		for b := a; b < p; b++ {
			h.SetSym(a, b, sign[a]*sign[b]*o.curved.h.At(a, b))
		}
	}
	return h, first, true
}

// logGradient returns the value of the loss, and sets grad to its derivatives in
// the logs of the trained parameters, at theta with these moved, all in the units of findUnits.
func (o *objective) logGradient(grad, theta, moved []float64) (value float64, err error) {
	copy(o.theta, theta)
	o.known = false
	for a, i := range o.trained {
		if o.isHeld(i) {
			continue
		}
		if step := moved[a] * o.units[a]; o.params[i].IsScale() {
			o.theta[i] *= math.Exp(step)
		} else {
			o.theta[i] += step
		}
	}
	if value, err = o.loss.ValueGrad(o.ctx, o.gradTheta, o.theta); err != nil {
		return 0, err
	}
	o.evaluations++
	for j, i := range o.trained {
		if o.params[i].IsScale() {
			grad[j] = o.gradTheta[i] * o.theta[i] * o.units[j]
		} else {
			grad[j] = o.gradTheta[i] * o.units[j]
		}
	}
	return value, nil
}

// isHeld reports whether differences leave parameter i unchanged.
func (o *objective) isHeld(i int) bool { return i < len(o.held) && o.held[i] }

// findUnits sets the units of parameters for differences: 1 for logs or, for the log of a period of many cycles over the
// range, a part of a cycle. For parameters of any sign numeric.GradientStep is a thousandth of a standard error, given the
// other parameters; for logs it is about that too. ok is false if the loss cannot be evaluated.
func (o *objective) findUnits(theta []float64) (ok bool) {
	o.units = dense.Resize(o.units, len(o.trained))
	grad, moved := make([]float64, len(o.trained)), make([]float64, len(o.trained))
	for a := range o.trained {
		o.units[a] = 1
	}
	for a, i := range o.trained {
		if o.params[i].IsScale() {
			if t, ok := o.through[i].(transform.Cycles); ok {
				o.units[a] = min(1, math.Abs(t.Slope(t.Raw(theta[i])))/theta[i])
			}
			continue
		}
		if o.isHeld(i) {
			continue
		}
		o.units[a] = o.through[i].Slope(0)
		const tries, near, wider = 8, 3, 10
		for range tries {
			var slope [2]float64
			for side, step := range [...]float64{numeric.GradientStep, -numeric.GradientStep} {
				moved[a] = step
				if _, err := o.logGradient(grad, theta, moved); err != nil {
					return false
				}
				slope[side] = grad[a]
			}
			moved[a] = 0
			second := (slope[0] - slope[1]) / (2 * numeric.GradientStep)
			if !(second > 0) { // lost in rounding, or no minimum at this scale
				o.units[a] *= wider
				continue
			}
			const errors = 1e-3 / numeric.GradientStep
			unit := o.units[a] * errors / math.Sqrt(second)
			done := unit < near*o.units[a] && near*unit > o.units[a]
			if o.units[a] = unit; done {
				break
			}
		}
	}
	return true
}

// String renders the outcome in a few lines.
func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s = %.6g nats, %s (%s)\n", r.Loss, r.Value, r.Status, r.Reason)
	if len(r.Priors) > 0 {
		fmt.Fprintf(&b, "  of which the likelihood %.6g, the priors %.6g\n", r.Value+r.LogPrior, -r.LogPrior)
	}
	for _, p := range r.Params {
		fmt.Fprintf(&b, "  %-24s %s\n", p.Name, p.said())
	}
	for _, c := range r.Mean {
		fmt.Fprintf(&b, "  %-24s %.6g ± %.2g\n", "mean: "+c.Name, c.Value, c.StdErr)
	}
	fmt.Fprintf(&b, "  %d evaluations, %v set-up + %v training, engine %s",
		r.Evaluations, r.SetupTime.Round(time.Microsecond), r.FitTime.Round(time.Microsecond), r.Engine)
	for _, w := range r.Warnings {
		b.WriteString("\n  warning: " + w)
	}
	return b.String()
}
