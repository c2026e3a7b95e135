package inducing

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
)

// Features writes K_xu = FCΨᵀ with p features of the data F (n×p) and of the inducing inputs Ψ (m×p). Then Φ = FEᵀ with E =
// σ⁻¹L⁻¹ΨC (m×p), and the data enter only through FᵀF and FᵀY:
//
//	ΦᵀΦ = E·FᵀF·Eᵀ,  ΦᵀY = E·FᵀY,  Fᵀβ = σ⁻²(FᵀY − FᵀF·Eᵀ·B⁻¹ΦᵀY)R
//
// L⁻¹ is applied before FᵀF is, so that an ill-conditioned K_uu does no more harm
// than it does densely. It is working memory, for one goroutine.
type Features struct {
	fourier.Expansion
	Sums spectral.Sums
	Q    []float64 // see Contract

	gram  blas64.General // FᵀF, p×p
	psi   blas64.General // Ψ, m×p
	dpsi  blas64.General // ∂Ψ/∂z
	e, eg blas64.General // E and E·FᵀF, m×p
	w     blas64.General // the weight on K_xu, times F: m×p
	fc    blas64.General // FᵀY, p×c
	fb    blas64.General // Fᵀβ, p×c
	eb    []float64
}

// Project sets ΦᵀΦ and ΦᵀY of a bound with the inducing inputs z, given the features and sums on a circle with the given origin,
// in 2mp² + 2m²p flops. It stops soon after ctx has ended.
func (f *Features) Project(ctx context.Context, w *Bound, z []float64, origin float64) {
	p, m := len(f.Features), len(z)
	f.gram = dense.Reshape(f.gram, p, p)
	nb := dense.Blocks(p)
	parallel.Within(ctx, nb, func(i int) { // rows of tiles
		g := f.gram
		g.Rows, g.Data = dense.Width(p, i), g.Data[i*dense.Tile*p:]
		f.Sums.Moments.Gram(g, f.Features[i*dense.Tile:][:g.Rows], f.Features)
	})
	columns := f.Sums.Columns
	f.fc, f.eb = dense.Reshape(f.fc, p, columns.Cols), dense.Resize(f.eb, m)
	for i, feature := range f.Features {
		copy(f.fc.Data[i*columns.Cols:][:columns.Cols], columns.Data[int(feature)*columns.Stride:])
	}
	f.psi, f.dpsi = dense.Reshape(f.psi, m, p), dense.Reshape(f.dpsi, m, p)
	omega := 2 * math.Pi / f.Series.Period
	for u, at := range z {
		psi, dpsi := f.psi.Data[u*p:][:p], f.dpsi.Data[u*p:][:p]
		for i, feature := range f.Features {
			a := omega * float64(feature.Frequency())
			sin, cos := math.Sincos(a * (at - origin))
			if feature.IsSin() {
				psi[i], dpsi[i] = sin, a*cos
			} else {
				psi[i], dpsi[i] = cos, -a*sin
			}
		}
	}
	f.e, f.eg, f.w = dense.Reshape(f.e, m, p), dense.Reshape(f.eg, m, p), dense.Reshape(f.w, m, p)
	scale := 1 / math.Sqrt(w.Unit)
	for u := range m {
		for i := range p {
			f.e.Data[u*p+i] = scale * f.psi.Data[u*p+i] * f.Weight(i)
		}
	}
	w.Luu.SolveL(f.e)
	dense.Mul(ctx, f.eg, blas.NoTrans, f.e, f.gram)
	dense.Gemm(blas.NoTrans, blas.Trans, 1, f.eg, f.e, 0, w.PhiPhi)
	for j := range columns.Cols {
		blas64.Gemv(blas.NoTrans, 1, f.e, dense.Column(f.fc, j), 0, dense.Column(w.C, j))
	}
}

// Contract sets Q and gradZ to the derivatives in the coefficients of the series and in the inducing inputs, respectively,
// that ∂K_xu contributes to a bound whose Weights are set. It returns |β|².
func (f *Features) Contract(w *Bound, gradZ []float64) (beta2 float64) {
	p, m := f.psi.Cols, f.psi.Rows
	// Fᵀβ, and |β|² by ΦᵀYR = Bg = g + ΦᵀΦg, where g = B⁻¹ΦᵀYR.
	f.fb = dense.Combine(f.fb, f.fc, w.R)
	beta2 = dense.Form(f.Sums.Squares, w.R)
	for j := range f.fb.Cols {
		g := dense.Column(w.BInvC, j)
		blas64.Gemv(blas.Trans, -1/w.Unit, f.eg, g, 1/w.Unit, dense.Column(f.fb, j))
		blas64.Gemv(blas.NoTrans, 1, w.PhiPhi, g, 0, dense.Vec(f.eb)) // ΦᵀΦg
		beta2 -= 2*blas64.Dot(g, g) + blas64.Dot(g, dense.Vec(f.eb))
	}
	beta2 /= w.Unit * w.Unit

	// The weight on K_xu is Φe − βuᵀ; its transpose times F is eᵀ·E·FᵀF − u(Fᵀβ)ᵀ.
	dense.Gemm(blas.Trans, blas.NoTrans, 1, w.E, f.eg, 0, f.w)
	for j := range f.fb.Cols {
		blas64.Ger(-1, dense.Column(w.U, j), dense.Column(f.fb, j), f.w)
	}
	f.Q = dense.Resize(f.Q, len(f.Series.C))
	clear(f.Q)
	clear(gradZ)
	for u := range m {
		for i, feature := range f.Features {
			v := f.w.Data[u*p+i]
			if c := f.Weight(i); c != 0 {
				f.Q[feature.Frequency()] += v * f.psi.Data[u*p+i]
				gradZ[u] += v * c * f.dpsi.Data[u*p+i]
			}
		}
	}
	return beta2
}
