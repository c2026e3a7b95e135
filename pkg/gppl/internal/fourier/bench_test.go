package fourier

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// gemmRate measures GF/s of Gemm on all processors at a tile times 100 columns.
func gemmRate() float64 {
	const calls, k = 100, 100
	best := math.Inf(1)
	for range 5 {
		start := time.Now()
		parallel.For(runtime.GOMAXPROCS(0), func(int) {
			a, b, c := dense.New(dense.Tile, dense.Tile), dense.New(dense.Tile, k), dense.New(dense.Tile, k)
			for i := range a.Data {
				a.Data[i] = 1
			}
			for range calls {
				dense.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 1, c)
			}
		})
		best = min(best, time.Since(start).Seconds())
	}
	return float64(runtime.GOMAXPROCS(0)) * calls * 2 * dense.Tile * dense.Tile * k / best / 1e9
}

func benchSums(b *testing.B, n, k, m int, sums func(p *Points, dst, w blas64.General)) {
	rnd := rand.New(rand.NewPCG(uint64(n), 1))
	x := fill(n, func(int) float64 { return rnd.Float64() })
	slices.Sort(x)
	p := NewPoints(x, 0, 1.08)
	w := dense.New(n, k)
	for i := range w.Data {
		w.Data[i] = float64(i%17) - 8
	}
	dst := dense.New(2*m, k)
	b.ReportAllocs()
	for b.Loop() {
		sums(p, dst, w)
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpoints/s")
}

// BenchmarkDirect reports its GF/s beside Gemm's in the same run.
func BenchmarkDirect(b *testing.B) {
	for _, c := range [][3]int{{10000, 1, 500}, {10000, 4, 500}, {10000, 10, 500}, {10000, 16, 500}, {10000, 100, 500},
		{10000, 100, 5}} {
		n, k, m := c[0], c[1], c[2]
		b.Run(fmt.Sprintf("n=%d/k=%d/M=%d", n, k, m), func(b *testing.B) {
			gemm := gemmRate()
			benchSums(b, n, k, m, func(p *Points, dst, w blas64.General) { p.Direct(dst, w, 0) })
			rate := 4 * float64(n*m*k) * float64(b.N) / b.Elapsed().Seconds() / 1e9
			b.ReportMetric(rate, "GF/s")
			b.ReportMetric(rate/gemm, "ofGemm")
		})
	}
}

func BenchmarkNUFFT(b *testing.B) {
	for _, c := range [][3]int{{1000, 100, 500}, {10000, 1, 500}, {10000, 100, 500}, {10000, 100, 5000}, {100000, 1, 2000},
		{100000, 100, 500}, {1000000, 1, 2000}, {1000000, 100, 500}} {
		n, k, m := c[0], c[1], c[2]
		b.Run(fmt.Sprintf("n=%d/k=%d/M=%d", n, k, m), func(b *testing.B) {
			benchSums(b, n, k, m, func(p *Points, dst, w blas64.General) { p.NUFFT(dst, w, 0, 1e-13) })
		})
	}
}

// BenchmarkSums measures both ways around the crossover, the best of many runs,
// and how well it is predicted: choice/best is the time of the predicted one over
// the one of the faster. The prediction is for -cpu 1.
func BenchmarkSums(b *testing.B) {
	for _, c := range [][3]int{
		{30, 100, 500}, {100, 100, 500}, {300, 100, 500}, {1000, 100, 500}, {1000, 100, 5}, {1000, 100, 20}, {100000, 100, 5},
		{100000, 100, 10},
		{1000, 1, 100}, {1000, 1, 1000}, {10000, 1, 10}, {10000, 1, 30}, {10000, 1, 1000}, {200, 10, 2000}, {3000, 500, 2000},
	} {
		n, k, m := c[0], c[1], c[2]
		b.Run(fmt.Sprintf("n=%d/k=%d/M=%d", n, k, m), func(b *testing.B) {
			direct, nufft := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			benchSums(b, n, k, m, func(p *Points, dst, w blas64.General) {
				start := time.Now()
				p.Direct(dst, w, 0)
				middle := time.Now()
				p.NUFFT(dst, w, 0, 1e-12)
				direct, nufft = min(direct, middle.Sub(start)), min(nufft, time.Since(middle))
			})
			choice := direct
			predicted := Predict(n, k, 0, m, 1e-12)
			if predicted.NUFFT {
				choice = nufft
			}
			b.ReportMetric(float64(direct.Nanoseconds())/1e3, "µs/direct")
			b.ReportMetric(float64(nufft.Nanoseconds())/1e3, "µs/nufft")
			b.ReportMetric(float64(choice)/float64(min(direct, nufft)), "choice/best")
			b.ReportMetric(predicted.Seconds/choice.Seconds(), "predicted/measured")
		})
	}
}

func BenchmarkCosine(b *testing.B) {
	for _, size := range []int{1024, 4096, 16384} {
		b.Run(fmt.Sprintf("N=%d", size), func(b *testing.B) {
			plan := NewCosine(size)
			g := fill(plan.Len(), func(j int) float64 { return math.Exp(-float64(j)) })
			b.ReportAllocs()
			for b.Loop() {
				plan.Coefficients(g, g)
			}
		})
	}
}

func BenchmarkGram(b *testing.B) {
	const m = 500
	t := Moments(fill(2*(2*m+1), func(i int) float64 { return float64(i) }))
	features := make([]Feature, 2*m)
	for i := range features {
		features[i] = Feature(i)
	}
	dst := dense.New(2*m, 2*m)
	for b.Loop() {
		t.Gram(dst, features, features)
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/(4*m*m), "ns/entry")
}
