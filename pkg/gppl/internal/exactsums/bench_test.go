package exactsums

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkAdd(b *testing.B) {
	for _, m := range []int{250, 1000, 4000, 16000} {
		for _, sorted := range []bool{true, false} {
			const n = 1 << 16
			rnd := rand.New(rand.NewPCG(1, 2))
			t, y := make([]float64, n), make([]float64, n)
			for i := range t {
				t[i], y[i] = float64(i)/n, 0.3*rnd.NormFloat64()/5
				if !sorted {
					t[i] = rnd.Float64()
				}
			}
			p, err := NewPlan(-0.58, 2.16, m, 0, 1, Units{0, 1, 0})
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("M=%d/sorted=%v", m, sorted), func(b *testing.B) {
				s := p.New()
				b.ReportAllocs()
				for b.Loop() {
					p.Add(s, t, y, nil)
				}
				b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "points/s")
			})
		}
	}
}
