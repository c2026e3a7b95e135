package observe_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/observe"
)

func BenchmarkCancelledObserve(b *testing.B) {
	const n = 4000
	rnd := rand.New(rand.NewPCG(1, 1))
	x, counts, y := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) + 0.4*rnd.Float64()
		g := math.Sin(x[i] / 20)
		counts[i], y[i] = math.Round(math.Exp(2+g)), g+0.1*rnd.NormFloat64()
	}
	m := gppl.Model{Kernel: gppl.RQ{Variance: 1, Lengthscale: 20, Alpha: 1}, Noise: 0.01}
	of, d := gppl.Data{X: gppl.Scalars(x), Y: counts}, gppl.Data{X: gppl.Scalars(x), Y: y}
	l := testkit.Must(observe.NewLaplace(b.Context(), m, of, observe.Poisson{}, nil))(b)
	theta := gppl.Values(l.Params())
	testkit.BenchmarkCancelled(b, []testkit.Call{
		{Name: "Laplace.ValueGrad", Run: func(ctx context.Context) error {
			_, err := l.ValueGrad(ctx, make([]float64, len(theta)), theta)
			return err
		}},
		{Name: "Laplace.Correct", Run: func(ctx context.Context) error {
			_, err := l.Correct(ctx, theta, 2000, 1)
			return err
		}},
		{Name: "Laplace.Predict", Run: func(ctx context.Context) error {
			_, err := l.Predict(ctx, theta, of.X, nil)
			return err
		}},
		{Name: "FitLaplace", Run: func(ctx context.Context) error {
			_, err := observe.FitLaplace(ctx, m, of, observe.Poisson{}, nil, gppl.Settings{})
			return err
		}},
		{Name: "FindOutliers", Run: func(ctx context.Context) error {
			_, err := observe.FindOutliers(ctx, m, d)
			return err
		}},
		{Name: "FitRobust", Run: func(ctx context.Context) error {
			_, err := observe.FitRobust(ctx, m, d, observe.RobustSettings{})
			return err
		}},
	})
}

// countCalls are those of counts at n inputs.
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

func BenchmarkCancelledCounts(b *testing.B) { testkit.BenchmarkCancelled(b, countCalls(300_000)) }
