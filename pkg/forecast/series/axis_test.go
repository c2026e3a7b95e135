package series

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
)

// TestRegularMonths reads dates by month: equal steps on the axis, from whatever day of the month, and back to the same dates.
func TestRegularMonths(t *testing.T) {
	for name, test := range map[string]struct {
		from   string
		months int
		last   bool // day of the month
		form   func(time.Time) string
		next   string // date after the last
	}{
		"first days":    {"1999-01-01", 1, false, nil, "2003-01-01"},
		"mid-month":     {"1999-01-15", 1, false, nil, "2003-01-15"},
		"last days":     {"1999-01-31", 1, true, nil, "2003-01-31"},
		"quarters":      {"1999-01-01", 3, false, func(d time.Time) string { return fmt.Sprintf("%dQ%d", d.Year(), 1+(int(d.Month())-1)/3) }, "2011-Q1"},
		"quarters' end": {"1999-03-31", 3, true, nil, "2011-03-31"},
		"months' names": {"1999-01-01", 1, false, func(d time.Time) string { return d.Format("Jan 2006") }, "2003-01"},
		"years":         {"1999-01-01", 12, false, nil, "2047-01-01"},
		"29 February":   {"1996-02-29", 12, true, nil, "2044-02-29"},
		"with a clock": {"1999-01-01T06:30:00Z", 1, false, func(d time.Time) string { return d.Format("2006-01-02T15:04:05Z") },
			"2003-01-01T06:30:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			from, err := time.Parse("2006-01-02T15:04:05Z", test.from)
			if err != nil {
				if from, err = time.Parse(time.DateOnly, test.from); err != nil {
					t.Fatal(err)
				}
			}
			form := test.form
			if form == nil {
				form = func(d time.Time) string { return d.Format(time.DateOnly) }
			}
			var b strings.Builder
			b.WriteString("t,y\n")
			var dates []time.Time
			for i := range 48 {
				d := time.Date(from.Year(), from.Month()+time.Month(i*test.months), from.Day(), from.Hour(), from.Minute(), 0, 0, time.UTC)
				if test.last {
					d = time.Date(from.Year(), from.Month()+time.Month(i*test.months)+1, 0, 0, 0, 0, 0, time.UTC)
				}
				dates = append(dates, d)
				fmt.Fprintf(&b, "%s,%d\n", form(d), i%5)
			}
			s, err := Read(t.Context(), testdraws.File(t, b.String()), ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if s.Axis.Months != test.months || s.Axis.Unit != "year" || !s.Even {
				t.Fatalf("%+v, even %v", s.Axis, s.Even)
			}
			for i, x := range s.X {
				if i > 0 && math.Abs(x-s.X[i-1]-float64(test.months)/12) > 1e-12 {
					t.Errorf("step %d is %v", i, x-s.X[i-1])
				}
				if got := s.Axis.Time(x); !got.Equal(dates[i]) {
					t.Errorf("%v comes back as %v", dates[i], got)
				}
			}
			next := s.Axis.after(s.X[len(s.X)-1], s.Step, 1)
			if got := s.Axis.Text(next); got != test.next {
				t.Errorf("after the last comes %s, want %s", got, test.next)
			}
			for day := range 800 { // between the observations, before and after them
				d := from.AddDate(0, 0, day-40)
				x := s.Axis.X(d)
				if back := s.Axis.Time(x).Sub(d); back.Abs() > time.Second {
					t.Errorf("%v is off by %v", d, back)
				}
				if math.Abs(x-1970-d.Sub(time.Unix(0, 0)).Hours()/24/365.25) > 0.01 {
					t.Errorf("%v is at %v", d, x)
				}
			}
		})
	}
}

// TestPeriods writes months, quarters, half-years, weeks and years as such and reads them back; dates within one are written as
// days.
func TestPeriods(t *testing.T) {
	for _, c := range []struct {
		period, text, within string
	}{{"month", "1987-04", "1987-04-02"}, {"quarter", "1995-Q4", "1995-11-01"}, {"week", "2019-W07", "2019-02-12"},
		{"half-year", "1995-H2", "1995-08-01"}, {"year", "1995", "1995-04-01"}, {"fiscal year", "2000/01", "2000-03-01"},
		{"fiscal year", "1999/00", "2000-01-02"}, {"", "1987-04-01", "1987-04-02"}} {
		var seconds []float64
		for i := range 40 {
			day := time.Date(1987, time.Month(1+3*i), 1, 0, 0, 0, 0, time.UTC)
			switch c.period {
			case "half-year":
				day = time.Date(1987, time.Month(1+6*i), 1, 0, 0, 0, 0, time.UTC)
			case "year", "fiscal year":
				day = time.Date(1987+i, 1, 1, 0, 0, 0, 0, time.UTC)
			case "week":
				day = time.Date(2019, 1, 7+7*i, 0, 0, 0, 0, time.UTC)
			}
			seconds = append(seconds, float64(day.Unix()))
		}
		a := DateAxis("date", seconds)
		a.takePeriod(c.period, seconds)
		for _, text := range []string{c.text, c.within} {
			if x, err := a.Parse(text); err != nil || a.Text(x) != text {
				t.Errorf("%q: %s is %s, %v", c.period, text, a.Text(x), err)
			}
		}
		if b := DateAxis("date", seconds); c.period != "" {
			b.takePeriod(c.period, append(seconds, seconds[0]+86400))
			if b.Period != "" {
				t.Errorf("%q is the period of dates that lie within one", c.period)
			}
		}
	}
}

// TestLengthDigits: a length has the requested digits, without a power of ten; a name that equals the unit is not followed by it.
func TestLengthDigits(t *testing.T) {
	if got := (Axis{Name: "Year", Unit: "year"}).Label(); got != "Year" {
		t.Errorf("an axis of years is called %q", got)
	}
	a := Axis{Dates: true, Unit: "day"}
	for d, want := range map[float64][2]string{1.5738: {"1.574 days", "1.6 days"}, 121.7: {"121.7 days", "120 days"},
		0.2: {"4.8 hours", "4.8 hours"}} {
		if got := [2]string{a.Length(d), a.LengthTo(d, 2)}; got != want {
			t.Errorf("%v days: %q, want %q", d, got, want)
		}
	}
	if got := (Axis{Unit: "year"}).LengthTo(15234, 2); got != "15000 years" {
		t.Errorf("15234 years: %q", got)
	}
}

// TestWords: a sentence names the month of a monthly series, without a day of the week, and the day of a daily one.
func TestWords(t *testing.T) {
	for first, want := range map[string][2]string{ // dates a month, and a day, apart
		"2024-01-01": {"January 2024", "Monday, 1 January 2024"},
		"2024-01-31": {"January 2024", "Wednesday, 31 January 2024"},
		"2024-01-15": {"15 January 2024", "Monday, 15 January 2024"},
	} {
		begin, err := time.Parse(time.DateOnly, first)
		if err != nil {
			t.Fatal(err)
		}
		var months, days []float64
		for i := range 36 {
			month := time.Date(2024, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC)
			months = append(months, sinceEpoch(dayIn(month, begin.Day())))
			days = append(days, sinceEpoch(begin.AddDate(0, 0, i)))
		}
		for i, seconds := range [][]float64{months, days} {
			a := DateAxis("date", seconds)
			if got := a.Words(a.fromSeconds(seconds[0])); got != want[i] {
				t.Errorf("%s: %q, want %q", first, got, want[i])
			}
		}
	}
}
