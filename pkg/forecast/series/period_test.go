package series

import (
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
