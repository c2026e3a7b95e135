package gppl

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/optimize"
)

var (
	_ optimize.Method    = (*Adam)(nil)
	_ optimize.Statuser  = (*Adam)(nil)
	_ optimize.Converger = (*changeBelow)(nil)
)

// Adam is the gradient method of Kingma and Ba (2015, algorithm 1), as a gonum
// optimize.Method. A major iteration is one step. It has no stopping rule of
// its own: set a Converger or a limit.
type Adam struct {
	Rate    float64 // α; 0 means 0.1
	Beta1   float64 // 0 means 0.9
	Beta2   float64 // 0 means 0.999
	Epsilon float64 // 0 means 1e-8

	err error
}

// Init is part of optimize.Method.
func (a *Adam) Init(dim, tasks int) int {
	a.err = nil
	return 1
}

// Uses is part of optimize.Method.
func (a *Adam) Uses(has optimize.Available) (optimize.Available, error) {
	if !has.Grad {
		return optimize.Available{}, optimize.ErrMissingGrad
	}
	return optimize.Available{Grad: true}, nil
}

// Status is part of optimize.Statuser: Adam ends by itself only if the function or its
// gradient is not finite.
func (a *Adam) Status() (optimize.Status, error) {
	if a.err != nil {
		return optimize.Failure, a.err
	}
	return optimize.NotTerminated, nil
}

// Run is part of optimize.Method.
func (a *Adam) Run(operation chan<- optimize.Task, result <-chan optimize.Task, tasks []optimize.Task) {
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
func (a *Adam) stepper(dim int) func(x, grad []float64) {
	rate, b1, b2, eps := cmp.Or(a.Rate, 0.1), cmp.Or(a.Beta1, 0.9), cmp.Or(a.Beta2, 0.999), cmp.Or(a.Epsilon, 1e-8)
	m, v := make([]float64, dim), make([]float64, dim)
	c1, c2 := 1.0, 1.0 // 1 − β^t at step t
	p1, p2 := 1.0, 1.0
	return func(x, grad []float64) {
		p1 *= b1
		p2 *= b2
		c1, c2 = 1-p1, 1-p2
		for i, g := range grad {
			m[i] = b1*m[i] + (1-b1)*g
			v[i] = b2*v[i] + (1-b2)*g*g
			x[i] -= rate * (m[i] / c1) / (math.Sqrt(v[i]/c2) + eps)
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
