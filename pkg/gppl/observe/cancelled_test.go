package observe_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

// countCalls are the methods of counts at n inputs.
func countCalls(n int) []testkit.Call {
	rnd := rand.New(rand.NewPCG(1, 2))
	mean, variances, sizes := make([]float64, n), make([]float64, n), make([]float64, n)
	y, u := make([]float64, n), make([]float64, n)
	for i := range mean {
		mean[i], variances[i], sizes[i] = 2+rnd.NormFloat64(), 0.3, 1
		y[i], u[i] = math.Floor(20*rnd.Float64()), rnd.Float64()
	}
	c := observe.NewCounts(observe.Poisson{}, mean, variances, sizes)
	return []testkit.Call{
		{Name: "Counts.Expected", Run: func(ctx context.Context) error {
			_, _, err := c.Expected(ctx)
			return err
		}},
		{Name: "Counts.Rates", Run: func(ctx context.Context) error {
			_, _, err := c.Rates(ctx)
			return err
		}},
		{Name: "Counts.LogDensity", Run: func(ctx context.Context) error {
			_, err := c.LogDensity(ctx, y)
			return err
		}},
		{Name: "Counts.Quantile", Run: func(ctx context.Context) error {
			_, err := c.Quantile(ctx, 0.9)
			return err
		}},
		{Name: "Counts.CRPSContext", Run: func(ctx context.Context) error {
			_, err := c.CRPS(ctx, y)
			return err
		}},
		{Name: "Counts.PITContext", Run: func(ctx context.Context) error {
			_, err := c.PIT(ctx, y, u)
			return err
		}},
	}
}

func TestCancelledCounts(t *testing.T) { testkit.TestCancelled(t, countCalls(20)) }
