package gppl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/descent"
)

// Fit compares gradients with differences of the loss's value, which another route computes: at every start, where the
// gradient is large, and at the end of training, to confirm the optimum. A start takes two values. The end takes no values
// beyond the standard errors' own, or two without them. Only a disagreement takes more.

const (
	// gradientFault is the relative error of one derivative that the check at a start must detect.
	gradientFault = 1e-3
	// optimumGain is how far below an optimum its neighbours' values may put the minimum, in nats.
	optimumGain = 0.01
)

// along returns the loss along the direction d from u, in raw parameters; value is the loss at u.
func (o *objective) along(u, d []float64, value float64) descent.Line {
	return descent.Line{Value: value, At: func(step float64) float64 {
		for j, i := range o.trained {
			o.theta[i] = o.through[i].Natural(u[j] + step*d[j])
		}
		o.checks++
		if o.settings.EvaluationSeconds > 0 {
			o.counted += o.count(o.theta)
		}
		v, err := o.loss.ValueGrad(o.ctx, nil, o.theta)
		if err != nil {
			return math.NaN()
		}
		return v
	}}
}

// confirmGradient compares the gradient at u with differences of the value, and returns what is wrong with it, or "".
func (o *objective) confirmGradient(u, grad []float64, value float64) string {
	d, slope := descent.Balanced(grad)
	if slope == 0 || o.ctx.Err() != nil {
		return ""
	}
	return o.along(u, d, value).ConfirmSlope(slope, 0.5*gradientFault/float64(len(u))*slope)
}

// confirmOptimum checks around the end of training whether values still fall although the gradient vanishes.
func (o *objective) confirmOptimum(u []float64, value float64) string {
	if len(u) == 0 || o.ctx.Err() != nil || math.IsInf(value, 0) {
		return ""
	}
	d := make([]float64, len(u))
	for j := range d { // irregular, so that no two parameters cancel
		d[j] = math.Cos(float64(j * j))
	}
	return o.along(u, d, value).ConfirmMinimum(optimumGain)
}

// confirmByCurvature is confirmOptimum with the values computed for the standard errors: first differences of all parameters,
// and the covariance.
func (o *objective) confirmByCurvature(first []float64, cov mat.Matrix, win StartResult) string {
	s := mat.NewVecDense(len(first), first)
	if gain := 0.5 * mat.Inner(s, cov, s); gain <= optimumGain {
		return ""
	}
	raw := make([]float64, len(o.trained))
	for j, i := range o.trained {
		raw[j] = o.through[i].Raw(win.Theta[i])
	}
	return o.confirmOptimum(raw, win.Value)
}

// checkStart confirms the gradient at a start. If an engine of the loss is wrong, training continues with the others.
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
		o.replaced = append(o.replaced,
			fmt.Sprintf("the gradient of the %s engine is wrong at the start, and the engine was left out: %s", engine, fault))
		o.loss, o.known, o.best = other, false, point{}
	}
}
