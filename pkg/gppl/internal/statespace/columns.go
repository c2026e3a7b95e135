package statespace

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
)

// What a Filter does with columns beside the first: sweeps of means and adjoints
// alone, with the covariances that the first one had, for all columns at once. One
// column's steps wait for one another; those of several do not.
//
// Of observation i and column j, beside[(i·c + j)·(D + 1):] has e and then m, the first
// column included.

// row returns what beside has of observation i.
func (f *Filter) row(i int) []float64 {
	w := f.cols * (f.dim + 1)
	return f.beside[i*w:][:w]
}

// seen returns the mean and the error of a column at observation i.
func (f *Filter) seen(c, i int) (mean []float64, e float64) {
	d := f.dim
	if f.cols <= 1 {
		return f.mean[i*d:][:d], f.errs[i]
	}
	at := f.row(i)[c*(d+1):][:d+1]
	return at[1:], at[0]
}

// follow sweeps from the first input to the last with all columns but the first, and sets
// the products of all columns.
func (f *Filter) follow(columns blas64.General) {
	n, d := len(f.t), f.dim
	f.beside = resize(f.beside, n*f.cols*(d+1))
	f.after = resize(f.after, f.cols*d)
	f.gram = resize(f.gram, f.cols*f.cols)
	clear(f.after)
	clear(f.gram)
	special := len(f.cs) == 1
	for i := range n {
		row, y := f.row(i), columns.Data[i*columns.Stride:][:f.cols]
		row[0] = f.errs[i]
		copy(row[1:], f.mean[i*d:][:d])
		switch {
		case special && d == 1:
			f.follow1(row, y, i)
		case special && d == 2:
			f.follow2(row, y, i)
		case special:
			f.follow3(row, y, i)
		default:
			f.transitions(i)
			f.gain(i)
			for j := 1; j < f.cols; j++ {
				at, after := row[j*(d+1):][:d+1], f.after[j*d:][:d]
				mean := at[1:]
				apply(mean, f.phi, after)
				at[0] = y[j] - mean[0]
				f.move(after, mean, at[0])
			}
		}
		f.addProducts(row, f.inv[i])
	}
}

// follow1 is a step of follow for one component of order 0.
func (f *Filter) follow1(row, y []float64, i int) {
	decay, gain := f.steps[0].e[i], f.cov[i]*f.inv[i]
	after := f.after[:len(y)]
	row = row[:2*len(y)]
	for j := 1; j < len(y); j++ {
		m := after[j] * decay
		e := y[j] - m
		row[2*j], row[2*j+1] = e, m
		after[j] = m + gain*e
	}
}

// follow2 is a step of follow for one component of order 1.
func (f *Filter) follow2(row, y []float64, i int) {
	a, decay, is := f.steps[0].a[i], f.steps[0].e[i], f.inv[i]
	k1, k2 := f.cov[4*i]*is, f.cov[4*i+1]*is
	for j := 1; j < len(y); j++ {
		s, at := f.after[2*j:2*j+2:2*j+2], row[3*j:3*j+3:3*j+3]
		m1, m2 := s[0], s[1]
		dm := a * (m1 + m2)
		m1, m2 = decay*(m1+dm), decay*(m2-dm)
		e := y[j] - m1
		at[0], at[1], at[2] = e, m1, m2
		s[0], s[1] = m1+k1*e, m2+k2*e
	}
}

// follow3 is a step of follow for one component of order 2.
func (f *Filter) follow3(row, y []float64, i int) {
	f11, f12, f13, f21, f22, f23, f31, f32, f33 := propagator3(f.steps[0].a[i], f.steps[0].e[i])
	is := f.inv[i]
	k1, k2, k3 := f.cov[9*i]*is, f.cov[9*i+1]*is, f.cov[9*i+2]*is
	for j := 1; j < len(y); j++ {
		s, at := f.after[3*j:3*j+3:3*j+3], row[4*j:4*j+4:4*j+4]
		s1, s2, s3 := s[0], s[1], s[2]
		m1, m2, m3 := f11*s1+f12*s2+f13*s3, f21*s1+f22*s2+f23*s3, f31*s1+f32*s2+f33*s3
		e := y[j] - m1
		at[0], at[1], at[2], at[3] = e, m1, m2, m3
		s[0], s[1], s[2] = m1+k1*e, m2+k2*e, m3+k3*e
	}
}

// addProducts adds what an observation has of CᵀA⁻¹C, but for the first column's own, to
// the lower triangle.
func (f *Filter) addProducts(row []float64, is float64) {
	w, c := f.dim+1, f.cols
	for a := 1; a < c; a++ {
		ea := row[a*w] * is
		g := f.gram[a*c:][:a+1]
		for b := range g {
			g[b] += ea * row[b*w]
		}
	}
}

// mix returns the means and errors of C·r for the first column r of R, or those of zeros
// where R has none.
func (f *Filter) mix(r blas64.General) (mean, errs []float64) {
	n, d := len(f.t), f.dim
	f.mixedMean, f.mixedErrs = resize(f.mixedMean, n*d), resize(f.mixedErrs, n)
	if r.Cols == 0 {
		clear(f.mixedMean)
		clear(f.mixedErrs)
		return f.mixedMean, f.mixedErrs
	}
	if f.cols == 1 {
		for i, m := range f.mean[:n*d] {
			f.mixedMean[i] = r.Data[0] * m
		}
		for i, e := range f.errs[:n] {
			f.mixedErrs[i] = r.Data[0] * e
		}
		return f.mixedMean, f.mixedErrs
	}
	f.setRoots(r)
	roots := f.roots[0]
	switch d {
	case 1:
		for i := range n {
			f.mixedErrs[i], f.mixedMean[i] = mix1(f.row(i), roots)
		}
	case 2:
		for i := range n {
			f.mixedErrs[i], f.mixedMean[2*i], f.mixedMean[2*i+1] = mix2(f.row(i), roots)
		}
	case 3:
		for i := range n {
			f.mixedErrs[i], f.mixedMean[3*i], f.mixedMean[3*i+1], f.mixedMean[3*i+2] = mix3(f.row(i), roots)
		}
	default:
		mixed := f.mixed[:d+1]
		for i := range n {
			f.mixRow(mixed, f.row(i), roots)
			f.mixedErrs[i] = mixed[0]
			copy(f.mixedMean[i*d:][:d], mixed[1:])
		}
	}
	return f.mixedMean, f.mixedErrs
}

// mix1 is mixRow for a state of one number.
func mix1(row []float64, roots []root) (e, m float64) {
	for _, t := range roots {
		at := row[t.at : t.at+2 : t.at+2]
		e += t.weight * at[0]
		m += t.weight * at[1]
	}
	return e, m
}

// mix2 is mixRow for a state of two numbers.
func mix2(row []float64, roots []root) (e, m1, m2 float64) {
	for _, t := range roots {
		at := row[t.at : t.at+3 : t.at+3]
		e += t.weight * at[0]
		m1 += t.weight * at[1]
		m2 += t.weight * at[2]
	}
	return e, m1, m2
}

// mix3 is mixRow for a state of three numbers.
func mix3(row []float64, roots []root) (e, m1, m2, m3 float64) {
	for _, t := range roots {
		at := row[t.at : t.at+4 : t.at+4]
		e += t.weight * at[0]
		m1 += t.weight * at[1]
		m2 += t.weight * at[2]
		m3 += t.weight * at[3]
	}
	return e, m1, m2, m3
}

// A root is an entry of R that is not 0, in the row of a column of C that begins at a
// place of row.
type root struct {
	at     int
	weight float64
}

// setRoots lists the entries of R, column by column.
func (f *Filter) setRoots(r blas64.General) {
	f.mixed = resize(f.mixed, f.dim+1)
	f.roots = slices.Grow(f.roots[:0], r.Cols)[:r.Cols]
	for j := range f.roots {
		f.roots[j] = f.roots[j][:0]
		for c := range f.cols {
			if w := r.Data[c*r.Stride+j]; w != 0 { // R is mostly triangular
				f.roots[j] = append(f.roots[j], root{c * (f.dim + 1), w})
			}
		}
	}
}

// mixRow sets dst to e and m of a combination of the columns at one observation.
func (f *Filter) mixRow(dst, row []float64, roots []root) {
	clear(dst)
	for _, r := range roots {
		for b, v := range row[r.at:][:len(dst)] {
			dst[b] += r.weight * v
		}
	}
}

// addOuters adds −½Σ_j u_jᵀ∂A u_j for u_j = A⁻¹CR_j, j > 0, to the gradient, and takes
// their squares from diag: backward with M = −Σ r_j r_jᵀ, which takes no matrix,
//
//	½tr(MQ) = −½Σ r_jᵀQr_j,   tr(MFP) − rᵀFm = −Σ r_jᵀF(Pr_j + m_j).
func (f *Filter) addOuters(grad []float64) {
	if len(f.cs) == 1 {
		switch f.dim {
		case 1:
			f.addOuters1(grad)
		case 2:
			f.addOuters2(grad)
		default:
			f.addOuters3(grad)
		}
		return
	}
	d, last := f.dim, len(grad)-1
	f.after = resize(f.after, len(f.roots)*d)
	clear(f.after) // r_j
	for i := len(f.t) - 1; i >= 0; i-- {
		f.gain(i)
		f.transitions(i)
		row := f.row(i)
		for j := 1; j < len(f.roots); j++ {
			r := f.after[j*d:][:d]
			f.mixRow(f.mixed[:d+1], row, f.roots[j])
			mean := f.mixed[1:][:d]
			alpha := f.inform(r, f.mixed[0], i)
			grad[last] -= 0.5 * f.noise * alpha * alpha
			if f.own != nil {
				f.diag[i] -= alpha * alpha
			}
			smooth := f.x[:d] // Pr + m
			apply(smooth, f.cov[i*d*d:][:d*d], r)
			for a, m := range mean {
				smooth[a] += m
			}
			f.addOuter(grad, r, smooth, i)
			apply(f.w, f.phiT, r)
			copy(r, f.w)
		}
	}
}

// addOuter adds what one column has of addOuters at one step.
func (f *Filter) addOuter(grad, r, smooth []float64, i int) {
	for c, comp := range f.cs {
		o, n := f.first[c], comp.dim()
		own := f.w[:n] // r in the component's own state: its value is in the sum as well
		copy(own, r[o:])
		if c > 0 {
			own[0] += r[0]
		}
		var quad float64
		for a, ra := range own {
			for b, rb := range own {
				quad += ra * f.q[c][a*n+b] * rb
			}
		}
		slope := -0.5 * intensity[comp.Order] * comp.Variance * own[n-1] * own[n-1]
		for _, w := range f.drift[c] {
			slope -= w.v * r[w.row] * smooth[w.col]
		}
		grad[2*c] -= 0.5 * quad
		grad[2*c+1] -= f.steps[c].a[i] * slope
	}
}

// addOuters1 is addOuters for one component of order 0: backward1 with N = 0.
func (f *Filter) addOuters1(grad []float64) {
	n := len(f.t)
	st := &f.steps[0]
	as, es, gs := st.a[:n], st.e[:n], st.g[:n]
	cov, inv, own, v := f.cov[:n], f.inv[:n], f.own, f.cs[0].Variance
	roots := f.roots[1:]
	f.after = resize(f.after, len(roots))
	rs := f.after[:len(roots)]
	clear(rs)
	var gv, gl, gn float64
	for i := n - 1; i >= 0; i-- {
		is, p, e, row := inv[i], cov[i], es[i], f.row(i)
		var squares, rr, rm float64
		for j, list := range roots {
			err, mean := mix1(row, list)
			r := rs[j]
			al := (err - p*r) * is
			squares += al * al
			r += al
			rr += r * r
			rm += r * mean
			rs[j] = r * e
		}
		gn -= squares
		if own != nil {
			f.diag[i] -= squares
		}
		gv -= rr * gs[i]
		gl += as[i] * (rm - rr*(v-p))
	}
	grad[0] += 0.5 * v * gv
	grad[1] -= gl
	grad[2] += 0.5 * f.noise * gn
}

// addOuters2 is addOuters for one component of order 1: backward2 with N = 0.
func (f *Filter) addOuters2(grad []float64) {
	n := len(f.t)
	st := &f.steps[0]
	as, es, gs := st.a[:n], st.e[:n], st.g[:n]
	cov, inv, own, v := f.cov[:4*n], f.inv[:n], f.own, f.cs[0].Variance
	roots := f.roots[1:]
	f.after = resize(f.after, 2*len(roots))
	rs := f.after[:2*len(roots)]
	clear(rs)
	var gv, gl, gn float64
	for i := n - 1; i >= 0; i-- {
		is, a, e, row := inv[i], as[i], es[i], f.row(i)
		ci := cov[4*i : 4*i+4 : 4*i+4]
		p11, p12, p22 := ci[0], ci[1], ci[3]
		var squares, m11, m12, m22, rm float64
		for j, list := range roots {
			err, mean1, mean2 := mix2(row, list)
			s := rs[2*j : 2*j+2 : 2*j+2]
			r1, r2 := s[0], s[1]
			al := (err - p11*r1 - p12*r2) * is
			squares += al * al
			r1 += al
			m11 -= r1 * r1
			m12 -= r1 * r2
			m22 -= r2 * r2
			rm += r2*(mean1+2*mean2) - r1*mean2
			dr := a * (r1 - r2)
			s[0], s[1] = e*(r1+dr), e*(r2+dr)
		}
		gn -= squares
		if own != nil {
			f.diag[i] -= squares
		}
		gv += (m11+m22)*gs[i] + 4*a*e*e*(m12*a+m22)
		gl += a * (p12*(m11-m22) + (p22-p11-2*p12)*m12 + 2*(v-p22)*m22 + rm)
	}
	grad[0] += 0.5 * v * gv
	grad[1] -= gl
	grad[2] += 0.5 * f.noise * gn
}

// addOuters3 is addOuters for one component of order 2: backward3 with N = 0.
func (f *Filter) addOuters3(grad []float64) {
	n := len(f.t)
	st := &f.steps[0]
	as, es, gs := st.a[:n], st.e[:n], st.g[:n]
	cov, inv, own, v := f.cov[:9*n], f.inv[:n], f.own, f.cs[0].Variance
	roots := f.roots[1:]
	f.after = resize(f.after, 3*len(roots))
	rs := f.after[:3*len(roots)]
	clear(rs)
	var gv, gl, gn float64
	for i := n - 1; i >= 0; i-- {
		is, a, e, row := inv[i], as[i], es[i], f.row(i)
		ci := cov[9*i : 9*i+9 : 9*i+9]
		p11, p12, p13, p22, p23, p33 := ci[0], ci[1], ci[2], ci[4], ci[5], ci[8]
		f11, f12, f13, f21, f22, f23, f31, f32, f33 := propagator3(a, e)
		var squares, m11, m12, m13, m22, m23, m33, rm float64
		for j, list := range roots {
			err, mean1, mean2, mean3 := mix3(row, list)
			s := rs[3*j : 3*j+3 : 3*j+3]
			r1, r2, r3 := s[0], s[1], s[2]
			al := (err - p11*r1 - p12*r2 - p13*r3) * is
			squares += al * al
			r1 += al
			m11 -= r1 * r1
			m12 -= r1 * r2
			m13 -= r1 * r3
			m22 -= r2 * r2
			m23 -= r2 * r3
			m33 -= r3 * r3
			rm += r3*(mean1+3*(mean2+mean3)) - r1*mean2 - r2*mean3
			s[0], s[1], s[2] = f11*r1+f21*r2+f31*r3, f12*r1+f22*r2+f32*r3, f13*r1+f23*r2+f33*r3
		}
		gn -= squares
		if own != nil {
			f.diag[i] -= squares
		}
		q11, q12, q13, q22, q23, q33 := noise3(a, e, gs[i])
		gv += m11*q11 + m22*q22 + m33*q33 + 2*(m12*q12+m13*q13+m23*q23)
		gl += a * (p12*m11 + p22*m12 + p23*m13 +
			p13*m12 + p23*m22 + p33*m23 -
			(p11+3*(p12+p13))*m13 - (p12+3*(p22+p23))*m23 - (p13+3*(p23+p33))*m33 +
			(8./3)*v*m33 + rm)
	}
	grad[0] += 0.5 * v * gv
	grad[1] -= gl
	grad[2] += 0.5 * f.noise * gn
}
