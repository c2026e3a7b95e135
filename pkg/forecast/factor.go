package forecast

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// factor is the factorised covariance A = K + HBHᵀ + σ²I of the latest observations. HBHᵀ is the covariance of the trend, if
// there is one.
type factor struct {
	from  int // index of the first observation in A
	x, z  []float64
	l     *dense.Lower // A = LLᵀ
	alpha []float64    // A⁻¹z
}

// innovations returns L⁻¹z.
func (f *factor) innovations() []float64 { return f.whiten(f.z) }

// whiten returns L⁻¹v.
func (f *factor) whiten(v []float64) []float64 {
	e := slices.Clone(v)
	f.l.SolveL(dense.AsColumn(e))
	return e
}

// rows returns V = L⁻ᵀ, which has zeros below the diagonal, so that A⁻¹ = VVᵀ. It takes n³/3 flops.
func (f *factor) rows() blas64.General {
	inverse := dense.NewLower(f.l.N())
	f.l.InvertL(inverse)
	return inverse.Transposed()
}
