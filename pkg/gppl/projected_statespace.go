package gppl

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// stateSpaceProjected multiplies K by Ω with running sums along the series: 2nk² flops,
// as many again for derivatives, plus O(nk).
type stateSpaceProjected struct {
	directions *sortedDirections
	grams      pool[stateSpaceGram]
}

func newStateSpaceProjected(d *sortedDirections) *stateSpaceProjected {
	return &stateSpaceProjected{directions: d}
}

func (e *stateSpaceProjected) name() string { return EngineStateSpace }

func (e *stateSpaceProjected) forecast(m *compiledTerm) forecast {
	if !m.isMarkov {
		return cannot(notMatern)
	}
	n, kk := float64(e.directions.n), float64(e.directions.k)
	c := float64(len(m.markov.components))
	return forecast{
		seconds: c * n * kk * (4*kk/flopRate + 3e-9) / 2,
		setup:   e.directions.forming(),
		bytes:   e.directions.formed() + 8*kk*kk*(2*c+1),
		err:     kk * gramRounding(m.variance*n, m.noise),
	}
}

// stateSpaceGram is S₀ by the state-space engine.
type stateSpaceGram struct {
	engine  *stateSpaceProjected
	term    *compiledTerm
	product *statespace.Product
	s       []float64
	value   []blas64.General // per component k×k
	slope   []blas64.General
	weight  []float64 // per component two: ⟨V, value⟩ and ⟨V, slope⟩
}

func (e *stateSpaceProjected) gram(m *compiledTerm, derivatives bool) (projectedGram, error) {
	g := e.grams.get()
	g.engine, g.term = e, m
	kk, c := e.directions.k, len(m.markov.components)
	if g.product == nil {
		g.product = statespace.NewProduct(e.directions.line.t)
		g.s = make([]float64, kk*kk)
	}
	for len(g.value) < c {
		g.value = append(g.value, dense.New(kk, kk))
		g.slope = append(g.slope, dense.New(kk, kk))
	}
	var slopes []blas64.General
	if derivatives {
		slopes = g.slope[:c]
	}
	g.product.Gram(g.value[:c], slopes, e.directions.matrix(), m.markov.components)
	clear(g.s)
	for _, v := range g.value[:c] {
		add(g.s, v.Data)
	}
	return g, nil
}

func (g *stateSpaceGram) release()                      { g.engine.grams.put(g) }
func (g *stateSpaceGram) covariance() []float64         { return g.s }
func (g *stateSpaceGram) leftOut(blas64.Vector) float64 { return 0 }

func (g *stateSpaceGram) contract(grad, v []float64) error {
	g.weight = g.weight[:0]
	for i := range g.term.markov.components {
		g.weight = append(g.weight, blas64.Dot(dense.Vec(v), dense.Vec(g.value[i].Data)), blas64.Dot(dense.Vec(v), dense.Vec(g.slope[i].Data)))
	}
	g.term.markov.contract(grad, g.weight)
	return nil
}
