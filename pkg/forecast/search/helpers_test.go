package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// steps returns the series of f at 0, 1, …, with noise.
func steps(t testing.TB, n int, noise float64, f func(i int) float64) *series.Series {
	t.Helper()
	rnd := rand.New(rand.NewPCG(3, 3))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i), f(i)+noise*rnd.NormFloat64()
	}
	s, err := series.NewSeries(series.Axis{Name: "step"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func seasonal(v float64) float64 { return math.Sin(2*math.Pi*v/24) + 0.3*math.Cos(v/90) }

// dated returns the series of y at the given times, read as dates are.
func dated(t *testing.T, at []time.Time, y func(time.Time) float64) *series.Series {
	t.Helper()
	seconds, x, v := make([]float64, len(at)), make([]float64, len(at)), make([]float64, len(at))
	for i := range at {
		seconds[i] = float64(at[i].UnixMicro()) / 1e6
	}
	axis := series.DateAxis("date", seconds)
	for i := range at {
		x[i], v[i] = axis.X(at[i]), y(at[i])
	}
	s, err := series.NewSeries(axis, x, v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

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
	return steps(t, n, 0, func(i int) float64 {
		at += 1 + rng.NormFloat64()
		return 100 + at
	})
}

func countSeries(t *testing.T, likelihood string, x, y, sizes []float64) *series.Series {
	t.Helper()
	s, err := series.NewSeries(series.Axis{Name: "t"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Count(likelihood, sizes); err != nil {
		t.Fatal(err)
	}
	return s
}
