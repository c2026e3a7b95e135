package analysis

import (
	"slices"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// dated returns the series of y at the given times, read as dates are.
func dated(t *testing.T, at []time.Time, y func(time.Time) float64) *Series {
	t.Helper()
	seconds, x, v := make([]float64, len(at)), make([]float64, len(at)), make([]float64, len(at))
	for i := range at {
		seconds[i] = float64(at[i].Unix())
	}
	axis := dateAxis("date", seconds)
	for i := range at {
		x[i], v[i] = axis.fromSeconds(seconds[i]), y(at[i])
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

// TestNaiveByDate: a week before a Monday is a Monday, however many observations there are between, or two weeks before where that
// was a holiday.
func TestNaiveByDate(t *testing.T) {
	for _, n := range []int{40, 600} { // an axis of days, and one of years
		at := workdays(n + 5)
		s := dated(t, at, func(d time.Time) float64 {
			return 10*float64(d.Weekday()) + float64(len(at))/1e3*float64(d.YearDay()%2)
		})
		week := 7 * unitSeconds["day"] / unitSeconds[s.Axis.Unit]
		for i, y := range s.naive(s.X[n:], n, week) {
			if want := 10 * float64(at[n+i].Weekday()); y < want || y > want+1 {
				t.Errorf("n = %d: naive's forecast for %v is %v, want %v", n, at[n+i].Format("Mon 2006-01-02"), y, want)
			}
		}
	}
	s := steps(t, 6, 0, func(i int) float64 { return float64(i * i) })
	if got := s.naive([]float64{4, 5, 6, 7}, 4, 3); !slices.Equal(got, []float64{1, 4, 9, 1}) {
		t.Errorf("the latest season of three goes on as %v", got)
	}
	if got := s.naive([]float64{4, 5}, 4, 0); !slices.Equal(got, []float64{9, 9}) {
		t.Errorf("the last value goes on as %v", got)
	}
	if got := s.naive([]float64{4, 9}, 4, 30); !slices.Equal(got, []float64{9, 9}) {
		t.Errorf("a season longer than the series goes on as %v", got)
	}
}

// TestSeasonOfTheForecast: the naive forecast has the season that most of the forecast has, and of two the one that errs less.
func TestSeasonOfTheForecast(t *testing.T) {
	s := steps(t, 90, 0.1, func(i int) float64 { return float64(i % 7 * (i % 7)) })
	season := func(period float64) gppl.Kernel {
		return gppl.LocPer{Variance: 1, Lengthscale: 50, Period: period, PeriodicLengthscale: 1}
	}
	rough := gppl.Laplace{Variance: 1, Lengthscale: 5}
	for name, test := range map[string]struct {
		kernels []gppl.Kernel
		weights []float64
		want    int
	}{
		"a seventh has it": {[]gppl.Kernel{rough, gppl.Add(rough, season(7))}, []float64{6, 1}, 1},
		"most has it":      {[]gppl.Kernel{rough, gppl.Add(rough, season(7)), season(7.01)}, []float64{2, 1, 2}, 7},
		"two":              {[]gppl.Kernel{gppl.Add(season(30), season(7))}, []float64{1}, 7},
	} {
		a := &Analysis{Series: s}
		for i, k := range test.kernels {
			a.members = append(a.members, &member{model: gppl.Model{Kernel: k, Noise: 0.1}, weight: test.weights[i]})
		}
		if _, got := a.season(60); got != test.want {
			t.Errorf("%s: the season has %d steps, want %d", name, got, test.want)
		}
	}
}
