package forecast

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// dated returns the series of y at the given times, read as dates are.
func dated(t *testing.T, at []time.Time, y func(time.Time) float64) *Series {
	t.Helper()
	seconds, x, v := make([]float64, len(at)), make([]float64, len(at)), make([]float64, len(at))
	for i := range at {
		seconds[i] = float64(at[i].UnixMicro()) / 1e6
	}
	axis := dateAxis("date", seconds)
	for i := range at {
		x[i], v[i] = axis.X(at[i]), y(at[i])
	}
	s, err := NewSeries(axis, x, v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// workdays are n days from Wednesday 3 January 2024 on, without weekends and New Year.
func workdays(n int) (at []time.Time) {
	for day := time.Date(2024, 1, 3, 0, 0, 0, 0, time.UTC); len(at) < n; day = day.AddDate(0, 0, 1) {
		if w := day.Weekday(); w != time.Saturday && w != time.Sunday && day.YearDay() != 1 {
			at = append(at, day)
		}
	}
	return at
}

// TestNaiveByDate: a week before a Monday is a Monday, however many observations lie between, or two weeks before if that was a
// holiday.
func TestNaiveByDate(t *testing.T) {
	for _, n := range []int{40, 600} { // an axis of days, and one of years
		at := workdays(n + 5)
		s := dated(t, at, func(d time.Time) float64 {
			return 10*float64(d.Weekday()) + float64(len(at))/1e3*float64(d.YearDay()%2)
		})
		week, err := s.ParsePeriod("7d")
		if err != nil {
			t.Fatal(err)
		}
		for i, y := range naiveOf(s, s.X[n:], n, week) {
			if want := 10 * float64(at[n+i].Weekday()); y < want || y > want+1 {
				t.Errorf("n = %d: naive's forecast for %v is %v, want %v", n, at[n+i].Format("Mon 2006-01-02"), y, want)
			}
		}
	}
	s := steps(t, 6, 0, func(i int) float64 { return float64(i * i) })
	if got := naiveOf(s, []float64{4, 5, 6, 7}, 4, 3); !slices.Equal(got, []float64{1, 4, 9, 1}) {
		t.Errorf("the latest season of three goes on as %v", got)
	}
	if got := naiveOf(s, []float64{4, 5}, 4, 0); !slices.Equal(got, []float64{9, 9}) {
		t.Errorf("the last value goes on as %v", got)
	}
	if got := naiveOf(s, []float64{4, 9}, 4, 30); !slices.Equal(got, []float64{9, 9}) {
		t.Errorf("a season longer than the series goes on as %v", got)
	}
}

// TestYardsticks: they have the season of the user or of the calendar, or without both the strongest of the data. None comes from
// the model, whatever its period.
func TestYardsticks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	level := 0.0
	wander := func(period int) func(i int) float64 {
		return func(i int) float64 {
			level += rng.NormFloat64()
			return level + 4*math.Sin(2*math.Pi*float64(i)/float64(max(1, period)))
		}
	}
	months, err := Read(file(t, monthly(60)), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seven := steps(t, 300, 0, wander(7))
	years := steps(t, 300, 0, wander(7))
	years.Axis.Unit = "year"
	learnt := gppl.LocPer{Variance: 1, Lengthscale: 50, Period: 93, PeriodicLengthscale: 1}
	for name, test := range map[string]struct {
		s       *Series
		named   []float64
		n       int
		want    []string
		seasons []int
	}{
		"named":    {seven, []float64{12}, 200, []string{"repeating the last 12 steps"}, []int{12}},
		"calendar": {months, nil, 50, []string{"repeating the last year"}, []int{12}},
		"both":     {months, []float64{0.25}, 50, []string{"repeating the last quarter", "repeating the last year"}, []int{3, 12}},
		"same":     {months, []float64{1.001}, 50, []string{"repeating the last year"}, []int{12}},
		"data":     {seven, nil, 200, []string{"repeating the last 7 steps", "repeating the last 14 steps"}, []int{7, 14}},
		"years":    {years, nil, 200, []string{"repeating the last 7 years", "repeating the last 14 years"}, []int{7, 14}},
		"none":     {steps(t, 300, 0, wander(0)), nil, 200, nil, nil},
		"too long": {seven, []float64{250}, 200, nil, nil},
	} {
		a := &Analysis{Series: test.s, seasons: test.named,
			members: []*member{{averaged: averaged{model: gppl.Model{Kernel: learnt, Noise: 0.1}, weight: 1}}}}
		got := yardsticksOf(test.s, test.n, naiveSeasons(a, test.n))
		var names []string
		var seasons []int
		for _, y := range got[2:] {
			names, seasons = append(names, y.Name), append(seasons, y.Season)
		}
		if !slices.Equal(names, test.want) || !slices.Equal(seasons, test.seasons) {
			t.Errorf("%s: %q with %v steps, want %q with %v", name, names, seasons, test.want, test.seasons)
		}
	}
	// What they forecast, with variances that grow.
	line := steps(t, 20, 0, func(i int) float64 { return 3 + 2*float64(i) })
	ahead := steps(t, 24, 0, func(i int) float64 { return 3 + 2*float64(i) })
	if g := drifting(line, ahead.X[20:]); !slices.Equal(g.Mu, ahead.Y[20:]) ||
		math.Abs(g.Variance[3]/g.Variance[0]-4*(1+4./19)/(1+1./19)) > 1e-12 {
		t.Errorf("a line goes on as %v", g)
	}
	if g := repeated(line, ahead.X[20:], 0, squareApart(line, 0)); g.Mu[3] != 41 ||
		!slices.Equal(g.Variance, []float64{4, 8, 12, 16}) {
		t.Errorf("the last value goes on as %v", g)
	}
}

// TestRelative: errors that no one sees are equal, be naive's 0 or not.
func TestRelative(t *testing.T) {
	for _, test := range []struct{ mean, naive, want float64 }{
		{2, 4, 0.5}, {1e-7, 1e-14, 1}, {1e-7, 0, 1}, {5e-4, 0, 1}, {5e-4, 1e-5, 50}, {0, 0, 1}, {1e-14, 0.5, 2e-14}, {0.1, 0, math.MaxFloat64}, {0.1, 1e-7, 1e6},
	} {
		if got := relative(test.mean, test.naive, 1e-6); math.Abs(got/test.want-1) > 1e-9 {
			t.Errorf("an error of %v to %v is %v, want %v", test.mean, test.naive, got, test.want)
		}
	}
}

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
