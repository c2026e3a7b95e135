package gppl

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
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
	base   *projectedTerm           // makes the nodes
	asks   parallel.Pool[selection] // of base
	grams  parallel.Pool[interpolatedGram]
	mass   float64 // of the directions
	k      int
	packed int // k(k+1)/2

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
	centre float64
	node   [nodes]float64
	s      [nodes][]float64 // S_q, packed
	size   float64          // the largest entry of any S_q
	noise  float64          // the least noise, relative to the variance, for which the nodes are exact enough
}

const (
	// nodes Chebyshev nodes on a panel of half-width halfWidth give 1e-13: φ is
	// analytic for |Im u| < π/4, for SE, and interpolation converges like
	// ρ^−nodes with ρ = w + √(1+w²), w = π/4/halfWidth.
	nodes     = 30
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
	return &interpolated{base: base, mass: base.mass, k: base.k, packed: base.k * (base.k + 1) / 2, varianceAt: v, lengthAt: l}
}

func (e *interpolated) name() string { return EngineInterpolated }

func (e *interpolated) forecast(m *compiledTerm) forecast {
	v, l := m.kernel.(Scaled).Scale()
	u := math.Log(l)
	ask := e.asks.Get()
	e.base.forecast(ask, m)
	best := e.base.best(ask)
	e.asks.Put(ask)
	if best.reason != (reason{}) {
		return best
	}
	p, count, size := e.known(u, m.noise/v)
	f := forecast{
		bytes:   8*2*nodes*float64(e.packed) + best.bytes,
		seconds: 4*nodes*float64(e.packed)/4e9/2 + 2e-6,
		err:     best.err + float64(e.k)*interpolationError*v*size/m.noise,
	}
	if p == nil && count < nodes { // later, what a panel costs will have been spent
		f.setup = math.Inf(1)
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
		return p, 0, p.size
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
func (e *interpolated) build(m *compiledTerm, u, noise float64) (*panel, error) {
	p := &panel{centre: u, noise: noise / 30} // room for the noise to fall
	k, at := m.kernel, &termCall{projectedTerm: e.base}
	at.ctx = m.ctx
	defer at.release()
	for q := range p.node {
		p.node[q] = u + halfWidth*math.Cos(math.Pi*(float64(q)+0.5)/nodes)
		p.s[q] = make([]float64, e.packed)
		if err := e.unit(p.s[q], at, k, p.node[q], p.noise); err != nil {
			return nil, err
		}
		for _, v := range p.s[q] {
			p.size = max(p.size, math.Abs(v))
		}
	}
	return p, e.verifyPanel(p, at, k)
}

// verifyPanel compares the interpolation at the centre, which is not a node, with the
// engine of the nodes: a thirtieth of the set-up.
func (e *interpolated) verifyPanel(p *panel, at *termCall, k Kernel) error {
	direct := make([]float64, e.packed)
	if err := e.unit(direct, at, k, p.centre, p.noise); err != nil {
		return err
	}
	var weight, slope [nodes]float64
	p.lagrange(&weight, &slope, p.centre)
	var off float64
	for i, want := range direct {
		for q, w := range weight {
			want -= w * p.s[q][i]
		}
		off = max(off, math.Abs(want))
	}
	return verify("an interpolated covariance", off, 0, 1000*interpolationError*p.size)
}

// unit sets dst to ΩᵀKΩ, packed, at variance 1 and log lengthscale u.
func (e *interpolated) unit(dst []float64, at *termCall, k Kernel, u, noise float64) error {
	at.release()
	theta := [2]float64{1, 1}
	theta[e.lengthAt] = math.Exp(u)
	at.set(k.WithParams(theta[:]), 0, len(theta), noise, 1)
	at.forecast(&at.selection, &at.compiledTerm)
	if err := at.compute(false); err != nil {
		return err
	}
	pack(dst, at.gram.covariance(), e.k, 1)
	return nil
}

// pack sets dst to the lower triangle of s, entries off the diagonal times off.
func pack(dst, s []float64, k int, off float64) {
	i := 0
	for a := range k {
		row := s[a*k : a*k+a+1]
		for b, v := range row[:a] {
			dst[i+b] = off * v
		}
		dst[i+a] = row[a]
		i += a + 1
	}
}

// unpack sets both triangles of s.
func unpack(s, packed []float64, k int) {
	i := 0
	for a := range k {
		for b, x := range packed[i : i+a+1] {
			s[a*k+b], s[b*k+a] = x, x
		}
		i += a + 1
	}
}

// lagrange sets the weights of the nodes, and of their derivatives, at u.
func (p *panel) lagrange(weight, slope *[nodes]float64, u float64) {
	// Barycentric weights of Chebyshev points of the first kind (Berrut and
	// Trefethen 2004, eq. 5.3).
	var sum, dsum float64
	for q, x := range p.node {
		if u == x {
			u += 1e-15 * (1 + math.Abs(u)) // the limit is the same to rounding
		}
		w := math.Sin(math.Pi * (float64(q) + 0.5) / nodes)
		if q%2 == 1 {
			w = -w
		}
		d := u - x
		weight[q] = w / d
		slope[q] = -w / (d * d)
		sum += weight[q]
		dsum += slope[q]
	}
	for q := range weight {
		slope[q] = (slope[q] - weight[q]*dsum/sum) / sum
		weight[q] /= sum
	}
}

// interpolatedGram is S₀ by interpolation.
type interpolatedGram struct {
	engine *interpolated
	panel  *panel
	v      float64
	weight [nodes]float64 // L_q(u)
	slope  [nodes]float64 // L′_q(u)
	dots   [nodes]float64
	s      []float64
	sPack  []float64
	vPack  []float64

	combine, dot func(int) // the loops that run in parallel, made once
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
		g.engine, g.s = e, make([]float64, e.k*e.k)
		g.sPack, g.vPack = make([]float64, e.packed), make([]float64, e.packed)
		g.combine, g.dot = g.combineShare, g.dotNode
	}
	g.panel, g.v = p, v
	p.lagrange(&g.weight, &g.slope, u)
	tampered("interpolated slope", g.slope[:])
	tampered("interpolated weight", g.weight[:])
	if err := g.verifyWeights(u); err != nil {
		g.release()
		return nil, err
	}
	parallel.For(shares, g.combine)
	unpack(g.s, g.sPack, e.k)
	return g, nil
}

// verifyWeights: constants and straight lines are interpolated exactly, and so are
// their slopes. Very near a node the slopes lose digits.
func (g *interpolatedGram) verifyWeights(u float64) error {
	var one, none, off, slope float64
	for q, w := range g.weight {
		d := g.panel.node[q] - u
		one += w
		off += w * d
		none += g.slope[q]
		slope += g.slope[q] * d
	}
	for _, c := range [...]struct{ got, want float64 }{{one, 1}, {off, 0}, {none, 0}, {slope, 1}} {
		if err := verify("weights of an interpolation", c.got, c.want, 1e-9); err != nil {
			return err
		}
	}
	return nil
}

// combineShare computes a share of S₀, packed.
func (g *interpolatedGram) combineShare(c int) {
	from, to := share(g.engine.packed, c)
	dst := dense.Vec(g.sPack[from:to])
	clear(dst.Data)
	for q, w := range g.weight {
		blas64.Axpy(g.v*w, dense.Vec(g.panel.s[q][from:to]), dst)
	}
}

// dotNode computes ⟨V, S_q⟩.
func (g *interpolatedGram) dotNode(q int) {
	g.dots[q] = blas64.Dot(dense.Vec(g.vPack), dense.Vec(g.panel.s[q]))
}

func (g *interpolatedGram) contract(grad, v []float64) error {
	pack(g.vPack, v, g.engine.k, 2)
	parallel.For(nodes, g.dot)
	var value, slope float64
	for q, d := range g.dots {
		value += g.weight[q] * d
		slope += g.slope[q] * d
	}
	grad[g.engine.varianceAt] += g.v * value
	grad[g.engine.lengthAt] += g.v * slope
	return nil
}

func (g *interpolatedGram) covariance() []float64         { return g.s }
func (g *interpolatedGram) leftOut(blas64.Vector) float64 { return 0 }

// release forgets the panel too, which may be large.
func (g *interpolatedGram) release() {
	g.panel = nil
	g.engine.grams.Put(g)
}

// derivative in the log of the variance is S₀, in that of the lengthscale the
// slope of the interpolation.
func (g *interpolatedGram) derivative(s []float64, p int) {
	weights := &g.weight
	if p == g.engine.lengthAt {
		weights = &g.slope
	}
	packed := make([]float64, g.engine.packed)
	for q, w := range weights {
		blas64.Axpy(g.v*w, dense.Vec(g.panel.s[q]), dense.Vec(packed))
	}
	unpack(s, packed, g.engine.k)
}
