package statespace

import "math"

// Derivatives in Φ, Q and h at an input become derivatives in the parameters of the blocks.

// contractTurn adds the derivatives in log p, given those in h at input i in x.
func (f *Filter) contractTurn(grad, x []float64, i int) {
	s, h, at := &f.system, f.system.hAt(i), 0
	for b := range s.blocks {
		block := &s.blocks[b]
		if block.Weights != nil {
			var sum float64
			for iu := range s.units {
				if u := &s.units[iu]; u.block == b && u.sine { // the cosine precedes it
					cos := &s.units[iu-1]
					sum += float64(u.wave) * (x[cos.at]*h[iu] - x[u.at]*h[iu-1])
				}
			}
			grad[at+1+block.Params] += s.phases[b*len(f.t)+i] * sum
		}
		at += block.derivatives()
	}
}

// contractForms adds the contribution of the derivatives in Φ and Q into input i.
func (f *Filter) contractForms(grad []float64, i int) {
	gap := math.Inf(1)
	if i > 0 {
		gap = f.t[i] - f.t[i-1]
	}
	at := 0
	for b := range f.system.blocks {
		block := &f.system.blocks[b]
		if block.Params > 0 {
			d := block.Process.Dim()
			dd := d * d
			phi, q := f.blockWork.slopes[:dd*block.Params], f.blockWork.slopes[dd*block.Params:][:dd*block.Params]
			forms, into, noise := f.blockWork.forms[b], f.system.phi[b][i*dd:][:dd], f.system.q[b][i*dd:][:dd]
			if v := &f.system.viewed; v.views != nil && f.system.doubled == nil {
				v.unveil(forms, b, i, d)
				into, noise = v.phi[b][i*dd:][:dd], v.q[b][i*dd:][:dd]
			}
			if e, ok := block.Process.(*Exposed); ok && f.system.exposures != nil {
				ws := &f.blockWork.windows[b]
				e.contract(grad[at+1:][:block.Params], forms, ws, f.strideInto(ws, i))
				at += block.derivatives()
				continue
			}
			block.Process.Slopes(phi, q, into, noise, gap)
			if d == 2 {
				z := forms[:8]
				for p := range block.Params {
					x, y := phi[4*p:4*p+4:4*p+4], q[4*p:4*p+4:4*p+4]
					grad[at+1+p] += z[0]*x[0] + z[1]*x[1] + z[2]*x[2] + z[3]*x[3] + z[4]*y[0] + z[5]*y[1] + z[6]*y[2] + z[7]*y[3]
				}
				at += block.derivatives()
				continue
			}
			for p := range block.Params {
				grad[at+1+p] += dot(forms[:dd], phi[p*dd:]) + dot(forms[dd:2*dd], q[p*dd:])
			}
		}
		at += block.derivatives()
	}
}

// diagonalPair adds what the diagonal block of M of unit u contributes to the derivatives in the variance v and in the weight c_m
// of its wave, and to forms, the derivatives in Q.
func (f *Filter) diagonalPair(grad []float64, u *piece, m, q []float64) {
	f.weigh(grad, f.system.firsts[u.block], u, m, q)
	dd := u.dim * u.dim
	addScaled(f.blockWork.forms[u.block][dd:2*dd], 0.5*u.scale, m)
}

// weigh adds the contribution to the derivatives in v and c_m.
func (f *Filter) weigh(grad []float64, first int, u *piece, m, q []float64) {
	block := &f.system.blocks[u.block]
	var v float64
	for a, w := range q {
		v += m[a] * w
	}
	v *= 0.5
	grad[first] += v * u.scale
	if u.wave >= 0 {
		grad[first+2+block.Params+u.wave-block.First] += v * block.Variance
	}
}

// addForm adds M·B·Pᵀ, or Mᵀ·B·P if turned, to z, for M and P of m×n. It uses x.
func addForm(z, m, b, p []float64, rows, cols int, x []float64, turned bool) {
	d, e := rows, cols // z is d×d, B is e×e
	mAt, pAt := func(i, j int) float64 { return m[i*cols+j] }, func(i, j int) float64 { return p[j*cols+i] }
	if turned {
		d, e = cols, rows
		mAt, pAt = func(i, j int) float64 { return m[j*cols+i] }, func(i, j int) float64 { return p[i*cols+j] }
	}
	for i := range e { // x = B·Pᵀ, e×d
		for j := range d {
			var v float64
			for k := range e {
				v += b[i*e+k] * pAt(k, j)
			}
			x[i*d+j] = v
		}
	}
	for i := range d {
		for k := range e {
			addScaled(z[i*d:][:d], mAt(i, k), x[k*d:])
		}
	}
}

// addPair adds the products of a pair of a symmetric matrix, and of its mirror image, with h to dst.
func addPair(dst, y, h []float64, s *system, iu, iv int) {
	u, v := &s.units[iu], &s.units[iv]
	for a := range u.dim {
		dst[u.at+a] += y[a*v.dim] * h[iv]
	}
	if iu == iv {
		return
	}
	addScaled(dst[v.at:][:v.dim], h[iu], y)
}

// arrive adds the derivatives in P∞, the covariance of the state at the first input.
func (f *Filter) arrive(grad []float64, rs [][]float64, c float64) {
	s, at := &f.system, 0
	for b := range s.blocks {
		clear(f.blockWork.forms[b])
	}
	s.absorb(f.n, s.hAt(0), f.blockWork.u, c)
	m := f.blockWork.pair[3]
	for iu := range s.units {
		u := &s.units[iu]
		own := f.n[at+u.dim*u.at:][:u.dim*u.dim]
		for a := range u.dim {
			for b := range u.dim {
				w := own[a*u.dim+b]
				for _, r := range rs {
					w -= r[u.at+a] * r[u.at+b]
				}
				m[a*u.dim+b] = w
			}
		}
		f.diagonalPair(grad, u, m[:u.dim*u.dim], f.noiseOf(u, 0))
		at += u.dim * (u.at + u.dim)
	}
	f.contractForms(grad, 0)
}

// contractTwo adds the derivatives in the parameters of a process of two numbers, given the derivatives in Φ, z, and in Q, w.
// Q₁₂ counts twice.
func (f *Filter) contractTwo(grad []float64, block *Block, phi, q []float64, z11, z12, z21, z22, w11, w12, w22, gap float64) {
	if p, is := block.Process.(*Oscillator); is {
		period, quality := p.contract(phi[0], phi[1], phi[3], z11, z12, z21, z22, w11, w12, w22, gap)
		grad[1] += period
		grad[2] += quality
		return
	}
	size := 4 * block.Params
	dPhi, dQ := f.blockWork.slopes[:size], f.blockWork.slopes[size:][:size]
	block.Process.Slopes(dPhi, dQ, phi, q, gap)
	for p := range block.Params {
		a, b := dPhi[4*p:4*p+4:4*p+4], dQ[4*p:4*p+4:4*p+4]
		grad[1+p] += z11*a[0] + z12*a[1] + z21*a[2] + z22*a[3] + w11*b[0] + w12*b[1] + w22*b[3]
	}
}
