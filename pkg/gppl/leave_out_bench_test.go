package gppl_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// BenchmarkLeaveOut leaves out one at a time, and blocks of ten, with a mean and without.
func BenchmarkLeaveOut(b *testing.B) {
	for _, c := range []struct {
		engine string
		kernel gppl.Kernel
		n      int
	}{
		{gppl.EngineStateSpace, gppl.Matern52{Variance: 1, Lengthscale: 20}, 20000},
		{gppl.EngineDense, gppl.RQ{Variance: 1, Lengthscale: 20, Alpha: 1}, 1000},
		{gppl.EngineBanded, gppl.SE{Variance: 1, Lengthscale: 3}, 3000},
		{gppl.EngineToeplitz, gppl.RQ{Variance: 1, Lengthscale: 20, Alpha: 1}, 1000},
		{gppl.EngineSpectral, gppl.SE{Variance: 1, Lengthscale: 200}, 3000},
	} {
		x, y := make([]float64, c.n), make([]float64, c.n)
		for i := range x {
			x[i], y[i] = float64(i), math.Sin(float64(i)/10)+0.1*float64(i%7)
		}
		d := gppl.Data{X: gppl.Scalars(x), Y: y}
		for _, size := range []int{1, 10} {
			if size > 1 && c.engine == gppl.EngineStateSpace {
				d = d.Pick(upTo(2000))
			}
			var blocks [][]int
			for i := 0; i+size <= d.Len(); i += size {
				var block []int
				for j := range size {
					block = append(block, i+j)
				}
				blocks = append(blocks, block)
			}
			for _, mean := range []gppl.Mean{nil, gppl.Intercept{}} {
				m := gppl.Model{Kernel: c.kernel, Noise: 0.01, Mean: mean}
				b.Run(fmt.Sprintf("%s/n=%d/by%d/mean=%v", c.engine, d.Len(), size, mean != nil), func(b *testing.B) {
					for b.Loop() {
						if _, _, err := gppl.LeaveOut(b.Context(), m, d, blocks, gppl.WithEngine(c.engine)); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func upTo(n int) (idx []int) {
	for i := range n {
		idx = append(idx, i)
	}
	return idx
}
