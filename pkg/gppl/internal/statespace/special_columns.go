package statespace

import "gonum.org/v1/gonum/blas/blas64"

// What the columns after the first have in the sweeps of special.go where the registers do
// not suffice for both. For each input of a chunk they leave in sums, in this order, the
// upper triangle of Σ_j r_j r_jᵀ, −Σ_j r_jᵀFm_j and Σ_j α_j².
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

// forwardColumns3 takes the columns after the first over some inputs, for one component of
// order 2.
func (f *Filter) forwardColumns3(columns blas64.General, from, to int) {
	n, more := columns.Rows, columns.Cols-1
	after, means, errs, scaled := f.after, f.mean, f.errs, f.scaled
	as, es, _, cov, inv := f.part(from, to)
	for i, a := range as {
		is, e, b := inv[i], es[i], 0.5*a*a
		k1, k2, k3 := cov[9*i]*is, cov[9*i+1]*is, cov[9*i+2]*is
		at, in, o := from+i, i, after
		for _, yj := range columns.Data[at*columns.Stride+1:][:more] {
			at += n
			mi := means[3*at : 3*at+3 : 3*at+3]
			m1, m2, m3 := e*(o[0]+a*o[1]+b*o[2]), e*(o[1]+a*o[2]), e*o[2]
			d := yj - m1
			mi[0], mi[1], mi[2] = m1, m2, m3
			errs[at], scaled[in] = d, d*is
			o[0], o[1], o[2] = m1+k1*d, m2+k2*d, m3+k3*d
			in, o = in+chunk, o[3:]
		}
	}
}

// backwardColumns3 takes what the columns have off M and off the diagonal of A⁻¹ in sums, and
// adds −Σ_j r_jᵀFm_j, for one component of order 2. It leaves r_j in the place of their means.
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
