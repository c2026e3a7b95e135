package statespace

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/doubled"
)

// One step of a sweep ByPairs: the transition of its state and an observation, in both directions.

// sharpens reports whether Q of a block is kept in double-double.
func (s *system) sharpens(b int) bool {
	_, exposed := s.blocks[b].Process.(*Exposed)
	return exposed && s.exposures != nil && s.doubled != nil
}

// step returns Φ and Q of unit u at input i, without its scale.
func (s *system) step(u *piece, i int) (phi, q []float64) {
	dd := u.dim * u.dim
	return s.phi[u.block][i*dd:][:dd], s.q[u.block][i*dd:][:dd]
}

// hAt returns h of each unit at input i.
func (s *system) hAt(i int) []float64 { return s.h[i*len(s.units):][:len(s.units)] }

// see returns the observed hᵀx.
func (s *system) see(h, x []float64) (y float64) {
	for j := range s.units {
		y += h[j] * x[s.units[j].at]
	}
	return y
}

// look sets h to the h of each unit at t. The phase is reduced exactly, up to the rounding of the remainder of t − origin.
func (s *system) look(h []float64, t float64) {
	at := 0
	for _, b := range s.blocks {
		if b.Weights == nil {
			h[at] = 1
			at++
			continue
		}
		away := t - s.origin
		back := away + s.origin // away + lost is t − origin exactly
		lost := (t - back) + ((back - away) - s.origin)
		turns := math.Round(away / b.Period)
		sin, cos := math.Sincos(2 * math.Pi * (math.FMA(-turns, b.Period, away) + lost) / b.Period)
		c, v := 1., 0.
		for range b.First {
			c, v = c*cos-v*sin, v*cos+c*sin
		}
		for j := range b.Weights {
			h[at] = c
			at++
			if b.First+j > 0 {
				h[at] = v
				at++
			}
			c, v = c*cos-v*sin, v*cos+c*sin
		}
	}
}

func (f *Filter) phiOf(u *piece, i int) []float64 {
	if i < 0 {
		return f.blockWork.phi[u.block]
	}
	phi, _ := f.system.step(u, i)
	return phi
}

func (f *Filter) noiseOf(u *piece, i int) []float64 {
	if i < 0 {
		return f.blockWork.noise[u.block]
	}
	_, q := f.system.step(u, i)
	return q
}

// turn sets dst = Φx for input i, or for the gap in blockWork if i < 0; dst may not be x.
func (f *Filter) turn(dst, x []float64, i int) {
	if f.system.twos && i >= 0 {
		for j := range f.system.units {
			p := f.system.phi[f.system.units[j].block][4*i : 4*i+4 : 4*i+4]
			a, b := x[2*j], x[2*j+1]
			dst[2*j], dst[2*j+1] = p[0]*a+p[1]*b, p[2]*a+p[3]*b
		}
		return
	}
	for j := range f.system.units {
		u := &f.system.units[j]
		apply(dst[u.at:][:u.dim], f.phiOf(u, i), x[u.at:][:u.dim])
	}
}

// turnBack sets dst = Φᵀx.
func (f *Filter) turnBack(dst, x []float64, i int) {
	if f.system.twos && i >= 0 {
		for j := range f.system.units {
			p := f.system.phi[f.system.units[j].block][4*i : 4*i+4 : 4*i+4]
			a, b := x[2*j], x[2*j+1]
			dst[2*j], dst[2*j+1] = p[0]*a+p[2]*b, p[1]*a+p[3]*b
		}
		return
	}
	for j := range f.system.units {
		u := &f.system.units[j]
		phi := f.phiOf(u, i)
		to := dst[u.at:][:u.dim]
		clear(to)
		for a, v := range x[u.at:][:u.dim] {
			addScaled(to, v, phi[a*u.dim:])
		}
	}
}

// gainBlocks sets k for input i.
func (f *Filter) gainBlocks(i int) {
	for a, p := range f.system.gain[i*f.dim:][:f.dim] {
		f.k[a] = p * f.inv[i]
	}
}

// informBlocks is inform for blocks.
func (f *Filter) informBlocks(r []float64, e float64, i int) (alpha float64) {
	alpha = e*f.inv[i] - dot(f.k, r)
	for j, h := range f.system.hAt(i) {
		r[f.system.units[j].at] += alpha * h
	}
	return alpha
}

// multiply sets dst = M·x for a symmetric matrix by pairs.
func (s *system) multiply(dst, m, x []float64) {
	clear(dst)
	at := 0
	for iu := range s.units {
		u := &s.units[iu]
		for iv := range iu + 1 {
			v := &s.units[iv]
			for a := range u.dim {
				row := m[at+a*v.dim:][:v.dim]
				for b, w := range row {
					dst[u.at+a] += w * x[v.at+b]
				}
				if iu != iv {
					addScaled(dst[v.at:][:v.dim], x[u.at+a], row)
				}
			}
			at += u.dim * v.dim
		}
	}
}

// absorb takes N from after an observation to before it: N − h·uᵀ − u·hᵀ + c·h·hᵀ, u = Nk, c = kᵀu + 1/s.
func (s *system) absorb(m, h, u []float64, c float64) {
	at := 0
	for iu := range s.units {
		x := &s.units[iu]
		for iv := range iu + 1 {
			y := &s.units[iv]
			for a := range x.dim {
				m[at+a*y.dim] -= u[x.at+a] * h[iv]
			}
			for b := range y.dim {
				m[at+b] -= h[iu] * u[y.at+b]
			}
			m[at] += c * h[iu] * h[iv]
			at += x.dim * y.dim
		}
	}
}

// pull sets N = ΦᵀNΦ by the transitions of input i, or of the gap in blockWork if i < 0.
func (f *Filter) pull(m []float64, i int) {
	s := &f.system
	at := 0
	x, y := f.blockWork.pair[0], f.blockWork.pair[1]
	for iu := range s.units {
		u := &s.units[iu]
		a := f.phiOf(u, i)
		for iv := range iu + 1 {
			v := &s.units[iv]
			b := f.phiOf(v, i)
			p := m[at:][:u.dim*v.dim]
			for r := range u.dim { // x = N·B
				row := x[r*v.dim:][:v.dim]
				clear(row)
				for c := range v.dim {
					addScaled(row, p[r*v.dim+c], b[c*v.dim:])
				}
			}
			clear(y[:len(p)])
			for r := range u.dim { // Aᵀx
				for c := range u.dim {
					addScaled(y[c*v.dim:][:v.dim], a[r*u.dim+c], x[r*v.dim:])
				}
			}
			copy(p, y)
			at += len(p)
		}
	}
}

// reached reports whether a place is at or after input i.
func (f *Filter) reached(place doubled.Float, i int) bool {
	if s := f.system.exposures; s != nil {
		return !before(place, s.ends[i])
	}
	return place.Hi >= f.t[i]
}

// seenBy returns the index of input i's view, −1 without views.
func seenBy(view []int, i int) int {
	if view == nil || i < 0 {
		return -1
	}
	return view[i]
}

// one reports whether there is a single process of two numbers.
func (s *system) one() bool {
	return len(s.blocks) == 1 && s.twos && s.blocks[0].Weights == nil && s.viewed.views == nil
}

// pair reports whether there are two processes of two numbers.
func (s *system) pair() bool {
	return len(s.blocks) == 2 && s.twos && !s.matern && s.blocks[0].Weights == nil && s.blocks[1].Weights == nil &&
		s.viewed.views == nil && s.exposures == nil
}
