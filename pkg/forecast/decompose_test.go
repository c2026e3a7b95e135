package forecast

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestDecompose: the columns add up to the mean of the forecast, for one model and for several, for y and for log y; each column
// holds the effect that its name says.
func TestDecompose(t *testing.T) {
	const n, period, ahead = 120, 12, 18
	season := func(i int) float64 { return 6 * math.Sin(2*math.Pi*float64(i)/period) }
	rng := rand.New(rand.NewPCG(4, 0))
	s := testseries.Steps(t, n, 0, func(i int) float64 { return 50 + 0.3*float64(i) + season(i) + 0.3*rng.NormFloat64() })
	for name, test := range map[string]struct {
		o    Options
		rest bool
	}{
		"one, of y": {Options{Kernels: []string{"SE + LocPer"}, Log: "never", Trend: "linear",
			Periods: []float64{period}}.WithEffort(search.Efforts[2]), false},
		"one, of log y": {Options{Kernels: []string{"SE + LocPer"}, Log: "always", Trend: "linear",
			Periods: []float64{period}}.WithEffort(search.Efforts[2]), false},
		"several": {Options{Periods: []float64{period}}, true},
	} {
		a := automatic(t, s, test.o)
		f, err := a.Forecast(t.Context(), ahead)
		if err != nil {
			t.Fatal(err)
		}
		d, err := a.Decompose(context.Background(), ahead)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.X) != n+ahead || !slices.Equal(d.Mean[n:], f.Median) {
			t.Fatalf("%s: %d rows, whose last means are not the forecast's", name, len(d.X))
		}
		if got := slices.Contains(d.Names, rest); got && !test.rest {
			t.Errorf("%s: columns %q", name, d.Names)
		}
		for i, mean := range d.Mean {
			var sum float64
			for _, c := range d.Columns {
				sum += c[i]
			}
			if math.Abs(sum-mean) > 1e-9*math.Abs(mean) {
				t.Errorf("%s: at %v the columns add up to %v, the mean is %v", name, d.X[i], sum, mean)
			}
		}
		at := slices.Index(d.Names, a.Series.Axis.Season(period))
		if at < 0 {
			t.Fatalf("%s: no season among %q", name, d.Names)
		}
		for i := range n + ahead {
			if got := d.Columns[at][i]; math.Abs(got-season(i)) > 1 {
				t.Errorf("%s: the season at %d is %.2f, it was %.2f", name, i, got, season(i))
			}
		}
	}
	long := automatic(t, testseries.Steps(t, maxDense+1, 0, func(int) float64 { return rng.NormFloat64() }),
		Options{Kernels: []string{"Matern32"}, Trend: "none"})
	long.trained = maxDense + 1
	if _, err := long.Decompose(context.Background(), 1); !errors.Is(err, ErrNoComponents) {
		t.Errorf("of %d observations: %v", maxDense+1, err)
	}
}

// TestDecomposeSeasons: parameters that are drawn have a period each, which is one season.
func TestDecomposeSeasons(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	x, y := make([]float64, 40), make([]float64, 40)
	for i := range x {
		x[i] = float64(i)
		y[i] = 10 + math.Sin(x[i]) + 0.5*math.Sin(2*x[i]) + 0.3*rng.NormFloat64()
	}
	s, err := series.NewSeries(series.Axis{Name: "x"}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	a := automatic(t, s, Options{})
	drawn := 0
	for _, m := range a.members {
		drawn += len(m.Draws)
	}
	d, err := a.Decompose(context.Background(), 4)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, name := range d.Names {
		if strings.HasPrefix(name, series.UnnamedSeason) {
			count++
		}
	}
	if drawn < 2 || count != 1 {
		t.Errorf("%d draws, columns %q", drawn, d.Names)
	}
}

// TestFastTermIsNoTrend: a term that changes within a few steps is a component of its own beside a line, as it is a column of its
// own, and has the same means there. A term that changes slowly is part of the trend in both.
func TestFastTermIsNoTrend(t *testing.T) {
	const n = 150
	r := rand.New(rand.NewPCG(63, 1))
	x, fast, slow := timeline.Steps(n), make([]float64, n), make([]float64, n)
	v := 0.0
	for i := range x {
		v = 0.7*v + r.NormFloat64()
		fast[i] = 0.1*float64(i) + v + 0.1*r.NormFloat64()
		slow[i] = 0.1*float64(i) + 3*math.Sin(float64(i)/30) + 0.1*r.NormFloat64()
	}
	for _, c := range []struct {
		y      []float64
		kernel string
		names  []string
	}{{fast, "Laplace", []string{"trend", "Laplace"}}, {slow, "SE", []string{"trend"}}} {
		o := Options{Kernels: []string{c.kernel}, Trend: "linear", Log: "never"}
		a := testkit.Must(FitValues(t.Context(), x, c.y, nil, o))(t)
		d := testkit.Must(a.Decompose(t.Context(), 5))(t)
		terms := testkit.Must(a.Components(t.Context(), d.X))(t)
		var names []string
		for k, term := range terms {
			names = append(names, term.Name)
			for i, mean := range term.Mean {
				if k == 0 {
					mean += a.Scaling.Mean
				}
				if math.Abs(mean-d.Columns[k][i]) > 0.1 { // columns are averages over draws of the parameters
					t.Fatalf("%s: %s is %v at %v, and %s is %v", c.kernel, term.Name, mean, d.X[i], d.Names[k], d.Columns[k][i])
				}
			}
		}
		if !slices.Equal(names, c.names) {
			t.Errorf("%s: components %q of columns %q, want %q", c.kernel, names, d.Names, c.names)
		}
	}
}
