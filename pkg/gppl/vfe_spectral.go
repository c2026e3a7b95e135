package gppl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// spectralVFE writes K_xu = FCΨᵀ with p features of the data F (n×p) and of the
// inducing inputs Ψ (m×p). Then Φ = FEᵀ with E = σ⁻¹L⁻¹ΨC (m×p), and all that
// involves the data is in FᵀF and Fᵀy:
//
//	ΦᵀΦ = E·FᵀF·Eᵀ,  Φᵀy = E·Fᵀy,  Fᵀβ = σ⁻²(Fᵀy − FᵀF·Eᵀ·B⁻¹Φᵀy)
//
// L⁻¹ is applied before FᵀF is, so that an ill-conditioned K_uu does no more harm
// than it does densely.
type spectralVFE struct {
	exact *spectralExact // the features of the data
	basis spectralBasis
	split split
	gram  blas64.General // FᵀF, p×p
	psi   blas64.General // Ψ, m×p
	dpsi  blas64.General // ∂Ψ/∂z
	e, eg blas64.General // E and E·FᵀF, m×p
	w     blas64.General // the weight on K_xu, times F: m×p
	fy    []float64
	fb    []float64 // Fᵀβ
	eb    []float64
	q     []float64
}

// vfeEps is what the coefficients that are left out may sum to, relative to the
// variance. It is near rounding, for what K_xu leaves out is divided by the
// root of the smallest eigenvalue of K_uu.
const vfeEps = 1e-13

func newSpectralVFE(l *line) *spectralVFE {
	return &spectralVFE{exact: newSpectralExact(l, options{tolerance: defaultTolerance})}
}

func (e *spectralVFE) name() string     { return EngineSpectral }
func (e *spectralVFE) inexact() float64 { return vfeEps }

func (e *spectralVFE) forecast(w *vfeWork, k Kernel, noise float64, z Inputs) forecast {
	if !e.split.of(k) {
		return cannot(noSignal)
	}
	f := e.exact.predict(k, variance(k), noise)
	if f.reason != (reason{}) {
		return f
	}
	if lo, hi := z.Range(0); lo < e.exact.lo || hi > e.exact.lo+e.exact.span {
		return cannot("an inducing input lies outside the data")
	}
	frequencies, _, _ := forecastSpectral(k, e.exact.span, vfeEps, true)
	p, m := 2*frequencies, float64(z.Len())
	n, v := float64(e.exact.n), variance(k)
	if condition := v * w.worst; condition*vfeEps > 1 {
		return forecast{reason: reason{"the inducing inputs nearly coincide: their covariance has condition %.1g", condition}}
	}
	f.err = vfeRounding * n * (2*vfeEps*v/noise*math.Sqrt(v*w.worst) + rounding(v, noise))
	f.seconds = (2*m*p*p+8*m*m*p)/(2*flopRate) + p*p*1.5e-9 + 2*m*p*15e-9
	return f
}

func (e *spectralVFE) project(w *vfeWork, phiY []float64) error {
	x := &e.basis
	if !e.split.of(w.kernel) {
		return fmt.Errorf("gppl: %s", noSignal)
	}
	if err := e.exact.expand(x, w.kernel, vfeEps); err != nil {
		return err
	}
	p, m := len(x.features), len(phiY)
	e.gram = resizeGeneral(e.gram, p, p)
	nb := dense.Blocks(p)
	parallel.For(nb, func(i int) { // rows of tiles
		g := e.gram
		g.Rows, g.Data = dense.Width(p, i), g.Data[i*dense.Tile*p:]
		x.sums.moments.Gram(g, x.features[i*dense.Tile:][:g.Rows], x.features)
	})
	e.fy, e.fb, e.eb = resize(e.fy, p), resize(e.fb, p), resize(e.eb, m)
	for i, f := range x.features {
		e.fy[i] = x.sums.columns.Data[f]
	}
	e.psi, e.dpsi = resizeGeneral(e.psi, m, p), resizeGeneral(e.dpsi, m, p)
	omega := 2 * math.Pi / x.series.period
	for u, z := range w.z.at {
		psi, dpsi := e.psi.Data[u*p:][:p], e.dpsi.Data[u*p:][:p]
		for i, f := range x.features {
			a := omega * float64(f.Frequency())
			sin, cos := math.Sincos(a * (z - x.sums.origin))
			if f.IsSin() {
				psi[i], dpsi[i] = sin, a*cos
			} else {
				psi[i], dpsi[i] = cos, -a*sin
			}
		}
	}
	e.e, e.eg, e.w = resizeGeneral(e.e, m, p), resizeGeneral(e.eg, m, p), resizeGeneral(e.w, m, p)
	scale := 1 / math.Sqrt(w.noise)
	for u := range m {
		for i := range p {
			e.e.Data[u*p+i] = scale * e.psi.Data[u*p+i] * x.weight(i)
		}
	}
	w.luu.SolveL(e.e)
	product(blas.NoTrans, e.e, e.gram, e.eg)
	dense.Gemm(blas.NoTrans, blas.Trans, 1, e.eg, e.e, 0, w.phiPhi)
	blas64.Gemv(blas.NoTrans, 1, e.e, vec(e.fy), 0, vec(phiY))
	return nil
}

// product sets c = a·op(b), block rows of a in parallel.
func product(tb blas.Transpose, a, b, c blas64.General) {
	const rows = 32
	parallel.For((a.Rows+rows-1)/rows, func(i int) {
		ai, ci := a, c
		ai.Rows, ai.Data = min(rows, a.Rows-i*rows), a.Data[i*rows*a.Stride:]
		ci.Rows, ci.Data = ai.Rows, c.Data[i*rows*c.Stride:]
		dense.Gemm(blas.NoTrans, tb, 1, ai, b, 0, ci)
	})
}

func (e *spectralVFE) contract(grad, gradZ []float64, w *vfeWork) (beta2 float64) {
	x := &e.basis
	p, m := e.psi.Cols, e.psi.Rows
	// Fᵀβ, and |β|² by Φᵀy = Bg = g + ΦᵀΦg, where g = B⁻¹Φᵀy.
	copy(e.fb, e.fy)
	blas64.Gemv(blas.Trans, -1/w.noise, e.eg, vec(w.bInvC), 1/w.noise, vec(e.fb))
	g := w.bInvC
	blas64.Gemv(blas.NoTrans, 1, w.phiPhi, vec(g), 0, vec(e.eb)) // ΦᵀΦg
	gg, gpg := blas64.Dot(vec(g), vec(g)), blas64.Dot(vec(g), vec(e.eb))
	beta2 = (e.exact.yy.Data[0] - 2*gg - gpg) / (w.noise * w.noise)

	// The weight on K_xu is Φe − βuᵀ; its transpose times F is eᵀ·E·FᵀF − u(Fᵀβ)ᵀ.
	dense.Gemm(blas.Trans, blas.NoTrans, 1, w.e, e.eg, 0, e.w)
	blas64.Ger(-1, vec(w.u), vec(e.fb), e.w)
	e.q = resize(e.q, len(x.series.c))
	clear(e.q)
	clear(gradZ)
	for u := range m {
		for i, f := range x.features {
			v := e.w.Data[u*p+i]
			if c := x.weight(i); c != 0 {
				e.q[f.Frequency()] += v * e.psi.Data[u*p+i]
				gradZ[u] += v * c * e.dpsi.Data[u*p+i]
			}
		}
	}
	clear(grad)
	tampered("VFE q", e.q)
	x.series.contract(grad, e.q, w.kernel)
	return beta2
}

// verified checks the last contract.
func (e *spectralVFE) verified() error { return e.basis.series.verified() }
