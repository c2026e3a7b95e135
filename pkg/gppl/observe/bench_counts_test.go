package observe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// BenchmarkQuantile is a quantile of a count of each likelihood and size, with a standard deviation of 0.3 of g.
func BenchmarkQuantile(b *testing.B) {
	for _, l := range []Likelihood{Poisson{}, NegBinomial{Shape: 3}, Binomial{}} {
		for _, mean := range []float64{3, 1e3, 1e6} {
			c := NewCounts(l, []float64{math.Log(mean)}, []float64{0.09}, nil)
			if l == (Binomial{}) {
				c = NewCounts(l, []float64{-1}, []float64{0.09}, []float64{4 * mean})
			}
			b.Run(fmt.Sprintf("%v/mean=%g", l, mean), func(b *testing.B) {
				rnd := rand.New(rand.NewPCG(1, 1))
				for range b.N {
					testkit.Must(c.Quantile(b.Context(), rnd.Float64()))(b)
				}
			})
		}
	}
}
