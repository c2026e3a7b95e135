package statespace

import (
	"math"
)

// A View is the dependence of observations on the process f: Value·f + Slope·f′.
type View struct{ Value, Slope float64 }

// A Differentiable is a Process whose first number, f, may have a derivative, f′ = gᵀx.
type Differentiable interface {
	Process
	// Derivative sets g, d numbers, and entry p of slopes, d each, to ∂g in the log of parameter p. It reports false if f has none.
	Derivative(g, slopes []float64) bool
}

var (
	_ Differentiable = (*Matern)(nil)
	_ Differentiable = (*Oscillator)(nil)
	_ Differentiable = (*Kronecker)(nil)
	_ Differentiable = Constant{}
	_ Differentiable = Turn{}
)

// glass is the T of a block and a view: r·(I − wwᵀ).
type glass struct {
	r float64
	w []float64 // nil means zeros
}

// newGlass returns the T whose first row is h, which it overwrites. If h is shorter than least, the row is lengthened.
func newGlass(h []float64, least float64) glass {
	r := math.Sqrt(dot(h, h))
	if r == 0 {
		return glass{r: least}
	}
	var rest float64
	for i := range h {
		if h[i] /= r; i > 0 {
			rest += h[i] * h[i]
		}
	}
	first := h[0] - 1
	if h[0] > 0 { // the same without cancellation
		first = -rest / (1 + h[0])
	}
	g := glass{r: max(r, least)}
	if first < 0 {
		g.w, h[0] = h, first
		for i := range h {
			h[i] /= math.Sqrt(-first)
		}
	}
	return g
}

// left sets m = (I − wwᵀ)m, d×d.
func (g *glass) left(m []float64, d int) {
	if g.w == nil {
		return
	}
	for j := range d {
		var sum float64
		for i, w := range g.w {
			sum += w * m[i*d+j]
		}
		for i, w := range g.w {
			m[i*d+j] -= w * sum
		}
	}
}

// right sets m = m(I − wwᵀ), for any number of rows.
func (g *glass) right(m []float64, d int) {
	if g.w == nil {
		return
	}
	for from := 0; from < len(m); from += d {
		row := m[from:][:d]
		addScaled(row, -dot(g.w, row), g.w)
	}
}

// Derivative implements Differentiable: f′ = λ(x₂ − x₁).
func (p *Matern) Derivative(g, slopes []float64) bool {
	if p.Order == 0 {
		return false
	}
	rate := p.unit().rate()
	clear(g)
	g[0], g[1] = -rate, rate
	negate(slopes, g)
	return true
}

// Derivative implements Differentiable: f′ = ω₀x₂.
func (p *Oscillator) Derivative(g, slopes []float64) bool {
	g[0], g[1] = 0, p.omega
	negate(slopes[:2], g)
	clear(slopes[2:])
	if p.parted { // ω₀ = 1/(time·√M)
		slopes[3] = -0.5 * p.omega
	}
	return true
}

func (Constant) Derivative(g, _ []float64) bool {
	g[0] = 0
	return true
}

// Derivative implements Differentiable: g_x⊗e₁ + e₁⊗g_y.
func (p *Kronecker) Derivative(g, slopes []float64) bool {
	x, first := p.X.(Differentiable)
	y, second := p.Y.(Differentiable)
	if !first || !second {
		return false
	}
	m, n := p.X.Dim(), p.Y.Dim()
	gx, sx := make([]float64, m), make([]float64, m*p.XParams)
	gy, sy := make([]float64, n), make([]float64, n*p.YParams)
	if !x.Derivative(gx, sx) || !y.Derivative(gy, sy) {
		return false
	}
	clear(g)
	clear(slopes)
	spread := func(dst, inX, inY []float64) {
		for i, v := range inX {
			dst[i*n] += v
		}
		for i, v := range inY {
			dst[i] += v
		}
	}
	spread(g, gx, gy)
	for i := range p.XParams {
		spread(slopes[i*m*n:], sx[i*m:][:m], nil)
	}
	for i := range p.YParams {
		spread(slopes[(p.XParams+i)*m*n:], nil, sy[i*n:][:n])
	}
	return true
}

// A Turn is a wave of random phase, of covariance cos(2πτ/period): its state is (f, f′·period/2π), and
//
//	Φ = (cos, sin; −sin, cos),  Q = 0.
//
// Its parameter is the period of the kernel whose harmonic it is; its own period is Period/Wave.
type Turn struct {
	Period float64
	Wave   int
}

func (Turn) Dim() int { return 2 }

func (p Turn) rate() float64 { return 2 * math.Pi * float64(p.Wave) / p.Period }

func (p Turn) Transition(phi, noise []float64, gap float64) {
	clear(phi[:4])
	clear(noise[:4])
	if math.IsInf(gap, 1) {
		noise[0], noise[3] = 1, 1
		return
	}
	whole := math.Round(gap / p.Period)
	sin, cos := math.Sincos(p.rate() * math.FMA(-whole, p.Period, gap))
	phi[0], phi[1], phi[2], phi[3] = cos, sin, -sin, cos
}

func (p Turn) Slopes(dPhi, dNoise, phi, _ []float64, gap float64) {
	clear(dPhi[:4])
	clear(dNoise[:4])
	if math.IsInf(gap, 1) {
		return
	}
	u := p.rate() * gap
	dPhi[0], dPhi[1], dPhi[2], dPhi[3] = u*phi[1], -u*phi[0], u*phi[0], u*phi[1]
}

func (p Turn) Derivative(g, slopes []float64) bool {
	g[0], g[1] = 0, p.rate()
	negate(slopes, g)
	return true
}

// Differentiable reports whether f of the block has a derivative.
func (b *Block) Differentiable() bool {
	p, ok := b.Process.(Differentiable)
	d := b.Process.Dim()
	return ok && p.Derivative(make([]float64, d), make([]float64, d*b.Params))
}

// SlopeVariance returns the variance of f′ of a block without Weights, 0 if it has none.
func (b *Block) SlopeVariance() (v float64) {
	if !b.Differentiable() {
		return 0
	}
	d := b.Process.Dim()
	g, phi, prior := make([]float64, d), make([]float64, d*d), make([]float64, d*d)
	b.Process.(Differentiable).Derivative(g, make([]float64, d*b.Params))
	b.Process.Transition(phi, prior, math.Inf(1))
	for i, w := range g {
		v += b.Variance * w * dot(prior[i*d:][:d], g)
	}
	return v
}
