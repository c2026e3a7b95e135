package descent

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

var (
	_ optimize.Method   = (*Metric)(nil)
	_ optimize.Statuser = (*Metric)(nil)
)

// Metric is BFGS (Nocedal and Wright 2006, algorithm 6.1) for a function whose second derivatives are about the identity in
// most directions, as in coordinates from an approximation of them. H begins as the identity and is never rescaled, so it
// learns a direction in which it is far off without shrinking the steps in all others. Steps are halved, or cut to the minimum
// of a parabola, until the function falls sufficiently; a step that gains nothing along the gradient itself ends the method.
type Metric struct {
	h    *mat.SymDense // inverse second derivatives
	x, g []float64     // the best point so far and its gradient
	f    float64
	d    []float64 // the direction
	step float64
	ending
}

// Init implements optimize.Method.
func (m *Metric) Init(dim, tasks int) int {
	*m = Metric{h: mat.NewSymDense(dim, nil), x: make([]float64, dim), g: make([]float64, dim), d: make([]float64, dim)}
	m.reset()
	return 1
}

// reset makes H the identity.
func (m *Metric) reset() {
	m.h.Zero()
	for i := range m.x {
		m.h.SetSym(i, i, 1)
	}
}

// Run implements optimize.Method.
func (m *Metric) Run(operation chan<- optimize.Task, result <-chan optimize.Task, tasks []optimize.Task) {
	first := true
	m.run(operation, result, tasks, func(x, _ []float64) {
		m.direct()
		m.move(x)
	}, func(l *optimize.Location) bool {
		if first {
			first = false
			m.err = checkFinite(l)
			m.keep(l)
			return true
		}
		if m.accepts(l) {
			return true
		}
		m.move(l.X)
		return false
	})
}

func (m *Metric) keep(l *optimize.Location) {
	copy(m.x, l.X)
	copy(m.g, l.Gradient)
	m.f = l.F
}

// direct sets the direction, −Hg.
func (m *Metric) direct() {
	d, g := mat.NewVecDense(len(m.d), m.d), mat.NewVecDense(len(m.g), m.g)
	if d.MulVec(m.h, g); !(floats.Dot(m.d, m.g) > 0) {
		m.reset()
		copy(m.d, m.g)
	}
	floats.Scale(-1, m.d)
	m.step = 1
}

// move sets x to the point one step from the best.
func (m *Metric) move(x []float64) { floats.AddScaledTo(x, m.x, m.step, m.d) }

// accepts takes the point of l if the function has fallen by a share of the slope's prediction, and learns from it; otherwise
// it shortens the step. If no step gains anything, it sets err.
func (m *Metric) accepts(l *optimize.Location) bool {
	const sufficientDecrease, shortest, most = 1e-4, 1e-5, 0.5
	slope := floats.Dot(m.d, m.g)
	if l.F <= m.f+sufficientDecrease*m.step*slope && checkFinite(l) == nil {
		m.learn(l)
		m.keep(l)
		return true
	}
	cut := most
	if excess := l.F - m.f - m.step*slope; excess > 0 { // minimum of the parabola, in steps
		cut = min(most, max(shortest, -0.5*m.step*slope/excess))
	}
	if math.IsInf(l.F, 1) || math.IsNaN(l.F) {
		cut = 0.1
	}
	if m.step *= cut; -m.step*slope < 1e-15*math.Abs(m.f) {
		m.err = optimize.ErrLinesearcherFailure
	}
	return false
}

// learn updates H by the step s to l and the change y of the gradient, H ← (I − ρsyᵀ)H(I − ρysᵀ) + ρssᵀ with ρ = 1/yᵀs.
func (m *Metric) learn(l *optimize.Location) {
	n := len(m.x)
	s, y := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i := range m.x {
		s.SetVec(i, l.X[i]-m.x[i])
		y.SetVec(i, l.Gradient[i]-m.g[i])
	}
	sy := mat.Dot(s, y)
	if !(sy > 1e-10*mat.Norm(s, 2)*mat.Norm(y, 2)) {
		return
	}
	var hy mat.VecDense
	hy.MulVec(m.h, y)
	m.h.RankTwo(m.h, -1/sy, &hy, s)
	m.h.SymRankOne(m.h, (1+mat.Dot(y, &hy)/sy)/sy, s)
}
