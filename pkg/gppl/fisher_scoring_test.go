package gppl_test

import (
	"context"
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestFisherScoring: the optimum that L-BFGS finds, from starts near and far, with a
// Fixed parameter as well.
func TestFisherScoring(t *testing.T) {
	t.Parallel()
	truth := gppl.Model{Kernel: gppl.RQ{Variance: 1.5, Lengthscale: 6, Alpha: 1.2}, Noise: 0.2}
	x := make([]float64, 300)
	for i := range x {
		x[i] = float64(i) + 0.3*math.Sin(float64(7*i))
	}
	draw, err := truth.Sample(t.Context(), gppl.Scalars(x), 5, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	y := draw.Y
	d := gppl.Data{X: gppl.Scalars(x), Y: y}
	p, err := gppl.SpectralProjection(t.Context(), d.X, 90)
	if err != nil {
		t.Fatal(err)
	}
	for i, start := range []gppl.Model{
		truth,
		{Kernel: gppl.RQ{Variance: 0.3, Lengthscale: 2, Alpha: 4}, Noise: 1},
		gppl.Model{Kernel: gppl.RQ{Variance: 5, Lengthscale: 20, Alpha: 1}, Noise: 0.2}.Fix("alpha"),
	} {
		if testkit.Quick() && i != 1 {
			continue
		}
		l, err := gppl.NewResidual(t.Context(), start, d, p)
		if err != nil {
			t.Fatal(err)
		}
		want, err := gppl.Fit(context.Background(), l, nil, gppl.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := gppl.Fit(context.Background(), l, nil, gppl.Settings{Method: gppl.FisherScoring})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("L-BFGS: %d iterations, %d evaluations; Fisher scoring: %d and %d",
			want.Iterations, want.Evaluations, got.Iterations, got.Evaluations)
		if got.Status != gppl.Converged || got.Value > want.Value+1e-6 {
			t.Errorf("from %v: %v at %.9g, L-BFGS %v at %.9g", start, got.Status, got.Value, want.Status, want.Value)
		}
	}
}
