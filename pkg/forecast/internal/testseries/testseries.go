// Package testseries makes series for the tests of the packages above package series.
package testseries

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// Steps returns the series of f at 0, 1, …, with noise.
func Steps(tb testing.TB, n int, noise float64, f func(i int) float64) *series.Series {
	tb.Helper()
	rnd := rand.New(rand.NewPCG(3, 3))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i), f(i)+noise*rnd.NormFloat64()
	}
	s, err := series.NewSeries(series.Axis{Name: "step"}, x, y)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// Dated returns the series of y at the given times, read as dates are.
func Dated(tb testing.TB, at []time.Time, y func(time.Time) float64) *series.Series {
	tb.Helper()
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
		tb.Fatal(err)
	}
	return s
}

// Share returns a series of per cent that comes close to 100, with some values there if full is set.
func Share(tb testing.TB, full bool) *series.Series {
	tb.Helper()
	rnd := rand.New(rand.NewPCG(9, 9))
	x, y := make([]float64, 80), make([]float64, 80)
	for i := range x {
		x[i] = float64(i)
		y[i] = 100 / (1 + math.Exp(-2.5-1.5*math.Sin(float64(i)/6)-0.4*rnd.NormFloat64()))
		if full && i%17 == 5 {
			y[i] = 100
		}
	}
	s, err := series.NewSeries(series.Axis{Name: "t"}, x, y)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// OfCounts returns a series of counts of a likelihood.
func OfCounts(tb testing.TB, likelihood string, x, y, sizes []float64) *series.Series {
	tb.Helper()
	s, err := series.NewSeries(series.Axis{Name: "t"}, x, y)
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Count(likelihood, sizes); err != nil {
		tb.Fatal(err)
	}
	return s
}
