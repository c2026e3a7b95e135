package statespace

// The sweeps over pairs of units of two numbers each, written out.

// advance2 is advance.
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

// retreat2 is retreat.
func (f *Filter) retreat2(grad, next, cov, g, un []float64, rs [][]float64, h []float64, c float64, i int) {
	s, at := &f.system, 0
	k := f.k
	r := rs[0]
	var m [4]float64
	for iu := range s.units {
		u := &s.units[iu]
		phi, z := f.phiOf(u, i), f.room.forms[u.block]
		a11, a12, a21, a22 := phi[0], phi[1], phi[2], phi[3]
		g1, g2, k1, k2, r1, r2, u1, u2, hu := g[2*iu], g[2*iu+1], k[2*iu], k[2*iu+1], r[2*iu], r[2*iu+1], un[2*iu], un[2*iu+1], h[iu]
		var n1, n2, z11, z12, z21, z22 float64
		block, b11, b12, b21, b22 := -1, 0., 0., 0., 0.
		var zv []float64
		for iv := range iu + 1 {
			if v := s.units[iv].block; v != block {
				block, phi, zv = v, f.phiOf(&s.units[iv], i), f.room.forms[v]
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
