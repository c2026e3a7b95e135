package gppl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/finite"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/descent"
)

// Fit compares gradients with differences of the loss's value, which is computed by
// another route: at every start, where the gradient is large, and at the end of
// training, to confirm the optimum. That takes two values at a start. At the end it
// takes none beyond those of the standard errors, or two without them. It takes more
// only if they disagree.

// Unconfirmed is the status of a training whose gradient does not agree with
// differences of the loss's value: it did not end at an optimum. The warnings
// say where and by how much they differ. Do not treat it as a success.
const Unconfirmed Status = "gradient not confirmed"

const (
	// gradientFault is the relative error of one derivative that the check at a
	// start is to see.
	gradientFault = 1e-3
	// valueRounding is the error of a value that differences reckon with,
	// relative to the largest of the value and 1.
	valueRounding = 1e-13
	// optimumGain, in nats, is how far below an optimum its neighbours' values may
	// put the minimum.
	optimumGain = 0.01
)

// differenceSteps are the steps of differences, in raw parameters. The first
// suits most losses; a loss that oscillates in a period needs shorter ones.
var differenceSteps = [...]float64{1e-3, 1e-4, 1e-2, 1e-5}

// slopes are derivatives along a direction by central differences of values.
type slopes struct {
	first, second float64 // derivatives
	limit         float64 // what the first may err by: truncation and rounding
}

// along computes them from the values at u ± h·d and, with four, at u ± 2h·d;
// value is that at u. ok is false where the loss cannot be evaluated.
func (o *objective) along(u, d []float64, h, value float64, four bool) (s slopes, ok bool) {
	at := func(step float64) float64 {
		for j, i := range o.trained {
			o.theta[i] = o.through[i].Natural(u[j] + step*d[j])
		}
		o.checks++
		if o.settings.EvaluationSeconds > 0 {
			o.counted += o.count(o.theta)
		}
		v, err := ValueGradContext(o.ctx, o.loss, nil, o.theta)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	plus, minus := at(h), at(-h)
	s.first = (plus - minus) / (2 * h)
	s.second = (plus - 2*value + minus) / (h * h)
	if four {
		coarse := s.first
		s.first = (8*(plus-minus) - (at(2*h) - at(-2*h))) / (12 * h)
		s.limit = 0.1 * math.Abs(s.first-coarse) // far more than the fourth order leaves
	}
	s.limit += 2 * valueRounding * max(1, math.Abs(value), math.Abs(plus)) / h
	return s, finite.Is(s.first)
}

// confirmGradient compares the gradient at u with differences of the value, and
// returns what is wrong with it, or "".
func (o *objective) confirmGradient(u, grad []float64, value float64) string {
	d, slope := descent.Balanced(grad)
	if slope == 0 || o.ctx.Err() != nil {
		return ""
	}
	visible := 0.5 * gradientFault / float64(len(u)) * slope
	if s, ok := o.along(u, d, differenceSteps[0], value, false); ok && math.Abs(s.first-slope) <= visible {
		return ""
	}
	disagreed := math.NaN() // what the step before found
	for _, h := range differenceSteps {
		s, ok := o.along(u, d, h, value, true)
		off := math.Abs(s.first - slope)
		switch {
		case off <= visible:
			return ""
		case !ok || off <= s.limit: // too coarse to tell
		case math.Abs(s.first-disagreed) <= 0.2*off: // two steps agree with each other
			return fmt.Sprintf("along one direction it gives a slope of %.6g, differences of the value %.6g ± %.1g", slope, s.first, s.limit)
		default:
			disagreed = s.first
		}
	}
	return ""
}

// confirmOptimum looks, around the point where training ended, whether values
// fall on although the gradient vanishes: with slope s and curvature c, both by
// differences, the minimum along a direction lies s²/2c below.
func (o *objective) confirmOptimum(u []float64, value float64) string {
	if len(u) == 0 || o.ctx.Err() != nil || math.IsInf(value, 0) {
		return ""
	}
	d := make([]float64, len(u))
	for j := range d { // irregular, so that no two parameters cancel
		d[j] = math.Cos(float64(j * j))
	}
	const step = 1e-2
	if s, ok := o.along(u, d, step, value, false); ok && s.second > 0 && s.first*s.first <= 2*optimumGain*s.second {
		return ""
	}
	for _, h := range [...]float64{step, step / 10, step / 100} {
		s, ok := o.along(u, d, h, value, true)
		if !ok {
			continue
		}
		// Where the curvature is lost in rounding, or negative, what a step gains
		// is all that can be said.
		excess := max(0, math.Abs(s.first)-s.limit)
		gain := excess * step
		if s.second > 0 {
			gain = min(gain, 0.5*excess*excess/s.second)
		}
		if gain <= optimumGain {
			return ""
		}
		if h == step/100 {
			return fmt.Sprintf("where training ended differences of the value give a slope of %.3g ± %.1g: the minimum is %.2g nats below or more", s.first, s.limit, gain)
		}
	}
	return ""
}

// confirmByCurvature is confirmOptimum with the values that the standard errors
// took anyway: first differences of all parameters, and the covariance.
func (o *objective) confirmByCurvature(first []float64, cov mat.Matrix, win StartResult) string {
	s := mat.NewVecDense(len(first), first)
	if gain := 0.5 * mat.Inner(s, cov, s); gain <= optimumGain {
		return ""
	}
	u := make([]float64, len(o.trained))
	for j, i := range o.trained {
		u[j] = o.through[i].Raw(win.Theta[i])
	}
	return o.confirmOptimum(u, win.Value)
}

// checkStart confirms the gradient at a start. If an engine of the loss is wrong,
// training continues with the others.
func (o *objective) checkStart(u []float64) {
	for len(u) > 0 && o.withGrad {
		if _, err := o.evaluate(u); err != nil || math.IsInf(o.value, 0) {
			return
		}
		fault := o.confirmGradient(u, o.grad, o.value)
		if fault == "" {
			return
		}
		other, engine := withoutEngine(o.loss)
		if other == nil {
			o.faults = append(o.faults, "the gradient at the start is wrong: "+fault)
			return
		}
		o.replaced = append(o.replaced, fmt.Sprintf("the gradient of the %s engine is wrong at the start, and the engine was left out: %s", engine, fault))
		o.loss, o.known, o.best = other, false, point{}
	}
}
