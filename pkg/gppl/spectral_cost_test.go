package gppl_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestSpectralLeftOut: checking the frequencies between the harmonics of a long rhythm costs more than the harmonics themselves,
// and another engine is chosen.
func TestSpectralLeftOut(t *testing.T) {
	x := make([]float64, 4000)
	rnd := rand.New(rand.NewPCG(1, 3))
	for i := range x {
		x[i] = 4000 * rnd.Float64()
	}
	d := testkit.Must(gppl.NewData(gppl.Scalars(x), x))(t)
	k := gppl.Mul(gppl.SE{Variance: 1, Lengthscale: 4000}, gppl.Periodic{Variance: 1, Lengthscale: 1, Period: 30})
	l := testkit.Must(gppl.NewExact(t.Context(), gppl.Model{Kernel: k, Noise: 0.1}, d))(t)
	if engine, _ := l.Cost(gppl.Values(l.Params())); engine != gppl.EngineMixed {
		t.Errorf("the %s engine is chosen", engine)
	}
}

// TestSpectralAffordable: the spectral engine refuses, and does not begin, what takes many times the time that Cost
// predicted for a handful of observations.
func TestSpectralAffordable(t *testing.T) {
	for _, c := range []struct {
		n     int
		noise float64
		k     gppl.Kernel
	}{
		{1, 0.1, gppl.Add(gppl.LocPer{Variance: 1, Lengthscale: 59.83, Period: 35.7, PeriodicLengthscale: 8.89},
			gppl.RQ{Variance: 1, Lengthscale: 0.1178, Alpha: 70.63})},
		{5, 4e-6, gppl.Add(gppl.SE{Variance: 1, Lengthscale: 2.897}, gppl.Matern32{Variance: 1, Lengthscale: 21.73})},
	} {
		x := timeline.Steps(c.n)
		d, err := gppl.NewData(gppl.Scalars(x), x)
		if err != nil {
			t.Fatal(err)
		}
		m := gppl.Model{Kernel: c.k, Noise: c.noise}
		forced, err := gppl.NewExact(t.Context(), m, d, gppl.WithEngine(gppl.EngineSpectral))
		if err != nil {
			t.Fatal(err)
		}
		var refusal *gppl.Refusal
		if _, err := forced.ValueGrad(t.Context(), nil, gppl.Values(forced.Params())); !errors.As(err, &refusal) {
			t.Errorf("%v, n=%d: %v, want a Refusal", c.k, c.n, err)
		}
		auto, err := gppl.NewExact(t.Context(), m, d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := auto.ValueGrad(t.Context(), nil, gppl.Values(auto.Params())); err != nil {
			t.Errorf("%v, n=%d, chosen: %v", c.k, c.n, err)
		}
	}
}
