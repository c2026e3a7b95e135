package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testdraws"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// workdays returns n days from Wednesday 3 January 2024 on, without weekends and New Year.
func workdays(n int) (at []time.Time) {
	for day := time.Date(2024, 1, 3, 0, 0, 0, 0, time.UTC); len(at) < n; day = day.AddDate(0, 0, 1) {
		if w := day.Weekday(); w != time.Saturday && w != time.Sunday && day.YearDay() != 1 {
			at = append(at, day)
		}
	}
	return at
}

// TestNaiveByDate: the naive forecast of a Monday is the Monday a week before, however many observations lie between, or the one
// two weeks before if that was a holiday.
func TestNaiveByDate(t *testing.T) {
	for _, n := range []int{40, 600} { // an axis of days, and one of years
		at := workdays(n + 5)
		s := testseries.Dated(t, at, func(d time.Time) float64 {
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
	s := testseries.Steps(t, 6, 0, func(i int) float64 { return float64(i * i) })
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

// TestYardsticks: the naive forecasts have the season that the user gives, else the calendar's, else the strongest in the data.
// The model's period does not affect them.
func TestYardsticks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	level := 0.0
	wander := func(period int) func(i int) float64 {
		return func(i int) float64 {
			level += rng.NormFloat64()
			return level + 4*math.Sin(2*math.Pi*float64(i)/float64(max(1, period)))
		}
	}
	months, err := series.Read(t.Context(), testdraws.File(t, testdraws.Monthly(60)), series.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seven := testseries.Steps(t, 300, 0, wander(7))
	years := testseries.Steps(t, 300, 0, wander(7))
	years.Axis.Unit = "year"
	learnt := gppl.LocPer{Variance: 1, Lengthscale: 50, Period: 93, PeriodicLengthscale: 1}
	for name, test := range map[string]struct {
		s       *series.Series
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
		"none":     {testseries.Steps(t, 300, 0, wander(0)), nil, 200, nil, nil},
		"too long": {seven, []float64{250}, 200, nil, nil},
	} {
		a := &forecast.Analysis{Series: test.s, Periods: test.named, Result: &gppl.Result{Model: gppl.Model{Kernel: learnt, Noise: 0.1}}}
		got := yardsticksOf(test.s, test.n, naiveSeasons(a, test.n))
		var names []string
		var seasons []int
		for _, y := range got[3:] {
			names, seasons = append(names, y.Name), append(seasons, y.Season)
		}
		if !slices.Equal(names, test.want) || !slices.Equal(seasons, test.seasons) {
			t.Errorf("%s: %q with %v steps, want %q with %v", name, names, seasons, test.want, test.seasons)
		}
	}
	// The values and variances of the naive forecasts; the variances grow.
	line := testseries.Steps(t, 20, 0, func(i int) float64 { return 3 + 2*float64(i) })
	ahead := testseries.Steps(t, 24, 0, func(i int) float64 { return 3 + 2*float64(i) })
	if g := drifting(line, ahead.X[20:]); !slices.Equal(g.Mu, ahead.Y[20:]) ||
		math.Abs(g.Variance[3]/g.Variance[0]-4*(1+4./19)/(1+1./19)) > 1e-12 {
		t.Errorf("a line goes on as %v", g)
	}
	if g := meanOfPast(line, ahead.X[20:]); g.Mu[3] != 22 || math.Abs(g.Variance[3]/(140*1.05)-1) > 1e-12 {
		t.Errorf("the mean of a line goes on as %v", g)
	}
	if g := repeated(line, ahead.X[20:], 0, squareApart(line, 0)); g.Mu[3] != 41 ||
		!slices.Equal(g.Variance, []float64{4, 8, 12, 16}) {
		t.Errorf("the last value goes on as %v", g)
	}
}

// TestRelative: two negligible errors count as equal, even if the naive error is 0.
func TestRelative(t *testing.T) {
	for _, test := range []struct{ mean, naive, want float64 }{
		{2, 4, 0.5}, {1e-7, 1e-14, 1}, {1e-7, 0, 1}, {5e-4, 0, 1}, {5e-4, 1e-5, 50}, {0, 0, 1}, {1e-14, 0.5, 2e-14}, {0.1, 0, math.MaxFloat64}, {0.1, 1e-7, 1e6},
	} {
		if got := relative(test.mean, test.naive, 1e-6); math.Abs(got/test.want-1) > 1e-9 {
			t.Errorf("an error of %v to %v is %v, want %v", test.mean, test.naive, got, test.want)
		}
	}
}
