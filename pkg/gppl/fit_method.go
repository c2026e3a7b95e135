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

var (
	_ optimize.Method    = (*adam)(nil)
	_ optimize.Statuser  = (*adam)(nil)
	_ optimize.Converger = (*changeBelow)(nil)
)

// adam is the gradient method of Kingma and Ba (2015, algorithm 1), with their constants, as a gonum
// optimize.Method. A major iteration is one step. It has no stopping rule of
// its own: set a Converger or a limit.
type adam struct {
	rate float64 // α
	err  error
}

// Init is part of optimize.Method.
func (a *adam) Init(dim, tasks int) int {
	a.err = nil
	return 1
}

// Uses is part of optimize.Method.
func (a *adam) Uses(has optimize.Available) (optimize.Available, error) {
	if !has.Grad {
		return optimize.Available{}, optimize.ErrMissingGrad
	}
	return optimize.Available{Grad: true}, nil
}

// Status is part of optimize.Statuser: adam ends by itself only if the function or its
// gradient is not finite.
func (a *adam) Status() (optimize.Status, error) {
	if a.err != nil {
		return optimize.Failure, a.err
	}
	return optimize.NotTerminated, nil
}

// Run is part of optimize.Method.
func (a *adam) Run(operation chan<- optimize.Task, result <-chan optimize.Task, tasks []optimize.Task) {
	const evaluation = optimize.FuncEvaluation | optimize.GradEvaluation
	defer close(operation)
	task := tasks[0]
	step := a.stepper(len(task.X))
	task.Op = evaluation
	operation <- task
	for task := range result {
		switch task.Op {
		case optimize.PostIteration: // the caller has seen enough
			for range result {
			}
			return
		case optimize.MajorIteration:
			step(task.X, task.Gradient)
			task.Op = evaluation
		default:
			task.Op = optimize.MajorIteration
			if a.err = finite(task.Location); a.err != nil {
				task.Op = optimize.MethodDone
			}
		}
		operation <- task
	}
}

func finite(l *optimize.Location) error {
	if math.IsNaN(l.F) || math.IsInf(l.F, 0) {
		return optimize.ErrFunc(l.F)
	}
	for i, v := range l.Gradient {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return optimize.ErrGrad{Grad: v, Index: i}
		}
	}
	return nil
}

// stepper returns a function that moves x by one Adam step.
func (a *adam) stepper(dim int) func(x, grad []float64) {
	const b1, b2, eps = 0.9, 0.999, 1e-8
	m, v := make([]float64, dim), make([]float64, dim)
	p1, p2 := 1.0, 1.0 // β^t at step t
	return func(x, grad []float64) {
		p1, p2 = p1*b1, p2*b2
		c1, c2 := 1-p1, 1-p2
		for i, g := range grad {
			m[i] = b1*m[i] + (1-b1)*g
			v[i] = b2*v[i] + (1-b2)*g*g
			x[i] -= a.rate * (m[i] / c1) / (math.Sqrt(v[i]/c2) + eps)
		}
	}
}

// changeBelow is the paper's stopping rule: it stops after stillIterations in a row that each change the loss by less
// than absolute. (It compares changes, not improvements as optimize.FunctionConverge does, so that an overshoot of Adam
// does not count as standing still.)
type changeBelow struct {
	absolute float64
	last     float64
	count    int
}

// stillIterations are the paper's.
const stillIterations = 5

func (c *changeBelow) Init(int) { c.last, c.count = math.NaN(), 0 }

func (c *changeBelow) Converged(loc *optimize.Location) optimize.Status {
	if math.Abs(loc.F-c.last) < c.absolute {
		c.count++
	} else {
		c.count = 0
	}
	c.last = loc.F
	if c.count >= stillIterations {
		return optimize.FunctionConvergence
	}
	return optimize.NotTerminated
}

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

// Informed is a loss that knows its Fisher information: PL, and PL with the residual.
type Informed interface {
	Loss
	// Information returns the Fisher information in the logs of all parameters at
	// the natural values theta.
	Information(theta []float64) (*mat.SymDense, error)
}

var _ Informed = (*Projected)(nil)

// FisherScoring returns a fresh method for Settings.Method: Newton's method with the
// Fisher information instead of the Hessian, u ← u − I⁻¹g, and a line search. The
// information is positive semi-definite everywhere, which the Hessian of a likelihood
// is not, and steps need no scale. An iteration also computes the information; for PL
// with p parameters that costs about p evaluations. L-BFGS, the default, takes about
// as many iterations and is therefore faster (TestFisherScoring prints them). The loss
// must be Informed.
func FisherScoring() optimize.Method { return &optimize.Newton{Linesearcher: &optimize.Backtracking{}} }

// hessian sets h to the Fisher information at u in raw parameters. If there is none, it
// sets a matrix that is not positive definite, for which gonum uses steepest descent.
func (o *objective) hessian(h *mat.SymDense, u []float64) {
	at := make([]float64, len(o.theta))
	copy(at, o.theta) // the parameters that are fixed
	slope := make([]float64, len(u))
	for j, i := range o.trained {
		t := o.through[i]
		at[i] = t.Natural(u[j])
		slope[j] = t.Slope(u[j]) / at[i] // ∂log θ/∂u
	}
	o.informed++
	information := o.loss.(Informed).Information
	if l, ok := o.loss.(*Projected); ok {
		information = func(theta []float64) (*mat.SymDense, error) { return l.InformationContext(o.ctx, theta) }
	}
	info, err := information(at)
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
