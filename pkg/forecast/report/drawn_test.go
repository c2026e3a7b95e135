package report

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// stamped is a series of dates, written in a layout; keep says which of them exist, nil for all.
type stamped struct {
	name, layout string
	n            int
	at           func(i int) time.Time
	keep         func(i int, t time.Time) bool
}

// stampedCases are series of all steps, with and without gaps.
func stampedCases() []stamped {
	first := time.Date(2023, 1, 2, 0, 0, 0, 0, time.UTC) // a Monday
	every := func(d time.Duration) func(int) time.Time {
		return func(i int) time.Time { return first.Add(time.Duration(i) * d) }
	}
	months := func(k int) func(int) time.Time {
		return func(i int) time.Time { return time.Date(1990, time.Month(1+k*i), 1, 0, 0, 0, 0, time.UTC) }
	}
	monthEnds := func(i int) time.Time { return time.Date(1990, time.Month(2+i), 0, 0, 0, 0, 0, time.UTC) }
	gap := func(i int, _ time.Time) bool { return i < 40 || i > 61 }
	some := func(i int, _ time.Time) bool { return i%13 != 4 && i%17 != 9 }
	working := func(_ int, t time.Time) bool { return t.Weekday() != time.Saturday && t.Weekday() != time.Sunday }
	shop := func(_ int, t time.Time) bool { return t.Hour() > 7 && t.Hour() < 19 }
	bank := func(i int, t time.Time) bool { return working(i, t) && shop(i, t) }
	jittered := func(d time.Duration, most int) func(int) time.Time {
		return func(i int) time.Time {
			return first.Add(time.Duration(i)*d + time.Duration((i*7919+i*i*31)%most)*time.Minute)
		}
	}
	irregular := func(i int) time.Time { return first.AddDate(0, 0, i+i*i/40+(i*i*7)%3) }
	const date, clock, month, year = "2006-01-02", "2006-01-02 15:04", "2006-01", "2006"
	return []stamped{
		{"years", year, 80, months(12), nil}, {"years with a gap", year, 80, months(12), gap},
		{"half-years", date, 80, months(6), nil}, {"quarters", date, 90, months(3), nil}, {"quarters with gaps", date, 90, months(3), some},
		{"months", month, 130, months(1), nil}, {"months with a gap", month, 130, months(1), gap},
		{"months with gaps", date, 130, months(1), some}, {"ends of months", date, 130, monthEnds, nil},
		{"18 months", month, 18, months(1), nil}, {"18 months, one missing", month, 18, months(1), some},
		{"weeks", date, 150, every(7 * 24 * time.Hour), nil}, {"weeks with a gap", date, 150, every(7 * 24 * time.Hour), gap},
		{"fortnights", date, 90, every(14 * 24 * time.Hour), some},
		{"days", date, 480, every(24 * time.Hour), nil}, {"days with a gap", date, 200, every(24 * time.Hour), gap},
		{"days with gaps", date, 300, every(24 * time.Hour), some}, {"two years of days", date, 760, every(24 * time.Hour), some},
		{"working days", date, 300, every(24 * time.Hour), working},
		{"every other day", date, 120, every(48 * time.Hour), gap},
		{"hours", clock, 400, every(time.Hour), nil}, {"hours with a gap", clock, 400, every(time.Hour), gap},
		{"hours of a shop", clock, 500, every(time.Hour), shop}, {"hours of a bank", clock, 800, every(time.Hour), bank},
		{"six hours", clock, 300, every(6 * time.Hour), some}, {"half hours", clock, 300, every(30 * time.Minute), nil},
		{"quarter hours", clock, 300, every(15 * time.Minute), gap}, {"five minutes", clock, 400, every(5 * time.Minute), some},
		{"about an hour", clock, 200, jittered(time.Hour, 9), gap},
		{"irregular hours", clock, 150, jittered(3*time.Hour, 170), nil}, {"irregular days", date, 120, irregular, nil},
		{"irregular days with a gap", date, 150, irregular, gap},
	}
}

// read writes and reads the series: a week or a day, and noise.
func (c stamped) read(t *testing.T) *series.Series {
	rnd := rand.New(rand.NewPCG(5, uint64(c.n)))
	var b strings.Builder
	b.WriteString("date,y\n")
	for i := range c.n {
		if at := c.at(i); c.keep == nil || c.keep(i, at) {
			fmt.Fprintf(&b, "%s,%.3f\n", at.Format(c.layout), 20+float64(int(at.Weekday())%7)+3*math.Sin(float64(i)/9)+rnd.NormFloat64())
		}
	}
	path := filepath.Join(t.TempDir(), "series.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := series.Read(t.Context(), path, series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDrawnAsPredicted compares every place of the line and bands of a forecast with the prediction for its date, as gppl predict
// reads it, and checks that all observations and steps are drawn: a line between midnights would omit days.
func TestDrawnAsPredicted(t *testing.T) {
	for _, c := range stampedCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.read(t)
			kernel := "Matern32"
			if c.n > 60 && strings.Contains(c.layout, "02") && s.Axis.Months == 0 {
				kernel = "Matern32 + Periodic"
			}
			a, err := forecast.Fit(context.Background(), s, forecast.Options{Kernels: []string{kernel}, Trend: "linear", Log: "never",
				Budget: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			f, err := a.Forecast(t.Context(), 12)
			if err != nil {
				t.Fatal(err)
			}
			from := s.X[recent(s, f)]
			drawn, err := drawnPrediction(a, f, from)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.IsSorted(drawn.X) || len(slices.Compact(slices.Clone(drawn.X))) != len(drawn.X) {
				t.Fatalf("the places do not ascend")
			}
			var at []float64
			for _, x := range drawn.X {
				v, err := s.Axis.Parse(s.Axis.Text(x))
				if err != nil {
					t.Fatal(err)
				}
				at = append(at, v)
			}
			slices.Sort(at)
			want, err := a.Predict(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			size := slices.Max(s.Y) - slices.Min(s.Y)
			gaps := 0
			for i := range drawn.X {
				if math.IsNaN(drawn.Mean[i]) {
					gaps++
					continue
				}
				for _, v := range [][2]float64{{drawn.Mean[i], want.Point()[i]}, {drawn.Lower[i], want.Lower[i]}, {drawn.Upper[i], want.Upper[i]}} {
					if !(math.Abs(v[0]-v[1]) < 1e-6*size) {
						t.Fatalf("at %s %v is drawn, and %v predicted", want.When[i], v[0], v[1])
					}
				}
			}
			for _, x := range append(slices.Clone(s.X[recent(s, f):]), f.X...) {
				if _, ok := slices.BinarySearch(drawn.X, x); !ok {
					t.Errorf("nothing is drawn at %s", s.Axis.Text(x))
				}
			}
			if c.keep == nil && s.Even && len(drawn.X) != len(s.X[recent(s, f):])+len(f.X) {
				t.Errorf("%d places for %d observations and %d steps", len(drawn.X), len(s.X[recent(s, f):]), len(f.X))
			}
			if closed := strings.Contains(c.name, "shop") || strings.Contains(c.name, "bank"); closed != (gaps > 0) {
				t.Errorf("%d gaps", gaps)
			}
		})
	}
}

// TestDrawnLong: a long series is drawn at a part of its steps, which includes the extremes.
func TestDrawnLong(t *testing.T) {
	var x, y []float64
	for i := range 100000 {
		x, y = append(x, float64(i)), append(y, math.Sin(float64(i)*2*math.Pi/7)+float64(i)/50000)
	}
	y[31415], y[27182] = 9, -9
	s, err := series.NewSeries(series.Axis{}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	at := s.Drawn(0, 99999)
	if n := len(at); n > 2000 || n < 1000 {
		t.Errorf("%d places", n)
	}
	for _, v := range at {
		if v != math.Trunc(v) {
			t.Fatalf("%v is between two steps", v)
		}
	}
	for _, v := range []float64{0, 31415, 27182, 99999} {
		if !slices.Contains(at, v) {
			t.Errorf("%v is not drawn", v)
		}
	}
	ahead := s.DrawnAhead(x[1:], y[1:])
	if n := len(ahead); n > 2000 || !slices.Contains(ahead, 31415) || ahead[n-1] != 99999 {
		t.Errorf("%d steps of the forecast", n)
	}
}
