package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

func seasonal(v float64) float64 { return math.Sin(2*math.Pi*v/24) + 0.3*math.Cos(v/90) }

// copiesAt returns x followed by count more at each of some places, in order.
func copiesAt(x []float64, count int, at ...float64) []float64 {
	all := slices.Clone(x)
	for _, v := range at {
		for range count {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	return all
}

// line returns n places from a first, a step apart.
func line(first, step float64, n int) (x []float64) {
	for i := range n {
		x = append(x, first+step*float64(i))
	}
	return x
}

// places returns the number of different x, ascending.
func places(x []float64) int { return len(slices.Compact(slices.Clone(x))) }

func longSeries(t *testing.T, n int, jitter float64) *series.Series {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 0))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) + jitter*rng.Float64()
		y[i] = seasonal(x[i]) + 0.3*rng.NormFloat64()
	}
	s, err := series.NewSeries(series.Axis{Name: "x"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// walkWeight is the weight of the random walk in a forecast; 0 without one.
func walkWeight(candidates []Candidate) float64 {
	for _, c := range candidates {
		if strings.HasPrefix(c.Kernel, "RandomWalk") {
			return c.Weight
		}
	}
	return 0
}

// walked is a random walk with drift of n steps.
func walked(t *testing.T, n int) *series.Series {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 0))
	var at float64
	return testseries.Steps(t, n, 0, func(i int) float64 {
		at += 1 + rng.NormFloat64()
		return 100 + at
	})
}

// planner returns the planner of fits of a series.
func planner(t *testing.T, s *series.Series, o Options) *Planner {
	t.Helper()
	return testkit.Must(NewPlanner(t.Context(), s, o))(t)
}
