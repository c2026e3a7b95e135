package gppl

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// spectralProjected computes S₀ = Σ_m c_m(b_m b_mᵀ + s_m s_mᵀ), where b_m = Ωᵀcos
// and s_m = Ωᵀsin of the mth frequency are computed once: by sums over the data, or
// from moments where the directions are waves. With M frequencies an
// evaluation takes 8Mk² flops, whatever n is, half of them for the gradient.
type spectralProjected struct {
	k        int
	mass     float64 // of the directions
	nats     float64 // the tolerance, for all projections together
	features *features
	probe    []float64 // ±1, for the check of S₀
	grams    parallel.Pool[spectralGram]
}

func newSpectralProjected(f *features, tolerance float64) *spectralProjected {
	e := &spectralProjected{mass: f.dirs.mass, k: f.dirs.k, nats: tolerance * float64(f.dirs.k), features: f}
	e.probe = make([]float64, e.k)
	rnd := rand.New(rand.NewPCG(uint64(e.k), 4))
	for i := range e.probe {
		e.probe[i] = float64(2*rnd.IntN(2) - 1)
	}
	return e
}

func (e *spectralProjected) name() string { return EngineSpectral }

// spectralEps is what the coefficients that are left out may sum to, relative
// to the variance: their part of S₀ has a trace of at most n·eps·v, which
// changes PL by at most that over σ².
func spectralEps(nats, n, v, noise float64) float64 {
	return min(1e-11, max(2e-15, 0.3*nats*noise/(n*v)))
}

func (e *spectralProjected) eps(m *compiledTerm) float64 {
	eps := spectralEps(e.nats, e.mass, m.variance, m.noise)
	if c := e.features.fixed; c != nil {
		eps = max(eps, c.least(e.features.span, m.kernel))
	}
	return eps
}

func (e *spectralProjected) forecast(m *compiledTerm) forecast {
	n, kk := e.mass, float64(e.k)
	eps := e.eps(m)
	count, why := e.features.frequencies(m.kernel, eps)
	if why != (reason{}) {
		return forecast{reason: why}
	}
	return forecast{
		seconds: 8*count*kk*kk/(2*flopRate) + count*100e-9,
		setup:   e.features.forecast(m.kernel, eps, count),
		bytes:   6*16*count*kk + e.features.formed(), // the features, with room to grow, and two products of them with weights
		err:     n*eps*m.variance/m.noise + kk*gramRounding(m.variance*n, m.noise),
	}
}

// spectralGram is S₀ by the spectral engine.
type spectralGram struct {
	engine *spectralProjected
	term   *compiledTerm
	s      []float64

	expansions []*fourier.Series // of the circles that it has seen
	series     *fourier.Series   // of the term
	feat       blas64.General    // 2m×k, of the features that are kept for all
	m          int
	weighted   []int // frequencies with weight
	last       int   // frequencies up to the last that is kept
	probed     int   // of the frequencies left out, those below are what leftOut looks at

	a, b blas64.General
	part []blas64.General // per share of the rows: k×k
	q    []float64
	u, v blas64.General

	product, quadratic func(int) // the loops that run in parallel, made once
}

func (e *spectralProjected) gram(m *compiledTerm, derivatives bool) (projectedGram, error) {
	g := e.grams.Get()
	if g.s == nil {
		g.engine, g.s = e, make([]float64, e.k*e.k)
		g.product, g.quadratic = g.productShare, g.quadraticShare
		for range shares {
			g.part = append(g.part, dense.New(e.k, e.k))
		}
	}
	g.term = m
	if err := g.compute(derivatives); err != nil {
		g.release()
		return nil, err
	}
	return g, nil
}

func (g *spectralGram) release()              { g.engine.grams.Put(g) }
func (g *spectralGram) covariance() []float64 { return g.s }

func (g *spectralGram) compute(derivatives bool) error {
	e, eps := g.engine, g.engine.eps(g.term)
	circle, windowed, err := e.features.circle(g.term.kernel, eps)
	if err != nil {
		return err
	}
	g.series = g.expansion(circle, windowed, eps)
	m, err := g.series.Expand(g.term.kernel, bandwidth(g.term.kernel, eps), eps)
	if err != nil {
		return err
	}
	if err := e.features.allow(g.term.kernel, m); err != nil {
		return err
	}
	g.feat, g.m = e.features.upTo(circle, m)
	g.probed = min(g.m, m+m/64+2)
	g.keep(m, eps*g.term.variance/float64(2*m+1))
	g.weigh(g.series.C, g.weighted)
	g.multiply(g.s)
	tampered("projected gram", g.s)
	if derivatives {
		return g.verify()
	}
	return nil
}

// expansion returns the series of a circle, one that is there if it can.
func (g *spectralGram) expansion(c *featureCircle, windowed bool, eps float64) *fourier.Series {
	for _, s := range g.expansions {
		if s.Period == c.period && s.Windowed() == windowed {
			return s
		}
	}
	s := fourier.NewSeries(g.engine.features.span, c.period, windowed, bandwidth(g.term.kernel, eps))
	if g.expansions = append(g.expansions, s); len(g.expansions) > maxCircles {
		g.expansions = g.expansions[1:]
	}
	return s
}

// verify compares zᵀS₀z with Σ_m c_m((b_mᵀz)² + (s_mᵀz)²) for one z of ±1.
func (g *spectralGram) verify() error {
	k, probe := g.engine.k, g.engine.probe
	var got, want, scale float64
	for i, z := range probe {
		got += z * blas64.Dot(dense.Vec(g.s[i*k:][:k]), dense.Vec(probe))
	}
	for _, m := range g.weighted {
		part := g.series.C[m] * g.power(m, dense.Vec(probe))
		want += part
		scale += math.Abs(part)
	}
	for i := range probe {
		scale += float64(k) * math.Abs(g.s[i*(k+1)])
	}
	return verify("a projected covariance", got, want, backward*scale)
}

// power returns (b_mᵀz)² + (s_mᵀz)².
func (g *spectralGram) power(m int, z blas64.Vector) float64 {
	k := g.engine.k
	b := blas64.Dot(dense.Vec(g.feat.Data[2*m*k:][:k]), z)
	s := blas64.Dot(dense.Vec(g.feat.Data[(2*m+1)*k:][:k]), z)
	return b*b + s*s
}

// keep lists the frequencies whose weight is above the threshold: few of them
// for a periodic kernel.
func (g *spectralGram) keep(m int, threshold float64) {
	g.weighted, g.last = g.weighted[:0], 0
	for j := range m {
		if g.series.Keeps(j, threshold) {
			g.weighted, g.last = append(g.weighted, j), j+1
		}
	}
}

// weigh sets a to the listed features, each times the root of its weight in c, and b
// to the same with the sign of the weight.
func (g *spectralGram) weigh(c []float64, list []int) {
	k := g.engine.k
	rows := 2 * len(list)
	g.a = dense.Reshape(g.a, rows, k)
	negative := false
	for i, m := range list {
		negative = negative || c[m] < 0
		root := math.Sqrt(math.Abs(c[m]))
		src, dst := g.feat.Data[2*m*k:2*(m+1)*k], g.a.Data[2*i*k:2*(i+1)*k]
		for j, f := range src {
			dst[j] = root * f
		}
	}
	if g.b = g.a; !negative {
		return
	}
	g.b = dense.New(rows, k) // rare: a window on a kernel that does not die out
	copy(g.b.Data, g.a.Data)
	for i, m := range list {
		if c[m] < 0 {
			blas64.Scal(-1, dense.Vec(g.b.Data[2*i*k:2*(i+1)*k]))
		}
	}
}

// leftOut returns βᵀΔS₀β = Σ c_m((b_mᵀβ)² + (s_mᵀβ)²) over the frequencies that
// are left out, those whose features are not computed at the most that any has.
func (g *spectralGram) leftOut(beta blas64.Vector) float64 {
	var left, most, tail float64
	kept := 0
	for m, c := range g.series.C {
		switch {
		case kept < len(g.weighted) && g.weighted[kept] == m:
			kept++
		case m >= g.probed:
			tail += math.Abs(c)
		case c != 0:
			power := g.power(m, beta)
			left += math.Abs(c) * power
			most = max(most, power)
		}
	}
	return left + tail*most
}

// shares is the number of parts that the rows of features are cut into.
const shares = 4

func share(rows, c int) (from, to int) { return rows * c / shares, rows * (c + 1) / shares }

// multiply sets s = aᵀb, symmetric, in 2·rows·k² flops, a half of which is
// saved by symmetry but for the tiles on the diagonal.
func (g *spectralGram) multiply(s []float64) {
	k := g.engine.k
	parallel.Within(g.term.ctx, shares, g.product)
	for i := range k {
		for j := range i + 1 {
			var v float64
			for _, p := range g.part {
				v += p.Data[i*k+j]
			}
			s[i*k+j], s[j*k+i] = v, v
		}
	}
}

// productShare multiplies a share of the rows.
func (g *spectralGram) productShare(c int) {
	k := g.engine.k
	from, to := share(g.a.Rows, c)
	part := g.part[c]
	if from == to {
		clear(part.Data)
		return
	}
	for i := range dense.Blocks(k) {
		parallel.Look(g.term.ctx)
		for j := range i + 1 {
			a, b, t := between(g.a, from, to, i), between(g.b, from, to, j), part
			t.Rows, t.Cols = a.Cols, b.Cols
			t.Data = t.Data[i*dense.Tile*k+j*dense.Tile:]
			blas64.Gemm(blas.Trans, blas.NoTrans, 1, a, b, 0, t)
		}
	}
}

// between returns block b of the columns of a, in rows from … to−1.
func between(a blas64.General, from, to, b int) blas64.General {
	a.Rows = to - from
	a.Data = a.Data[from*a.Stride+b*dense.Tile:]
	a.Cols = dense.Width(a.Cols, b)
	return a
}

// contract uses ∂S₀ = Σ_m ∂c_m(…): with q_m = b_mᵀVb_m + s_mᵀVs_m the gradient is
// Σ_m q_m ∂c_m.
func (g *spectralGram) contract(grad, v []float64) error {
	k := g.engine.k
	g.q = dense.Resize(g.q, len(g.series.C))
	clear(g.q)
	g.u = dense.Reshape(g.u, 2*g.m, k)
	g.v = blas64.General{Rows: k, Cols: k, Stride: k, Data: v}
	parallel.Within(g.term.ctx, shares, g.quadratic)
	tampered("projected q", g.q[:g.last])
	return contractSeries(g.series, grad, g.q[:g.last], g.term.kernel)
}

// quadraticShare computes q for a share of the frequencies: all up to the last
// where most are kept, else one by one.
func (g *spectralGram) quadraticShare(c int) {
	if 2*len(g.weighted) > g.last {
		g.quadraticForms(share(g.last, c))
		return
	}
	from, to := share(len(g.weighted), c)
	for _, m := range g.weighted[from:to] {
		g.quadraticForms(m, m+1)
	}
}

// quadraticForms sets q_m for m0 ≤ m < m1.
func (g *spectralGram) quadraticForms(m0, m1 int) {
	if m0 == m1 {
		return
	}
	k := g.engine.k
	f, u := dense.Rows(g.feat, 2*m0, 2*(m1-m0)), dense.Rows(g.u, 2*m0, 2*(m1-m0))
	dense.Gemm(blas.NoTrans, blas.NoTrans, 1, f, g.v, 0, u)
	for m := m0; m < m1; m++ {
		r := 2 * (m - m0) * k
		g.q[m] = blas64.Dot(dense.Vec(f.Data[r:r+2*k]), dense.Vec(u.Data[r:r+2*k]))
	}
}

// derivative weighs the features by ∂c_m.
func (g *spectralGram) derivative(s []float64, p int) {
	c := make([]float64, len(g.series.C))
	grad := make([]float64, g.term.end-g.term.offset)
	g.series.Derivative(c, func(dst, r []float64) { derivativeAt(dst, r, g.term.kernel, p, grad) })
	all := make([]int, min(len(c), g.m))
	for m := range all {
		all[m] = m
	}
	g.weigh(c, all)
	g.multiply(s)
}
