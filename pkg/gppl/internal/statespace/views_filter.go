package statespace

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// Effect of views on the transitions and derivatives of a Filter.

// leastSeen is the least |h| of a block, relative to the largest of its view: a block that a view does not depend on gets a
// variance of 2⁻⁸⁰, so that T has an inverse. For a view that depends on no block it is relative to the noise of its inputs.
const leastSeen = 0x1p-40

// SetViews sets the views and the view of each input; a view may have no input. nil means f itself. The filter keeps both.
// Views require Factorise ByPairs and blocks without Weights.
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
	observed := make([]float64, len(v.views))
	var variance float64 // of f
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
		variance += block.Variance * prior[d*d]
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
				observed[c] += block.Variance * w * dot(row, prior[d*d+a*d:][:d])
			}
		}
	}
	v.most = 0
	for c := range v.views {
		v.most = max(v.most, observed[c])
		if !(largest[c] > 0) {
			largest[c] = f.leastDeviation(c) / math.Sqrt(variance)
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

// leastDeviation returns the least standard deviation of the noise, with known errors, at the inputs of a view; 1 without inputs.
func (f *Filter) leastDeviation(view int) float64 {
	least := math.Inf(1)
	for i, c := range f.system.viewed.of {
		switch {
		case c != view:
		case f.own == nil:
			least = f.noise
		default:
			least = min(least, f.own[i])
		}
	}
	if math.IsInf(least, 1) {
		return 1
	}
	return math.Sqrt(least)
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

// through transforms phi and noise of a step from one view to another to TΦT⁻¹ and TQTᵀ; from is −1 before the first input.
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

// unveil converts the adjoints of Φ and of Q into input i to the adjoints without views.
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

// contractViews converts the derivatives in T⁻ᵀh at input i, in x, to derivatives in h and adds them to its view. It
// overwrites x.
func (f *Filter) contractViews(x []float64, i int) {
	s := &f.system
	c := s.viewed.of[i]
	to := f.blockWork.views[c*f.dim:][:f.dim]
	for j := range s.units {
		u := &s.units[j]
		g, part := &s.viewed.glasses[u.block][c], x[u.at:][:u.dim]
		g.right(part, u.dim)
		addScaled(to[u.at:][:u.dim], 1/g.r, part)
	}
}

// chainViews adds the derivatives in the parameters of the processes by the chain rule from derivatives in h = a·e₁ + b·g.
func (f *Filter) chainViews(grad []float64) {
	s := &f.system
	for j := range s.units {
		u := &s.units[j]
		slopes := s.viewed.slopes[u.block]
		for c, view := range s.viewed.views {
			if view.Slope == 0 {
				continue
			}
			in := f.blockWork.views[c*f.dim+u.at:][:u.dim]
			for p := range s.blocks[u.block].Params {
				grad[s.firsts[u.block]+1+p] += view.Slope * dot(in, slopes[p*u.dim:][:u.dim])
			}
		}
	}
}

// ViewSlopes sets the derivatives, of Gradient's function, in the Value and Slope of each view and in the log of the noise
// variance of its observations. Slope's is 0 if f has no derivative. Gradient must come first, after SetScale.
func (f *Filter) ViewSlopes(value, slope, noise []float64) {
	s := &f.system
	for c := range s.viewed.views {
		value[c], slope[c], noise[c] = 0, 0, 0
		for j := range s.units {
			u := &s.units[j]
			in := f.blockWork.views[c*f.dim+u.at:][:u.dim]
			value[c] += in[0]
			slope[c] += dot(in, s.viewed.rate[u.block])
		}
	}
	for i, c := range s.viewed.of {
		noise[c] += 0.5 * f.noise * f.shareAt(i) * f.diag[i]
	}
}
