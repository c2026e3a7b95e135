package series

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/timeline"
)

// TestClosedTimes: a forecast of working days has no weekend, one of opening hours no night; what chance left out is there again.
func TestClosedTimes(t *testing.T) {
	at := workdays(60)
	s := dated(t, at[:50], func(d time.Time) float64 { return float64(d.Day()) })
	var got []string
	for _, x := range s.after(s.X[49], 10) {
		got = append(got, s.Axis.Text(x))
	}
	for i, d := range at[50:] {
		if got[i] != d.Format(time.DateOnly) {
			t.Fatalf("steps ahead are %v, want %v first", got, d)
		}
	}
	if len(s.Gaps) != 0 || !strings.Contains(strings.Join(s.Notes(), "\n"),
		"There is no observation on any Saturday or Sunday, and the forecast has none there.") {
		t.Errorf("gaps %v, notes %q", s.Gaps, s.Notes())
	}
	if slices.ContainsFunc(timeline.Steps(10), func(k float64) bool { return s.Closed(s.X[49] + k*s.Step) }) {
		t.Error("a figure of a daily series has gaps at weekends")
	}
	var hours []time.Time // from 9 to 17, but for Mondays
	for _, d := range at {
		for h := 9; h < 18 && d.Weekday() != time.Monday; h++ {
			hours = append(hours, d.Add(time.Duration(h)*time.Hour))
		}
	}
	s = dated(t, hours, func(d time.Time) float64 { return float64(d.Hour()) })
	for _, x := range s.after(s.X[len(hours)-1], 100) {
		if d := s.Axis.Time(x).Round(time.Second); d.Hour() < 9 || d.Hour() > 17 || d.Weekday() < time.Tuesday ||
			d.Weekday() > time.Friday {
			t.Errorf("a step ahead is %v", d)
		}
	}
	for i := range hours { // stamps a few seconds late, more in the morning: the median step is longer than an hour
		hours[i] = hours[i].Add(time.Duration(i%9)*4*time.Second + time.Duration(i*i%7)*time.Second)
	}
	late := dated(t, hours, func(d time.Time) float64 { return float64(d.Hour()) })
	for i, x := range late.after(late.X[len(hours)-1], 100) {
		if d, want := late.Axis.Time(x), s.Axis.Time(s.after(s.X[len(hours)-1], 100)[i]); d.Sub(want).Abs() > time.Minute {
			t.Errorf("of late stamps step %d ahead is %v, without them %v", i+1, d, want)
		}
	}
	for i := range hours {
		hours[i] = hours[i].Truncate(time.Hour)
	}
	last := s.X[len(hours)-1] // 17:00
	if evening := last + 3*s.Step; s.Closed(last) || !s.Closed(evening) {
		t.Errorf("closed at %s: %v, at %s: %v", s.Axis.Text(last), s.Closed(last), s.Axis.Text(evening), s.Closed(evening))
	}
	// An exchange that once was open on Saturdays.
	later := workdays(1100)
	var all []time.Time
	for d := later[0].AddDate(0, 0, -700); d.Before(later[0]); d = d.AddDate(0, 0, 1) {
		if d.Weekday() != time.Sunday {
			all = append(all, d)
		}
	}
	all = append(all, later[:1050]...)
	s = dated(t, all, func(d time.Time) float64 { return float64(d.Day()) })
	for i, x := range s.after(s.X[len(all)-1], 10) {
		if want := later[1050+i].Format(time.DateOnly); s.Axis.Text(x) != want {
			t.Errorf("step %d ahead is %s, want %s", i+1, s.Axis.Text(x), want)
		}
	}
	if text := strings.Join(s.Notes(), "\n"); !strings.Contains(text, "Of the latest 1000 observations none is on a Saturday or Sunday, and the forecast has none there.") {
		t.Errorf("notes %q", text)
	}
	// Eight days are no week that came twice, but nights are seen.
	s = dated(t, hours[:6*9], func(d time.Time) float64 { return float64(d.Hour()) })
	for _, x := range s.after(s.X[6*9-1], 100) {
		if d := s.Axis.Time(x).Round(time.Second); d.Hour() < 9 || d.Hour() > 17 {
			t.Errorf("after eight days a step ahead is %v", d)
		}
	}
	if text := strings.Join(s.Notes(), "\n"); !strings.Contains(text, "no observation at 15 of the 24 times of a day") {
		t.Errorf("notes %q", text)
	}
	var sparse []time.Time // days missing here and there, Thursday in both weeks
	for _, d := range []int{0, 2, 3, 4, 5, 6, 9, 11, 12, 13, 14, 16} {
		sparse = append(sparse, at[0].AddDate(0, 0, d))
	}
	if s := dated(t, sparse, func(d time.Time) float64 { return float64(d.Day()) }); s.closed != nil {
		t.Errorf("Thursdays that are missing by chance count as closed: %+v", s.closed)
	}
	var brief []time.Time // a microsecond apart: a week of these is no table to be made
	for i := range 20 {
		brief = append(brief, at[0].Add(time.Duration(i)*time.Microsecond))
	}
	if s := dated(t, brief, func(d time.Time) float64 { return float64(d.Nanosecond()) }); s.closed != nil {
		t.Errorf("of a week of microseconds some are closed: %d", len(s.closed.closed))
	}
}
