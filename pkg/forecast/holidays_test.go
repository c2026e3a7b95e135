package forecast

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestHolidays learns known effects, forecasts with them, saves and loads them, and takes the mean apart by holiday.
func TestHolidays(t *testing.T) {
	const n, steps = 1055, 40 // the last day is 21 November 2023
	x, y := testdraws.Shopping(1, n+steps, 1)
	s, err := series.Read(t.Context(), testdraws.Shop(t, x[:n], y[:n]), series.ReadOptions{Holidays: "us"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Fit(context.Background(), s, Options{Kernels: []string{"Periodic"}, Periods: []float64{7. / 365.25}, Trend: "none",
		Log: "never"})
	if err != nil {
		t.Fatal(err)
	}
	effects, err := a.Effects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	learnt := map[string]Effect{}
	for _, e := range effects {
		learnt[e.Name] = e
	}
	for name, want := range map[string]float64{"Christmas Day": -30, "Christmas Day, the day before": 15, "Independence Day": -20} {
		e, ok := learnt[name]
		if !ok || math.Abs(e.Value-want) > 3*e.StdErr+0.2*math.Abs(want) || !(e.StdErr > 0 && e.StdErr < 3) {
			t.Errorf("%s: %+v, want %v", name, e, want)
		}
	}
	f, err := a.Forecast(t.Context(), steps)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range f.Median {
		if math.Abs(v-y[n+i]) > 8 {
			t.Errorf("%s: %.1f, and %.1f came", f.When[i], v, y[n+i])
		}
	}
	path := filepath.Join(t.TempDir(), "model.json")
	if err := a.Save(path); err != nil {
		t.Fatal(err)
	}
	again, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	g, err := again.Forecast(t.Context(), steps)
	if diff := cmp.Diff(f.Median, g.Median); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	d, err := a.Decompose(context.Background(), steps)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(d.Names, "|"), "Christmas Day|") && d.Names[len(d.Names)-1] != "Christmas Day" {
		t.Errorf("%q", d.Names)
	}
	for i := range d.X {
		total := 0.0
		for j, name := range d.Names {
			total += d.Columns[j][i]
			near := strings.Contains("12-24 12-25 12-26 12-27", d.When[i][5:10])
			if name == "Christmas Day" && (math.Abs(d.Columns[j][i]) > 1e-9) && !near {
				t.Errorf("%s: Christmas adds %v", d.When[i], d.Columns[j][i])
			}
		}
		if math.Abs(total-d.Mean[i]) > 1e-6 {
			t.Fatalf("%s: %v, want %v", d.When[i], total, d.Mean[i])
		}
	}
}
