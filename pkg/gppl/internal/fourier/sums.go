package fourier

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// Sums sets dst (2M×k) to the sums of w (n×k) at the frequencies m0 … m0+M−1,
// within tol·Σ_i|W_ij|, by whichever of Direct and NUFFT is predicted to be
// faster. Tolerances below 1e-14 are taken for 1e-14.
func (p *Points) Sums(dst, w blas64.General, m0 int, tol float64) {
	p.check(dst, w, m0)
	if tol = max(tol, Floor); Predict(p.N(), w.Cols, m0, m0+dst.Rows/2, tol).NUFFT {
		p.NUFFT(dst, w, m0, tol)
	} else {
		p.Direct(dst, w, m0)
	}
}

// Prediction is what the sums of n points and k columns are expected to take.
type Prediction struct {
	NUFFT   bool    // rather than Direct
	Seconds float64 // on one processor
}

// Predict returns what Sums would do at the frequencies m0 ≤ m < m1.
func Predict(n, k, m0, m1 int, tol float64) Prediction {
	direct := directCost(n, k, m1-m0)
	if n == 0 || k == 0 || m1 <= m0 {
		return Prediction{}
	}
	if g := newGrid(n, k, m1, max(tol, Floor)); g.cost < direct {
		return Prediction{true, 1e-9 * g.cost}
	}
	return Prediction{false, 1e-9 * direct}
}

// Costs in ns on one processor, measured on a 2.6 GHz Xeon (BenchmarkSums). They
// leave out how many processors there are, which must not change a result.
func directCost(n, k, m int) float64 {
	table, multiply := 3.5, 0.36
	if dense.Tile > 64 { // OpenBLAS
		multiply /= 4
	}
	return float64(n) * float64(m) * (table + multiply*float64(k))
}

func spreadCost(n, k, width int) float64 {
	const sort, call, window, multiply = 10, 25, 5, 0.14
	return float64(n) * (sort + call + float64(width)*(window+multiply*float64(k)))
}

func fftCost(k, size int) float64 {
	const plan, column, level = 40, 5, 1
	return float64(size) * (plan + (column+level*math.Log2(float64(size)))*float64(k))
}
