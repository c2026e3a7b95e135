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
	info := testkit.Must(fisher.New(m, gppl.Scalars(x)))(tb)
	p := testkit.Must(gppl.NewProjection(gppl.Sphere{}, gppl.Scalars(x), k, 1))(tb)
	return []testkit.Call{
		{Name: "fisher.NewContext", Run: func(ctx context.Context) error {
			_, err := fisher.NewContext(ctx, m, gppl.Scalars(x))
			return err
		}},
		{Name: "Information.ProjectedContext", Run: func(ctx context.Context) error {
			_, err := info.ProjectedContext(ctx, p)
			return err
		}},
		{Name: "Information.LossContext", Run: func(ctx context.Context) error {
			_, err := info.LossContext(ctx, p)
			return err
		}},
		{Name: "Information.ConditionalContext", Run: func(ctx context.Context) error {
			_, err := info.ConditionalContext(ctx, p)
			return err
		}},
		{Name: "Information.ConditionalLatentContext", Run: func(ctx context.Context) error {
			_, err := info.ConditionalLatentContext(ctx, p)
			return err
		}},
		{Name: "Information.ConditionalTraceContext", Run: func(ctx context.Context) error {
			_, _, err := info.ConditionalTraceContext(ctx, p)
			return err
		}},
	}
}

func TestCancelled(t *testing.T) { testkit.TestCancelled(t, informationCalls(t, 150, 20)) }

func BenchmarkCancelledInformation(b *testing.B) {
	testkit.BenchmarkCancelled(b, informationCalls(b, 3000, 1000))
}
