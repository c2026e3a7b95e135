package fisher_test

import (
	"context"
	"errors"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/fisher"
)

// TestCancelled: what is asked of an information after the context has ended returns the context's error, and the same as without a
// context otherwise.
func TestCancelled(t *testing.T) {
	x := make([]float64, 150)
	for i := range x {
		x[i] = float64(i)
	}
	m := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 3}, Noise: 0.1, Mean: gppl.Intercept{}}
	info := testkit.Must(fisher.New(m, gppl.Scalars(x)))(t)
	p := testkit.Must(gppl.NewProjection(gppl.Sphere{}, gppl.Scalars(x), 20, 1))(t)
	ended, stop := context.WithCancel(t.Context())
	stop()
	for name, call := range map[string]func(ctx context.Context) error{
		"NewContext": func(ctx context.Context) error {
			_, err := fisher.NewContext(ctx, m, gppl.Scalars(x))
			return err
		},
		"ProjectedContext": func(ctx context.Context) error {
			_, err := info.ProjectedContext(ctx, p)
			return err
		},
		"LossContext": func(ctx context.Context) error {
			_, err := info.LossContext(ctx, p)
			return err
		},
		"ConditionalContext": func(ctx context.Context) error {
			_, err := info.ConditionalContext(ctx, p)
			return err
		},
		"ConditionalLatentContext": func(ctx context.Context) error {
			_, err := info.ConditionalLatentContext(ctx, p)
			return err
		},
		"ConditionalTraceContext": func(ctx context.Context) error {
			_, _, err := info.ConditionalTraceContext(ctx, p)
			return err
		},
	} {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := call(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v once the context has ended", name, err)
		}
	}
}
