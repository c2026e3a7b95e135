package statespace

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// What a Filter does with columns beside the first: sweeps of means and adjoints
// alone, with the covariances that the first one had.

// follow sweeps from the first input to the last with all columns but the first.
func (f *Filter) follow(columns blas64.General) {
	if len(f.cs) == 1 {
		switch f.cs[0].Order {
		case 0:
			f.follow1(columns)
			return
		case 1:
			f.follow2(columns)
			return
		}
	}
	n, d := len(f.t), f.dim
	f.mixedMean = resize(f.mixedMean, f.cols*d)
	after := f.mixedMean // the means after the observation
	clear(after)
	for i := range n {
		f.transitions(i)
		f.gain(i)
		for j, y := range columns.Data[i*columns.Stride:][:f.cols] {
			if j == 0 {
				continue
			}
			mean := f.mean[(j*n+i)*d:][:d]
			apply(mean, f.phi, after[j*d:][:d])
			e := y - mean[0]
			f.errs[j*n+i] = e
			f.move(after[j*d:][:d], mean, e)
		}
	}
}

// mix returns the means and errors of C·r_j, or those of zeros where R has no
// column j.
func (f *Filter) mix(r blas64.General, j int) (mean, errs []float64) {
	n, d := len(f.t), f.dim
	f.mixedMean, f.mixedErrs = resize(f.mixedMean, n*d), resize(f.mixedErrs, n)
	clear(f.mixedMean)
	clear(f.mixedErrs)
	if j < r.Cols {
		for c := range f.cols {
			w := r.Data[c*r.Stride+j]
			if w == 0 { // R is mostly triangular
				continue
			}
			floats.AddScaled(f.mixedMean, w, f.mean[c*n*d:][:n*d])
			floats.AddScaled(f.mixedErrs, w, f.errs[c*n:][:n])
		}
	}
	return f.mixedMean, f.mixedErrs
}

// addOuter adds −½uᵀ∂A u for u = A⁻¹y, y the column of the given means and errors, to
// the gradient, and takes u's squares from diag: backward
// with M = −rrᵀ, which takes no matrix,
//
//	½tr(MQ) = −½rᵀQr,   tr(MFP) − rᵀFm = −rᵀF(Pr + m).
func (f *Filter) addOuter(grad, means, errs []float64) {
	if len(f.cs) == 1 {
		switch f.cs[0].Order {
		case 0:
			f.addOuter1(grad, means, errs)
			return
		case 1:
			f.addOuter2(grad, means, errs)
			return
		}
	}
	d, last := f.dim, len(grad)-1
	clear(f.r)
	for i := len(f.t) - 1; i >= 0; i-- {
		f.gain(i)
		alpha := f.inform(f.r, errs[i], i)
		grad[last] -= 0.5 * f.noise * alpha * alpha
		if f.own != nil {
			f.diag[i] -= alpha * alpha
		}
		f.transitions(i)
		smooth := f.x[:d] // Pr + m
		apply(smooth, f.cov[i*d*d:][:d*d], f.r)
		floats.Add(smooth, means[i*d:][:d])
		for c, comp := range f.cs {
			o, n := f.first[c], comp.dim()
			own := f.w[:n] // r in the component's own state: its value is in the sum as well
			copy(own, f.r[o:])
			if c > 0 {
				own[0] += f.r[0]
			}
			var quad float64
			for a, ra := range own {
				for b, rb := range own {
					quad += ra * f.q[c][a*n+b] * rb
				}
			}
			slope := -0.5 * intensity[comp.Order] * comp.Variance * own[n-1] * own[n-1]
			for _, w := range f.drift[c] {
				slope -= w.v * f.r[w.row] * smooth[w.col]
			}
			grad[2*c] -= 0.5 * quad
			grad[2*c+1] -= f.steps[c].a[i] * slope
		}
		apply(f.w, f.phiT, f.r)
		copy(f.r, f.w)
	}
}

// follow1 is follow for one component of order 0.
func (f *Filter) follow1(columns blas64.General) {
	n := len(f.t)
	es, cov, inv := f.steps[0].e[:n], f.cov[:n], f.inv[:n]
	for j := 1; j < f.cols; j++ {
		mean, errs := f.mean[j*n:][:n], f.errs[j*n:][:n]
		var m float64
		for i, e := range es {
			m *= e
			d := columns.Data[i*columns.Stride+j] - m
			mean[i], errs[i] = m, d
			m += cov[i] * inv[i] * d
		}
	}
}

// follow2 is follow for one component of order 1.
func (f *Filter) follow2(columns blas64.General) {
	n := len(f.t)
	as, es, cov, inv := f.steps[0].a[:n], f.steps[0].e[:n], f.cov[:4*n], f.inv[:n]
	for j := 1; j < f.cols; j++ {
		mean, errs := f.mean[2*j*n:][:2*n], f.errs[j*n:][:n]
		var m1, m2 float64
		for i, e := range es {
			dm := as[i] * (m1 + m2)
			m1, m2 = e*(m1+dm), e*(m2-dm)
			mi := mean[2*i : 2*i+2 : 2*i+2]
			mi[0], mi[1] = m1, m2
			d := columns.Data[i*columns.Stride+j] - m1
			errs[i] = d
			d *= inv[i]
			m1 += cov[4*i] * d
			m2 += cov[4*i+1] * d
		}
	}
}

// addOuter1 is addOuter for one component of order 0: backward1 with N = 0.
func (f *Filter) addOuter1(grad, means, errs []float64) {
	n := len(f.t)
	st := &f.steps[0]
	as, es, gs := st.a[:n], st.e[:n], st.g[:n]
	mean, cov, inv, own, v := means[:n], f.cov[:n], f.inv[:n], f.own, f.cs[0].Variance
	errs = errs[:n]
	var r, gv, gl, gn float64
	for i := n - 1; i >= 0; i-- {
		is, p := inv[i], cov[i]
		al := (errs[i] - p*r) * is
		gn -= al * al
		if own != nil {
			f.diag[i] -= al * al
		}
		r += al
		gv -= r * r * gs[i]
		gl += as[i] * r * (mean[i] - r*(v-p))
		r *= es[i]
	}
	grad[0] += 0.5 * v * gv
	grad[1] -= gl
	grad[2] += 0.5 * f.noise * gn
}

// addOuter2 is addOuter for one component of order 1: backward2 with N = 0.
func (f *Filter) addOuter2(grad, means, errs []float64) {
	n := len(f.t)
	st := &f.steps[0]
	as, es, gs := st.a[:n], st.e[:n], st.g[:n]
	mean, cov, inv, own, v := means[:2*n], f.cov[:4*n], f.inv[:n], f.own, f.cs[0].Variance
	errs = errs[:n]
	var r1, r2, gv, gl, gn float64
	for i := n - 1; i >= 0; i-- {
		is, a, e := inv[i], as[i], es[i]
		mi, ci := mean[2*i:2*i+2:2*i+2], cov[4*i:4*i+4:4*i+4]
		p11, p12, p22 := ci[0], ci[1], ci[3]
		al := (errs[i] - p11*r1 - p12*r2) * is
		gn -= al * al
		if own != nil {
			f.diag[i] -= al * al
		}
		r1 += al
		m11, m12, m22 := -r1*r1, -r1*r2, -r2*r2
		gv += (m11+m22)*gs[i] + 4*a*e*e*(m12*a+m22)
		gl += a * (p12*(m11-m22) + (p22-p11-2*p12)*m12 + 2*(v-p22)*m22 -
			r1*mi[1] + r2*(mi[0]+2*mi[1]))
		dr := a * (r1 - r2)
		r1, r2 = e*(r1+dr), e*(r2+dr)
	}
	grad[0] += 0.5 * v * gv
	grad[1] -= gl
	grad[2] += 0.5 * f.noise * gn
}
