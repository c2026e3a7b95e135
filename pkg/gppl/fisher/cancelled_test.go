package fisher_test

import (
	"context"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// informationCalls are what is asked of the information of n observations about k projections.
func informationCalls(tb testing.TB, n, k int) []testkit.Call {
	tb.Helper()
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 3}, Noise: 0.1, Mean: gppl.Intercept{}}
	info := testkit.Must(fisher.New(tb.Context(), m, gppl.Scalars(x)))(tb)
	p := testkit.Must(gppl.NewProjection(tb.Context(), gppl.Sphere{}, gppl.Scalars(x), k, 1))(tb)
	return []testkit.Call{
		{Name: "fisher.New", Run: func(ctx context.Context) error {
			_, err := fisher.New(ctx, m, gppl.Scalars(x))
			return err
		}},
		{Name: "Information.Projected", Run: func(ctx context.Context) error {
			_, err := info.Projected(ctx, p)
			return err
		}},
		{Name: "Information.Loss", Run: func(ctx context.Context) error {
			_, err := info.Loss(ctx, p)
			return err
		}},
		{Name: "Information.Conditional", Run: func(ctx context.Context) error {
			_, err := info.Conditional(ctx, p)
			return err
		}},
		{Name: "Information.ConditionalLatent", Run: func(ctx context.Context) error {
			_, err := info.ConditionalLatent(ctx, p)
			return err
		}},
		{Name: "Information.ConditionalTrace", Run: func(ctx context.Context) error {
			_, _, err := info.ConditionalTrace(ctx, p)
			return err
		}},
	}
}

func TestCancelled(t *testing.T) { testkit.TestCancelled(t, informationCalls(t, 150, 20)) }
