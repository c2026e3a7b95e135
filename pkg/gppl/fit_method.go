package gppl

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/descent"
)

// An absolute tolerance on the gradient requires more digits the more observations there are, eventually more than rounding
// leaves. The relevant quantity is the gradient in units of standard errors: the distance to the optimum in these units. L-BFGS
// ends when its own steps indicate that this is small. The curvature, which standard errors need anyway, then confirms it, or
// gives Newton steps if it is not small.

const (
	// scoreTolerance is the gradient at which training ends, in units of standard errors: √(gᵀH⁻¹g), H the curvature. The optimum is
	// that many standard errors away, and half its square, 5e-9 nats, below.
	scoreTolerance = 1e-4
	// maxNewton is the largest number of parameters for which the rule is used: the curvature that checks it takes two evaluations
	// for each.
	maxNewton = 12
	// newtonSteps bounds the steps with one curvature.
	newtonSteps = 4
)

// curvatureAt is the curvature of the loss around a point, by central differences of
// gradients in raw parameters, and first differences of its values.
type curvatureAt struct {
	u, first []float64
	h        *mat.SymDense
}

// newton takes Newton's steps from the best point. It reports the gradient there in units of standard errors, and whether that is
// small enough; it gives up where the curvature is not positive or a step does not descend.
func (o *objective) newton() (score float64, ok bool) {
	u, g, value := slices.Clone(o.best.u), slices.Clone(o.best.grad), o.best.value
	o.evaluateAhead(u)
	h, first, err := numeric.Hessian(func(grad, at []float64) (float64, error) {
		if err := o.ctx.Err(); err != nil {
			return 0, err
		}
		if _, err := o.evaluate(at); err != nil {
			return 0, err
		}
		if math.IsInf(o.value, 0) {
			return 0, fmt.Errorf("gppl: the loss is %v", o.value)
		}
		copy(grad, o.grad)
		return o.value, nil
	}, u, numeric.GradientStep)
	o.ahead = nil
	if err != nil {
		return 0, false
	}
	o.curved = curvatureAt{slices.Clone(u), first, h}
	o.best = point{slices.Clone(u), g, value} // the optimum, not the last point of a difference
	var c mat.Cholesky
	if !c.Factorize(h) {
		return 0, false
	}
	for range newtonSteps {
		gradient := mat.NewVecDense(len(g), g)
		var step mat.VecDense
		if err := c.SolveVecTo(&step, gradient); err != nil {
			return 0, false
		}
		if score = math.Sqrt(mat.Dot(gradient, &step)); score <= scoreTolerance {
			return score, true
		}
		if score > 3 { // too far for a parabola
			return score, false
		}
		floats.Sub(u, step.RawVector().Data)
		v, err := o.evaluate(u)
		if err != nil || !(v <= value+max(descent.Rounding*math.Abs(value), o.loss.Report().LastBound)) {
			return score, false
		}
		value, g = v, slices.Clone(o.grad)
		// Rounding can hide which of two values is lower; the gradient tells.
		o.best = point{slices.Clone(u), g, v}
	}
	return score, false
}

// evaluation is the answer of a loss at theta.
type evaluation struct {
	theta, grad []float64
	value       float64
	err         error
}

// aheadSeconds is the longest evaluation that runs beside others. Longer ones use all processors, and much memory.
const aheadSeconds = 0.1

// evaluateAhead evaluates the loss, on all processors, at the points that numeric.Hessian will ask for at u, except the last:
// what the loss reports of its last evaluation then does not depend on which of them ended last.
func (o *objective) evaluateAhead(u []float64) {
	if s := capability.Seconds(o.loss, o.theta); !(s > 0 && s < aheadSeconds) {
		return
	}
	for j, i := range o.trained {
		for _, step := range []float64{numeric.GradientStep, -numeric.GradientStep} {
			theta := slices.Clone(o.theta)
			for k, l := range o.trained {
				theta[l] = o.through[l].Natural(u[k])
			}
			theta[i] = o.through[i].Natural(u[j] + step)
			o.ahead = append(o.ahead, evaluation{theta: theta, grad: make([]float64, len(theta))})
		}
	}
	o.ahead = o.ahead[:len(o.ahead)-1]
	parallel.For(len(o.ahead), func(i int) {
		e := &o.ahead[i]
		e.value, e.err = o.loss.ValueGrad(o.ctx, e.grad, e.theta)
	})
}

// valueGrad returns value and gradient of the loss at o.theta.
func (o *objective) valueGrad(grad []float64) (float64, error) {
	for _, e := range o.ahead {
		if grad != nil && slices.Equal(e.theta, o.theta) {
			copy(grad, e.grad)
			return e.value, e.err
		}
	}
	return o.loss.ValueGrad(o.ctx, grad, o.theta)
}

// Informed is a loss that knows its Fisher information, or its expected curvature: PL, PL with the residual, and Whittle.
type Informed interface {
	Loss
	// Information returns the Fisher information in the logs of all parameters, of RoleLocation in themselves, at the natural
	// values theta.
	Information(ctx context.Context, theta []float64) (*mat.SymDense, error)
}

var (
	_ Informed = (*Projected)(nil)
	_ Informed = (*Whittle)(nil)
)

// FisherScoring returns a fresh method for Settings.Method: Newton's method with the Fisher information instead of the Hessian, u
// ← u − I⁻¹g, and a line search. The information is positive semi-definite everywhere, which the Hessian of a likelihood is not,
// and steps need no scale. An iteration also computes the information; for PL with p parameters that costs about p evaluations.
// L-BFGS, the default, takes about as many iterations and is therefore faster (TestFisherScoring prints them). The loss must be
// Informed.
func FisherScoring() optimize.Method { return &optimize.Newton{Linesearcher: &optimize.Backtracking{}} }

// hessian sets h to the Fisher information at u in raw parameters. If there is none, it
// sets a matrix that is not positive definite, for which gonum uses steepest descent.
func (o *objective) hessian(h *mat.SymDense, u []float64) {
	o.informed++
	o.information(h, u, o.loss.(Informed))
}

// information sets h to the information of a loss in the raw parameters at u, or to zero if the loss has none.
func (o *objective) information(h *mat.SymDense, u []float64, of Informed) {
	at := make([]float64, len(o.theta))
	copy(at, o.theta) // the parameters that are fixed
	slope := make([]float64, len(u))
	for j, i := range o.trained {
		t := o.through[i]
		at[i] = t.Natural(u[j])
		slope[j] = t.Slope(u[j])
		if o.params[i].Role != RoleLocation { // the information of a location is in the location itself
			slope[j] /= at[i] // ∂log θ/∂u
		}
	}
	info, err := of.Information(o.ctx, at)
	if err != nil {
		h.Zero()
		return
	}
	for a, i := range o.trained {
		for b := a; b < len(u); b++ {
			h.SetSym(a, b, info.At(i, o.trained[b])*slope[a]*slope[b])
		}
	}
}

// guideFloor is the least information, in nats per squared unit of a raw parameter, that is distinguished from none.
const guideFloor = 1

// guidedErrors is the number of standard errors from the optimum within which a guide is trusted. If a model holds, nine
// parameters move by less than 14 from a sixth of the data to all of them in 999 of 1000 cases: √(1 + 6) times the root of the
// quantile of χ², 27.9. Beyond 24, in series with almost no noise, a guide misled the search.
const guidedErrors = 20

// errorsAway returns the distance from the best point to the optimum in standard errors, √(gᵀH⁻¹g), with H from c; 0 if c is nil.
func (o *objective) errorsAway(c *descent.Coordinates) float64 {
	if c == nil {
		return 0
	}
	z := make([]float64, len(o.best.grad))
	c.Slope(z, o.best.grad)
	return floats.Norm(z, 2)
}

// newMetric returns the coordinates in which the information of a guide at u, in the raw parameters of o, is the identity, so
// that BFGS meets about the same curvature in every direction. They are nil if there is no information.
func (o *objective) newMetric(guide Informed, u []float64) *descent.Coordinates {
	h := mat.NewSymDense(len(u), nil)
	o.information(h, u, guide)
	return descent.NewCoordinates(u, h, guideFloor)
}
