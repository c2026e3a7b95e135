package statespace

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// A View is how observations see the process f: Value·f + Slope·f′.
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

// viewed is what a Filter knows of its views. Where an observation sees hᵀx, x is kept as T·x, where T is |h| times the
// reflection with h/|h| as its first row: every sweep then sees the first number of the state, as without views, by the
// transitions TΦT⁻¹ and TQTᵀ. A multiple of a reflection is as well conditioned as can be, and likelihoods do not depend on what
// is below the first row.
type viewed struct {
	views   []View
	of      []int       // the view of each input
	glasses [][]glass   // by block and view
	rate    [][]float64 // g of each block
	slopes  [][]float64 // ∂g of each block
	phi, q  [][]float64 // Φ and Q of each block as they are without views
	most    float64     // the largest variance that a view sees
}

// glass is the T of a block and a view: r·(I − wwᵀ).
type glass struct {
	r float64
	w []float64 // nil: zeros
}

// leastSeen is the least |h| of a block, relative to the largest of its view: what a view does not see at all counts as seen with
// a variance of 2⁻⁸⁰, so that T has an inverse.
const leastSeen = 0x1p-40

// SetViews sets the views and which of them each input has; a view may have no input. nil stands for f itself. The filter keeps
// both. Views are for Factorise ByPairs, of blocks without Weights.
func (f *Filter) SetViews(views []View, of []int) {
	if len(of) != len(f.t) {
		panic(fmt.Sprintf("statespace: %d views of %d inputs", len(of), len(f.t)))
	}
	for i, v := range of {
		if v < 0 || v >= len(views) {
			panic(fmt.Sprintf("statespace: view %d of input %d, there are %d", v, i, len(views)))
		}
	}
	f.system.viewed.views, f.system.viewed.of = views, of
}

// setViews prepares T of each block and view, and the transitions between them.
func (f *Filter) setViews(blocks []Block) error {
	s := &f.system
	v := &s.viewed
	for len(v.glasses) < len(blocks) {
		v.glasses, v.rate, v.slopes = append(v.glasses, nil), append(v.rate, nil), append(v.slopes, nil)
		v.phi, v.q = append(v.phi, nil), append(v.q, nil)
	}
	largest := make([]float64, len(v.views))
	h := make([][]float64, len(blocks)*len(v.views))
	seen := make([]float64, len(v.views))
	for b, block := range blocks {
		if block.Weights != nil {
			panic("statespace: a block with waves has views")
		}
		d := block.Process.Dim()
		v.rate[b], v.slopes[b] = dense.Resize(v.rate[b], d), dense.Resize(v.slopes[b], d*block.Params)
		process, known := block.Process.(Differentiable)
		known = known && process.Derivative(v.rate[b], v.slopes[b])
		prior := make([]float64, 2*d*d)
		block.Process.Transition(prior[:d*d], prior[d*d:], math.Inf(1))
		for c, view := range v.views {
			if !numeric.IsFinite(view.Value) || !numeric.IsFinite(view.Slope) {
				return fmt.Errorf("statespace: view %d is %+v: both must be finite", c, view)
			}
			if view.Slope != 0 && !known {
				return fmt.Errorf("statespace: view %d sees the derivative of block %d, which has none", c, b)
			}
			row := make([]float64, d)
			row[0] = view.Value
			if view.Slope != 0 {
				addScaled(row, view.Slope, v.rate[b])
			}
			h[b*len(v.views)+c] = row
			largest[c] = max(largest[c], math.Sqrt(dot(row, row)))
			for a, w := range row {
				seen[c] += block.Variance * w * dot(row, prior[d*d+a*d:][:d])
			}
		}
	}
	v.most = 0
	for c := range v.views {
		v.most = max(v.most, seen[c])
		if !(largest[c] > 0) {
			largest[c] = 1
		}
	}
	if s.doubled != nil {
		f.setFunctionals()
		return nil
	}
	for b := range blocks {
		v.glasses[b] = v.glasses[b][:0]
		for c := range v.views {
			v.glasses[b] = append(v.glasses[b], newGlass(h[b*len(v.views)+c], leastSeen*largest[c]))
		}
		d := blocks[b].Process.Dim()
		dd := d * d
		v.phi[b], v.q[b] = append(v.phi[b][:0], s.phi[b]...), append(v.q[b][:0], s.q[b]...)
		for i, c := range v.of {
			from := -1
			if i > 0 {
				from = v.of[i-1]
			}
			v.through(s.phi[b][i*dd:][:dd], s.q[b][i*dd:][:dd], b, from, c, d)
		}
	}
	return nil
}

// setFunctionals sets h of each view, in the basis of the processes.
func (f *Filter) setFunctionals() {
	s := &f.system
	s.doubled.h = s.doubled.h[:0]
	for _, view := range s.viewed.views {
		h := make([]doubled.Float, f.dim)
		for i := range s.units {
			u := &s.units[i]
			if view.Slope != 0 {
				for a, g := range s.viewed.rate[u.block] {
					h[u.at+a] = doubled.Of(view.Slope).Times(g)
				}
			}
			h[u.at] = h[u.at].Add(doubled.Of(view.Value))
		}
		s.doubled.h = append(s.doubled.h, h)
	}
}

// newGlass returns the T whose first row is h, which it changes, or one that is longer where h is shorter than least.
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

// through sets phi and noise of a step from a view, −1 where nothing is known, to another to TΦT⁻¹ and TQTᵀ.
func (v *viewed) through(phi, noise []float64, block, from, to, d int) {
	g := &v.glasses[block][to]
	g.left(phi, d)
	g.left(noise, d)
	g.right(noise, d)
	ratio := g.r
	if from >= 0 {
		before := &v.glasses[block][from]
		before.right(phi, d)
		ratio /= before.r
	}
	for i := range phi {
		phi[i] *= ratio
		noise[i] *= g.r * g.r
	}
}

// unveil takes the adjoints of Φ and of Q into input i to those of what they are without views.
func (v *viewed) unveil(forms []float64, block, i, d int) {
	g, dd := &v.glasses[block][v.of[i]], d*d
	z, w := forms[:dd], forms[dd:2*dd]
	g.left(z, d)
	g.left(w, d)
	g.right(w, d)
	ratio := g.r
	if i > 0 {
		before := &v.glasses[block][v.of[i-1]]
		before.right(z, d)
		ratio /= before.r
	}
	for e := range z {
		z[e] *= ratio
		w[e] *= g.r * g.r
	}
}

// contractViews adds what the derivatives in T⁻ᵀh at input i, in x, are in h to those of its view. It changes x.
func (f *Filter) contractViews(x []float64, i int) {
	s := &f.system
	c := s.viewed.of[i]
	to := f.room.views[c*f.dim:][:f.dim]
	for j := range s.units {
		u := &s.units[j]
		g, part := &s.viewed.glasses[u.block][c], x[u.at:][:u.dim]
		g.right(part, u.dim)
		addScaled(to[u.at:][:u.dim], 1/g.r, part)
	}
}

// chainViews adds what derivatives in h are in the parameters of the processes: h = a·e₁ + b·g.
func (f *Filter) chainViews(grad []float64) {
	s := &f.system
	for j := range s.units {
		u := &s.units[j]
		slopes := s.viewed.slopes[u.block]
		for c, view := range s.viewed.views {
			if view.Slope == 0 {
				continue
			}
			in := f.room.views[c*f.dim+u.at:][:u.dim]
			for p := range s.blocks[u.block].Params {
				grad[s.firsts[u.block]+1+p] += view.Slope * dot(in, slopes[p*u.dim:][:u.dim])
			}
		}
	}
}

// ViewSlopes sets the derivatives, of what Gradient differentiates, in the Value and Slope of each view and in the log of the
// noise variance of its observations. Slope's is 0 if f has no derivative. Gradient must have been called, after SetScale.
func (f *Filter) ViewSlopes(value, slope, noise []float64) {
	s := &f.system
	for c := range s.viewed.views {
		value[c], slope[c], noise[c] = 0, 0, 0
		for j := range s.units {
			u := &s.units[j]
			in := f.room.views[c*f.dim+u.at:][:u.dim]
			value[c] += in[0]
			slope[c] += dot(in, s.viewed.rate[u.block])
		}
	}
	for i, c := range s.viewed.of {
		noise[c] += 0.5 * f.noise * f.shareAt(i) * f.diag[i]
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

// negate sets dst = −x.
func negate(dst, x []float64) {
	for i := range dst {
		dst[i] = -x[i]
	}
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
// Its parameter is the period of the kernel that it is a harmonic of, Period/Wave being its own.
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
