package auto_test

import (
	"context"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// TestFitLong: series so long that the search compares segments and training is guided end at the optimum that training from the
// truth finds, or below.
func TestFitLong(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		regular, rough bool
		family, truth  gppl.Kernel
	}{
		{true, false, gppl.Add(gppl.SE{}, gppl.Periodic{}), gppl.Add(gppl.SE{Variance: 1, Lengthscale: 12.5},
			gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 30})},
		{false, false, gppl.Add(gppl.SE{}, gppl.Periodic{}), gppl.Add(gppl.SE{Variance: 1, Lengthscale: 12.5},
			gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 30})},
		{false, true, gppl.Add(gppl.Matern32{}, gppl.Periodic{}), gppl.Add(gppl.Matern32{Variance: 1, Lengthscale: 12.5},
			gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 30})},
	} {
		if i >= testkit.Size(1, 2, 3) {
			break
		}
		d := rhythmic(t, 2500, c.regular, c.rough)
		loss, err := gppl.NewExact(t.Context(), gppl.Model{Kernel: c.truth, Noise: 0.09}, d)
		if err != nil {
			t.Fatal(err)
		}
		want, err := gppl.Fit(context.Background(), loss, nil, gppl.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := auto.Fit(context.Background(), gppl.Model{Kernel: c.family, Noise: 1}, d, auto.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Value > want.Value+1e-3 || got.Search.Spectral == 0 {
			t.Errorf("%v nats, from the truth %v:\n%v\n%v", got.Value, want.Value, got, want)
		}
	}
}
