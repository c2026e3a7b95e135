//go:build !amd64 || openblas

package dense

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Gemm sets c = alpha·op(a)·op(b) + beta·c like blas64.Gemm, serially: for use where the processors are busy already.
func Gemm(ta, tb blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) {
	pieces(ta, tb, alpha, a, b, beta, c)
}

// packed is a tile, which need not be arranged for products.
type packed struct{ tile }

var packs = sync.Pool{New: func() any { return new(packed) }}

func (p *packed) set(_ bool, ta blas.Transpose, alpha float64, a blas64.General) {
	p.tile = tile{ta, alpha, a}
}

func (p *packed) addTo(_ triangle, b, c, _ blas64.General) { p.tile.addTo(b, c) }

func solveByFours(bool, float64, blas64.Triangular, blas64.General) bool { return false }

func transpose(dst, a blas64.General) { transposeEach(dst, a) }

func slide(sums *[windows]float64, k int, long, x []float64) { slideEach(sums, k, long, x) }

// Reflect sets a = x + k·y and b = y + k·x, which all have the length of x. a and b may not overlap others.
func Reflect(a, b []float64, k float64, x, y []float64) { reflectEach(a, b, k, x, y) }
