package gppl

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/projected"
)

// denseProjected computes S₀ = ΩᵀKΩ in 2·½n²k flops and its contraction in as
// many, with O(nk) memory: never a matrix n×n.
type denseProjected struct {
	x          Inputs
	directions projected.Directions
	grams      parallel.Pool[denseGram]
}

func (e *denseProjected) name() string { return EngineDense }

func (e *denseProjected) estimate(m *compiledTerm) choice.Estimate {
	n, kk := float64(e.directions.N), float64(e.directions.K)
	return choice.Estimate{
		Seconds: (2*n*n*kk/choice.FlopRate + n*n*pairSeconds) / 2,
		Setup:   e.directions.Forming(),
		Bytes:   e.directions.Formed() + 8*parallel.Lanes*kk*(kk+dense.Tile),
		Err:     kk * gramRounding(m.variance*n, m.noise),
	}
}

// denseGram is S₀ by the dense engine.
type denseGram struct {
	engine *denseProjected
	term   *compiledTerm
	omega  blas64.General // n×k
	s      []float64
	lanes  dense.Lanes
	strip  []blas64.General // per lane: (ΩV or KΩ) of one block of rows
	sum    []blas64.General // per lane: k×k
	v      blas64.General
	param  int // parameter whose derivative replaces K; −1 for K itself

	sandwich, weighted func(lane int) // the loops that run in parallel, made once
}

func (e *denseProjected) gram(m *compiledTerm, _ bool) (projectedGram, error) {
	g := e.grams.Get()
	if g.s == nil {
		g.init(e)
	}
	g.term = m
	g.multiply(g.s, -1)
	return g, nil
}

func (g *denseGram) init(e *denseProjected) {
	k := e.directions.K
	g.engine, g.omega, g.s = e, e.directions.Matrix(), make([]float64, k*k)
	g.lanes = dense.NewLanes(g.omega.Rows)
	for range g.lanes {
		g.strip = append(g.strip, dense.New(dense.Tile, k))
		g.sum = append(g.sum, dense.New(k, k))
	}
	g.sandwich, g.weighted = g.sandwichLane, g.weightedLane
}

func (g *denseGram) release()                      { g.engine.grams.Put(g) }
func (g *denseGram) covariance() []float64         { return g.s }
func (g *denseGram) leftOut(blas64.Vector) float64 { return 0 }

// multiply sets s to ΩᵀKΩ, or with the derivative of K in a parameter in its place.
// It uses the symmetry of K = U + Uᵀ, where U is its upper triangle with the
// diagonal halved: ΩᵀKΩ = ΩᵀUΩ + (ΩᵀUΩ)ᵀ.
func (g *denseGram) multiply(s []float64, param int) {
	g.param = param
	g.lanes.Begin(g.term.end - g.term.offset)
	parallel.Within(g.term.ctx, len(g.lanes), g.sandwich)
	k := g.omega.Cols
	for a := range k {
		for b := range a + 1 {
			var v float64
			for _, sum := range g.sum {
				v += sum.Data[a*k+b] + sum.Data[b*k+a]
			}
			s[a*k+b], s[b*k+a] = v, v
		}
	}
}

// sandwichLane sums ΩᵀUΩ over the rows of a lane.
func (g *denseGram) sandwichLane(c int) {
	l, sum, n := &g.lanes[c], g.sum[c], g.omega.Rows
	clear(sum.Data)
	for i := c; i < dense.Blocks(n); i += parallel.Lanes {
		strip := dense.Rows(g.strip[c], 0, dense.Width(n, i)) // rows i of UΩ
		for j := i; j < dense.Blocks(n); j++ {
			parallel.Look(g.term.ctx)
			tile := blas64.General{Rows: strip.Rows, Cols: dense.Width(n, j), Stride: dense.Width(n, j), Data: l.R}
			r := l.R[:tile.Rows*tile.Cols]
			rows, cols := g.engine.x.block(i), g.engine.x.block(j)
			if g.param < 0 {
				covariances(r, g.term.kernel, rows, cols)
			} else {
				derivatives(r, g.term.kernel, g.param, rows, cols, l.Grad)
			}
			alpha, beta := 1.0, 1.0
			if j == i {
				alpha, beta = 0.5, 0
			}
			dense.Gemm(blas.NoTrans, blas.NoTrans, alpha, tile, dense.RowBlock(g.omega, j), beta, strip)
		}
		dense.Gemm(blas.Trans, blas.NoTrans, 1, dense.RowBlock(g.omega, i), strip, 1, sum)
	}
}

// contract weighs ∂K by W = ΩVΩᵀ, a tile of it at a time.
func (g *denseGram) contract(grad, v []float64) error {
	k := g.omega.Cols
	g.v = blas64.General{Rows: k, Cols: k, Stride: k, Data: v}
	g.lanes.Begin(len(grad))
	parallel.Within(g.term.ctx, len(g.lanes), g.weighted)
	g.lanes.AddTo(grad)
	return nil
}

// weightedLane contracts the rows of a lane.
func (g *denseGram) weightedLane(c int) {
	l, n := &g.lanes[c], g.omega.Rows
	for i := c; i < dense.Blocks(n); i += parallel.Lanes {
		strip := dense.Rows(g.strip[c], 0, dense.Width(n, i)) // rows i of ΩV
		dense.Gemm(blas.NoTrans, blas.NoTrans, 1, dense.RowBlock(g.omega, i), g.v, 0, strip)
		for j := i; j < dense.Blocks(n); j++ {
			parallel.Look(g.term.ctx)
			size := strip.Rows * dense.Width(n, j)
			weight := blas64.General{Rows: strip.Rows, Cols: dense.Width(n, j), Stride: dense.Width(n, j), Data: l.W}
			twice := 2.0 // the tile and its mirror image
			if j == i {
				twice = 1
			}
			dense.Gemm(blas.NoTrans, blas.Trans, twice, strip, dense.RowBlock(g.omega, j), 0, weight)
			contractions(l.Grad, g.term.kernel, l.W[:size], g.engine.x.block(i), g.engine.x.block(j), l.R[:size])
		}
	}
}

// derivativeAt sets dst[i] = ∂k(r[i])/∂log θ_p, one Contract each. grad has an
// entry per parameter.
func derivativeAt(dst, r []float64, k Kernel, p int, grad []float64) {
	one := [1]float64{1}
	for i := range r {
		clear(grad)
		k.Contract(grad, one[:], r[i:i+1])
		dst[i] = grad[p]
	}
}

// derivatives sets the block dst to ∂k(a_i, b_j)/∂log θ_p. grad has an entry per parameter.
func derivatives(dst []float64, k Kernel, p int, a, b Inputs, grad []float64) {
	if !isPlaced(k) {
		distances(dst, a, b)
		derivativeAt(dst, dst, k, p, grad)
		return
	}
	m := b.Len()
	for i := range a.Len() {
		for j := range m {
			clear(grad)
			contractPair(grad, k, 1, a.At(i), b.At(j))
			dst[i*m+j] = grad[p]
		}
	}
}

// derivative is ΩᵀKΩ with ∂K instead of K.
func (g *denseGram) derivative(s []float64, p int) { g.multiply(s, p) }

// projectedTerm is one family of kernels with the engines that may compute ΩᵀKΩ.
type projectedTerm struct {
	k              int
	mass           float64 // of the directions
	span           float64 // the largest distance there is
	directionError float64 // error that the directions add to each engine's
	engines        []projectedEngine
	chooser        *choice.Chooser
	scaling        scaling
}

func newProjectedTerm(k Kernel, x Inputs, d projected.Directions, o options, engines ...projectedEngine) *projectedTerm {
	return &projectedTerm{
		k: d.K, mass: d.Mass, span: extent(x), directionError: d.Bound(),
		engines: engines, chooser: choice.New(o.Limits, o.tolerance*float64(d.K), engineNamesOf(engines)), scaling: scalingOf(k),
	}
}

// callBytes is the memory of a projectedCall in bytes, over k².
const callBytes = 12 * 8

// estimate collects the estimates of all engines for m.
func (t *projectedTerm) estimate(s *choice.Selection, m *compiledTerm) {
	t.chooser.Begin(s)
	blur := float64(t.k)*phases(m.kernel, t.span, m.noise, math.Sqrt(t.mass)) + t.directionError
	blur += float64(t.k) * gramRounding(m.cond-1, 1) // engines allow only for the rounding of the signal
	for i, e := range t.engines {
		f := e.estimate(m)
		f.Bytes += callBytes * float64(t.k*t.k)
		s.Candidates[i] = t.chooser.Limited(f)
		s.Candidates[i].Err += blur
	}
}

// best returns the estimate of the best engine that has not failed.
func (t *projectedTerm) best(s *choice.Selection) choice.Estimate {
	if i := t.chooser.Next(s); i >= 0 {
		return s.Candidates[i]
	}
	return choice.Cannot("no engine takes it")
}

// termCall is a term at one evaluation, with its engine and its covariance.
type termCall struct {
	*projectedTerm
	compiledTerm
	choice.Selection
	gram projectedGram // nil: not computed
}

// compute has the engines attempt the covariance, unless it is there.
func (t *termCall) compute(derivatives bool) error {
	if t.gram != nil {
		return nil
	}
	return asRefusal(t.chooser.Evaluate(&t.Selection, func(i int) (choice.Outcome, error) {
		t.release() // the factor of an engine that did not keep its promised accuracy
		gram, err := t.engines[i].gram(&t.compiledTerm, derivatives)
		if err == nil {
			t.gram = gram
		}
		return choice.Outcome{Terms: float64(t.k)}, err
	}))
}

// reject notes that the answer of the engine failed its check, so that the next
// takes over.
func (t *termCall) reject(err error) {
	t.release()
	t.Selection.Failed |= 1 << t.Chosen
	t.Fallbacks++
	t.LastErr = err
}

// release gives the memory of the covariance back, if there is one.
func (t *termCall) release() {
	if t.gram != nil {
		t.gram.release()
		t.gram = nil
	}
}

// informInterpolated tells the interpolated engine, whose estimates depend on where evaluations were made, of this one.
func (t *termCall) informInterpolated() {
	for _, e := range t.engines {
		if e, ok := e.(*interpolated); ok {
			var largest float64
			if t.gram != nil { // positive semi-definite: the largest entry is on the diagonal
				largest = dense.LargestOnDiagonal(t.gram.covariance(), t.k)
			}
			e.saw(&t.compiledTerm, largest)
		}
	}
}

// lastUse is which terms the last evaluation used, for Explain and Report.
type lastUse struct {
	mu      sync.Mutex
	terms   []*projectedTerm
	kernels []Kernel
}

func (u *lastUse) note(use []*termCall) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.terms, u.kernels = u.terms[:0], u.kernels[:0]
	for _, t := range use {
		u.terms, u.kernels = append(u.terms, t.projectedTerm), append(u.kernels, t.kernel)
	}
}

// each calls f for each of them.
func (u *lastUse) each(f func(t *projectedTerm, k Kernel)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, t := range u.terms {
		f(t, u.kernels[i])
	}
}
