package gppl

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/projected"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// spectralProjected computes S₀ = Σ_m c_m(b_m b_mᵀ + s_m s_mᵀ), where b_m = Ωᵀcos and s_m = Ωᵀsin of the mth frequency are
// computed once: by sums over the data, or from moments where the directions are waves. With M frequencies an evaluation takes
// 8Mk² flops, for any n, half of them for the gradient.
type spectralProjected struct {
	k        int
	mass     float64 // mass of the directions
	nats     float64 // the tolerance, for all projections together
	features *projected.Features
	probe    []float64 // ±1, for the check of S₀
	grams    parallel.Pool[spectralGram]
}

func newSpectralProjected(d projected.Directions, f *projected.Features, tolerance float64) *spectralProjected {
	e := &spectralProjected{mass: d.Mass, k: d.K, nats: tolerance * float64(d.K), features: f}
	e.probe = make([]float64, e.k)
	rnd := rand.New(rand.NewPCG(uint64(e.k), 4))
	for i := range e.probe {
		e.probe[i] = float64(2*rnd.IntN(2) - 1)
	}
	return e
}

func (e *spectralProjected) name() string { return EngineSpectral }

// spectralEps bounds the sum of the omitted coefficients, relative to the variance: their part of S₀ has a trace of at most
// n·eps·v, which changes PL by at most that over σ².
func spectralEps(nats, n, v, noise float64) float64 {
	return min(1e-11, max(2e-15, 0.3*nats*noise/(n*v)))
}

func (e *spectralProjected) eps(m *compiledTerm) float64 {
	return max(spectralEps(e.nats, e.mass, m.variance, m.noise), e.features.Least(&m.series))
}

func (e *spectralProjected) estimate(m *compiledTerm) choice.Estimate {
	n, kk := e.mass, float64(e.k)
	eps := e.eps(m)
	count, why := e.features.Frequencies(&m.series, eps)
	if why.Given() {
		return choice.Estimate{Reason: why}
	}
	return choice.Estimate{
		Seconds: 8*count*kk*kk/(2*choice.FlopRate) + count*100e-9,
		Setup:   e.features.Seconds(&m.series, eps, count),
		Bytes:   6*16*count*kk + e.features.Formed(), // the features, with memory to grow, and two products of them with weights
		Err:     n*eps*m.variance/m.noise + kk*gramRounding(m.variance*n, m.noise),
	}
}

// spectralGram computes S₀ for the spectral engine.
type spectralGram struct {
	*spectral.Gram
	engine    *spectralProjected
	term      *compiledTerm
	s         []float64
	expansion projected.Expansion
}

func (e *spectralProjected) gram(m *compiledTerm, derivatives bool) (projectedGram, error) {
	g := e.grams.Get()
	if g.s == nil {
		g.engine, g.s, g.Gram, g.expansion.Of = e, make([]float64, e.k*e.k), spectral.NewGram(e.k), e.features
	}
	g.term, g.Ctx = m, m.ctx
	if err := g.compute(derivatives); err != nil {
		g.release()
		return nil, err
	}
	return g, nil
}

func (g *spectralGram) release()                           { g.engine.grams.Put(g) }
func (g *spectralGram) covariance() []float64              { return g.s }
func (g *spectralGram) leftOut(beta blas64.Vector) float64 { return g.LeftOut(beta) }

func (g *spectralGram) compute(derivatives bool) (err error) {
	var m int
	eps := g.engine.eps(g.term)
	if g.Series, m, g.Features, err = g.expansion.Expand(&g.term.series, eps); err != nil {
		return err
	}
	g.Keep(g.s, m, eps*g.term.variance/float64(2*m+1))
	verify.Tampered("projected gram", g.s)
	if derivatives {
		return g.verify()
	}
	return nil
}

// verify compares zᵀS₀z with its sum over the frequencies for one z of ±1.
func (g *spectralGram) verify() error {
	k, probe := g.engine.k, g.engine.probe
	want, scale := g.Form(probe)
	var got float64
	for i, z := range probe {
		got += z * blas64.Dot(dense.Vec(g.s[i*k:][:k]), dense.Vec(probe))
		scale += float64(k) * math.Abs(g.s[i*(k+1)])
	}
	return verify.Near("a projected covariance", got, want, verify.Backward*scale)
}

// contract uses ∂S₀ = Σ_m ∂c_m(…): the gradient is Σ_m q_m ∂c_m.
func (g *spectralGram) contract(grad, v []float64) error {
	q := g.Quadratic(v)
	verify.Tampered("projected q", q)
	return spectral.ContractSeries(g.Series, grad, q, g.term.kernel)
}

// derivative weighs the features by ∂c_m.
func (g *spectralGram) derivative(s []float64, p int) {
	c := make([]float64, len(g.Series.C))
	grad := make([]float64, g.term.end-g.term.offset)
	g.Series.Derivative(c, func(dst, r []float64) { derivativeAt(dst, r, g.term.kernel, p, grad) })
	g.Sum(s, c)
}
