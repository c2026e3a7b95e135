package statespace

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Sweeps over two processes a and b of two numbers each that do not turn, such as Rotation's, written out. A symmetric matrix
// has the blocks A and B of each, and C with the rows of b and the columns of a; h is (1, 0, 1, 0).

// forwardPair is forwardBlocks for two such processes.
func (f *Filter) forwardPair(columns blas64.General, scale float64) (quad float64, err error) {
	n, cols := columns.Rows, columns.Cols
	s := &f.system
	va, vb := s.units[0].scale, s.units[1].scale
	phas, phbs, qas, qbs := s.phi[0][:4*n], s.phi[1][:4*n], s.q[0][:4*n], s.q[1][:4*n]
	noise, own, unit, floor := f.noise, f.own, 1/scale, tiny*scale
	_, step := f.means()
	logs := logSum{prod: 1}
	var m1, m2, m3, m4 float64 // mean after the observation
	var a11, a12, a22, c11, c12, c21, c22, b11, b12, b22 float64
	for from := 0; from < n; from += chunk {
		parallel.Look(f.Ctx)
		f.mark(from, m1, m2, m3, m4)
		scaled, to := f.scaledIn(from), min(from+chunk, n)
		for i := from; i < to; i++ {
			if own != nil {
				noise = own[i]
			}
			e := 4 * i
			t, w, q, z := phas[e:e+4:e+4], phbs[e:e+4:e+4], qas[e:e+4:e+4], qbs[e:e+4:e+4]
			t11, t12, t21, t22 := t[0], t[1], t[2], t[3]
			w11, w12, w21, w22 := w[0], w[1], w[2], w[3]
			m1, m2, m3, m4 = t11*m1+t12*m2, t21*m1+t22*m2, w11*m3+w12*m4, w21*m3+w22*m4
			x11, x12, x21, x22 := t11*a11+t12*a12, t11*a12+t12*a22, t21*a11+t22*a12, t21*a12+t22*a22
			a11, a12, a22 = x11*t11+x12*t12+va*q[0], x11*t21+x12*t22+va*q[1], x21*t21+x22*t22+va*q[3]
			x11, x12, x21, x22 = w11*c11+w12*c21, w11*c12+w12*c22, w21*c11+w22*c21, w21*c12+w22*c22
			c11, c12, c21, c22 = x11*t11+x12*t12, x11*t21+x12*t22, x21*t11+x22*t12, x21*t21+x22*t22
			x11, x12, x21, x22 = w11*b11+w12*b12, w11*b12+w12*b22, w21*b11+w22*b12, w21*b12+w22*b22
			b11, b12, b22 = x11*w11+x12*w12+vb*z[0], x11*w21+x12*w22+vb*z[1], x21*w21+x22*w22+vb*z[3]
			cov := f.cov[12*i : 12*i+12 : 12*i+12]
			cov[0], cov[1], cov[2], cov[3] = a11, a12, a12, a22
			cov[4], cov[5], cov[6], cov[7] = c11, c12, c21, c22
			cov[8], cov[9], cov[10], cov[11] = b11, b12, b12, b22
			g1, g2, g3, g4 := a11+c11, a12+c12, c11+b11, c21+b12
			d := g1 + g3 + noise
			if !(d > floor) {
				return 0, NotPositive{i}
			}
			is := 1 / d
			gain, mean := s.gain[e:e+4:e+4], f.mean[e:e+4:e+4]
			gain[0], gain[1], gain[2], gain[3] = g1, g2, g3, g4
			mean[0], mean[1], mean[2], mean[3] = m1, m2, m3, m4
			y := columns.Data[i*columns.Stride:][:cols]
			err := y[0] - m1 - m3
			f.inv[i], f.errs[i] = is, err
			quad += err * err * is
			logs.add(d * unit)
			k1, k2, k3, k4 := g1*is, g2*is, g3*is, g4*is
			m1, m2, m3, m4 = m1+k1*err, m2+k2*err, m3+k3*err, m4+k4*err
			a11, a12, a22 = a11-k1*g1, a12-k1*g2, a22-k2*g2
			c11, c12, c21, c22 = c11-k3*g1, c12-k3*g2, c21-k4*g1, c22-k4*g2
			b11, b12, b22 = b11-k3*g3, b12-k3*g4, b22-k4*g4
			for j, yj := range y[1:] {
				at, m := (j+1)*n+i, f.after[4*j:4*j+4:4*j+4]
				n1, n2, n3, n4 := t11*m[0]+t12*m[1], t21*m[0]+t22*m[1], w11*m[2]+w12*m[3], w21*m[2]+w22*m[3]
				err := yj - n1 - n3
				mean := f.mean[4*(n+j*step+i):][:4:4]
				mean[0], mean[1], mean[2], mean[3] = n1, n2, n3, n4
				f.errs[at], scaled[j*chunk+i-from] = err, err*is
				m[0], m[1], m[2], m[3] = n1+k1*err, n2+k2*err, n3+k3*err, n4+k4*err
			}
		}
		f.addProducts(from, to)
	}
	f.logS = logs.sum + math.Log(logs.prod) + float64(n)*math.Log(scale)
	return quad, nil
}

// backwardPair is backwardBlocks for two such processes.
func (f *Filter) backwardPair(grad []float64, r blas64.General, others int) {
	clear(grad)
	s, n := &f.system, len(f.t)
	a, b := &s.blocks[0], &s.blocks[1]
	va, vb := s.units[0].scale, s.units[1].scale
	ga, gb := grad[:a.derivatives()], grad[a.derivatives():]
	own := f.own
	var gva, gvb, gn float64
	var r1, r2, r3, r4, u1, u2, u3, u4, c float64 // r, Nk and c of the following observation
	var na11, na12, na22, nc11, nc12, nc21, nc22, nb11, nb12, nb22 float64
	for to := n; to > 0; {
		parallel.Look(f.Ctx)
		from := (to - 1) / chunk * chunk
		means, errs := f.mix(r, from, to)
		for i := to - 1; i >= from; i-- {
			at, is := i-from, f.inv[i]
			g, mean, e := s.gain[4*i:4*i+4:4*i+4], means[4*at:4*at+4:4*at+4], errs[at]
			g1, g2, g3, g4 := g[0], g[1], g[2], g[3]
			k1, k2, k3, k4 := g1*is, g2*is, g3*is, g4*is
			if i+1 < n {
				next := 4 * (i + 1)
				t, w, q, z := s.phi[0][next:next+4:next+4], s.phi[1][next:next+4:next+4], s.q[0][next:next+4:next+4],
					s.q[1][next:next+4:next+4]
				t11, t12, t21, t22 := t[0], t[1], t[2], t[3]
				w11, w12, w21, w22 := w[0], w[1], w[2], w[3]
				// N − h·uᵀ − u·hᵀ + c·h·hᵀ, and M.
				na11, na12 = na11+c-2*u1, na12-u2
				nc11, nc12, nc21 = nc11+c-u1-u3, nc12-u2, nc21-u4
				nb11, nb12 = nb11+c-2*u3, nb12-u4
				ma11, ma12, ma22 := na11-r1*r1, na12-r1*r2, na22-r2*r2
				mc11, mc12, mc21, mc22 := nc11-r3*r1, nc12-r3*r2, nc21-r4*r1, nc22-r4*r2
				mb11, mb12, mb22 := nb11-r3*r3, nb12-r3*r4, nb22-r4*r4
				for j := range others {
					r := f.after[4*j : 4*j+4 : 4*j+4]
					ma11, ma12, ma22 = ma11-r[0]*r[0], ma12-r[0]*r[1], ma22-r[1]*r[1]
					mc11, mc12, mc21, mc22 = mc11-r[2]*r[0], mc12-r[2]*r[1], mc21-r[3]*r[0], mc22-r[3]*r[1]
					mb11, mb12, mb22 = mb11-r[2]*r[2], mb12-r[2]*r[3], mb22-r[3]*r[3]
				}
				// Z = M·ΦP′ − r·(m + k·e)ᵀ
				cov := f.cov[12*i : 12*i+12 : 12*i+12]
				p11, p12, p22 := cov[0]-k1*g1, cov[1]-k1*g2, cov[3]-k2*g2
				x11, x12, x21, x22 := t11*p11+t12*p12, t11*p12+t12*p22, t21*p11+t22*p12, t21*p12+t22*p22
				w1, w2, w3, w4 := mean[0]+k1*e, mean[1]+k2*e, mean[2]+k3*e, mean[3]+k4*e
				za11, za12 := ma11*x11+ma12*x21-r1*w1, ma11*x12+ma12*x22-r1*w2
				za21, za22 := ma12*x11+ma22*x21-r2*w1, ma12*x12+ma22*x22-r2*w2
				d11, d12, d21, d22 := cov[4]-k3*g1, cov[5]-k3*g2, cov[6]-k4*g1, cov[7]-k4*g2
				x11, x12, x21, x22 = w11*d11+w12*d21, w11*d12+w12*d22, w21*d11+w22*d21, w21*d12+w22*d22
				za11, za12 = za11+mc11*x11+mc21*x21, za12+mc11*x12+mc21*x22
				za21, za22 = za21+mc12*x11+mc22*x21, za22+mc12*x12+mc22*x22
				p11, p12, p22 = cov[8]-k3*g3, cov[9]-k3*g4, cov[11]-k4*g4
				x11, x12, x21, x22 = w11*p11+w12*p12, w11*p12+w12*p22, w21*p11+w22*p12, w21*p12+w22*p22
				zb11, zb12 := mb11*x11+mb12*x21-r3*w3, mb11*x12+mb12*x22-r3*w4
				zb21, zb22 := mb12*x11+mb22*x21-r4*w3, mb12*x12+mb22*x22-r4*w4
				x11, x12, x21, x22 = t11*d11+t12*d12, t11*d21+t12*d22, t21*d11+t22*d12, t21*d21+t22*d22
				zb11, zb12 = zb11+mc11*x11+mc12*x21, zb12+mc11*x12+mc12*x22
				zb21, zb22 = zb21+mc21*x11+mc22*x21, zb22+mc21*x12+mc22*x22
				for j := range others {
					r, at := f.after[4*j:4*j+4:4*j+4], (j+1)*chunk+at
					m, e := f.mixedMean[4*at:4*at+4:4*at+4], f.mixedErrs[at]
					w1, w2, w3, w4 := m[0]+k1*e, m[1]+k2*e, m[2]+k3*e, m[3]+k4*e
					za11, za12, za21, za22 = za11-r[0]*w1, za12-r[0]*w2, za21-r[1]*w1, za22-r[1]*w2
					zb11, zb12, zb21, zb22 = zb11-r[2]*w3, zb12-r[2]*w4, zb21-r[3]*w3, zb22-r[3]*w4
					r[0], r[1], r[2], r[3] = t11*r[0]+t21*r[1], t12*r[0]+t22*r[1], w11*r[2]+w21*r[3], w12*r[2]+w22*r[3]
				}
				gva += ma11*q[0] + 2*ma12*q[1] + ma22*q[3]
				gvb += mb11*z[0] + 2*mb12*z[1] + mb22*z[3]
				gap := f.t[i+1] - f.t[i]
				f.contractTwo(ga, a, t, q, za11, za12, za21, za22, 0.5*va*ma11, va*ma12, 0.5*va*ma22, gap)
				f.contractTwo(gb, b, w, z, zb11, zb12, zb21, zb22, 0.5*vb*mb11, vb*mb12, 0.5*vb*mb22, gap)
				r1, r2, r3, r4 = t11*r1+t21*r2, t12*r1+t22*r2, w11*r3+w21*r4, w12*r3+w22*r4
				// N ← ΦᵀNΦ
				x11, x12, x21, x22 = t11*na11+t21*na12, t11*na12+t21*na22, t12*na11+t22*na12, t12*na12+t22*na22
				na11, na12, na22 = x11*t11+x12*t21, x11*t12+x12*t22, x21*t12+x22*t22
				x11, x12, x21, x22 = w11*nc11+w21*nc21, w11*nc12+w21*nc22, w12*nc11+w22*nc21, w12*nc12+w22*nc22
				nc11, nc12, nc21, nc22 = x11*t11+x12*t21, x11*t12+x12*t22, x21*t11+x22*t21, x21*t12+x22*t22
				x11, x12, x21, x22 = w11*nb11+w21*nb12, w11*nb12+w21*nb22, w12*nb11+w22*nb12, w12*nb12+w22*nb22
				nb11, nb12, nb22 = x11*w11+x12*w21, x11*w12+x12*w22, x21*w12+x22*w22
				u1, u2 = na11*k1+na12*k2+nc11*k3+nc21*k4, na12*k1+na22*k2+nc12*k3+nc22*k4
				u3, u4 = nc11*k1+nc12*k2+nb11*k3+nb12*k4, nc21*k1+nc22*k2+nb12*k3+nb22*k4
			}
			c = k1*u1 + k2*u2 + k3*u3 + k4*u4 + is
			alpha := e*is - k1*r1 - k2*r2 - k3*r3 - k4*r4
			r1, r3 = r1+alpha, r3+alpha
			d := c - alpha*alpha
			for j := range others {
				r := f.after[4*j : 4*j+4 : 4*j+4]
				alpha := f.mixedErrs[(j+1)*chunk+at]*is - k1*r[0] - k2*r[1] - k3*r[2] - k4*r[3]
				r[0], r[2] = r[0]+alpha, r[2]+alpha
				d -= alpha * alpha
			}
			gn += 0.5 * f.noise * d
			if own != nil {
				f.diag[i] = d
			}
		}
		to = from
	}
	grad[len(grad)-1] = gn
	ga[0], gb[0] = 0.5*va*gva, 0.5*vb*gvb
	f.n[0], f.n[1], f.n[2], f.n[3] = na11, na12, na12, na22
	f.n[4], f.n[5], f.n[6], f.n[7] = nc11, nc12, nc21, nc22
	f.n[8], f.n[9], f.n[10], f.n[11] = nb11, nb12, nb12, nb22
	f.r[0], f.r[1], f.r[2], f.r[3] = r1, r2, r3, r4
	f.blockWork.u[0], f.blockWork.u[1], f.blockWork.u[2], f.blockWork.u[3] = u1, u2, u3, u4
	rs := make([][]float64, others+1)
	rs[0] = f.r
	for j := range others {
		rs[j+1] = f.after[j*4:][:4]
	}
	if n > 0 { // P∞ at the first input
		f.arrive(grad, rs, c)
	}
}
