package search

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// TestApproximated compares the latest observations of a long series of counts, as Gaussian ones, with the counts of a series
// of these alone.
func TestApproximated(t *testing.T) {
	const n, k = 60, 40
	x, y, _ := testdraws.Counts(rand.New(rand.NewPCG(10, 10)), "poisson", n)
	v, err := NewYScale(testseries.OfCounts(t, "poisson", x, y, nil), 0, n, false)
	if err != nil {
		t.Fatal(err)
	}
	m := gppl.Model{Kernel: gppl.Matern32{Variance: 0.5, Lengthscale: 8}, Noise: 0.01}
	all, err := v.Approximated(t.Context(), m, 0, k)
	if err != nil {
		t.Fatal(err)
	}
	late, err := v.Gaussian(m, 0)(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	if all.Len() != n || !slices.Equal(all.Y[n-k:], late.Y) || !slices.Equal(all.Errors[n-k:], late.Errors) {
		t.Errorf("%v, want %v", all.Y[n-k:], late.Y)
	}
}
