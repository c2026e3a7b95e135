package statespace

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Sweeps over pairs of units of two numbers each, written out.

// advance2 is advance for units of two numbers.
func (f *Filter) advance2(dst, next, src, g, k, h []float64, i int) {
	s, at := &f.system, 0
	for iu := range s.units {
		u := &s.units[iu]
		phi := f.phiOf(u, i)
		a11, a12, a21, a22 := phi[0], phi[1], phi[2], phi[3]
		k1, k2, hu := k[2*iu], k[2*iu+1], h[iu]
		var g1, g2 float64
		block, b11, b12, b21, b22 := -1, 0., 0., 0., 0.
		for iv := range iu + 1 {
			if v := s.units[iv].block; v != block {
				block, phi = v, f.phiOf(&s.units[iv], i)
				b11, b12, b21, b22 = phi[0], phi[1], phi[2], phi[3]
			}
			p, y := src[at:at+4:at+4], dst[at:at+4:at+4]
			gv := g[2*iv : 2*iv+2 : 2*iv+2]
			p11, p12, p21, p22 := p[0]-k1*gv[0], p[1]-k1*gv[1], p[2]-k2*gv[0], p[3]-k2*gv[1]
			x11, x12 := a11*p11+a12*p21, a11*p12+a12*p22
			x21, x22 := a21*p11+a22*p21, a21*p12+a22*p22
			y11, y12, y21, y22 := x11*b11+x12*b12, x11*b21+x12*b22, x21*b11+x22*b12, x21*b21+x22*b22
			at += 4
			if iv == iu {
				q := f.noiseOf(u, i)
				y11, y12, y21, y22 = y11+u.scale*q[0], y12+u.scale*q[1], y21+u.scale*q[2], y22+u.scale*q[3]
				g1, g2 = g1+y11*hu, g2+y21*hu
				y[0], y[1], y[2], y[3] = y11, y12, y21, y22
				continue
			}
			y[0], y[1], y[2], y[3] = y11, y12, y21, y22
			g1, g2 = g1+y11*h[iv], g2+y21*h[iv]
			nv := next[2*iv : 2*iv+2 : 2*iv+2]
			nv[0] += y11 * hu
			nv[1] += y12 * hu
		}
		next[2*iu] += g1
		next[2*iu+1] += g2
	}
}

// retreat2 is retreat for units of two numbers.
func (f *Filter) retreat2(grad, next, cov, g, un []float64, rs [][]float64, h []float64, c float64, i int) {
	s, at := &f.system, 0
	k := f.k
	r := rs[0]
	var m [4]float64
	for iu := range s.units {
		u := &s.units[iu]
		phi, z := f.phiOf(u, i), f.blockWork.forms[u.block]
		a11, a12, a21, a22 := phi[0], phi[1], phi[2], phi[3]
		g1, g2, k1, k2, r1, r2, u1, u2, hu := g[2*iu], g[2*iu+1], k[2*iu], k[2*iu+1], r[2*iu], r[2*iu+1], un[2*iu], un[2*iu+1], h[iu]
		var n1, n2, z11, z12, z21, z22 float64
		block, b11, b12, b21, b22 := -1, 0., 0., 0., 0.
		var zv []float64
		for iv := range iu + 1 {
			if v := s.units[iv].block; v != block {
				block, phi, zv = v, f.phiOf(&s.units[iv], i), f.blockWork.forms[v]
				b11, b12, b21, b22 = phi[0], phi[1], phi[2], phi[3]
			}
			e, hv := 2*iv, h[iv]
			n, p := f.n[at:at+4:at+4], cov[at:at+4:at+4]
			uv, rv, kv := un[e:e+2:e+2], r[e:e+2:e+2], k[e:e+2:e+2]
			n11, n12, n21, n22 := n[0]-hu*uv[0]-(u1-c*hu)*hv, n[1]-hu*uv[1], n[2]-u2*hv, n[3]
			p11, p12, p21, p22 := p[0]-g1*kv[0], p[1]-g1*kv[1], p[2]-g2*kv[0], p[3]-g2*kv[1]
			m11, m12, m21, m22 := n11-r1*rv[0], n12-r1*rv[1], n21-r2*rv[0], n22-r2*rv[1]
			for _, r := range rs[1:] {
				m11, m12, m21, m22 = m11-r[2*iu]*r[e], m12-r[2*iu]*r[e+1], m21-r[2*iu+1]*r[e], m22-r[2*iu+1]*r[e+1]
			}
			// Z_u += M·B·P′ᵀ
			x11, x12 := b11*p11+b12*p12, b11*p21+b12*p22
			x21, x22 := b21*p11+b22*p12, b21*p21+b22*p22
			z11, z12 = z11+m11*x11+m12*x21, z12+m11*x12+m12*x22
			z21, z22 = z21+m21*x11+m22*x21, z22+m21*x12+m22*x22
			// N ← AᵀNB
			x11, x12 = a11*n11+a21*n21, a11*n12+a21*n22
			x21, x22 = a12*n11+a22*n21, a12*n12+a22*n22
			n11, n12, n21, n22 = x11*b11+x12*b21, x11*b12+x12*b22, x21*b11+x22*b21, x21*b12+x22*b22
			n[0], n[1], n[2], n[3] = n11, n12, n21, n22
			n1, n2 = n1+n11*kv[0]+n12*kv[1], n2+n21*kv[0]+n22*kv[1]
			at += 4
			if iv == iu {
				m = [4]float64{m11, m12, m21, m22}
				f.diagonalPair(grad, u, m[:], f.noiseOf(u, i))
				continue
			}
			nv := next[e : e+2 : e+2]
			nv[0] += n11*k1 + n21*k2
			nv[1] += n12*k1 + n22*k2
			// Z_v += Mᵀ·A·P′
			x11, x12 = a11*p11+a12*p21, a11*p12+a12*p22
			x21, x22 = a21*p11+a22*p21, a21*p12+a22*p22
			zv[0] += m11*x11 + m21*x21
			zv[1] += m11*x12 + m21*x22
			zv[2] += m12*x11 + m22*x21
			zv[3] += m12*x12 + m22*x22
		}
		next[2*iu] += n1
		next[2*iu+1] += n2
		z[0], z[1], z[2], z[3] = z[0]+z11, z[1]+z12, z[2]+z21, z[3]+z22
	}
}

// Sweeps over a single process of two numbers that does not turn, written out. Here hᵀx is a number of the state, and P −
// s·k·kᵀ = σ²·k in its row and column, as BySum.

// forwardOne is forwardBlocks for one such process.
func (f *Filter) forwardOne(columns blas64.General, scale float64) (quad float64, err error) {
	n, cols := columns.Rows, columns.Cols
	s, v := &f.system, f.system.units[0].scale
	phis, qs, gains, covs, mean, inv, errs := s.phi[0][:4*n], s.q[0][:4*n], s.gain[:2*n], f.cov[:4*n], f.mean, f.inv[:n],
		f.errs[:cols*n]
	_, step := f.means()
	noise, own, unit, floor := f.noise, f.own, 1/scale, tiny*scale
	logs := logSum{prod: 1}
	var m1, m2, f11, f12, f22 float64 // mean and covariance after the observation
	for from := 0; from < n; from += chunk {
		parallel.Look(f.Ctx)
		f.mark(from, m1, m2)
		scaled, to := f.scaledIn(from), min(from+chunk, n)
		for i := from; i < to; i++ {
			if own != nil {
				noise = own[i]
			}
			phi, q := phis[4*i:4*i+4:4*i+4], qs[4*i:4*i+4:4*i+4]
			a11, a12, a21, a22 := phi[0], phi[1], phi[2], phi[3]
			m1, m2 = a11*m1+a12*m2, a21*m1+a22*m2
			x11, x12, x21, x22 := a11*f11+a12*f12, a11*f12+a12*f22, a21*f11+a22*f12, a21*f12+a22*f22
			p11, p12, p22 := x11*a11+x12*a12+v*q[0], x11*a21+x12*a22+v*q[1], x21*a21+x22*a22+v*q[3]
			d := p11 + noise
			if !(d > floor) {
				return 0, NotPositive{i}
			}
			is := 1 / d
			y := columns.Data[i*columns.Stride:][:cols]
			e := y[0] - m1
			mi, ci := mean[2*i:2*i+2:2*i+2], covs[4*i:4*i+4:4*i+4]
			mi[0], mi[1] = m1, m2
			ci[0], ci[1], ci[2], ci[3] = p11, p12, p12, p22
			gains[2*i], gains[2*i+1], inv[i], errs[i] = p11, p12, is, e
			quad += e * e * is
			logs.add(d * unit)
			k1, k2 := p11*is, p12*is
			m1 += k1 * e
			m2 += k2 * e
			f11, f12, f22 = noise*k1, noise*k2, p22-k2*p12
			at, in, b := i, i+n-step, i-from
			for j, yj := range y[1:] {
				at, in = at+n, in+step
				m, mi := f.after[2*j:2*j+2:2*j+2], mean[2*in:2*in+2:2*in+2]
				m1, m2 := a11*m[0]+a12*m[1], a21*m[0]+a22*m[1]
				e := yj - m1
				mi[0], mi[1] = m1, m2
				errs[at], scaled[b] = e, e*is
				m[0], m[1] = m1+k1*e, m2+k2*e
				b += chunk
			}
		}
		f.addProducts(from, to)
	}
	f.logS = logs.sum + math.Log(logs.prod) + float64(n)*math.Log(scale)
	return quad, nil
}

// backwardOne is backwardBlocks for one such process.
func (f *Filter) backwardOne(grad []float64, r blas64.General, others int) {
	clear(grad)
	s, n := &f.system, len(f.t)
	block, scale := &s.blocks[0], s.units[0].scale
	noise, own, half := f.noise, f.own, 0.5*scale
	var r1, r2, n11, n12, n22, m11, m12, m22, gv, gn float64
	for to := n; to > 0; {
		parallel.Look(f.Ctx)
		from := (to - 1) / chunk * chunk
		means, errs := f.mix(r, from, to)
		for i := to - 1; i >= from; i-- {
			if own != nil {
				noise = own[i]
			}
			b, is := i-from, f.inv[i]
			mi, ci := means[2*b:2*b+2:2*b+2], f.cov[4*i:4*i+4:4*i+4]
			k1, k2, e := ci[0]*is, ci[1]*is, errs[b]
			if i+1 < n {
				phi, q := s.phi[0][4*i+4:4*i+8:4*i+8], s.q[0][4*i+4:4*i+8:4*i+8]
				a11, a12, a21, a22 := phi[0], phi[1], phi[2], phi[3]
				f11, f12, f22 := noise*k1, noise*k2, ci[3]-k2*ci[1]
				t11, t12, t21, t22 := a11*f11+a12*f12, a11*f12+a12*f22, a21*f11+a22*f12, a21*f12+a22*f22
				w1, w2 := mi[0]+k1*e, mi[1]+k2*e
				z11, z12 := m11*t11+m12*t21-r1*w1, m11*t12+m12*t22-r1*w2
				z21, z22 := m12*t11+m22*t21-r2*w1, m12*t12+m22*t22-r2*w2
				for j := range others {
					rj, at := f.after[2*j:2*j+2:2*j+2], (j+1)*chunk+b
					m, e := f.mixedMean[2*at:2*at+2:2*at+2], f.mixedErrs[at]
					w1, w2 := m[0]+k1*e, m[1]+k2*e
					z11, z12, z21, z22 = z11-rj[0]*w1, z12-rj[0]*w2, z21-rj[1]*w1, z22-rj[1]*w2
					rj[0], rj[1] = a11*rj[0]+a21*rj[1], a12*rj[0]+a22*rj[1]
				}
				gv += m11*q[0] + 2*m12*q[1] + m22*q[3]
				f.contractTwo(grad, block, phi, q, z11, z12, z21, z22, half*m11, scale*m12, half*m22, f.t[i+1]-f.t[i])
				r1, r2 = a11*r1+a21*r2, a12*r1+a22*r2
				x11, x12, x21, x22 := a11*n11+a21*n12, a11*n12+a21*n22, a12*n11+a22*n12, a12*n12+a22*n22
				n11, n12, n22 = x11*a11+x12*a21, x11*a12+x12*a22, x21*a12+x22*a22
			}
			c := noise * is // 1 − k₁
			al := e*is - k1*r1 - k2*r2
			r1 += al
			cross, rest := 2*k2*n12, is+k2*k2*n22
			d := rest + k1*(k1*n11+cross) - al*al
			n11, n12 = rest+c*(c*n11-cross), c*n12-k2*n22
			m11, m12, m22 = n11-r1*r1, n12-r1*r2, n22-r2*r2
			for j := range others {
				rj := f.after[2*j : 2*j+2 : 2*j+2]
				al := f.mixedErrs[(j+1)*chunk+b]*is - k1*rj[0] - k2*rj[1]
				rj[0] += al
				d -= al * al
				m11, m12, m22 = m11-rj[0]*rj[0], m12-rj[0]*rj[1], m22-rj[1]*rj[1]
			}
			gn += 0.5 * f.noise * d
			if own != nil {
				f.diag[i] = d
			}
		}
		to = from
	}
	if n > 0 {
		phi, q := s.phi[0][:4], s.q[0][:4]
		gv += m11*q[0] + 2*m12*q[1] + m22*q[3]
		f.contractTwo(grad, block, phi, q, 0, 0, 0, 0, half*m11, scale*m12, half*m22, math.Inf(1))
	}
	grad[0], grad[len(grad)-1] = 0.5*scale*gv, gn
}
