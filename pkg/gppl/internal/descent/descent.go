// Package descent provides optimisation methods and stopping rules for gonum's optimize, and checks gradients and minima by
// values.
package descent

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

var (
	_ optimize.Method    = (*Adam)(nil)
	_ optimize.Statuser  = (*Adam)(nil)
	_ optimize.Converger = (*Still)(nil)
	_ optimize.Converger = (*LittleLeft)(nil)
)

// Adam is the gradient method of Kingma and Ba (2015, algorithm 1), with their constants, as a gonum
// optimize.Method. A major iteration is one step. It has no stopping rule of
// its own: set a Converger or a limit. It ends by itself only if the function or its gradient is not finite.
type Adam struct {
	Rate float64 // α
	ending
}

func (a *Adam) String() string { return fmt.Sprintf("Adam of rate %g", a.Rate) }

// Init implements optimize.Method.
func (a *Adam) Init(dim, tasks int) int {
	a.err = nil
	return 1
}

// Run implements optimize.Method.
func (a *Adam) Run(operation chan<- optimize.Task, result <-chan optimize.Task, tasks []optimize.Task) {
	a.run(operation, result, tasks, a.stepper(len(tasks[0].X)), func(l *optimize.Location) bool {
		a.err = checkFinite(l)
		return true
	})
}

// ending is the common part of methods that use values with gradients. err says why a method ended by itself, or is nil.
type ending struct{ err error }

// Uses implements optimize.Method.
func (*ending) Uses(has optimize.Available) (optimize.Available, error) {
	if !has.Grad {
		return optimize.Available{}, optimize.ErrMissingGrad
	}
	return optimize.Available{Grad: true}, nil
}

// Status implements optimize.Statuser.
func (e *ending) Status() (optimize.Status, error) {
	if e.err != nil {
		return optimize.Failure, e.err
	}
	return optimize.NotTerminated, nil
}

// run implements Run. step moves x at the end of an iteration. done reports whether an evaluation ends an iteration, moves its
// x if it does not, and sets err where the method ends.
func (e *ending) run(operation chan<- optimize.Task, result <-chan optimize.Task, tasks []optimize.Task,
	step func(x, grad []float64), done func(*optimize.Location) bool) {
	const evaluation = optimize.FuncEvaluation | optimize.GradEvaluation
	defer close(operation)
	task := tasks[0]
	task.Op = evaluation
	operation <- task
	for task := range result {
		switch task.Op {
		case optimize.PostIteration: // the caller stops the method
			for range result {
			}
			return
		case optimize.MajorIteration:
			step(task.X, task.Gradient)
			task.Op = evaluation
		default:
			if task.Op = evaluation; done(task.Location) {
				task.Op = optimize.MajorIteration
			}
			if e.err != nil {
				task.Op = optimize.MethodDone
			}
		}
		operation <- task
	}
}

func checkFinite(l *optimize.Location) error {
	if !numeric.IsFinite(l.F) {
		return optimize.ErrFunc(l.F)
	}
	if i := numeric.FirstNotFinite(l.Gradient); i >= 0 {
		return optimize.ErrGrad{Grad: l.Gradient[i], Index: i}
	}
	return nil
}

// stepper returns a function that moves x by one Adam step.
func (a *Adam) stepper(dim int) func(x, grad []float64) {
	const b1, b2, eps = 0.9, 0.999, 1e-8
	m, v := make([]float64, dim), make([]float64, dim)
	p1, p2 := 1.0, 1.0 // β^t at step t
	return func(x, grad []float64) {
		p1, p2 = p1*b1, p2*b2
		c1, c2 := 1-p1, 1-p2
		for i, g := range grad {
			m[i] = b1*m[i] + (1-b1)*g
			v[i] = b2*v[i] + (1-b2)*g*g
			x[i] -= a.Rate * (m[i] / c1) / (math.Sqrt(v[i]/c2) + eps)
		}
	}
}

// Still stops after stillIterations in a row that each change the function by less than Absolute. (It compares changes, not
// improvements as optimize.FunctionConverge does: an overshoot of Adam does not count as standing still.)
type Still struct {
	Absolute float64
	last     float64
	count    int
}

func (s *Still) String() string {
	return fmt.Sprintf("%d iterations in a row change the loss by less than %g", stillIterations, s.Absolute)
}

// stillIterations is the number of still steps in a row that end training by the rule of Cazelles and Tobar.
const stillIterations = 5

func (c *Still) Init(int) { c.last, c.count = math.NaN(), 0 }

func (c *Still) Converged(loc *optimize.Location) optimize.Status {
	if math.Abs(loc.F-c.last) < c.Absolute {
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

// LittleLeft ends L-BFGS when its last step suggests that less than Gain remains: the gain of the step times the squared ratio
// by which it shortened the gradient. The estimate is used only where the ratio is small: L-BFGS then converges faster than
// linearly.
type LittleLeft struct {
	Gain            float64
	value, gradient float64
}

func (s *LittleLeft) Init(int) { s.value, s.gradient = math.Inf(1), 0 }

func (s *LittleLeft) Converged(loc *optimize.Location) optimize.Status {
	gradient := floats.Norm(loc.Gradient, 2)
	gain, ratio := s.value-loc.F, gradient/s.gradient
	s.value, s.gradient = loc.F, gradient
	if gain >= 0 && ratio < 0.3 && gain*ratio*ratio < s.Gain {
		return optimize.FunctionConvergence
	}
	return optimize.NotTerminated
}
