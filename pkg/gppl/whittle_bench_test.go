package gppl_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// BenchmarkWhittle takes a value and gradient of the Whittle likelihood, of the exact one by the engine that is chosen and, up to
// n = 3319, densely, and of PL on 100 random directions, for RQ on a constant step; then J, which standard errors take once. n = 3319
// is a prime.
func BenchmarkWhittle(b *testing.B) {
	m := gppl.Model{Kernel: gppl.RQ{Variance: 1, Lengthscale: 20, Alpha: 0.5}, Noise: 0.1}
	for _, n := range []int{1024, 3319, 8192, 65_536} {
		rnd := rand.New(rand.NewPCG(1, 1))
		y := make([]float64, n)
		for i := range y {
			y[i] = rnd.NormFloat64()
		}
		d := gppl.Data{X: gppl.Scalars(timeline.Steps(n)), Y: y}
		whittle := testkit.Must(gppl.NewWhittle(b.Context(), m, d, gppl.WhittleOptions{}))(b)
		losses := map[string]gppl.Loss{"Whittle": whittle}
		if n <= 8192 {
			losses["exact"] = testkit.Must(gppl.NewExact(b.Context(), m, d))(b)
			p := testkit.Must(gppl.NewProjection(b.Context(), gppl.Sphere{}, d.X, 100, 1))(b)
			losses["PL"] = testkit.Must(gppl.NewProjected(b.Context(), m, d, p))(b)
		}
		if n <= 3319 {
			losses["dense"] = testkit.Must(gppl.NewExact(b.Context(), m, d, gppl.WithEngine(gppl.EngineDense)))(b)
		}
		for _, name := range []string{"Whittle", "PL", "exact", "dense"} {
			loss, ok := losses[name]
			if !ok {
				continue
			}
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				theta, grad := m.Values(), make([]float64, 4)
				for b.Loop() {
					if _, err := loss.ValueGrad(b.Context(), grad, theta); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("ScoreCovariance/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := whittle.ScoreCovariance(b.Context(), m.Values()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
