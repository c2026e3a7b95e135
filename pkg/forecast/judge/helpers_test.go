package judge

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// ofParts lets tests compare forecasts with the scales of their parts.
var ofParts = cmp.AllowUnexported(forecast.Part{})

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

func automatic(t *testing.T, s *series.Series, o forecast.Options) *forecast.Analysis {
	t.Helper()
	a, err := forecast.Fit(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// decoded returns the analysis in the text of a file.
func decoded(t *testing.T, text []byte) (*forecast.Analysis, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "analysis.json")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return forecast.Load(path)
}

// reloaded returns the analysis as it is read after it was saved.
func reloaded(t *testing.T, a *forecast.Analysis) *forecast.Analysis {
	t.Helper()
	var b bytes.Buffer
	if err := a.Encode(&b); err != nil {
		t.Fatal(err)
	}
	loaded, err := decoded(t, b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// share is a series of per cent that comes close to 100, with some values there if full is set.
func share(t *testing.T, full bool) *series.Series {
	t.Helper()
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
		t.Fatal(err)
	}
	return s
}

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
