package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// Information returns the Fisher information of the projections at the natural
// values theta, p×p in the logs of the parameters, noise last,
//
//	I_Z[a][b] = ½tr(S⁻¹∂_aS·S⁻¹∂_bS),
//
// and, for NewResidual, that of the residual energy taken for white added:
// ½(n−k)·∂_a log τ·∂_b log τ.
//
// It is the Hessian at theta of the loss that the model at theta, of covariance
// S*, expects, ½tr(S⁻¹S*) + ½log|S|, taken by central differences of its
// gradient ½⟨S⁻¹(S−S*)S⁻¹, ∂S⟩: 2p evaluations by whichever engine trains, so
// that its cost does not grow with n where theirs does not. The relative error is
// about 1e-6, and (1e-4·span/period)² for a period.
// It is an error if a parameter is out of range or S cannot be
// factorised. theta is not modified.
func (l *Projected) Information(theta []float64) (*mat.SymDense, error) {
	if err := checkParams(l.params, theta); err != nil {
		return nil, err
	}
	const step = 1e-4 // of log θ
	p, k := len(theta), len(l.z)
	truth := make([]float64, k*k)
	truthTau, err := l.covariance(theta, false)
	if err != nil {
		return nil, err
	}
	l.copyS(truth)
	at, grad := make([]float64, p), make([]float64, p)
	inverse, product := newGeneral(k, k), newGeneral(k, k)
	difference := blas64.General{Rows: k, Cols: k, Stride: k, Data: l.v}
	rows := mat.NewDense(p, p, nil)
	for a := range p {
		for _, side := range []float64{1, -1} {
			copy(at, theta)
			at[a] *= math.Exp(side * step)
			tau, err := l.covariance(at, true)
			if err != nil {
				return nil, err
			}
			l.inverse(inverse)
			l.copyS(l.v)
			blas64.Axpy(-1, vec(truth), vec(l.v))
			dense.Gemm(blas.NoTrans, blas.NoTrans, 1, inverse, difference, 0, product)
			dense.Gemm(blas.NoTrans, blas.NoTrans, 1, product, inverse, 0, difference)
			var slope float64
			if l.residual != nil {
				slope = 0.5 * l.residual.dof * (tau - truthTau) / (tau * tau)
			}
			l.gradient(grad, slope, at[p-1])
			for b, g := range grad {
				rows.Set(a, b, rows.At(a, b)+side*g/(2*step))
			}
		}
	}
	info := mat.NewSymDense(p, nil)
	for a := range p {
		for b := range a + 1 {
			info.SetSym(a, b, 0.5*(rows.At(a, b)+rows.At(b, a)))
		}
	}
	return info, nil
}

// copyS sets dst to S, k×k, at the parameters of the last call of project.
func (l *Projected) copyS(dst []float64) {
	copy(dst, l.gram)
	if l.oto != nil {
		blas64.Axpy(l.noise, vec(l.oto), vec(dst))
		return
	}
	for i := 0; i < len(dst); i += len(l.z) + 1 {
		dst[i] += l.noise
	}
}
