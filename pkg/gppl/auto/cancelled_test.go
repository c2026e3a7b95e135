package auto_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

func BenchmarkCancelledSearch(b *testing.B) {
	const n = 300_000
	rnd := rand.New(rand.NewPCG(1, 1))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) + 0.4*rnd.Float64()
		y[i] = math.Sin(x[i]/9) + rnd.NormFloat64()
	}
	d := gppl.Data{X: gppl.Scalars(x), Y: y}
	rhythm := gppl.Model{Kernel: gppl.SHO{Variance: 1, Period: 50, Quality: 4}, Noise: 1, Mean: gppl.Intercept{}}
	testkit.BenchmarkCancelled(b, []testkit.Call{
		{Name: "auto.Fit", Run: func(ctx context.Context) error {
			_, err := auto.Fit(ctx, rhythm, d, auto.Settings{})
			return err
		}},
		{Name: "auto.FindStarts", Run: func(ctx context.Context) error {
			_, err := auto.FindStarts(ctx, rhythm, d, auto.Settings{})
			return err
		}},
		{Name: "auto.StartFrom", Run: func(ctx context.Context) error {
			_, err := auto.StartFrom(ctx, rhythm, d)
			return err
		}},
		{Name: "auto.LikelyPeriods", Run: func(ctx context.Context) error {
			_, err := auto.LikelyPeriods(ctx, d, 5)
			return err
		}},
		{Name: "auto.ClearPeriods", Run: func(ctx context.Context) error {
			_, err := auto.ClearPeriods(ctx, d, 5)
			return err
		}},
	})
}
