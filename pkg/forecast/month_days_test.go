package forecast

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestMonthDays: a fit of daily calls that peak on the first and the last day of each month forecasts the peaks, states and saves
// their size, and gives them a component. Named kernels, and fits without seasons, do not look for them.
func TestMonthDays(t *testing.T) {
	const n, steps, peak = 500, 62, 40.0
	r := rand.New(rand.NewPCG(65, 10))
	from := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	calls := func(day time.Time) float64 {
		y := 120 + 15*math.Cos(2*math.Pi*float64(day.Weekday())/7)
		if day.Day() == 1 || day.AddDate(0, 0, 1).Day() == 1 {
			y += peak
		}
		return y
	}
	var seconds []float64
	var y []float64
	for i := range n {
		day := from.AddDate(0, 0, i)
		seconds, y = append(seconds, float64(day.Unix())), append(y, calls(day)+5*r.NormFloat64())
	}
	axis := series.DateAxis("date", seconds)
	x := make([]float64, n)
	for i, s := range seconds {
		x[i] = axis.X(time.Unix(int64(s), 0).UTC())
	}
	s := testkit.Must(series.NewSeries(axis, x, y))(t)
	a := testkit.Must(Fit(t.Context(), s, Options{Log: "never"}))(t)
	effects := testkit.Must(a.Effects(t.Context()))(t)
	if len(effects) != 2 {
		t.Fatalf("effects %+v, want two", effects)
	}
	for _, e := range effects {
		if math.Abs(e.Value-peak) > 4*e.StdErr || !(e.StdErr > 0 && e.StdErr < 3) {
			t.Errorf("%s: %.1f ± %.1f, want %v", e.Name, e.Value, e.StdErr, peak)
		}
	}
	f := testkit.Must(a.Forecast(t.Context(), steps))(t)
	for i, v := range f.Median {
		if want := calls(from.AddDate(0, 0, n+i)); math.Abs(v-want) > 6 {
			t.Errorf("%s: %.1f, want %.1f", f.When[i], v, want)
		}
	}
	path := filepath.Join(t.TempDir(), "model.json")
	if err := a.Save(path); err != nil {
		t.Fatal(err)
	}
	g := testkit.Must(testkit.Must(Load(path))(t).Forecast(t.Context(), steps))(t)
	if diff := cmp.Diff(f.Median, g.Median); diff != "" {
		t.Error(diff)
	}
	d := testkit.Must(a.Decompose(t.Context(), steps))(t)
	for _, e := range effects {
		j := slices.Index(d.Names, e.Name)
		if j < 0 {
			t.Fatalf("%s is none of %q", e.Name, d.Names)
		}
		days := 0
		for _, v := range d.Columns[j] {
			if v != 0 {
				days++
			}
		}
		if days < 16 || days > 19 { // of some 18 months
			t.Errorf("%s adds to %d days", e.Name, days)
		}
	}
	for name, o := range map[string]Options{"named": {Kernels: []string{"Matern32"}}, "no season": {NoSeason: true}} {
		if a := testkit.Must(Fit(t.Context(), s, o))(t); a.Series.MonthDays != nil {
			t.Errorf("%s: it has effects of %v", name, a.Series.MonthDays.Days)
		}
	}
}
