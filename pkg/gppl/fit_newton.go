package gppl

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/projected-likelihood/gppl/internal/curvature"
)

// An absolute tolerance on the gradient requires more digits the more observations
// there are, eventually more than rounding leaves. The relevant quantity is the
// gradient in units of standard errors: the distance to the optimum in these units.
// L-BFGS ends when its own steps indicate that this is small. The curvature, which
// standard errors need anyway, then confirms it, or gives Newton steps if it is not
// small.

const (
	// scoreTolerance is the gradient at which training ends, in units of standard
	// errors: √(gᵀH⁻¹g), H the curvature. The optimum is that many standard errors
	// away, and half its square, 5e-9 nats, below.
	scoreTolerance = 1e-4
	// maxNewton is the number of parameters up to which the rule is for: it is
	// checked by the curvature, which takes two evaluations for each.
	maxNewton = 12
	// newtonSteps bounds the steps with one curvature.
	newtonSteps = 4
	// curvatureStep is the step of differences of gradients, in raw parameters.
	curvatureStep = 1e-4
)

// littleLeft is a rule that ends L-BFGS when less than ½·scoreTolerance² remains,
// as far as its last step tells: what the step gained, times the square of the
// factor by which it shortened the gradient. That is trusted only where L-BFGS
// converges faster than linearly, which is where the factor is small.
type littleLeft struct{ value, gradient float64 }

func (s *littleLeft) Init(int) { s.value, s.gradient = math.Inf(1), 0 }

func (s *littleLeft) Converged(loc *optimize.Location) optimize.Status {
	gradient := floats.Norm(loc.Gradient, 2)
	gain, ratio := s.value-loc.F, gradient/s.gradient
	s.value, s.gradient = loc.F, gradient
	if gain >= 0 && ratio < 0.3 && gain*ratio*ratio < 0.5*scoreTolerance*scoreTolerance {
		return optimize.FunctionConvergence
	}
	return optimize.NotTerminated
}

// curvatureAt is the curvature of the loss around a point, by central differences of
// gradients in raw parameters, and first differences of its values.
type curvatureAt struct {
	u, first []float64
	h        *mat.SymDense
}

// newton takes Newton's steps from the best point. It reports the gradient there
// in units of standard errors, and whether that is small enough; it gives up where
// the curvature is not positive or a step does not descend.
func (o *objective) newton() (score float64, ok bool) {
	u, g, value := slices.Clone(o.best.u), slices.Clone(o.best.grad), o.best.value
	h, first, err := curvature.Hessian(func(grad, at []float64) (float64, error) {
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
	}, u, curvatureStep)
	if err != nil {
		return 0, false
	}
	o.curved = curvatureAt{slices.Clone(u), first, h}
	o.best = point{slices.Clone(u), g, value} // not where differences were taken
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
		for j := range u {
			u[j] -= step.AtVec(j)
		}
		v, err := o.evaluate(u)
		if err != nil || !(v <= value+valueRounding*math.Abs(value)) {
			return score, false
		}
		value, g = v, slices.Clone(o.grad)
		// Rounding can hide which of two values is lower; the gradient tells.
		o.best = point{slices.Clone(u), g, v}
	}
	return score, false
}

// describeScore is the reason of a training that newton has ended.
func describeScore(score float64) string {
	return fmt.Sprintf("gradient %.2g ≤ %.2g standard errors", score, scoreTolerance)
}
