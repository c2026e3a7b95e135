//go:build !amd64 || openblas

package dense

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Gemm sets c = alpha·op(a)·op(b) + beta·c like blas64.Gemm, serially: for use where the processors are busy already.
func Gemm(ta, tb blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) {
	pieces(ta, tb, alpha, a, b, beta, c)
}

func slide(sums *[windows]float64, k int, long, x []float64) { slideEach(sums, k, long, x) }
