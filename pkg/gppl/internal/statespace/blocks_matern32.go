package statespace

// Sweeps over pairs of units where all processes are Matérn 3/2: Φ = e(1 a; 0 1), F = (−1 1; 0 −1). Everything depends on the
// lengthscale only through a, as BySum.

// rates sets a and e of each block over the transition into input i.
func (f *Filter) rates(i int) {
	for b := range f.system.blocks {
		phi := f.system.phi[b][4*i:][:4]
		a := 0.
		if phi[0] > 0 {
			a = phi[1] / phi[0]
		}
		f.blockWork.rates[2*b], f.blockWork.rates[2*b+1] = a, phi[0]
	}
}

// advanceMatern is advance for Matérn 3/2.
func (f *Filter) advanceMatern(dst, next, src, g, k, h []float64, i int) {
	s, at := &f.system, 0
	f.rates(i)
	rates := f.blockWork.rates
	for iu := range s.units {
		u := &s.units[iu]
		a, e := rates[2*u.block], rates[2*u.block+1]
		k1, k2, hu := k[2*iu], k[2*iu+1], h[iu]
		var g1, g2 float64
		row, to := src[at:][:4*iu+4], dst[at:][:4*iu+4]
		at += len(row)
		gs, ns, hs := g[:2*iu+2], next[:2*iu+2], h[:iu+1]
		block, b, ee := -1, 0., 0.
		for iv, hv := range hs {
			if v := s.units[iv].block; v != block {
				block, b, ee = v, rates[2*v], e*rates[2*v+1]
			}
			p, y := row[4*iv:4*iv+4:4*iv+4], to[4*iv:4*iv+4:4*iv+4]
			gv, nv := gs[2*iv:2*iv+2:2*iv+2], ns[2*iv:2*iv+2:2*iv+2]
			p11, p12, p21, p22 := p[0]-k1*gv[0], p[1]-k1*gv[1], p[2]-k2*gv[0], p[3]-k2*gv[1]
			x12, x21 := p12+a*p22, p21+b*p22
			y11, y12, y21 := ee*(p11+a*p21+b*x12), ee*x12, ee*x21
			y[0], y[1], y[2], y[3] = y11, y12, y21, ee*p22
			g1, g2 = g1+y11*hv, g2+y21*hv
			nv[0] += y11 * hu
			nv[1] += y12 * hu
		}
		// Its own square is not mirrored, and has the noise.
		own, q := to[4*iu:][:4], s.q[u.block][4*i:][:4]
		next[2*iu] += g1 - own[0]*hu
		next[2*iu+1] += g2 - own[1]*hu
		for j, v := range q {
			own[j] += u.scale * v
		}
		next[2*iu] += u.scale * q[0] * hu
		next[2*iu+1] += u.scale * q[2] * hu
	}
}

// retreatMatern is retreat for Matérn 3/2. It leaves the products of the covariance at input i, cov, and blockWork.q in
// blockWork.turned. The lengthscale of each block has the derivative a·(tr MP − tr MNP − 2v·M₂₂ − Σ_j rᵀ(I − N)m), N = F + I.
func (f *Filter) retreatMatern(grad, next, cov []float64, rs [][]float64, h []float64, c float64, i int) {
	s, at := &f.system, 0
	f.rates(i)
	rates, un, k, q, turned := f.blockWork.rates, f.blockWork.u, f.k, f.blockWork.q, f.blockWork.turned
	clear(turned)
	r := rs[0]
	for b := range s.blocks {
		f.blockWork.forms[b][0] = -f.blockWork.tilted[b]
	}
	var m [4]float64
	for iu := range s.units {
		u := &s.units[iu]
		a, e := rates[2*u.block], rates[2*u.block+1]
		k1, k2, q1, q2, hu := k[2*iu], k[2*iu+1], q[2*iu], q[2*iu+1], h[iu]
		r1, r2, u1, u2 := r[2*iu], r[2*iu+1], un[2*iu]-c*h[iu], un[2*iu+1]
		var n1, n2, t, slope float64
		ns, ps := f.n[at:][:4*iu+4], cov[at:][:4*iu+4]
		at += len(ns)
		us, vs, ks, qs, xs, ts := un[:2*iu+2], r[:2*iu+2], k[:2*iu+2], q[:2*iu+2], next[:2*iu+2], turned[:2*iu+2]
		block, b, ee := -1, 0., 0.
		for iv, hv := range h[:iu+1] {
			if v := s.units[iv].block; v != block {
				block, b, ee = v, rates[2*v], e*rates[2*v+1]
			}
			n, p := ns[4*iv:4*iv+4:4*iv+4], ps[4*iv:4*iv+4:4*iv+4]
			uv, rv, kv, qv := us[2*iv:2*iv+2:2*iv+2], vs[2*iv:2*iv+2:2*iv+2], ks[2*iv:2*iv+2:2*iv+2], qs[2*iv:2*iv+2:2*iv+2]
			n11, n12, n21, n22 := n[0]-hu*uv[0]-u1*hv, n[1]-hu*uv[1], n[2]-u2*hv, n[3]
			m11, m12, m21, m22 := n11-r1*rv[0], n12-r1*rv[1], n21-r2*rv[0], n22-r2*rv[1]
			for _, r := range rs[1:] {
				m11, m12, m21, m22 = m11-r[2*iu]*r[2*iv], m12-r[2*iu]*r[2*iv+1], m21-r[2*iu+1]*r[2*iv], m22-r[2*iu+1]*r[2*iv+1]
			}
			p11, p12, p21, p22 := p[0], p[1], p[2], p[3]
			both := m11*p11 + m12*p12 + m21*p21 + m22*p22
			xv, tv := xs[2*iv:2*iv+2:2*iv+2], ts[2*iv:2*iv+2:2*iv+2]
			// N ← ΦᵤᵀNΦᵥ
			n12 += b * n11
			n22 = ee * (n22 + b*n21 + a*n12)
			n21 = ee * (n21 + a*n11)
			n11, n12 = ee*n11, ee*n12
			n[0], n[1], n[2], n[3] = n11, n12, n21, n22
			n1, n2 = n1+n11*kv[0]+n12*kv[1], n2+n21*kv[0]+n22*kv[1]
			t += p11*qv[0] + p12*qv[1]
			slope += both - m11*p21 - m12*p22
			if iv == iu {
				m = [4]float64{m11, m12, m21, m22}
				continue
			}
			tv[0] += p11*q1 + p21*q2
			xv[0] += n11*k1 + n21*k2
			xv[1] += n12*k1 + n22*k2
			mirrored := both - m11*p12 - m21*p22
			if block == u.block {
				slope += mirrored
			} else {
				f.blockWork.forms[block][0] += mirrored
			}
		}
		turned[2*iu] += t
		next[2*iu] += n1
		next[2*iu+1] += n2
		first := s.firsts[u.block]
		f.blockWork.forms[u.block][0] += slope - 2*u.scale*m[3]
		f.weigh(grad, first, u, m[:], s.q[u.block][4*i:][:4])
	}
	for b := range s.blocks {
		grad[s.firsts[b]+1] += rates[2*b] * f.blockWork.forms[b][0]
	}
}

// tilt sets the contribution of the means to the derivatives in the lengthscales, from r after the observation.
func (f *Filter) tilt(mean func(j int) []float64, rs [][]float64) {
	clear(f.blockWork.tilted)
	for j, r := range rs {
		m := mean(j)
		for iu := range f.system.units {
			f.blockWork.tilted[f.system.units[iu].block] += r[2*iu]*(m[2*iu]-m[2*iu+1]) + r[2*iu+1]*m[2*iu+1]
		}
	}
}
