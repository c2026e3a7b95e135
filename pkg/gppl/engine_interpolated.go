package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/chebyshev"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
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
	base   *projectedTerm                  // makes the nodes
	asks   parallel.Pool[choice.Selection] // choices of base
	grams  parallel.Pool[interpolatedGram]
	panels chebyshev.Panels // interpolate S₀/v
	mass   float64          // mass of the directions
	k      int

	varianceAt, lengthAt int // the indices of v and l among the parameters
}

const nodes = chebyshev.Nodes

// newInterpolated returns nil unless the kernel is of one shape at one scale.
func newInterpolated(kernel Kernel, base *projectedTerm) *interpolated {
	v, l, ok := scaledAt(kernel)
	if !ok {
		return nil
	}
	return &interpolated{base: base, mass: base.mass, k: base.k, varianceAt: v, lengthAt: l}
}

func (e *interpolated) name() string { return EngineInterpolated }

func (e *interpolated) estimate(m *compiledTerm) choice.Estimate {
	v, l := m.kernel.(capability.Scaled).Scale()
	u := math.Log(l)
	ask := e.asks.Get()
	e.base.estimate(ask, m)
	best := e.base.best(ask)
	e.asks.Put(ask)
	if best.Reason.Given() {
		return best
	}
	p, count, size := e.panels.Known(u, m.noise/v)
	if size == 0 {
		size = e.mass
	}
	entries := 0.5 * float64(e.k) * float64(e.k+1)
	f := choice.Estimate{
		Bytes:   8*2*nodes*entries + best.Bytes,
		Seconds: 4*nodes*entries/4e9/2 + 2e-6,
		Err:     best.Err + float64(e.k)*chebyshev.Error*v*size/m.noise,
	}
	if p == nil && count < nodes { // later, what a panel costs will have been spent
		f.Setup = math.Inf(1)
	}
	return f
}

// saw remembers an evaluation outside the panel, whose covariance has the given largest entry; 0 if that is not known.
func (e *interpolated) saw(m *compiledTerm, largest float64) {
	v, l := m.kernel.(capability.Scaled).Scale()
	e.panels.Saw(math.Log(l), m.noise/v, largest/v)
}

// build computes the nodes of a panel around u.
func (e *interpolated) build(m *compiledTerm, u, noise float64) (*chebyshev.Panel, error) {
	at := &termCall{projectedTerm: e.base}
	at.ctx = m.ctx
	defer at.release()
	return e.panels.Build(u, noise, e.k, func(dst []float64, u, noise float64) error { return e.unit(dst, at, m.kernel, u, noise) })
}

// unit sets dst to ΩᵀKΩ at variance 1 and log lengthscale u.
func (e *interpolated) unit(dst []float64, at *termCall, k Kernel, u, noise float64) error {
	at.release()
	theta := [2]float64{1, 1}
	theta[e.lengthAt] = math.Exp(u)
	at.set(k.WithParams(theta[:]), 0, len(theta), noise, 1)
	at.estimate(&at.Selection, &at.compiledTerm)
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
	v, l := m.kernel.(capability.Scaled).Scale()
	u := math.Log(l)
	p, _, _ := e.panels.Known(u, m.noise/v)
	if p == nil {
		var err error
		if p, err = e.build(m, u, m.noise/v); err != nil {
			return nil, err
		}
	}
	g := e.grams.Get()
	if g.s == nil {
		g.engine, g.s, g.Interpolant = e, make([]float64, e.k*e.k), chebyshev.NewInterpolant(e.k)
	}
	g.v = v
	g.Set(p, u)
	verify.Tampered("interpolated slope", g.Slope[:])
	verify.Tampered("interpolated weight", g.Weight[:])
	if err := g.Verify(u); err != nil {
		g.release()
		return nil, err
	}
	g.Value(g.s, v)
	return g, nil
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

// derivative in the log of the variance is S₀, in the log of the lengthscale the
// slope of the interpolation.
func (g *interpolatedGram) derivative(s []float64, p int) {
	weights := &g.Weight
	if p == g.engine.lengthAt {
		weights = &g.Slope
	}
	g.Sum(s, g.v, weights)
}
