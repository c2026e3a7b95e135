package auto_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// drawn is data from a known model: SE, variance 1, lengthscale 2, noise 0.1.
func drawn(t testing.TB, n int, seed uint64) gppl.Data {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 9))
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.2 * float64(n) * rnd.Float64()
	}
	draw, err := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 2}, Noise: 0.1}.Sample(t.Context(), gppl.Scalars(x), seed, gppl.WithEngine(gppl.EngineDense))
	if err != nil {
		t.Fatal(err)
	}
	y := draw.Y
	return testkit.Must(gppl.NewData(gppl.Scalars(x), y))(t)
}

func sunspots(t testing.TB) gppl.Data {
	t.Helper()
	s, err := dataset.Sunspots(context.Background(), dataset.Options{Offline: true, Log: io.Discard})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no sunspot file: set GPPL_DATA to the folder that holds it")
	}
	if err != nil {
		t.Fatal(err)
	}
	s, _ = s.Standardize()
	return testkit.Must(gppl.NewData(gppl.Scalars(s.X), s.Y))(t)
}
