package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// spectralVFE writes K_xu = FCΨᵀ with p features of the data F (n×p) and of the
// inducing inputs Ψ (m×p). Then Φ = FEᵀ with E = σ⁻¹L⁻¹ΨC (m×p), and all that
// involves the data is in FᵀF and FᵀC:
//
//	ΦᵀΦ = E·FᵀF·Eᵀ,  ΦᵀC = E·FᵀC,  Fᵀβ = σ⁻²(FᵀC − FᵀF·Eᵀ·B⁻¹ΦᵀC)R
//
// L⁻¹ is applied before FᵀF is, so that an ill-conditioned K_uu does no more harm
// than it does densely.
type spectralVFE struct {
	exact       *spectralExact // the data
	projections parallel.Pool[spectralVFEProjection]
}

// spectralVFEProjection is the features at one model.
type spectralVFEProjection struct {
	spectralBasis
	engine *spectralVFE
	gram   blas64.General // FᵀF, p×p
	psi    blas64.General // Ψ, m×p
	dpsi   blas64.General // ∂Ψ/∂z
	e, eg  blas64.General // E and E·FᵀF, m×p
	w      blas64.General // the weight on K_xu, times F: m×p
	fc     blas64.General // FᵀC, p×c
	fb     blas64.General // Fᵀβ, p×c
	eb     []float64
	q      []float64
}

// vfeEps bounds the sum of the coefficients that are left out, relative to the
// variance. It is near rounding, since errors of K_xu are divided by the square root of
// the smallest eigenvalue of K_uu.
const vfeEps = 1e-13

func newSpectralVFE(l *line) *spectralVFE {
	return &spectralVFE{exact: newSpectralExact(l, options{tolerance: defaultTolerance})}
}

func (e *spectralVFE) name() string     { return EngineSpectral }
func (e *spectralVFE) inexact() float64 { return vfeEps }

func (e *spectralVFE) forecast(w *vfeWork) forecast {
	if !w.hasSignal() {
		return cannot(noSignal)
	}
	f := e.exact.forecast(&w.compiled)
	if f.reason != (reason{}) {
		return f
	}
	if lo, hi := w.z.Range(0); lo < e.exact.lo || hi > e.exact.lo+e.exact.span {
		return cannot("an inducing input lies outside the data")
	}
	frequencies, _, why := e.exact.frequencies(w.kernel, vfeEps) // more than the exact likelihood needs
	if why != (reason{}) {
		return forecast{reason: why}
	}
	p, m := 2*frequencies-1, float64(w.z.Len())
	if p > maxDenseFeatures {
		return tooMany(frequencies)
	}
	n, v := float64(e.exact.n), w.variance
	if condition := v * w.worst; condition*vfeEps > 1 {
		return forecast{reason: reason{"the inducing inputs nearly coincide: their covariance has condition %.1g", condition}}
	}
	f.err = vfeRounding * n * (2*vfeEps*v/w.noise*math.Sqrt(v*w.worst) + rounding(v, w.noise))
	f.bytes = 2 * 8 * (p*p + 2*m*p + 5*m*m)
	f.seconds = (2*m*p*p+8*m*m*p)/(2*flopRate) + p*p*1.5e-9 + 2*m*p*15e-9
	return f
}

func (e *spectralVFE) project(w *vfeWork) (vfeProjection, error) {
	f := e.projections.Get()
	f.engine = e
	if err := e.exact.expand(&f.spectralBasis, w.kernel, vfeEps); err != nil {
		f.release()
		return nil, err
	}
	f.project(w)
	return f, nil
}

func (f *spectralVFEProjection) release() { f.engine.projections.Put(f) }

// project sets ΦᵀΦ and ΦᵀC, given the features.
func (f *spectralVFEProjection) project(w *vfeWork) {
	p, m := len(f.Features), w.z.Len()
	f.gram = dense.Reshape(f.gram, p, p)
	nb := dense.Blocks(p)
	parallel.Within(w.ctx, nb, func(i int) { // rows of tiles
		g := f.gram
		g.Rows, g.Data = dense.Width(p, i), g.Data[i*dense.Tile*p:]
		f.sums.moments.Gram(g, f.Features[i*dense.Tile:][:g.Rows], f.Features)
	})
	columns := f.sums.columns
	f.fc, f.eb = dense.Reshape(f.fc, p, columns.Cols), dense.Resize(f.eb, m)
	for i, feature := range f.Features {
		copy(f.fc.Data[i*columns.Cols:][:columns.Cols], columns.Data[int(feature)*columns.Stride:])
	}
	f.psi, f.dpsi = dense.Reshape(f.psi, m, p), dense.Reshape(f.dpsi, m, p)
	omega := 2 * math.Pi / f.Series.Period
	for u, z := range w.z.at {
		psi, dpsi := f.psi.Data[u*p:][:p], f.dpsi.Data[u*p:][:p]
		for i, feature := range f.Features {
			a := omega * float64(feature.Frequency())
			sin, cos := math.Sincos(a * (z - f.sums.origin))
			if feature.IsSin() {
				psi[i], dpsi[i] = sin, a*cos
			} else {
				psi[i], dpsi[i] = cos, -a*sin
			}
		}
	}
	f.e, f.eg, f.w = dense.Reshape(f.e, m, p), dense.Reshape(f.eg, m, p), dense.Reshape(f.w, m, p)
	scale := 1 / math.Sqrt(w.noise)
	for u := range m {
		for i := range p {
			f.e.Data[u*p+i] = scale * f.psi.Data[u*p+i] * f.Weight(i)
		}
	}
	w.luu.SolveL(f.e)
	dense.Mul(w.ctx, f.eg, blas.NoTrans, f.e, f.gram)
	dense.Gemm(blas.NoTrans, blas.Trans, 1, f.eg, f.e, 0, w.phiPhi)
	for j := range columns.Cols {
		blas64.Gemv(blas.NoTrans, 1, f.e, dense.Column(f.fc, j), 0, dense.Column(w.c, j))
	}
}

func (f *spectralVFEProjection) contract(grad, gradZ []float64, w *vfeWork) (beta2 float64, err error) {
	p, m := f.psi.Cols, f.psi.Rows
	// Fᵀβ, and |β|² by ΦᵀCR = Bg = g + ΦᵀΦg, where g = B⁻¹ΦᵀCR.
	f.fb = dense.Combine(f.fb, f.fc, w.root)
	beta2 = dense.Form(f.engine.exact.yy, w.root)
	for j := range f.fb.Cols {
		g := dense.Column(w.bInvC, j)
		blas64.Gemv(blas.Trans, -1/w.noise, f.eg, g, 1/w.noise, dense.Column(f.fb, j))
		blas64.Gemv(blas.NoTrans, 1, w.phiPhi, g, 0, dense.Vec(f.eb)) // ΦᵀΦg
		beta2 -= 2*blas64.Dot(g, g) + blas64.Dot(g, dense.Vec(f.eb))
	}
	beta2 /= w.noise * w.noise

	// The weight on K_xu is Φe − βuᵀ; its transpose times F is eᵀ·E·FᵀF − u(Fᵀβ)ᵀ.
	dense.Gemm(blas.Trans, blas.NoTrans, 1, w.e, f.eg, 0, f.w)
	for j := range f.fb.Cols {
		blas64.Ger(-1, dense.Column(w.u, j), dense.Column(f.fb, j), f.w)
	}
	f.q = dense.Resize(f.q, len(f.Series.C))
	clear(f.q)
	clear(gradZ)
	for u := range m {
		for i, feature := range f.Features {
			v := f.w.Data[u*p+i]
			if c := f.Weight(i); c != 0 {
				f.q[feature.Frequency()] += v * f.psi.Data[u*p+i]
				gradZ[u] += v * c * f.dpsi.Data[u*p+i]
			}
		}
	}
	clear(grad)
	tampered("VFE q", f.q)
	return beta2, contractSeries(f.Series, grad, f.q, w.kernel)
}
