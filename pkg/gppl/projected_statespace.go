package gppl

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// stateSpaceProjected multiplies K by Ω with sums that run along the series:
// 2nk² flops, as many again with derivatives, and O(nk) beside them.
type stateSpaceProjected struct {
	line       *line
	directions directions
	omega      blas64.General // rows in the order of the series
	markov
	product *statespace.Product
	value   []blas64.General // per component k×k
	slope   []blas64.General
	weight  []float64 // per component two: ⟨V, value⟩ and ⟨V, slope⟩
}

func newStateSpaceProjected(l *line, d directions) *stateSpaceProjected {
	return &stateSpaceProjected{line: l, directions: d, omega: d.shape()}
}

func (e *stateSpaceProjected) name() string { return EngineStateSpace }

func (e *stateSpaceProjected) forecast(k Kernel, noise float64) forecast {
	if !e.markov.of(k) {
		return cannot(notMatern)
	}
	n, kk := float64(e.omega.Rows), float64(e.omega.Cols)
	c := float64(len(e.components))
	return forecast{
		seconds: c * n * kk * (4*kk/flopRate + 3e-9) / 2,
		setup:   e.directions.forming(),
		err:     kk * gramRounding(variance(k)*n, noise),
	}
}

func (e *stateSpaceProjected) gram(s []float64, k Kernel, _ float64, derivatives bool) error {
	if e.product == nil {
		e.omega = e.line.sortRows(e.directions.matrix())
		e.product = statespace.NewProduct(e.line.t)
	}
	e.markov.of(k)
	kk := e.omega.Cols
	for len(e.value) < len(e.components) {
		e.value = append(e.value, newGeneral(kk, kk))
		e.slope = append(e.slope, newGeneral(kk, kk))
	}
	c := len(e.components)
	var slopes []blas64.General
	if derivatives {
		slopes = e.slope[:c]
	}
	e.product.Gram(e.value[:c], slopes, e.omega, e.components)
	clear(s)
	for _, v := range e.value[:c] {
		add(s, v.Data)
	}
	return nil
}

func (e *stateSpaceProjected) contract(grad, v []float64, _ Kernel) {
	e.weight = e.weight[:0]
	for i := range e.components {
		e.weight = append(e.weight, blas64.Dot(vec(v), vec(e.value[i].Data)), blas64.Dot(vec(v), vec(e.slope[i].Data)))
	}
	e.markov.contract(grad, e.weight)
}
