package series

import (
	"math"
	"testing"
	"time"
)

// TestPeriodTo: two months of a monthly series are no 60.9 days, and 14 days are two weeks, but 61 days and 10 days are days;
// 25 hours are hours.
func TestPeriodTo(t *testing.T) {
	var days, months, hours []float64
	for i := range 100 {
		hours = append(hours, float64(time.Date(2020, 1, 1, i, 0, 0, 0, time.UTC).Unix()))
	}
	for i := range 900 {
		days = append(days, float64(time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC).Unix()))
	}
	for i := range 60 {
		months = append(months, float64(time.Date(2020, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC).Unix()))
	}
	daily, monthly := DateAxis("date", days), DateAxis("date", months)
	hourly := DateAxis("time", hours)
	day := daily.Year() / 365.25
	for _, c := range []struct {
		axis   Axis
		period float64
		want   string
	}{
		{monthly, monthly.Year() / 6, "season of 2 months"}, {monthly, 5 * monthly.Year() / 12, "season of 5 months"},
		{monthly, monthly.Year() / 4, "quarter"}, {monthly, 2 * monthly.Year(), "season of 2 years"},
		{daily, 14 * day, "season of 2 weeks"}, {daily, 61 * day, "season of 61 days"}, {daily, 10 * day, "season of 10 days"},
		{hourly, 25.0 / 24, "season of 25 hours"}, {hourly, 25.82 / 24, "season of 25.82 hours"}, {hourly, 2, "season of 2 days"},
		{hourly, 12.42 / 24, "season of 12.42 hours"}, {hourly, 3.5, "season of 3.5 days"}, {daily, 2.5 * day, "season of 2.5 days"},
		{Axis{Unit: "s"}, 14, "season of 14 s"}, {Axis{}, 14, "season of 14"},
	} {
		if got := c.axis.Season(c.period); got != c.want {
			t.Errorf("%v: %q, want %q", c.period, got, c.want)
		}
	}
}

// TestUnits: a unit of the calendar has one length on an axis, by which seasons, steps and periods are named.
func TestUnits(t *testing.T) {
	var months []float64
	for i := range 60 {
		months = append(months, float64(time.Date(2020, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC).Unix()))
	}
	for _, axis := range []Axis{
		DateAxis("date", months), {Unit: "year"}, {Unit: "day", Dates: true}, {Unit: "hour", Dates: true}, {Unit: "second", Dates: true},
	} {
		for _, u := range calendarUnits {
			length := axis.UnitLength(u.name)
			if got := axis.unitOf(length); got != u.name {
				t.Errorf("%v: a %s is a %q", axis, u.name, got)
			}
			s := &Series{Axis: axis, Step: length, Even: true}
			if got, want := s.Span(3), "3 "+u.name+"s"; axis.Months == 0 && got != want {
				t.Errorf("%v: %q, want %q", axis, got, want)
			}
			if got, err := s.ParsePeriod("2 " + u.name + "s"); axis.Dates && (err != nil || math.Abs(got/length-2) > 1e-12) {
				t.Errorf("%v: 2 %ss are %v, want %v: %v", axis, u.name, got, 2*length, err)
			}
		}
	}
	if u := (Axis{Unit: "day"}).unitOf(1); u != "" {
		t.Errorf("a number of days is a %s", u)
	}
}
