package statespace

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// backwardBlocks is backward for blocks. With M and r at an input, P, m, e, k and s at the input before it and P′ = P −
// s·k·kᵀ, the value has the derivatives
//
//	in Φ:  Z = M·ΦP′ − Σ_j r_j(m_j + k·e_j)ᵀ         in Q:  ½M
//
// into the input, where each block sums up its own squares on the diagonal, and in h at the input before it
//
//	k(1 + s·kᵀNk) − P·Nk − Σ_j α_j(m_j + Pr_j).
func (f *Filter) backwardBlocks(grad []float64, r blas64.General, others int) {
	if f.system.one() {
		f.backwardOne(grad, r, others)
		return
	}
	if f.system.pair() {
		f.backwardPair(grad, r, others)
		return
	}
	clear(grad)
	clear(f.r)
	clear(f.n)
	s, d, n, last := &f.system, f.dim, len(f.t), len(grad)-1
	size := s.rows[len(s.units)]
	clear(f.blockWork.views)
	turning := s.viewed.views != nil
	for _, b := range s.blocks {
		turning = turning || b.Weights != nil
	}
	rs := make([][]float64, others+1) // r of each column
	rs[0] = f.r
	for j := range others {
		rs[j+1] = f.after[j*d:][:d]
	}
	var c float64
	for to := n; to > 0; {
		parallel.Look(f.Ctx)
		from := (to - 1) / chunk * chunk
		means, errs := f.mix(r, from, to)
		for i := to - 1; i >= from; i-- {
			b := i - from
			mean := func(j int) []float64 {
				if j == 0 {
					return means[b*d:][:d]
				}
				return f.mixedMean[(j*chunk+b)*d:][:d]
			}
			errAt := func(j int) float64 {
				if j == 0 {
					return errs[b]
				}
				return f.mixedErrs[j*chunk+b]
			}
			f.gainBlocks(i)
			switch {
			case i+1 == n:
				clear(f.blockWork.u)
			case s.matern:
				clear(f.blockWork.uk)
				f.retreatMatern(grad, f.blockWork.uk, f.cov[(i+1)*size:][:size], rs, s.hAt(i+1), c, i+1)
				f.blockWork.u, f.blockWork.uk = f.blockWork.uk, f.blockWork.u
				if turning {
					addScaled(f.blockWork.g, -1, f.blockWork.turned)
					f.contractTurn(grad, f.blockWork.g, i+1)
				}
				for _, rj := range rs {
					f.turnBack(f.w, rj, i+1)
					copy(rj, f.w)
				}
			default:
				f.retreat(grad, f.cov[i*size:][:size], s.gain[i*d:][:d], rs, c, i+1)
				for j, rj := range rs {
					f.move(f.blockWork.q, mean(j), errAt(j))
					for iu := range s.units {
						u := &s.units[iu]
						subtractOuter(f.blockWork.forms[u.block][:u.dim*u.dim], rj[u.at:][:u.dim], f.blockWork.q[u.at:][:u.dim])
					}
					f.turnBack(f.w, rj, i+1)
					copy(rj, f.w)
				}
				f.contractForms(grad, i+1)
			}
			kappa := dot(f.k, f.blockWork.u)
			c = kappa + f.inv[i]
			diag := c
			if turning {
				copy(f.blockWork.q, f.blockWork.u) // Nk + Σ α_j·r_j
				for a, k := range f.k {
					f.blockWork.g[a] = k * (1 + kappa/f.inv[i])
				}
			}
			for j, rj := range rs {
				alpha := f.informBlocks(rj, errAt(j), i)
				diag -= alpha * alpha
				if turning {
					addScaled(f.blockWork.q, alpha, rj)
					addScaled(f.blockWork.g, -alpha, mean(j))
				}
			}
			grad[last] += 0.5 * f.noise * diag
			if f.own != nil {
				f.diag[i] = diag
			}
			if s.matern {
				f.tilt(mean, rs)
			}
			if turning && (i == 0 || !s.matern) {
				s.multiply(f.w, f.cov[i*size:][:size], f.blockWork.q)
				addScaled(f.blockWork.g, -1, f.w)
				f.contractTurn(grad, f.blockWork.g, i)
				if s.viewed.views != nil {
					f.contractViews(f.blockWork.g, i)
				}
			}
		}
		to = from
	}
	if n > 0 { // P∞ at the first input
		f.arrive(grad, rs, c)
	}
	if s.viewed.views != nil {
		f.chainViews(grad)
	}
}

// retreat takes N over the transition into input i, with c and blockWork.u of its observation, and sets blockWork.u to Nk for the
// previous observation, whose P and Ph are cov and g. It sets the forms without the contribution of the means.
func (f *Filter) retreat(grad, cov, g []float64, rs [][]float64, c float64, i int) {
	s := &f.system
	for b := range s.blocks {
		clear(f.blockWork.forms[b])
	}
	h, u, next := s.hAt(i), f.blockWork.u, f.blockWork.uk
	clear(next)
	if s.twos {
		f.retreat2(grad, next, cov, g, u, rs, h, c, i)
		f.blockWork.u, f.blockWork.uk = next, u
		return
	}
	s.absorb(f.n, h, u, c)
	at := 0
	p, x, m := f.blockWork.pair[0], f.blockWork.pair[1], f.blockWork.pair[3]
	for iu := range s.units {
		u := &s.units[iu]
		phi := f.phiOf(u, i)
		for iv := range iu + 1 {
			v := &s.units[iv]
			size := u.dim * v.dim
			other := f.phiOf(v, i)
			for a := range u.dim {
				for b := range v.dim {
					e := a*v.dim + b
					w := f.n[at+e]
					for _, r := range rs {
						w -= r[u.at+a] * r[v.at+b]
					}
					m[e], p[e] = w, cov[at+e]-g[u.at+a]*f.k[v.at+b]
				}
			}
			if iu == iv {
				f.diagonalPair(grad, u, m[:size], f.noiseOf(u, i))
			}
			// Z_u += M·Φ_v·P′ᵀ, and the mirror image.
			addForm(f.blockWork.forms[u.block], m, other, p, u.dim, v.dim, x, false)
			if iu != iv {
				addForm(f.blockWork.forms[v.block], m, phi, p, u.dim, v.dim, x, true)
			}
			at += size
		}
	}
	f.pull(f.n, i)
	s.multiply(next, f.n, f.k)
	f.blockWork.u, f.blockWork.uk = next, u
}
