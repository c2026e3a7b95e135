package gppl

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/projected"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// sortedDirections is an Ω with its rows in the order of a series.
type sortedDirections struct {
	projected.Directions
	line   *observed.Line
	Matrix func() blas64.General // Ω, formed at the first call; safe for concurrent use
}

func newSortedDirections(l *observed.Line, d projected.Directions) *sortedDirections {
	return &sortedDirections{d, l, sync.OnceValue(func() blas64.General { return l.SortRows(d.Matrix()) })}
}

// Formed returns the bytes of Matrix in addition to the projection's.
func (s *sortedDirections) Formed() float64 {
	bytes := s.Directions.Formed()
	if s.line.Order != nil {
		bytes += 8 * float64(s.N) * float64(s.K)
	}
	return bytes
}

// bandedProjected multiplies the banded K by Ω: 4n·b·k flops for the value, and as many for the gradient.
type bandedProjected struct {
	directions *sortedDirections
	grams      parallel.Pool[bandedGram]
}

func (e *bandedProjected) name() string { return EngineBanded }

func (e *bandedProjected) estimate(m *compiledTerm) choice.Estimate {
	b := band{line: e.directions.line}
	width, bytes, ok := b.size(m.kernel)
	if !ok {
		return choice.Cannot(noReach)
	}
	n, kk := float64(e.directions.N), float64(e.directions.K)
	return choice.Estimate{
		Seconds: (n*width*(6*kk/choice.FlopRate+pairSeconds) + 4*n*kk*kk/choice.FlopRate) / 2,
		Setup:   e.directions.Forming(),
		Bytes:   bytes + e.directions.Formed() + 8*n*kk,
		Err:     kk * gramRounding(m.variance*n, m.noise),
	}
}

// bandedGram computes S₀ for the banded engine.
type bandedGram struct {
	engine *bandedProjected
	term   *compiledTerm
	band   band
	s      blas64.General
	omega  blas64.General // rows in the order of the series
	work   blas64.General // n×k: KΩ, then ΩV
}

func (e *bandedProjected) gram(m *compiledTerm, _ bool) (projectedGram, error) {
	g := e.grams.Get()
	g.engine, g.term = e, m
	kk := e.directions.K
	if g.omega.Data == nil {
		g.omega = e.directions.Matrix()
		g.band, g.work, g.s = band{line: e.directions.line}, dense.New(e.directions.N, kk), dense.New(kk, kk)
	}
	g.band.gram.Ctx = m.ctx
	g.band.fill(m.kernel, 0)
	g.sandwich(g.s)
	return g, nil
}

// sandwich sets s to ΩᵀMΩ for the matrix M in the band.
func (g *bandedGram) sandwich(s blas64.General) {
	g.band.gram.Mul(g.work, g.omega)
	dense.Mul(g.band.gram.Ctx, s, blas.Trans, g.omega, g.work)
	dense.Symmetrise(s)
}

// derivative uses ∂K instead of K.
func (g *bandedGram) derivative(s []float64, p int) {
	kk := g.omega.Cols
	g.band.gram.EachTile(func(row, col int, tile blas64.General) {
		g.band.distances(tile, row, col)
		derivativeAt(tile.Data, tile.Data, g.term.kernel, p, make([]float64, g.term.end-g.term.offset))
	})
	g.sandwich(blas64.General{Rows: kk, Cols: kk, Stride: kk, Data: s})
}

func (g *bandedGram) release()                      { g.engine.grams.Put(g) }
func (g *bandedGram) covariance() []float64         { return g.s.Data }
func (g *bandedGram) leftOut(blas64.Vector) float64 { return 0 }

// contract weighs ∂K by W = ΩVΩᵀ within the band.
func (g *bandedGram) contract(grad, v []float64) error {
	kk := g.omega.Cols
	dense.Mul(g.band.gram.Ctx, g.work, blas.NoTrans, g.omega, blas64.General{Rows: kk, Cols: kk, Stride: kk, Data: v})
	g.band.contract(g.term.kernel, len(grad), func(_ *dense.Lane, row, col int, tile, w blas64.General) {
		twice := 2.0 // for the tile and its mirror image
		if row == col {
			twice = 1
		}
		dense.Gemm(blas.NoTrans, blas.Trans, twice, dense.Rows(g.work, row, tile.Rows), dense.Rows(g.omega, col, tile.Cols), 0, w)
	})
	g.band.lanes.AddTo(grad)
	return nil
}

// stateSpaceProjected multiplies K by Ω with running sums along the series: 2nk² flops,
// as many again for derivatives, plus O(nk).
type stateSpaceProjected struct {
	directions *sortedDirections
	grams      parallel.Pool[stateSpaceGram]
}

func (e *stateSpaceProjected) name() string { return EngineStateSpace }

func (e *stateSpaceProjected) estimate(m *compiledTerm) choice.Estimate {
	if !m.isMatern {
		return choice.Cannot(notMatern)
	}
	n, kk := float64(e.directions.N), float64(e.directions.K)
	c := float64(len(m.state.blocks))
	return choice.Estimate{
		Seconds: c * n * kk * (4*kk/choice.FlopRate + 3e-9) / 2,
		Setup:   e.directions.Forming(),
		Bytes:   e.directions.Formed() + 8*kk*kk*(2*c+1),
		Err:     kk * gramRounding(m.variance*n, m.noise),
	}
}

// stateSpaceGram computes S₀ for the state-space engine.
type stateSpaceGram struct {
	engine  *stateSpaceProjected
	term    *compiledTerm
	product *statespace.Product
	s       []float64
	value   []blas64.General // per block k×k
	slope   []blas64.General
	weight  []float64 // per block two: ⟨V, value⟩ and ⟨V, slope⟩
}

func (e *stateSpaceProjected) gram(m *compiledTerm, derivatives bool) (projectedGram, error) {
	g := e.grams.Get()
	g.engine, g.term = e, m
	kk, c := e.directions.K, len(m.state.blocks)
	if g.product == nil {
		g.product = statespace.NewProduct(e.directions.line.T)
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
	g.product.Gram(g.value[:c], slopes, e.directions.Matrix(), m.state.blocks)
	clear(g.s)
	for _, v := range g.value[:c] {
		dense.Add(g.s, v.Data)
	}
	return g, nil
}

func (g *stateSpaceGram) release()                      { g.engine.grams.Put(g) }
func (g *stateSpaceGram) covariance() []float64         { return g.s }
func (g *stateSpaceGram) leftOut(blas64.Vector) float64 { return 0 }

func (g *stateSpaceGram) contract(grad, v []float64) error {
	g.weight = g.weight[:0]
	for i := range g.term.state.blocks {
		g.weight = append(g.weight, blas64.Dot(dense.Vec(v), dense.Vec(g.value[i].Data)),
			blas64.Dot(dense.Vec(v), dense.Vec(g.slope[i].Data)))
	}
	g.term.state.contract(grad, g.weight)
	return nil
}

// derivative applies the chain rule from the blocks, one after another, to parameter p.
func (g *stateSpaceGram) derivative(s []float64, p int) {
	clear(s)
	state := &g.term.state
	grad := make([]float64, g.term.end-g.term.offset)
	w := make([]float64, 2*len(state.blocks))
	for i := range w {
		clear(grad)
		w[i] = 1
		state.contract(grad, w)
		w[i] = 0
		part := g.value[i/2]
		if i%2 == 1 {
			part = g.slope[i/2]
		}
		if grad[p] != 0 {
			blas64.Axpy(grad[p], dense.Vec(part.Data), dense.Vec(s))
		}
	}
}
