package viz

import (
	"math"
	"time"

	"gonum.org/v1/plot"
)

// Calendar maps places on an axis to dates. Times and places ascend together. Its JSON, from which page.js writes dates, has the
// unit ("year", "day", "hour" or "second") and the date origin at place zero. If they apply, it also has the day of the month on
// which months of equal length begin, whether dates have a time of day, the period that they name ("month" or "quarter"), and the
// day on which weeks begin (0 for Sunday).
type Calendar interface {
	Time(x float64) time.Time
	X(t time.Time) float64
}

// dateTicks places about n labelled ticks at the start of years, months, days, hours or minutes.
type dateTicks struct {
	Calendar
	n int
}

// dateSteps are the possible distances of ticks, ascending, with the format of their labels. A distance is a number of months, or
// a part of a week that begins on a Monday.
var dateSteps = []struct {
	months int
	apart  time.Duration
	form   string
}{
	{0, time.Second, "15:04:05"}, {0, 5 * time.Second, "15:04:05"}, {0, 10 * time.Second, "15:04:05"},
	{0, 30 * time.Second, "15:04:05"},
	{0, time.Minute, "2 Jan 15:04"}, {0, 2 * time.Minute, "2 Jan 15:04"}, {0, 5 * time.Minute, "2 Jan 15:04"},
	{0, 10 * time.Minute, "2 Jan 15:04"},
	{0, 30 * time.Minute, "2 Jan 15:04"},
	{0, time.Hour, "2 Jan 15:04"}, {0, 3 * time.Hour, "2 Jan 15:04"}, {0, 6 * time.Hour, "2 Jan 15:04"},
	{0, 12 * time.Hour, "2 Jan 15:04"},
	{0, day, "2 Jan 2006"}, {0, 2 * day, "2 Jan 2006"}, {0, 4 * day, "2 Jan 2006"}, {0, 7 * day, "2 Jan 2006"},
	{0, 14 * day, "2 Jan 2006"}, {1, 0, "Jan 2006"}, {2, 0, "Jan 2006"}, {3, 0, "Jan 2006"}, {6, 0, "Jan 2006"},
	{12, 0, "2006"}, {24, 0, "2006"}, {60, 0, "2006"}, {120, 0, "2006"}, {240, 0, "2006"}, {600, 0, "2006"}, {1200, 0, "2006"},
}

const day = 24 * time.Hour

func (t dateTicks) Ticks(lo, hi float64) []plot.Tick {
	from, to := t.Time(lo), t.Time(hi)
	span := float64(to.Unix()-from.Unix()) + 1e-9*float64(to.Nanosecond()-from.Nanosecond())
	at := 0
	for s := dateSteps[at]; at+1 < len(dateSteps) && span > float64(t.n)*math.Max(s.apart.Seconds(),
		30.4*86400*float64(s.months)); s = dateSteps[at] {
		at++
	}
	for ; at >= 0; at-- { // if the axis shows hardly any tick at this step, try the next shorter one
		if ticks := t.every(at, from, to, lo, hi); len(ticks) > 1 {
			return ticks
		}
	}
	return linearTicks{n: t.n}.Ticks(lo, hi) // the axis has less than two seconds, or more years than a calendar
}

// every returns the ticks of a step between from and to, at lo and hi.
func (t dateTicks) every(step int, from, to time.Time, lo, hi float64) (ticks []plot.Tick) {
	s := dateSteps[step]
	next := func(d time.Time) time.Time { return d.Add(s.apart) }
	first := from.Truncate(max(s.apart, 1))
	if s.months > 0 {
		months := 12*from.Year() + int(from.Month()) - 1
		first = time.Date(0, time.Month(months-months%s.months+1), 1, 0, 0, 0, 0, time.UTC)
		next = func(d time.Time) time.Time { return d.AddDate(0, s.months, 0) }
	}
	for d := first; !d.After(to) && len(ticks) <= 4*t.n; d = next(d) {
		if x := t.X(d); x >= lo && x <= hi {
			ticks = append(ticks, plot.Tick{Value: x, Label: d.Format(s.form)})
		}
	}
	return ticks
}
