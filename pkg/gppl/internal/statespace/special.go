package statespace

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Sweeps of a Filter with one component, written out: the formulas of forward and backward, with the numbers of the state in
// registers. The noise enters as σ²·k where possible, since P − s·k·kᵀ = σ²·k in h's row and column.
//
// They are three separate texts, because one template is slower. Loops over arrays, [d]float64 as a type parameter, stay in
// memory: forward takes 1.9, 3.1 and 4.9 times as long for d = 1, 2, 3. And one shape does not suit all: backward2 with the
// two loops of backward3 takes 1.46 times as long (n = 4000, best of 400 in turn).

// forward1 is forward for one component of order 0.
func (f *Filter) forward1(columns blas64.General) (quad float64, err error) {
	n, cols := columns.Rows, columns.Cols
	st := &f.steps[0]
	es, gs := st.e[:n], st.g[:n]
	mean, cov, inv, errs := f.mean, f.cov[:n], f.inv[:n], f.errs[:cols*n]
	_, step := f.means()
	after := f.after
	noise, own := f.noise, f.own
	v, scale := f.cs[0].Variance, f.scale()
	unit, floor := 1/scale, tiny*scale
	logs := logSum{prod: 1}
	m, k, was := 0., 0., 1. // after the observation: mean, variance over the noise, and the variance before it over s
	for from := 0; from < n; from += chunk {
		parallel.Look(f.Ctx)
		f.mark(from, m)
		scaled, to := f.scaledIn(from), min(from+chunk, n)
		for i := from; i < to; i++ {
			if own != nil {
				noise = own[i]
			}
			e := es[i]
			m *= e
			p := e*e*was*k + v*gs[i] // e²·was is independent of k, and need not wait for it
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
			at, in, b := i, i+n-step, i-from
			for j, yj := range y[1:] {
				at, in = at+n, in+step
				mj := after[j] * e
				d := yj - mj
				mean[in], errs[at], scaled[b] = mj, d, d*is
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
	noise, own, v, others := f.noise, f.own, f.cs[0].Variance, f.after
	moreErrs, moreMeans := f.mixedErrs, f.mixedMean
	var r1, nn, gv, gl, gn float64
	for to := len(f.t); to > 0; {
		parallel.Look(f.Ctx)
		from := (to - 1) / chunk * chunk
		means, errs := f.mix(r, from, to)
		as, es, gs, cov, inv := f.part(from, to)
		for i := len(as) - 1; i >= 0; i-- {
			if own != nil {
				noise = own[from+i]
			}
			is, p, e := inv[i], cov[i], es[i]
			k, c := p*is, noise*is // c = 1 − k
			al := errs[i]*is - k*r1
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
	mean, cov, inv, errs := f.mean, f.cov[:4*n], f.inv[:n], f.errs[:cols*n]
	_, step := f.means()
	after := f.after
	noise, own := f.noise, f.own
	v, scale := f.cs[0].Variance, f.scale()
	unit, floor := 1/scale, tiny*scale
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
			a, e := as[i], es[i]
			m1, m2 = e*(m1+a*m2), e*m2
			e2 := e * e
			g1, g0 := noise2(a, e2, gs[i])
			u1, u2 := f11+a*f12, f12+a*f22
			p11 := e2*(u1+a*u2) + v*gs[i]
			p12 := e2*u2 + v*g1
			p22 := e2*f22 + 2*v*g0

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
			at, in, b := i, i+n-step, i-from
			for j, yj := range y[1:] {
				at, in = at+n, in+step
				m, mi := after[2*j:2*j+2:2*j+2], mean[2*in:2*in+2:2*in+2]
				m1, m2 := e*(m[0]+a*m[1]), e*m[1]
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
	noise, own, v := f.noise, f.own, f.cs[0].Variance
	var r1, r2, n11, n12, n22, gv, gl, gn float64
	var sums []float64 // sums over the columns after the first
	if r.Cols > 1 {
		f.sums = dense.Resize(f.sums, sums2*chunk)
		sums = f.sums
	}
	for to := len(f.t); to > 0; {
		parallel.Look(f.Ctx)
		from := (to - 1) / chunk * chunk
		means, errs := f.mix(r, from, to)
		if sums != nil {
			f.backwardColumns2(sums, from, to)
		}
		as, es, gs, cov, inv := f.part(from, to)
		for i := len(as) - 1; i >= 0; i-- {
			if own != nil {
				noise = own[from+i]
			}
			is, a, e := inv[i], as[i], es[i]
			mi, ci := means[2*i:2*i+2:2*i+2], cov[4*i:4*i+4:4*i+4]
			p11, p12, p22 := ci[0], ci[1], ci[3]
			k1, k2, c := p11*is, p12*is, noise*is // c = 1 − k₁

			al := errs[i]*is - k1*r1 - k2*r2
			r1 += al
			cross, rest := 2*k2*n12, is+k2*k2*n22
			d := rest + k1*(k1*n11+cross) - al*al
			n11, n12 = rest+c*(c*n11-cross), c*n12-k2*n22

			m11, m12, m22 := n11-r1*r1, n12-r1*r2, n22-r2*r2
			rm := r1*(mi[0]-mi[1]) + r2*mi[1] // −rᵀFm, F = (−1 1; 0 −1)
			if sums != nil {
				s := sums[sums2*i:][:sums2:sums2]
				m11, m12, m22, rm, d = m11-s[0], m12-s[1], m22-s[2], rm+s[3], d-s[4]
			}
			gn += d
			if own != nil {
				f.diag[from+i] = d
			}
			e2 := e * e
			g1, g0 := noise2(a, e2, gs[i])
			gv += m11*gs[i] + 2*(m12*g1+m22*g0)
			gl += a * (m11*(p12-p11) + m12*(p22-2*p12) + m22*(2*v-p22) + rm)

			r1, r2 = e*r1, e*(r2+a*r1)
			u := n12 + a*n11
			n11, n12, n22 = e2*n11, e2*u, e2*(n22+a*(n12+u))
		}
		to = from
	}
	grad[0], grad[1], grad[2] = 0.5*v*gv, -gl, 0.5*f.noise*gn
}

// forward3 is forward for one component of order 2.
func (f *Filter) forward3(columns blas64.General) (quad float64, err error) {
	n, cols := columns.Rows, columns.Cols
	st := &f.steps[0]
	as, es, gs := st.a[:n], st.e[:n], st.g[:n]
	mean, cov, inv, errs := f.mean[:3*n], f.cov[:9*n], f.inv[:n], f.errs[:n]
	noise, own := f.noise, f.own
	v, scale := f.cs[0].Variance, f.scale()
	unit, floor := 1/scale, tiny*scale
	logs := logSum{prod: 1}
	var m1, m2, m3, c11, c12, c13, c22, c23, c33 float64 // mean and covariance after the observation
	for from := 0; from < n; from += chunk {
		parallel.Look(f.Ctx)
		f.mark(from, m1, m2, m3)
		to := min(from+chunk, n)
		for i := from; i < to; i++ {
			if own != nil {
				noise = own[i]
			}
			a, e := as[i], es[i]
			b := 0.5 * a * a
			m1, m2, m3 = e*(m1+a*m2+b*m3), e*(m2+a*m3), e*m3
			e2 := e * e
			g3, g2, g1, g0 := noise3(a, e2, gs[i])
			u1, u2, u3 := c11+a*c12+b*c13, c12+a*c22+b*c23, c13+a*c23+b*c33
			w2, w3 := c22+a*c23, c23+a*c33
			p11 := e2*(u1+a*u2+b*u3) + v*gs[i]
			p12 := e2*(u2+a*u3) + v*g3
			p13 := e2*u3 + (2./3)*v*g2
			p22 := e2*(w2+a*w3) + (4./3)*v*g2
			p23 := e2*w3 + (4./3)*v*g1
			p33 := e2*c33 + (8./3)*v*g0

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
		}
		if cols > 1 {
			f.forwardColumns3(columns, from, to)
		}
		f.addProducts(from, to)
	}
	f.logS = logs.sum + math.Log(logs.prod) + float64(n)*math.Log(scale)
	return quad, nil
}

// backward3 is backward for one component of order 2. It has two loops for each chunk, since both together have more numbers
// than there are registers: the first one leaves M, −rᵀFm and the diagonal in sums.
func (f *Filter) backward3(grad []float64, r blas64.General) {
	noise, own, v := f.noise, f.own, f.cs[0].Variance
	var r1, r2, r3, n11, n12, n13, n22, n23, n33, gv, gl, gn float64
	f.sums = dense.Resize(f.sums, sums3*chunk)
	for to := len(f.t); to > 0; {
		parallel.Look(f.Ctx)
		from := (to - 1) / chunk * chunk
		means, errs := f.mix(r, from, to)
		as, es, gs, cov, inv := f.part(from, to)
		for i := len(as) - 1; i >= 0; i-- {
			if own != nil {
				noise = own[from+i]
			}
			is, ci := inv[i], cov[9*i:9*i+3:9*i+3]
			k1, k2, k3, c := ci[0]*is, ci[1]*is, ci[2]*is, noise*is // c = 1 − k₁

			sum := f.sums[sums3*i:][:sums3:sums3]
			al := errs[i]*is - k1*r1 - k2*r2 - k3*r3
			r1 += al
			u2, u3 := n22*k2+n23*k3, n23*k2+n33*k3
			cross, rest := 2*(k2*n12+k3*n13), is+k2*u2+k3*u3
			sum[7] = rest + k1*(k1*n11+cross) - al*al
			n11, n12, n13 = rest+c*(c*n11-cross), c*n12-u2, c*n13-u3

			sum[0], sum[1], sum[2], sum[3], sum[4], sum[5] = n11-r1*r1, n12-r1*r2, n13-r1*r3, n22-r2*r2, n23-r2*r3, n33-r3*r3
			// F = (−1 1 0; 0 −1 1; 0 0 −1): its rows times P, m against M's, r
			mi := means[3*i : 3*i+3 : 3*i+3]
			sum[6] = r1*(mi[0]-mi[1]) + r2*(mi[1]-mi[2]) + r3*mi[2]

			a, e := as[i], es[i]
			b := 0.5 * a * a
			r1, r2, r3 = e*r1, e*(r2+a*r1), e*(r3+a*r2+b*r1)
			e2 := e * e
			v12, v13 := n12+a*n11, n13+a*n12+b*n11
			v22, v23, v33 := n22+a*n12, n23+a*n22+b*n12, n33+a*n23+b*n13
			n11, n12, n13 = e2*n11, e2*v12, e2*v13
			n22, n23, n33 = e2*(v22+a*v12), e2*(v23+a*v13), e2*(v33+a*v23+b*v13)
		}
		if r.Cols > 1 {
			f.backwardColumns3(f.sums, from, to)
		}
		for i, a := range as {
			sum, ci := f.sums[sums3*i:][:sums3:sums3], cov[9*i:9*i+9:9*i+9]
			m11, m12, m13, m22, m23, m33, rm, d := sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7]
			gn += d
			if own != nil {
				f.diag[from+i] = d
			}
			p11, p12, p13, p22, p23, p33 := ci[0], ci[1], ci[2], ci[4], ci[5], ci[8]
			gl += a * (m11*(p12-p11) + m12*(p22-2*p12+p13) + m13*(p23-2*p13) +
				m22*(p23-p22) + m23*(p33-2*p23) + m33*((8./3)*v-p33) + rm)
			g3, g2, g1, g0 := noise3(a, es[i]*es[i], gs[i])
			gv += m11*gs[i] + 2*m12*g3 + (4./3)*((m13+m22)*g2+2*(m23*g1+m33*g0))
		}
		to = from
	}
	grad[0], grad[1], grad[2] = 0.5*v*gv, -gl, 0.5*f.noise*gn
}

// Contributions of the columns after the first to the sweeps of special.go, where the registers do not suffice for both. For
// each input of a chunk sums holds, in this order, the upper triangle of Σ_j r_j r_jᵀ, −Σ_j r_jᵀFm_j and Σ_j α_j².
const (
	sums2 = 3 + 2
	sums3 = 6 + 2
)

// backwardColumns2 sets sums for one component of order 1.
func (f *Filter) backwardColumns2(sums []float64, from, to int) {
	others, errs, means := f.after, f.mixedErrs, f.mixedMean
	as, es, _, cov, inv := f.part(from, to)
	for i := len(as) - 1; i >= 0; i-- {
		is, a, e := inv[i], as[i], es[i]
		k1, k2 := cov[4*i]*is, cov[4*i+1]*is
		var m11, m12, m22, rm, squares float64
		at := i
		for o := others; len(o) >= 2; o = o[2:] {
			at += chunk
			mi := means[2*at : 2*at+2 : 2*at+2]
			r1, r2 := o[0], o[1]
			al := errs[at]*is - k1*r1 - k2*r2
			squares += al * al
			r1 += al
			m11 += r1 * r1
			m12 += r1 * r2
			m22 += r2 * r2
			rm += r1*(mi[0]-mi[1]) + r2*mi[1]
			o[0], o[1] = e*r1, e*(r2+a*r1)
		}
		sum := sums[sums2*i:][:sums2:sums2]
		sum[0], sum[1], sum[2], sum[3], sum[4] = m11, m12, m22, rm, squares
	}
}

// forwardColumns3 runs the columns after the first over some inputs, for one component of order 2: two at a time, since each
// waits for its own result at every input.
func (f *Filter) forwardColumns3(columns blas64.General, from, to int) {
	more := columns.Cols - 1
	as, es, _, cov, inv := f.part(from, to)
	for j := 0; j < more; j += 2 {
		c, d := f.trackOf(columns, j, from, to), f.trackOf(columns, min(j+1, more-1), from, to) // an odd last column runs twice
		c1, c2, c3, d1, d2, d3 := c.after[0], c.after[1], c.after[2], d.after[0], d.after[1], d.after[2]
		for i, a := range as {
			is, e, b := inv[i], es[i], 0.5*a*a
			k1, k2, k3 := cov[9*i]*is, cov[9*i+1]*is, cov[9*i+2]*is
			m1, m2, m3 := e*(c1+a*c2+b*c3), e*(c2+a*c3), e*c3
			n1, n2, n3 := e*(d1+a*d2+b*d3), e*(d2+a*d3), e*d3
			y := i * columns.Stride
			u, v := c.y[y]-m1, d.y[y]-n1
			c.errs[i], c.scaled[i], d.errs[i], d.scaled[i] = u, u*is, v, v*is
			m, n := c.means[3*i:3*i+3:3*i+3], d.means[3*i:3*i+3:3*i+3]
			m[0], m[1], m[2], n[0], n[1], n[2] = m1, m2, m3, n1, n2, n3
			c1, c2, c3 = m1+k1*u, m2+k2*u, m3+k3*u
			d1, d2, d3 = n1+k1*v, n2+k2*v, n3+k3*v
		}
		c.after[0], c.after[1], c.after[2], d.after[0], d.after[1], d.after[2] = c1, c2, c3, d1, d2, d3
	}
}

// track holds the data of a column after the first over some inputs: its y, with the stride of the columns, its state after
// the last observation, and the destinations of its errors, the errors over s, and its means.
type track struct{ y, after, errs, scaled, means []float64 }

// trackOf returns the track of column j+1.
func (f *Filter) trackOf(columns blas64.General, j, from, to int) track {
	n, d := columns.Rows, f.dim
	_, step := f.means()
	return track{
		y:      columns.Data[from*columns.Stride+j+1:],
		after:  f.after[j*d:][:d],
		errs:   f.errs[(j+1)*n+from : (j+1)*n+to],
		scaled: f.scaledIn(from)[j*chunk:][:to-from],
		means:  f.mean[(n+j*step+from)*d : (n+j*step+to)*d],
	}
}

// backwardColumns3 subtracts the contributions of the columns from M and from the diagonal of A⁻¹ in sums, and adds −Σ_j
// r_jᵀFm_j, for one component of order 2. It overwrites their means with r_j.
func (f *Filter) backwardColumns3(sums []float64, from, to int) {
	others, errs, means := f.after, f.mixedErrs, f.mixedMean
	as, es, _, cov, inv := f.part(from, to)
	for i := len(as) - 1; i >= 0; i-- {
		is, a, e := inv[i], as[i], es[i]
		b := 0.5 * a * a
		k1, k2, k3 := cov[9*i]*is, cov[9*i+1]*is, cov[9*i+2]*is
		var rm, squares float64
		at := i
		for o := others; len(o) >= 3; o = o[3:] {
			at += chunk
			mi := means[3*at : 3*at+3 : 3*at+3]
			r1, r2, r3 := o[0], o[1], o[2]
			al := errs[at]*is - k1*r1 - k2*r2 - k3*r3
			squares += al * al
			r1 += al
			rm += r1*(mi[0]-mi[1]) + r2*(mi[1]-mi[2]) + r3*mi[2]
			mi[0], mi[1], mi[2] = r1, r2, r3
			o[0], o[1], o[2] = e*r1, e*(r2+a*r1), e*(r3+a*r2+b*r1)
		}
		sum := sums[sums3*i:][:sums3:sums3]
		sum[6], sum[7] = sum[6]+rm, sum[7]-squares
	}
	for i := range as {
		sum := sums[sums3*i:][:sums3:sums3]
		m11, m12, m13, m22, m23, m33 := sum[0], sum[1], sum[2], sum[3], sum[4], sum[5]
		for at := i + chunk; 3*at+3 <= len(means); at += chunk {
			mi := means[3*at : 3*at+3 : 3*at+3]
			r1, r2, r3 := mi[0], mi[1], mi[2]
			m11 -= r1 * r1
			m12 -= r1 * r2
			m13 -= r1 * r3
			m22 -= r2 * r2
			m23 -= r2 * r3
			m33 -= r3 * r3
		}
		sum[0], sum[1], sum[2], sum[3], sum[4], sum[5] = m11, m12, m13, m22, m23, m33
	}
}
