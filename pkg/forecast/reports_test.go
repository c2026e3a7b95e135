package forecast

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestPublicReports draws series as public reports about other programs describe them. The structure is plain to see in each, and
// the error of the forecast stays within the bound of its case.
func TestPublicReports(t *testing.T) {
	wave := func(i, period float64) float64 { return math.Sin(2 * math.Pi * i / period) }
	month := func(i int) time.Time { return time.Date(2016, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC) }
	day := func(i int) time.Time { return time.Date(2019, 1, 1+i, 0, 0, 0, 0, time.UTC) }
	week := func(i int) time.Time { return day(7 * i) }
	for _, c := range []struct {
		report   string // address of the report and a summary of the fault
		n, ahead int
		at       func(i int) time.Time // nil for numbers
		truth    func(i float64) float64
		noise    float64
		y        func(i int, y float64) float64 // replaces y; nil for none
		within   float64
	}{
		{report: "https://github.com/facebook/prophet/issues/1755: a sine of 628 days is not continued", n: 3000, ahead: 200, at: day,
			truth: func(i float64) float64 { return math.Sin(i / 100) }, noise: 0.25, within: 0.3},
		{report: "https://github.com/sktime/sktime/issues/2075: a line of 0.0002 is forecast flat", n: 80, ahead: 20,
			truth: func(i float64) float64 { return (200 + i) / 1e6 }, noise: 1e-6, within: 2e-6},
		{report: "https://github.com/statsmodels/statsmodels/issues/9575: twelve sums that rise are to be −183 million", n: 12, ahead: 3,
			truth: func(i float64) float64 { return 11.4e6 * math.Pow((i+1)/12, 0.85) }, noise: 1e5, within: 1.5e6},
		{report: "https://github.com/robjhyndman/forecast/issues/481: 3030, 1830, 3030, … is forecast by its mean", n: 36, ahead: 8,
			truth: func(i float64) float64 { return 2430 + 600*math.Cos(math.Pi*i) },
			y: func(i int, y float64) float64 {
				if i == 12 {
					y += 30
				}
				return y
			}, within: 20},
		{report: "https://github.com/cornellius-gp/gpytorch/issues/1906: a sine is forecast by its mean", n: 700, ahead: 300,
			truth: func(i float64) float64 { return 2 * wave(i, 40) }, noise: 0.3, within: 0.3},
		{report: "https://github.com/robjhyndman/forecast/issues/867: amounts up to 675 are to be 8 678 388", n: 71, ahead: 24, at: month,
			truth: func(float64) float64 { return 100 }, noise: 1,
			y: func(i int, y float64) float64 {
				if i%4 == 3 || i > 30 && i%7 == 0 {
					return y * float64(1+i*i%6)
				}
				return 0.0005
			}, within: 300},
		{report: "https://github.com/robjhyndman/forecast/issues/815: one value of twelve quarters is far off", n: 12, ahead: 3,
			truth: func(float64) float64 { return 250 }, noise: 40,
			y: func(i int, y float64) float64 {
				if i == 5 {
					return 3070
				}
				return y
			}, within: 150},
		{report: "https://github.com/Nixtla/statsforecast/issues/242: the forecast of noise drops", n: 60, ahead: 20,
			truth: func(float64) float64 { return 30 }, noise: 3.5, within: 3},
		{report: "https://github.com/facebook/prophet/issues/2621: two months are missing, and the next year has them wrong", n: 209,
			ahead: 52, at: week, truth: func(i float64) float64 { return 100 + 20*wave(i, 365.25/7) }, noise: 4,
			y: func(i int, y float64) float64 {
				if i >= 183 && i < 191 {
					return math.NaN()
				}
				return y
			}, within: 10},
		{report: "https://github.com/facebook/prophet/issues/2537: after the lockdown the trend goes on falling", n: 90, ahead: 12, at: month,
			truth: func(i float64) float64 { return 100 + 0.5*i + 6*wave(i, 12) }, noise: 2,
			y: func(i int, y float64) float64 {
				if i >= 50 && i < 55 {
					y -= 60
				}
				return y
			}, within: 8},
	} {
		r := rand.New(rand.NewPCG(65, 75))
		var times []time.Time
		var x, y []float64
		for i := range c.n {
			v := c.truth(float64(i)) + c.noise*r.NormFloat64()
			if c.y != nil {
				v = c.y(i, v)
			}
			if math.IsNaN(v) {
				continue
			}
			x, y = append(x, float64(i)), append(y, v)
			if c.at != nil {
				times = append(times, c.at(i))
			}
		}
		var s *series.Series
		if next := 0; c.at == nil {
			s = testkit.Must(series.NewSeries(series.Axis{Name: "t"}, x, y))(t)
		} else {
			s = testseries.Dated(t, times, func(time.Time) float64 { next++; return y[next-1] })
		}
		a := testkit.Must(Fit(t.Context(), s, Options{}))(t)
		f := testkit.Must(a.Forecast(t.Context(), c.ahead))(t)
		for i, median := range f.Median {
			if want := c.truth(float64(c.n + i)); !(math.Abs(median-want) <= c.within) {
				t.Errorf("%s\n%s: step %d is %.5g, want %.5g", c.report, a.Name(), i+1, median, want)
				break
			}
		}
	}
}

// TestPublicReportsOfFiles reads series that public reports about other programs describe.
func TestPublicReportsOfFiles(t *testing.T) {
	read := func(stamp func(at time.Time) string, n int, y func(i int) float64) *series.Series {
		t.Helper()
		var text bytes.Buffer
		fmt.Fprintln(&text, "t,y")
		for i := range n {
			fmt.Fprintf(&text, "%s,%v\n", stamp(time.Date(2020, 3, 16, i, 0, 0, 0, time.UTC)), y(i))
		}
		path := filepath.Join(t.TempDir(), "hours.csv")
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return testkit.Must(series.Read(t.Context(), path, series.ReadOptions{Likelihood: "auto"}))(t)
	}

	// https://github.com/facebook/prophet/issues/1118: nobody comes at night, and the forecast expects 12 at three o'clock.
	clock := func(at time.Time) string { return at.Format("2006-01-02 15:04") }
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(1118, seed))
		open := func(i int) bool { return i%24 >= 7 && i%24 < 21 }
		s := read(clock, 10*24, func(i int) float64 {
			if !open(i) {
				return 0
			}
			return math.Round(60 + 8*r.NormFloat64())
		})
		a := testkit.Must(Fit(t.Context(), s, Options{}))(t)
		f := testkit.Must(a.Forecast(t.Context(), 24))(t)
		for i, median := range f.Median {
			if !open(i) && !(median == 0 && f.Upper[i] < 6) || open(i) && !(math.Abs(median-60) < 12) {
				t.Errorf("%s: %d o'clock is %.3g, up to %.3g", a.Name(), i, median, f.Upper[i])
			}
		}
	}

	// https://github.com/statsmodels/statsmodels/issues/6667: the clock changes, and the daily pattern is an hour late.
	zone := func(at time.Time) string {
		offset := 0
		if !at.Before(time.Date(2020, 3, 29, 1, 0, 0, 0, time.UTC)) {
			offset = 3600
		}
		return at.In(time.FixedZone("", offset)).Format("2006-01-02T15:04:05-07:00")
	}
	for _, stamp := range []func(time.Time) string{clock, zone} {
		_, notes := read(stamp, 500, func(i int) float64 { return math.Abs(float64(i%24 - 12)) }).Messages()
		said := strings.Contains(fmt.Sprint(notes), "changes between +00:00 and +01:00, and all its times are read as UTC")
		if want := stamp(time.Unix(0, 0).UTC()) != clock(time.Unix(0, 0).UTC()); said != want {
			t.Errorf("the note on offsets is %v, want %v: %v", said, want, notes)
		}
	}
}
