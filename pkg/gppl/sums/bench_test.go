package sums_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// BenchmarkSums adds n irregular observations, in order, with M frequencies, from memory
// and on all processors.
func BenchmarkSums(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		for _, m := range []int{250, 2000, 16000} {
			b.Run(fmt.Sprintf("n=%d/M=%d", n, m), func(b *testing.B) {
				rnd := rand.New(rand.NewPCG(uint64(n), 1))
				x, y := make([]float64, n), make([]float64, n)
				for i := range x {
					x[i], y[i] = (float64(i)+rnd.Float64())/float64(n), math.Sin(float64(i))+0.3*rnd.NormFloat64()
				}
				s, err := sums.New(sums.Header{Lo: 0, Hi: 1, Origin: -0.58, Period: 2.16, Highest: m, Largest: 8})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := s.Add(x, y); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "points/s")
			})
		}
	}
}
