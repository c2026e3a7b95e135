package judge

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat/distuv"

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

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// rhythm is a noisy rhythm of 12 steps on a trend: rows of step and value.
func rhythm(n int, row func(i int, y float64) string) string {
	rnd := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("t,level\n")
	for i := range n {
		x := float64(i)
		b.WriteString(row(i, 10+0.02*x+math.Sin(2*math.Pi*x/12)+0.1*rnd.NormFloat64()))
	}
	return b.String()
}

func monthly(n int) string {
	return rhythm(n, func(i int, y float64) string { return fmt.Sprintf("%d-%02d-01,%.4f\n", 2000+i/12, i%12+1, y) })
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

// countsOfKind draws n counts whose log rate, or log odds, is a season of 12 steps.
func drawnCounts(rnd *rand.Rand, likelihood string, n int) (x, y, sizes []float64) {
	for i := range n {
		g := 0.8 + 0.6*math.Sin(2*math.Pi*float64(i)/12)
		var v, size float64 = 0, 1
		switch likelihood {
		case "negbinomial":
			g += math.Log(distuv.Gamma{Alpha: 2, Beta: 2, Src: rnd}.Rand())
			fallthrough
		case "poisson":
			v = distuv.Poisson{Lambda: math.Exp(g), Src: rnd}.Rand()
		case "binomial":
			size = float64(5 + rnd.IntN(10))
			fallthrough
		case "bernoulli":
			v = distuv.Binomial{N: size, P: 1 / (1 + math.Exp(-g)), Src: rnd}.Rand()
		}
		x, y, sizes = append(x, float64(i)), append(y, v), append(sizes, size)
	}
	return x, y, sizes
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
