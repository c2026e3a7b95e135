package statespace

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// The sweeps of a Filter with one component, written out: the same formulas as
// in forward and backward, with the states' numbers in registers. The noise
// enters as σ²·k where it can, for P − s·k·kᵀ = σ²·k in h's row and column.
// Columns after the first keep theirs in after.

// forward1 is forward for one component of order 0.
func (f *Filter) forward1(columns blas64.General) (quad float64, err error) {
	n, cols := columns.Rows, columns.Cols
	st := &f.steps[0]
	es, gs := st.e[:n], st.g[:n]
	mean, cov, inv, errs := f.mean[:cols*n], f.cov[:n], f.inv[:n], f.errs[:cols*n]
	after, scaled := f.after, f.scaled
	noise, own := f.noise, f.own
	v, scale := f.cs[0].Variance, f.scale()
	unit, floor := 1/scale, tiny*scale
	logs := logSum{prod: 1}
	m, k, was := f.start.Mean[0], f.start.Cov[0], 1. // after the observation: the mean, its variance over the noise, and that
	for from := 0; from < n; from += chunk {
		to := min(from+chunk, n)
		for i := from; i < to; i++ {
			if own != nil {
				noise = own[i]
			}
			e := es[i]
			m *= e
			p := e*e*was*k + v*gs[i] // e²·was does not wait for k
			s := p + noise
			if !(s > floor) {
				return 0, NotPositive{i}
			}
			is := 1 / s
			y := columns.Data[i*columns.Stride:][:cols]
			d := y[0] - m
			mean[i], cov[i], inv[i], errs[i] = m, p, is, d
			quad += d * d * is
			logs.add(s * unit)
			k, was = p*is, noise
			m += k * d
			at, b := i, i-from
			for j, yj := range y[1:] {
				at += n
				mj := after[j] * e
				d := yj - mj
				mean[at], errs[at], scaled[b] = mj, d, d*is
				after[j] = mj + k*d
				b += chunk
			}
		}
		f.addProducts(from, to)
	}
	f.logS = logs.sum + math.Log(logs.prod) + float64(n)*math.Log(scale)
	return quad, nil
}

// backward1 is backward for one component of order 0.
func (f *Filter) backward1(grad []float64, r blas64.General) {
	st := &f.steps[0]
	noise, own, v, others := f.noise, f.own, f.cs[0].Variance, f.after
	moreErrs, moreMeans := f.mixedErrs, f.mixedMean
	r1, nn := f.end.R[0], f.end.N[0]
	var gv, gl, gn float64
	for to := len(f.t); to > 0; {
		from := max(0, to-chunk)
		means, errs := f.mix(r, from, to)
		w := to - from
		as, es, gs := st.a[from:][:w], st.e[from:][:w], st.g[from:][:w]
		cov, inv, alpha := f.cov[from:][:w], f.inv[from:][:w], f.alpha[from:][:w]
		for i := w - 1; i >= 0; i-- {
			if own != nil {
				noise = own[from+i]
			}
			is, p, e := inv[i], cov[i], es[i]
			k, c := p*is, noise*is // c = 1 − k
			al := errs[i]*is - k*r1
			alpha[i] = al
			r1 += al
			squares, m, rm := al*al, r1*r1, r1*means[i]
			at := i
			for j, rj := range others {
				at += chunk
				al := (moreErrs[at] - p*rj) * is
				squares += al * al
				rj += al
				m += rj * rj
				rm += rj * moreMeans[at]
				others[j] = rj * e
			}
			d := is + k*k*nn - squares
			gn += d
			if own != nil {
				f.diag[from+i] = d
			}
			nn = is + c*c*nn
			m = nn - m
			gv += m * gs[i]
			gl += as[i] * (m*(v-p) + rm) // ½q·v·M − M·P
			r1 *= e
			nn *= e * e
		}
		to = from
	}
	grad[0], grad[1], grad[2] = 0.5*v*gv, -gl, 0.5*f.noise*gn
}

// forward2 is forward for one component of order 1.
func (f *Filter) forward2(columns blas64.General) (quad float64, err error) {
	n, cols := columns.Rows, columns.Cols
	st := &f.steps[0]
	as, es, gs := st.a[:n], st.e[:n], st.g[:n]
	mean, cov, inv, errs := f.mean[:2*cols*n], f.cov[:4*n], f.inv[:n], f.errs[:cols*n]
	after, scaled := f.after, f.scaled
	noise, own := f.noise, f.own
	v, scale := f.cs[0].Variance, f.scale()
	unit, floor := 1/scale, tiny*scale
	logs := logSum{prod: 1}
	m1, m2 := f.start.Mean[0], f.start.Mean[1] // after the observation
	f11, f12, f22 := f.start.Cov[0], f.start.Cov[1], f.start.Cov[3]
	for from := 0; from < n; from += chunk {
		to := min(from+chunk, n)
		for i := from; i < to; i++ {
			if own != nil {
				noise = own[i]
			}
			a, e := as[i], es[i]
			e2 := e * e
			dm := a * (m1 + m2)
			m1, m2 = e*(m1+dm), e*(m2-dm)

			// Φ = e(I + a(1, −1)ᵀ(1, 1))
			u1, u2 := a*(f11+f12), a*(f12+f22)
			t11, t12, t21, t22 := f11+u1, f12+u2, f12-u1, f22-u2
			w1, w2 := a*(t11+t12), a*(t21+t22)
			x2, g := 2*a*e2*v, v*gs[i] // 2p₁v, G₂v
			p11 := e2*(t11+w1) + g
			p12 := e2*(t12-w1) + x2*a
			p22 := e2*(t22-w2) + 2*x2 + g

			s := p11 + noise
			if !(s > floor) {
				return 0, NotPositive{i}
			}
			is := 1 / s
			y := columns.Data[i*columns.Stride:][:cols]
			d := y[0] - m1
			mi, ci := mean[2*i:2*i+2:2*i+2], cov[4*i:4*i+4:4*i+4]
			mi[0], mi[1] = m1, m2
			ci[0], ci[1], ci[2], ci[3] = p11, p12, p12, p22
			inv[i], errs[i] = is, d
			quad += d * d * is
			logs.add(s * unit)
			k1, k2 := p11*is, p12*is
			m1 += k1 * d
			m2 += k2 * d
			f11, f12, f22 = noise*k1, noise*k2, p22-k2*p12
			at, b := i, i-from
			for j, yj := range y[1:] {
				at += n
				m, mi := after[2*j:2*j+2:2*j+2], mean[2*at:2*at+2:2*at+2]
				m1, m2 := m[0], m[1]
				dm := a * (m1 + m2)
				m1, m2 = e*(m1+dm), e*(m2-dm)
				d := yj - m1
				mi[0], mi[1] = m1, m2
				errs[at], scaled[b] = d, d*is
				m[0], m[1] = m1+k1*d, m2+k2*d
				b += chunk
			}
		}
		f.addProducts(from, to)
	}
	f.logS = logs.sum + math.Log(logs.prod) + float64(n)*math.Log(scale)
	return quad, nil
}

// backward2 is backward for one component of order 1.
func (f *Filter) backward2(grad []float64, r blas64.General) {
	st := &f.steps[0]
	noise, own, v := f.noise, f.own, f.cs[0].Variance
	others, moreErrs, moreMeans := f.after, f.mixedErrs, f.mixedMean
	r1, r2 := f.end.R[0], f.end.R[1]
	n11, n12, n22 := f.end.N[0], f.end.N[1], f.end.N[3]
	var gv, gl, gn float64
	for to := len(f.t); to > 0; {
		from := max(0, to-chunk)
		means, errs := f.mix(r, from, to)
		w := to - from
		as, es, gs := st.a[from:][:w], st.e[from:][:w], st.g[from:][:w]
		cov, inv, alpha := f.cov[4*from:][:4*w], f.inv[from:][:w], f.alpha[from:][:w]
		for i := w - 1; i >= 0; i-- {
			if own != nil {
				noise = own[from+i]
			}
			is, a, e := inv[i], as[i], es[i]
			mi, ci := means[2*i:2*i+2:2*i+2], cov[4*i:4*i+4:4*i+4]
			p11, p12, p22 := ci[0], ci[1], ci[3]
			k1, k2, c := p11*is, p12*is, noise*is // c = 1 − k₁

			al := errs[i]*is - k1*r1 - k2*r2
			alpha[i] = al
			r1 += al
			// F = (0 1; −1 −2)
			squares, m11, m12, m22, rm := al*al, r1*r1, r1*r2, r2*r2, r2*(mi[0]+2*mi[1])-r1*mi[1]
			at := i
			for o := others; len(o) >= 2; o = o[2:] {
				at += chunk
				r1, r2, mi := o[0], o[1], moreMeans[2*at:2*at+2:2*at+2]
				al := (moreErrs[at] - p11*r1 - p12*r2) * is
				squares += al * al
				r1 += al
				m11 += r1 * r1
				m12 += r1 * r2
				m22 += r2 * r2
				rm += r2*(mi[0]+2*mi[1]) - r1*mi[1]
				dr := a * (r1 - r2)
				o[0], o[1] = e*(r1+dr), e*(r2+dr)
			}

			w1, w2 := n11*k1+n12*k2, n12*k1+n22*k2
			d := is + k1*w1 + k2*w2 - squares
			gn += d
			if own != nil {
				f.diag[from+i] = d
			}
			n11 = is + c*(c*n11-2*k2*n12) + k2*k2*n22
			n12 = c*n12 - k2*n22

			m11, m12, m22 = n11-m11, n12-m12, n22-m22
			e2 := e * e
			x2 := 2 * a * e2
			gv += (m11+m22)*gs[i] + 2*x2*(m12*a+m22)
			gl += a * (p12*(m11-m22) + (p22-p11-2*p12)*m12 + 2*(v-p22)*m22 + rm)

			// Φᵀ = e(I + a(1, 1)ᵀ(1, −1))
			dr := a * (r1 - r2)
			r1, r2 = e*(r1+dr), e*(r2+dr)
			d1, d2 := a*(n11-n12), a*(n12-n22)
			t11, t12, t21, t22 := n11+d1, n12+d2, n12+d1, n22+d2
			b1, b2 := a*(t11-t12), a*(t21-t22)
			n11, n12, n22 = e2*(t11+b1), e2*(t12+b1), e2*(t22+b2)
		}
		to = from
	}
	grad[0], grad[1], grad[2] = 0.5*v*gv, -gl, 0.5*f.noise*gn
}

// propagator3 returns Φ of order 2, row by row.
func propagator3(a, e float64) (f11, f12, f13, f21, f22, f23, f31, f32, f33 float64) {
	b := a * a / 2
	return e * (1 + a + b), e * (a + 2*b), e * b,
		-e * b, e * (1 + a - 2*b), e * (a - b),
		e * (b - a), e * (2*b - 3*a), e * (1 - 2*a + b)
}

// upper3 returns the upper triangle of a 3×3 matrix.
func upper3(s []float64) (s11, s12, s13, s22, s23, s33 float64) {
	return s[0], s[1], s[2], s[4], s[5], s[8]
}

// noise3 returns the upper triangle of Q of order 2 for v = 1, row by row.
func noise3(a, e, g float64) (q11, q12, q13, q22, q23, q33 float64) {
	x := 2 * a
	p1 := e * e * x
	p2 := p1 * x * (1. / 2)
	p3 := p2 * x * (1. / 3)
	p4 := p3 * x * (1. / 4)
	return g, p4, (2*p3 - 4*p4 - g) * (1. / 3),
		(4*p3 - 2*p4 + g) * (1. / 3), p2*(4./3) - 2*p3 + p4,
		(p1-p2)*(8./3) + 4*p3 + g
}

// sandwich3 returns the upper triangle of BSBᵀ, S by its upper triangle.
func sandwich3(b11, b12, b13, b21, b22, b23, b31, b32, b33, s11, s12, s13, s22, s23, s33 float64) (t11, t12, t13, t22, t23, t33 float64) {
	x1, x2, x3 := b11*s11+b12*s12+b13*s13, b11*s12+b12*s22+b13*s23, b11*s13+b12*s23+b13*s33
	t11 = x1*b11 + x2*b12 + x3*b13
	t12 = x1*b21 + x2*b22 + x3*b23
	t13 = x1*b31 + x2*b32 + x3*b33
	x1, x2, x3 = b21*s11+b22*s12+b23*s13, b21*s12+b22*s22+b23*s23, b21*s13+b22*s23+b23*s33
	t22 = x1*b21 + x2*b22 + x3*b23
	t23 = x1*b31 + x2*b32 + x3*b33
	x1, x2, x3 = b31*s11+b32*s12+b33*s13, b31*s12+b32*s22+b33*s23, b31*s13+b32*s23+b33*s33
	t33 = x1*b31 + x2*b32 + x3*b33
	return
}

// forward3 is forward for one component of order 2.
func (f *Filter) forward3(columns blas64.General) (quad float64, err error) {
	n, cols := columns.Rows, columns.Cols
	st := &f.steps[0]
	as, es, gs := st.a[:n], st.e[:n], st.g[:n]
	mean, cov, inv, errs := f.mean[:3*cols*n], f.cov[:9*n], f.inv[:n], f.errs[:cols*n]
	after, scaled := f.after, f.scaled
	noise, own := f.noise, f.own
	v, scale := f.cs[0].Variance, f.scale()
	unit, floor := 1/scale, tiny*scale
	logs := logSum{prod: 1}
	m1, m2, m3 := f.start.Mean[0], f.start.Mean[1], f.start.Mean[2] // after the observation
	c11, c12, c13, c22, c23, c33 := upper3(f.start.Cov)
	for from := 0; from < n; from += chunk {
		to := min(from+chunk, n)
		for i := from; i < to; i++ {
			if own != nil {
				noise = own[i]
			}
			a, e := as[i], es[i]
			f11, f12, f13, f21, f22, f23, f31, f32, f33 := propagator3(a, e)
			m1, m2, m3 = f11*m1+f12*m2+f13*m3, f21*m1+f22*m2+f23*m3, f31*m1+f32*m2+f33*m3
			p11, p12, p13, p22, p23, p33 := sandwich3(f11, f12, f13, f21, f22, f23, f31, f32, f33, c11, c12, c13, c22, c23, c33)
			q11, q12, q13, q22, q23, q33 := noise3(a, e, gs[i])
			p11, p12, p13, p22, p23, p33 = p11+v*q11, p12+v*q12, p13+v*q13, p22+v*q22, p23+v*q23, p33+v*q33

			s := p11 + noise
			if !(s > floor) {
				return 0, NotPositive{i}
			}
			is := 1 / s
			y := columns.Data[i*columns.Stride:][:cols]
			d := y[0] - m1
			mi, ci := mean[3*i:3*i+3:3*i+3], cov[9*i:9*i+9:9*i+9]
			mi[0], mi[1], mi[2] = m1, m2, m3
			ci[0], ci[1], ci[2] = p11, p12, p13
			ci[3], ci[4], ci[5] = p12, p22, p23
			ci[6], ci[7], ci[8] = p13, p23, p33
			inv[i], errs[i] = is, d
			quad += d * d * is
			logs.add(s * unit)
			k1, k2, k3 := p11*is, p12*is, p13*is
			m1 += k1 * d
			m2 += k2 * d
			m3 += k3 * d
			c11, c12, c13 = noise*k1, noise*k2, noise*k3
			c22, c23, c33 = p22-k2*p12, p23-k2*p13, p33-k3*p13
			at, b := i, i-from
			for j, yj := range y[1:] {
				at += n
				m, mi := after[3*j:3*j+3:3*j+3], mean[3*at:3*at+3:3*at+3]
				m1, m2, m3 := m[0], m[1], m[2]
				m1, m2, m3 = f11*m1+f12*m2+f13*m3, f21*m1+f22*m2+f23*m3, f31*m1+f32*m2+f33*m3
				d := yj - m1
				mi[0], mi[1], mi[2] = m1, m2, m3
				errs[at], scaled[b] = d, d*is
				m[0], m[1], m[2] = m1+k1*d, m2+k2*d, m3+k3*d
				b += chunk
			}
		}
		f.addProducts(from, to)
	}
	f.logS = logs.sum + math.Log(logs.prod) + float64(n)*math.Log(scale)
	return quad, nil
}

// backward3 is backward for one component of order 2.
func (f *Filter) backward3(grad []float64, r blas64.General) {
	st := &f.steps[0]
	noise, own, v := f.noise, f.own, f.cs[0].Variance
	others, moreErrs, moreMeans := f.after, f.mixedErrs, f.mixedMean
	r1, r2, r3 := f.end.R[0], f.end.R[1], f.end.R[2]
	n11, n12, n13, n22, n23, n33 := upper3(f.end.N)
	var gv, gl, gn float64
	for to := len(f.t); to > 0; {
		from := max(0, to-chunk)
		means, errs := f.mix(r, from, to)
		w := to - from
		as, es, gs := st.a[from:][:w], st.e[from:][:w], st.g[from:][:w]
		cov, inv, alpha := f.cov[9*from:][:9*w], f.inv[from:][:w], f.alpha[from:][:w]
		for i := w - 1; i >= 0; i-- {
			if own != nil {
				noise = own[from+i]
			}
			is, a, e := inv[i], as[i], es[i]
			mi, ci := means[3*i:3*i+3:3*i+3], cov[9*i:9*i+9:9*i+9]
			p11, p12, p13, p22, p23, p33 := ci[0], ci[1], ci[2], ci[4], ci[5], ci[8]
			k1, k2, k3, c := p11*is, p12*is, p13*is, noise*is // c = 1 − k₁
			f11, f12, f13, f21, f22, f23, f31, f32, f33 := propagator3(a, e)

			al := errs[i]*is - k1*r1 - k2*r2 - k3*r3
			alpha[i] = al
			r1 += al
			squares := al * al
			m11, m12, m13, m22, m23, m33 := r1*r1, r1*r2, r1*r3, r2*r2, r2*r3, r3*r3
			// F = (0 1 0; 0 0 1; −1 −3 −3): its rows times P, m against M's, r
			rm := r3*(mi[0]+3*(mi[1]+mi[2])) - r1*mi[1] - r2*mi[2]
			at := i
			for o := others; len(o) >= 3; o = o[3:] {
				at += chunk
				r1, r2, r3, mi := o[0], o[1], o[2], moreMeans[3*at:3*at+3:3*at+3]
				al := (moreErrs[at] - p11*r1 - p12*r2 - p13*r3) * is
				squares += al * al
				r1 += al
				m11 += r1 * r1
				m12 += r1 * r2
				m13 += r1 * r3
				m22 += r2 * r2
				m23 += r2 * r3
				m33 += r3 * r3
				rm += r3*(mi[0]+3*(mi[1]+mi[2])) - r1*mi[1] - r2*mi[2]
				o[0], o[1], o[2] = f11*r1+f21*r2+f31*r3, f12*r1+f22*r2+f32*r3, f13*r1+f23*r2+f33*r3
			}

			w1, w2, w3 := n11*k1+n12*k2+n13*k3, n12*k1+n22*k2+n23*k3, n13*k1+n23*k2+n33*k3
			d := is + k1*w1 + k2*w2 + k3*w3 - squares
			gn += d
			if own != nil {
				f.diag[from+i] = d
			}
			u2, u3 := n22*k2+n23*k3, n23*k2+n33*k3
			n11 = is + c*(c*n11-2*(k2*n12+k3*n13)) + k2*u2 + k3*u3
			n12, n13 = c*n12-u2, c*n13-u3

			m11, m12, m13, m22, m23, m33 = n11-m11, n12-m12, n13-m13, n22-m22, n23-m23, n33-m33
			q11, q12, q13, q22, q23, q33 := noise3(a, e, gs[i])
			gv += m11*q11 + m22*q22 + m33*q33 + 2*(m12*q12+m13*q13+m23*q23)
			gl += a * (p12*m11 + p22*m12 + p23*m13 +
				p13*m12 + p23*m22 + p33*m23 -
				(p11+3*(p12+p13))*m13 - (p12+3*(p22+p23))*m23 - (p13+3*(p23+p33))*m33 +
				(8./3)*v*m33 + rm)

			r1, r2, r3 = f11*r1+f21*r2+f31*r3, f12*r1+f22*r2+f32*r3, f13*r1+f23*r2+f33*r3
			n11, n12, n13, n22, n23, n33 = sandwich3(f11, f21, f31, f12, f22, f32, f13, f23, f33, n11, n12, n13, n22, n23, n33)
		}
		to = from
	}
	grad[0], grad[1], grad[2] = 0.5*v*gv, -gl, 0.5*f.noise*gn
}
