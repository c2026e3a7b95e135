package gppl

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/chebyshev"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// interpolated takes kernels v·φ(r/l) and uses that S₀/v is an analytic function
// of u = log l: within a panel of u it is a polynomial through its values S_q at
// Chebyshev nodes u_q, which other engines compute once,
//
//	S₀(u) = v·Σ_q L_q(u)·S_q,  ∂S₀/∂u = v·Σ_q L′_q(u)·S_q.
//
// An evaluation takes 2·nodes·k² flops, whatever n is. A panel costs as many
// evaluations as it has nodes, so it is built only after as many evaluations by another
// engine at nearby parameters: at most it doubles the time of training.
type interpolated struct {
	base  *projectedTerm                  // makes the nodes
	asks  parallel.Pool[choice.Selection] // of base
	grams parallel.Pool[interpolatedGram]
	mass  float64 // of the directions
	k     int

	varianceAt, lengthAt int // the indices of v and l among the parameters

	mu    sync.Mutex
	near  []sighting // the last evaluations outside the panel
	panel *panel     // nil: none yet

	building sync.Mutex // held while a panel is built
}

// sighting is an evaluation that was made.
type sighting struct {
	u    float64
	size float64 // the largest entry of S₀/v, 0 where it is not known
}

// panel is an interval of u with its nodes. It does not change.
type panel struct {
	*chebyshev.Panel
	centre float64
	noise  float64 // the least noise, relative to the variance, for which the nodes are exact enough
}

const (
	// The nodes on a panel of half-width halfWidth give 1e-13: φ is analytic for
	// |Im u| < π/4, for SE.
	nodes     = chebyshev.Nodes
	halfWidth = 0.6
	// interpolationError is what the entries of S may err by, relative to the
	// largest of them.
	interpolationError = 2e-13
	// closeBy is how near to one another, in u, evaluations are to be.
	closeBy = 0.4
)

// newInterpolated returns nil unless the kernel is of one shape at one scale.
func newInterpolated(kernel Kernel, base *projectedTerm) *interpolated {
	v, l, ok := scaledAt(kernel)
	if !ok {
		return nil
	}
	return &interpolated{base: base, mass: base.mass, k: base.k, varianceAt: v, lengthAt: l}
}

func (e *interpolated) name() string { return EngineInterpolated }

func (e *interpolated) forecast(m *compiledTerm) choice.Forecast {
	v, l := m.kernel.(Scaled).Scale()
	u := math.Log(l)
	ask := e.asks.Get()
	e.base.forecast(ask, m)
	best := e.base.best(ask)
	e.asks.Put(ask)
	if best.Reason.Given() {
		return best
	}
	p, count, size := e.known(u, m.noise/v)
	entries := 0.5 * float64(e.k) * float64(e.k+1)
	f := choice.Forecast{
		Bytes:   8*2*nodes*entries + best.Bytes,
		Seconds: 4*nodes*entries/4e9/2 + 2e-6,
		Err:     best.Err + float64(e.k)*interpolationError*v*size/m.noise,
	}
	if p == nil && count < nodes { // later, what a panel costs will have been spent
		f.Setup = math.Inf(1)
	}
	return f
}

// known returns the panel that holds at u, for a noise variance relative to the
// variance, nil if none does; how many of the last evaluations were near u; and the
// largest entry of S/v that is to be expected, the mass if nothing is known of it.
func (e *interpolated) known(u, noise float64) (p *panel, count int, size float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.panel; p != nil && math.Abs(u-p.centre) <= halfWidth && noise >= p.noise {
		return p, 0, p.Size
	}
	for _, s := range e.near {
		if math.Abs(s.u-u) <= closeBy {
			count++
			size = max(size, s.size)
		}
	}
	if size == 0 {
		size = e.mass
	}
	return nil, count, size
}

// saw remembers an evaluation outside the panel.
func (e *interpolated) saw(m *compiledTerm, largest float64) {
	v, l := m.kernel.(Scaled).Scale()
	u := math.Log(l)
	if p, _, _ := e.known(u, m.noise/v); p != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.near) == 2*nodes {
		e.near = append(e.near[:0], e.near[1:]...)
	}
	e.near = append(e.near, sighting{u, largest / v})
}

// panelAt returns a panel that holds at u, built if need be.
func (e *interpolated) panelAt(m *compiledTerm, u, noise float64) (*panel, error) {
	if p, _, _ := e.known(u, noise); p != nil {
		return p, nil
	}
	e.building.Lock()
	defer e.building.Unlock()
	if p, _, _ := e.known(u, noise); p != nil { // by another goroutine
		return p, nil
	}
	p, err := e.build(m, u, noise)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.near = e.near[:0]
	if err != nil {
		return nil, err
	}
	e.panel = p
	return p, nil
}

// build computes the nodes of a panel around u.
func (e *interpolated) build(m *compiledTerm, u, noise float64) (p *panel, err error) {
	p = &panel{centre: u, noise: noise / 30} // room for the noise to fall
	k, at := m.kernel, &termCall{projectedTerm: e.base}
	at.ctx = m.ctx
	defer at.release()
	unit := func(dst []float64, u float64) error { return e.unit(dst, at, k, u, p.noise) }
	if p.Panel, err = chebyshev.NewPanel(u, halfWidth, e.k, unit); err != nil {
		return nil, err
	}
	return p, e.verifyPanel(p, unit)
}

// verifyPanel compares the interpolation at the centre, which is not a node, with the
// engine of the nodes: a thirtieth of the set-up.
func (e *interpolated) verifyPanel(p *panel, unit func(dst []float64, u float64) error) error {
	direct, by := make([]float64, e.k*e.k), make([]float64, e.k*e.k)
	if err := unit(direct, p.centre); err != nil {
		return err
	}
	at := chebyshev.NewInterpolant(e.k)
	at.Set(p.Panel, p.centre)
	at.Value(by, 1)
	var off float64
	for i, want := range direct {
		off = max(off, math.Abs(want-by[i]))
	}
	return verify.Near("an interpolated covariance", off, 0, 1000*interpolationError*p.Size)
}

// unit sets dst to ΩᵀKΩ at variance 1 and log lengthscale u.
func (e *interpolated) unit(dst []float64, at *termCall, k Kernel, u, noise float64) error {
	at.release()
	theta := [2]float64{1, 1}
	theta[e.lengthAt] = math.Exp(u)
	at.set(k.WithParams(theta[:]), 0, len(theta), noise, 1)
	at.forecast(&at.Selection, &at.compiledTerm)
	if err := at.compute(false); err != nil {
		return err
	}
	copy(dst, at.gram.covariance())
	return nil
}

// interpolatedGram is S₀ by interpolation.
type interpolatedGram struct {
	*chebyshev.Interpolant
	engine *interpolated
	v      float64
	s      []float64
}

func (e *interpolated) gram(m *compiledTerm, _ bool) (projectedGram, error) {
	v, l := m.kernel.(Scaled).Scale()
	u := math.Log(l)
	p, err := e.panelAt(m, u, m.noise/v)
	if err != nil {
		return nil, err
	}
	g := e.grams.Get()
	if g.s == nil {
		g.engine, g.s, g.Interpolant = e, make([]float64, e.k*e.k), chebyshev.NewInterpolant(e.k)
	}
	g.v = v
	g.Set(p.Panel, u)
	verify.Tampered("interpolated slope", g.Slope[:])
	verify.Tampered("interpolated weight", g.Weight[:])
	if err := g.verifyWeights(u); err != nil {
		g.release()
		return nil, err
	}
	g.Value(g.s, v)
	return g, nil
}

// verifyWeights: constants and straight lines are interpolated exactly, and so are
// their slopes. Very near a node the slopes lose digits.
func (g *interpolatedGram) verifyWeights(u float64) error {
	one, off, none, slope := g.Lines(u)
	for _, c := range [...]struct{ got, want float64 }{{one, 1}, {off, 0}, {none, 0}, {slope, 1}} {
		if err := verify.Near("weights of an interpolation", c.got, c.want, 1e-9); err != nil {
			return err
		}
	}
	return nil
}

func (g *interpolatedGram) contract(grad, v []float64) error {
	value, slope := g.Contract(v)
	grad[g.engine.varianceAt] += g.v * value
	grad[g.engine.lengthAt] += g.v * slope
	return nil
}

func (g *interpolatedGram) covariance() []float64         { return g.s }
func (g *interpolatedGram) leftOut(blas64.Vector) float64 { return 0 }

// release forgets the panel too, which may be large.
func (g *interpolatedGram) release() {
	g.Set(nil, 0)
	g.engine.grams.Put(g)
}

// derivative in the log of the variance is S₀, in that of the lengthscale the
// slope of the interpolation.
func (g *interpolatedGram) derivative(s []float64, p int) {
	weights := &g.Weight
	if p == g.engine.lengthAt {
		weights = &g.Slope
	}
	g.Sum(s, g.v, weights)
}
