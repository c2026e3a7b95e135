package gppl_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// BenchmarkChunked evaluates a series from chunks in memory, to be compared with the
// state-space engine on the same, and with one processor: in a run of its own (-cpu 1), since
// with -cpu 1,2 the first of b.Loop's two measurements has the processors of the run before.
func BenchmarkChunked(b *testing.B) {
	const n = 1_000_000
	rnd := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i)+rnd.Float64(), rnd.NormFloat64()
	}
	open := func() iter.Seq2[gppl.Chunk, error] {
		return func(yield func(gppl.Chunk, error) bool) {
			for from := 0; from < n; from += 8192 {
				to := min(n, from+8192)
				if !yield(gppl.Chunk{T: x[from:to], Y: y[from:to]}, nil) {
					return
				}
			}
		}
	}
	c := must[*gppl.Chunked](b)(gppl.NewChunked(open))
	d := must[gppl.Data](b)(gppl.NewData(gppl.Scalars(x), y))
	for name, k := range map[string]gppl.Kernel{
		"Laplace":          gppl.Laplace{Variance: 1, Lengthscale: 100},
		"Matern32":         gppl.Matern32{Variance: 1, Lengthscale: 100},
		"Matern52":         gppl.Matern52{Variance: 1, Lengthscale: 100},
		"Laplace+Matern32": gppl.Add(gppl.Laplace{Variance: 1, Lengthscale: 10}, gppl.Matern32{Variance: 1, Lengthscale: 1000}),
	} {
		m := gppl.Model{Kernel: k, Noise: 0.1}
		losses := map[string]gppl.Loss{
			"chunked": must[*gppl.Exact](b)(gppl.NewChunkedExact(m, c, 0)),
			"whole":   must[*gppl.Exact](b)(gppl.NewExact(m, d, gppl.WithEngine(gppl.EngineStateSpace))),
		}
		for from, l := range losses {
			for _, mode := range []string{"value", "gradient"} {
				var grad []float64
				if mode == "gradient" {
					grad = make([]float64, len(m.Params()))
				}
				theta := thetaOf(m)
				b.Run(fmt.Sprintf("%s/%s/%s", name, from, mode), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := l.ValueGrad(grad, theta); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "points/s")
				})
			}
		}
	}
}
