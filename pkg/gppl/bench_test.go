package gppl

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// benchData is n irregular times on [0, 1000] with a noisy smooth signal.
func benchData(tb testing.TB, n int) Data {
	rnd := rand.New(rand.NewPCG(uint64(n), 1))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 1000 * rnd.Float64()
		y[i] = rnd.NormFloat64()
	}
	d, err := NewData(Scalars(x), y)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

var benchModel = Model{Kernel: SE{Variance: 1, Lengthscale: 5}, Noise: 0.1}

// benchLoss times one value and gradient and reports its GF/s, flops being
// those of the matrix products and factorisations alone, beside the GF/s of
// Gemm at operands of a tile's size in the same run, and their ratio.
func benchLoss(b *testing.B, loss Loss, flops float64) {
	theta := values(loss.Params())
	grad := make([]float64, len(theta))
	evaluate := func() {
		if _, err := loss.ValueGrad(grad, theta); err != nil {
			b.Fatal(err)
		}
	}
	evaluate()
	gemm := gemmRate()
	b.ReportAllocs()
	for b.Loop() {
		evaluate()
	}
	rate := flops * float64(b.N) / b.Elapsed().Seconds() / 1e9
	b.ReportMetric(rate, "GF/s")
	b.ReportMetric(gemm, "gemmGF/s")
	b.ReportMetric(rate/gemm, "ofGemm")
}

// gemmRate measures blas64.Gemm on all processors at once at the operands of
// the dense PL: a tile times 100 columns. It takes the best of several runs, so
// that the share reported beside it is not flattered by a hiccup.
func gemmRate() float64 {
	const t, k, reps = dense.Tile, 100, 4000
	workers := runtime.GOMAXPROCS(0)
	best := 0.0
	for range 10 {
		start := time.Now()
		parallel.For(workers, func(int) {
			a, x, c := newGeneral(t, t), newGeneral(t, k), newGeneral(t, k)
			for i := range a.Data {
				a.Data[i] = float64(i%7) + 1
			}
			for i := range x.Data {
				x.Data[i] = float64(i%5) + 1
			}
			for range reps {
				blas64.Gemm(blas.NoTrans, blas.NoTrans, 1e-9, a, x, 1, c)
			}
		})
		best = max(best, float64(workers)*reps*2*t*t*k/time.Since(start).Seconds()/1e9)
	}
	return best
}

func BenchmarkPL(b *testing.B) {
	const k = 100
	for _, n := range []int{1000, 4000, 8000} {
		b.Run(fmt.Sprintf("engine=dense/n=%d", n), func(b *testing.B) {
			d := benchData(b, n)
			p, err := NewProjection(Sphere{}, d.X, k, 1)
			if err != nil {
				b.Fatal(err)
			}
			loss, err := NewProjected(benchModel, d, p)
			if err != nil {
				b.Fatal(err)
			}
			benchLoss(b, loss, plFlops(n, k))
		})
	}
}

// plFlops counts ½n² pairs, for each of which both the value and the gradient
// take a product of length k, and the products n×k by k×k around them.
func plFlops(n, k int) float64 {
	nn, kk := float64(n), float64(k)
	return 2*nn*nn*kk + 4*nn*kk*kk
}

func BenchmarkNLL(b *testing.B) {
	const n = 1000
	b.Run(fmt.Sprintf("engine=dense/n=%d", n), func(b *testing.B) {
		loss, err := NewExact(benchModel, benchData(b, n))
		if err != nil {
			b.Fatal(err)
		}
		benchLoss(b, loss, float64(n)*float64(n)*float64(n)) // n³/3 each for L, L⁻¹ and A⁻¹
	})
}

func BenchmarkVFE(b *testing.B) {
	const n, m = 4000, 100
	b.Run(fmt.Sprintf("n=%d/m=%d", n, m), func(b *testing.B) {
		d := benchData(b, n)
		z, err := KMeans(d.X, m, 1)
		if err != nil {
			b.Fatal(err)
		}
		loss, err := NewVFE(benchModel, d, z, VFEOptions{})
		if err != nil {
			b.Fatal(err)
		}
		benchLoss(b, loss, 5*float64(n)*m*m) // nm² for ΦLᵀ = K_xu, 2nm² each for ΦᵀΦ and the weights
	})
}
