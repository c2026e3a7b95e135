package draws_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
)

// mixtureCalls are the methods of a mixture with the given number of components at n inputs.
func mixtureCalls(n, components int) []testkit.Call {
	rnd := rand.New(rand.NewPCG(1, 2))
	m := &draws.Mixture{Weights: slices.Repeat([]float64{1 / float64(components)}, components)}
	for range components {
		mean, variances := make([]float64, n), make([]float64, n)
		for i := range mean {
			mean[i], variances[i] = rnd.NormFloat64(), 0.5+rnd.Float64()
		}
		m.Means, m.Variances = append(m.Means, mean), append(m.Variances, variances)
	}
	y := make([]float64, n)
	return []testkit.Call{
		{Name: "Mixture.Quantile", Run: func(ctx context.Context) error {
			_, err := m.Quantile(ctx, 0.9)
			return err
		}},
		{Name: "Mixture.LogDensity", Run: func(ctx context.Context) error {
			_, err := m.LogDensity(ctx, y)
			return err
		}},
		{Name: "Mixture.CRPSContext", Run: func(ctx context.Context) error {
			_, err := m.CRPS(ctx, y)
			return err
		}},
	}
}

func TestCancelledMixture(t *testing.T) { testkit.TestCancelled(t, mixtureCalls(20, 5)) }
