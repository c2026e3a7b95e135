package judge

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestShiftsUsed: a forecast has the found or given changes, in its components, in a file, and at origins that know of them.
func TestShiftsUsed(t *testing.T) {
	const n, at, size = 150, 90, 12
	s := testseries.Steps(t, n, 1, func(i int) float64 {
		if i >= at {
			return 50 + size
		}
		return 50
	})
	given, err := s.Shifted(at - 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*forecast.Analysis{"found": automatic(t, s, forecast.Options{}),
		"given": automatic(t, given, forecast.Options{Shifts: "never"}), "named": automatic(t, given, forecast.Options{Kernels: []string{"SE"}})} {
		shifts, err := a.Shifts(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(shifts) != 1 || shifts[0].X != at || !shifts[0].Used || (shifts[0].Chance > 0) != (name == "found") {
			t.Fatalf("%s: %+v", name, shifts)
		}
		if got := shifts[0]; !got.Log && math.Abs(got.Size-size) > 1 || got.Log && math.Abs(got.InY-size) > 1 {
			t.Errorf("%s: a change by %+v", name, got)
		}
		again, err := reloaded(t, a).Shifts(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(shifts, again, cmpopts.EquateApprox(1e-6, 0)); diff != "" {
			t.Errorf("%s, from a file: %s", name, diff)
		}
		d, err := a.Decompose(context.Background(), 5)
		if err != nil {
			t.Fatal(err)
		}
		j := slices.Index(d.Names, series.ShiftsName)
		if j < 0 || d.Columns[j][at-1] != 0 || math.Abs(d.Columns[j][at]-size) > 2 {
			t.Errorf("%s: components %v", name, d.Names)
		}
		if _, err := TestPast(context.Background(), a, BacktestOptions{Horizon: 20}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if past, err := automatic(t, s, forecast.Options{}).Series.KnownIn(0, 100); err != nil || past.Shifts != nil {
		t.Errorf("an origin knows of the changes %v (%v), which were found later", past.Shifts, err)
	}
	if past, err := given.KnownIn(0, at); err != nil || past.Shifts != nil {
		t.Errorf("an origin knows of the changes %v (%v), which came later", past.Shifts, err)
	}
	for _, x := range []float64{-1, 0, n} {
		if _, err := s.Shifted(x); err == nil || !strings.Contains(err.Error(), "not within the observations") {
			t.Errorf("a change at %v: %v", x, err)
		}
	}
}

// TestShiftsAuto: auto has changes in forecasts of up to 400 observations, reports them in longer series and for named kernels,
// and origins have the mode of the whole series.
func TestShiftsAuto(t *testing.T) {
	changed := func(n int) *series.Series {
		return testseries.Steps(t, n, 1, func(i int) float64 {
			if i >= n/2 {
				return 62
			}
			return 50
		})
	}
	for _, c := range []struct {
		n    int
		o    forecast.Options
		used bool
	}{
		{150, forecast.Options{}, true}, {150, forecast.Options{Shifts: "auto"}, true}, {401, forecast.Options{}, false},
		{401, forecast.Options{Shifts: forecast.ShiftsUsed}, true},
		{150, forecast.Options{Kernels: []string{"SE"}}, false}, {150, forecast.Options{Shifts: "report"}, false},
	} {
		c.o.Log = "never"
		a := automatic(t, changed(c.n), c.o)
		shifts, err := a.Shifts(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if len(shifts) != 1 || math.Abs(shifts[0].X-float64(c.n/2)) > 1 || shifts[0].Used != c.used || a.Found() != c.used {
			t.Errorf("n = %d, %+v: %+v", c.n, c.o, shifts)
		}
		again, err := relearningOf(t.Context(), a, BacktestOptions{Horizon: 20})
		if err != nil || again.options.Shifts != a.ShiftMode() {
			t.Errorf("n = %d, %+v: origins learn by %q (%v)", c.n, c.o, again.options.Shifts, err)
		}
	}
}
