package gppl

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// generalOf is a matrix of the given entries.
func generalOf(data []float64, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
}

// TestDrawnWaves: the covariance of a sum of waves is the kernel at all distances up to the span, within the bound.
func TestDrawnWaves(t *testing.T) {
	const span = 30
	for _, l := range []float64{0.05, 1, 40, 3000} {
		for _, k := range []Kernel{SE{1.3, l}, RQ{0.7, l, 0.4}, RQ{1, l, 30}, Periodic{1, 0.8, l}, LocPer{1.2, 4 * l, l, 0.7},
			SpectralMixture{1, 2 * l, l}, Mul(SE{1, l}, SE{2, 3 * l}), Mul(SE{1, 5 * l}, Periodic{1, 1.2, l})} {
			sets, bound, err := waveSets(k, span)
			if err != nil {
				t.Errorf("%v: %v", k, err)
				continue
			}
			if bound > 1e-11 {
				t.Errorf("%v: bound %.2g", k, bound)
			}
			for i := range 60 {
				r := span * float64(i*i) / (59 * 59)
				var want [1]float64
				k.Cov(want[:], []float64{r})
				var got float64
				for _, s := range sets {
					for m, c := range s.coef {
						if c < 0 {
							t.Fatalf("%v: coefficient %d is %v", k, m, c)
						}
						got += c * math.Cos(2*math.Pi*math.Mod(float64(m)*r/s.period, 1))
					}
				}
				if !(math.Abs(got-want[0]) <= (bound+3e-13)*variance(k)) { // the formula of an RQ by scales has 1e-13
					t.Errorf("%v at %v: %v, want %v, off by %.2g for %.2g", k, r, got, want[0], got-want[0], bound)
				}
			}
		}
	}
}

// drawLevel is the level of each of the three tests that CheckDraws makes: all tests together reject what is right about once in
// ten thousand runs.
const drawLevel = 1e-8

// CheckDraws tests whether draws are from N(mean, cov). Then z = L⁻¹(draw − mean) is N(0, I). It tests the means of z and its
// second moments by χ², and how many entries lie beyond three standard deviations by the binomial distribution. It returns the
// least p-value of the three.
func CheckDraws(t *testing.T, name string, draws [][]float64, mean []float64, cov *mat.SymDense) (least float64) {
	t.Helper()
	var chol mat.Cholesky
	if !chol.Factorize(cov) {
		t.Fatalf("%s: the covariance cannot be factorised", name)
	}
	var l mat.TriDense
	chol.LTo(&l)
	n, count := len(mean), float64(len(draws))
	z := dense.New(n, len(draws)) // a column for each draw
	for j, d := range draws {
		for i := range n {
			z.Data[i*z.Stride+j] = d[i] - mean[i]
		}
	}
	dense.Trsm(blas.Left, blas.NoTrans, 1, l.RawTriangular(), z)
	second := dense.New(n, n)
	dense.Gemm(blas.NoTrans, blas.Trans, 1, z, z, 0, second)
	var far, square, moments float64
	for i := range n {
		var first float64
		for _, v := range z.Data[i*z.Stride:][:z.Cols] {
			first += v
			if math.Abs(v) > 3 {
				far++
			}
		}
		square += first * first / count
		for j := range i + 1 {
			v := second.Data[i*n+j] / math.Sqrt(count)
			if i == j {
				v = (v - math.Sqrt(count)) / math.Sqrt2
			}
			moments += v * v
		}
	}
	share := math.Erfc(3 / math.Sqrt2)
	off := (far - share*count*float64(n)) / math.Sqrt(share*count*float64(n))
	least = 1
	for _, c := range []struct {
		what  string
		level float64
	}{
		{fmt.Sprintf("mean: χ² = %.1f with %d degrees of freedom", square, n), distuv.ChiSquared{K: float64(n)}.Survival(square)},
		// The second moments are normal for many draws only: they have the tails of products.
		{fmt.Sprintf("covariance: χ² = %.1f with %d degrees of freedom", moments, n*(n+1)/2),
			distuv.ChiSquared{K: float64(n * (n + 1) / 2)}.Survival(moments)},
		{fmt.Sprintf("tails: %.0f values of %.0f lie beyond three standard deviations, %.1f standard errors off", far,
			count*float64(n), off), math.Erfc(math.Abs(off) / math.Sqrt2)},
	} {
		if least = min(least, c.level); !(c.level > drawLevel) {
			t.Errorf("%s: %s, p = %.2g", name, c.what, c.level)
		}
	}
	return least
}
