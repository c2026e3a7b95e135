package forecast

import (
	"math"
	"time"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// If Axis.Day is not 0, all months on the axis are a twelfth of a year long: a monthly, quarterly or yearly series then has a constant
// step, although months have 28 to 31 days. Month k begins on Day of the k-th month after Origin (on its last day if it is shorter), at
// the time of day of Origin; within the month x grows in proportion to time.

// byCalendar turns a into an axis of equal months, which begins at the first date.
func (a *Axis) byCalendar(first time.Time, day int) {
	a.Day = day
	a.Origin = first
	a.Zero = dataset.DecimalYear(first)
}

// monthBegin returns the beginning of month k, in seconds since 1970.
func (a Axis) monthBegin(k int) float64 {
	o := a.Origin
	first := time.Date(o.Year(), o.Month()+time.Month(k), 1, o.Hour(), o.Minute(), o.Second(), o.Nanosecond(), time.UTC)
	days := first.AddDate(0, 1, -1).Day()
	t := first.AddDate(0, 0, min(a.Day, days)-1)
	return float64(t.Unix()) + 1e-9*float64(t.Nanosecond())
}

// monthsAt converts a date, in seconds since 1970, to months after Origin.
func (a Axis) monthsAt(s float64) float64 {
	t := instant(s)
	k := 12*(t.Year()-a.Origin.Year()) + int(t.Month()) - int(a.Origin.Month())
	begin, end := a.monthBegin(k), a.monthBegin(k+1)
	if s < begin {
		k--
		begin, end = a.monthBegin(k), begin
	}
	return float64(k) + (s-begin)/(end-begin)
}

// secondsAt is the inverse of monthsAt.
func (a Axis) secondsAt(months float64) float64 {
	const (
		rounding = 1e-9 // of x in months: a few milliseconds
		most     = 12e6 // months: a million years
	)
	months = max(-most, min(months, most))
	k := math.Floor(months + rounding)
	begin := a.monthBegin(int(k))
	part := max(0, months-k)
	if part < rounding {
		return begin
	}
	return begin + part*(a.monthBegin(int(k)+1)-begin)
}

// yearLength is the length of the calendar's year on the axis.
func (a Axis) yearLength() float64 {
	if a.Day > 0 {
		return 1
	}
	return yearSeconds / unitSeconds[a.Unit]
}
