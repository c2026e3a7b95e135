package forecast

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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
