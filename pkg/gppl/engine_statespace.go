package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// stateSpaceExact runs a Kalman filter over the sorted series: O(n).
type stateSpaceExact struct {
	line *line
	markov
	filter    *statespace.Filter
	grad      []float64
	kernel    Kernel
	noise     float64
	short     *statespace.Filter // of a stretch of the series, for the check
	shortY    []float64
	shortGrad []float64
	moved     []statespace.Component
}

func newStateSpaceExact(l *line) *stateSpaceExact {
	n := len(l.t)
	length := min(n, max(4, n/250))
	from := (n - length) / 2
	return &stateSpaceExact{
		line: l, filter: statespace.NewFilter(l.t),
		short: statespace.NewFilter(l.t[from : from+length]), shortY: l.y[from : from+length],
	}
}

func (e *stateSpaceExact) name() string { return EngineStateSpace }

// stateSeconds is what the filter takes per observation, forth and back, by the
// size of its state.
func stateSeconds(dim int) float64 { return 30e-9 * float64(dim*dim) }

func stateDim(cs []statespace.Component) (d int) {
	for _, c := range cs {
		d += c.Order + 1
	}
	return d
}

const notMatern = "not a sum of Laplace, Matérn 3/2 and 5/2 kernels"

func (e *stateSpaceExact) forecast(k Kernel, noise float64) forecast {
	if !e.markov.of(k) {
		return cannot(notMatern)
	}
	n := float64(len(e.line.t))
	return forecast{
		seconds: n * stateSeconds(stateDim(e.components)),
		err:     n * 0x1p-50 * math.Sqrt(1+variance(k)/noise), // see statespace
	}
}

func (e *stateSpaceExact) nll(grad []float64, k Kernel, noise float64) (value, jitter float64, err error) {
	e.markov.of(k)
	e.kernel, e.noise = k, noise
	var g []float64
	if grad != nil {
		e.grad = resize(e.grad, 2*len(e.components)+1)
		g = e.grad
	}
	value, err = e.filter.NLL(g, e.line.y, e.components, e.noise)
	if err != nil || grad == nil {
		return value, 0, err
	}
	last := len(g) - 1
	if err := e.check(g); err != nil {
		return 0, 0, err
	}
	clear(grad)
	e.markov.contract(grad, g[:last])
	grad[len(grad)-1] = g[last]
	return value, 0, nil
}

func (e *stateSpaceExact) measure() (form, extra float64) { return e.filter.Quad(), 0 }

// check verifies a gradient. Scaling all variances and the noise by one factor
// scales A: the derivatives in their logs add to ½(n − yᵀA⁻¹y). And on a short
// stretch of the series the gradient along one direction is compared with a
// difference of values, which takes a hundredth of an evaluation or so.
func (e *stateSpaceExact) check(g []float64) error {
	n, quad, last := float64(len(e.line.t)), e.filter.Quad(), len(g)-1
	sum := g[last]
	for i := range e.components {
		sum += g[2*i]
	}
	rounding := 0x1p-49 * math.Sqrt(1+variance(e.kernel)/e.noise)
	if err := verify("the sum of the derivatives in the variances", sum, 0.5*(n-quad), (n+quad)*(1e-9+rounding)); err != nil {
		return err
	}

	e.shortGrad = resize(e.shortGrad, len(g))
	if _, err := e.short.NLL(e.shortGrad, e.shortY, e.components, e.noise); err != nil {
		return err
	}
	size := float64(len(e.shortY)) + e.short.Quad()
	var slope float64
	for i, d := range e.shortGrad {
		slope += direction(i) * d
		size += math.Abs(d)
	}
	const h = 1e-4
	plus, err := e.shortNLL(h)
	if err != nil {
		return err
	}
	minus, err := e.shortNLL(-h)
	if err != nil {
		return err
	}
	return verify("the gradient of a stretch of the series", slope, (plus-minus)/(2*h), size*(1e-6+rounding/h))
}

// direction is that of the difference: different in each parameter.
func direction(i int) float64 { return 1 / (1 + 0.3*float64(i)) }

// shortNLL is the value of the stretch at a step along the direction in log θ.
func (e *stateSpaceExact) shortNLL(step float64) (float64, error) {
	e.moved = append(e.moved[:0], e.components...)
	for i := range e.moved {
		e.moved[i].Variance *= math.Exp(step * direction(2*i))
		e.moved[i].Lengthscale *= math.Exp(step * direction(2*i+1))
	}
	return e.short.NLL(nil, e.shortY, e.moved, e.noise*math.Exp(step*direction(2*len(e.moved))))
}

func resize(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}
