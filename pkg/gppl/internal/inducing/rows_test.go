package inducing

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
)

// TestRows: whatever the noise, rows are divided such that ΦᵀΦ, ΦᵀY and YᵀY are K_uxΛ⁻¹K_xu, K_uxΛ⁻¹Y and YᵀΛ⁻¹Y but for L and
// the unit, Λ being the variances of the noise; and with known errors the derivative in σ² is a difference of bounds.
func TestRows(t *testing.T) {
	p := newProblem()
	rnd := rand.New(rand.NewPCG(2, 5))
	scale, known := make([]float64, n), make([]float64, n)
	for i := range scale {
		scale[i], known[i] = 0.5+rnd.Float64(), 0.1*rnd.Float64()
	}
	kuu, kxu, y := covariance(p.z, p.z), covariance(p.x, p.z), dense.AsColumn(p.y)
	yy := dense.ProductWithin(t.Context(), blas.Trans, y, y)
	const v = 1.7
	for kind, rows := range map[string]observed.Noise{"even": observed.NewNoise(nil, nil), "relative": observed.NewNoise(scale, nil),
		"known": observed.NewNoise(nil, known), "both": observed.NewNoise(scale, known)} {
		// bound returns twice the free energy, and its algebra, at a noise variance.
		bound := func(sigma2 float64) (float64, *Bound, *Rows, blas64.General) {
			r := &Rows{Variance: v}
			r.Set(&rows, y, yy, sigma2)
			w, phi := p.bound(t, kuu, kxu)
			dense.Copy(phi, kxu)
			w.Luu.SolveLTRight(phi)
			r.Divide(dense.Rows(phi, 0, 20), 0, sigma2)
			r.Divide(dense.Rows(phi, 20, n-20), 20, sigma2)
			dense.Copy(w.PhiPhi, dense.ProductWithin(t.Context(), blas.Trans, phi, phi))
			dense.Copy(w.C, dense.ProductWithin(t.Context(), blas.Trans, phi, r.Columns))
			w.Unit, w.R.Data[0] = r.Unit, 1
			if err := w.Factorise(r.Squares); err != nil {
				t.Fatal(err)
			}
			w.Complete()
			return r.Logs + w.Lb.LogDet() + w.G.Data[0] + r.Prior() - dense.Trace(w.PhiPhi), w, r, phi
		}
		_, w, r, phi := bound(noise)
		lambda := rows.Set(nil, n, noise)
		var logs, precision, form float64
		for i, l := range lambda {
			logs, precision, form = logs+math.Log(l), precision+1/l, form+p.y[i]*p.y[i]/l
		}
		near(t, kind+": Σ log λ", r.Logs, logs, 1e-12)
		near(t, kind+": Σ 1/λ", r.Precision, precision, 1e-12)
		near(t, kind+": yᵀΛ⁻¹y", r.Squares.Data[0]/r.Unit, form, 1e-12)
		back := dense.New(1, m) // of ones: Φᵀ's rows over K_xuL⁻ᵀ's, times the root of the unit
		for j := range m {
			back.Data[j] = 1
		}
		r.Back(back, 7)
		near(t, kind+": the way back", back.Data[2]*back.Data[2]/r.Unit, 1/lambda[7], 1e-12)
		w.Weights()
		beta := dense.New(n, 1) // divided as Y is
		copy(beta.Data, r.Columns.Data)
		dense.Gemm(blas.NoTrans, blas.NoTrans, -1/w.Unit, phi, w.BInvC, 1/w.Unit, beta)
		slope, _ := r.NoiseSlope(blas64.General{}, dense.Rows(phi, 0, 20), dense.Rows(beta, 0, 20), w.BInv, 0)
		more, _ := r.NoiseSlope(blas64.General{}, dense.Rows(phi, 20, n-20), dense.Rows(beta, 20, n-20), w.BInv, 20)
		if rows.Known == nil {
			if slope != 0 || more != 0 {
				t.Errorf("%s: a slope of known errors: %v", kind, slope+more)
			}
			continue
		}
		const h = 1e-5
		up, _, _, _ := bound(noise + h)
		down, _, _, _ := bound(noise - h)
		near(t, kind+": the derivative in the noise", slope+more, (up-down)/(2*h), 1e-6)
	}
}
