package series

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// daily draws n days from a date on.
func daily(t *testing.T, n int, y func(day time.Time, i int) float64) *Series {
	t.Helper()
	from := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
	seconds, values := make([]float64, n), make([]float64, n)
	for i := range seconds {
		day := from.AddDate(0, 0, i)
		seconds[i], values[i] = float64(day.Unix()), y(day, i)
	}
	axis := DateAxis("date", seconds)
	for i, s := range seconds {
		seconds[i] = axis.fromSeconds(s)
	}
	return testkit.Must(NewSeries(axis, seconds, values))(t)
}

func works(d time.Time) bool { return d.Weekday() != time.Saturday && d.Weekday() != time.Sunday }

// nextWorking is the next day from Monday to Friday.
func nextWorking(d time.Time) time.Time {
	for d = d.AddDate(0, 0, 1); !works(d); d = d.AddDate(0, 0, 1) {
	}
	return d
}

// worksBefore reports whether a day of the month before one is from Monday to Friday.
func worksBefore(d time.Time) bool {
	for before := d.AddDate(0, 0, -1); before.Month() == d.Month(); before = before.AddDate(0, 0, -1) {
		if works(before) {
			return true
		}
	}
	return false
}

// TestMonthDays: days of the month and paydays that stand out are found, beside a week and a trend, and no others; a weekly series, and one with
// too few months, has none.
func TestMonthDays(t *testing.T) {
	for name, c := range map[string]struct {
		n    int
		of   func(day time.Time) bool
		want []int
	}{
		"first and last":    {1000, func(d time.Time) bool { return d.Day() == 1 || d.AddDate(0, 0, 1).Day() == 1 }, []int{1, -1}},
		"half a year":       {200, func(d time.Time) bool { return d.Day() == 1 }, []int{1}},
		"paydays":           {700, func(d time.Time) bool { return d.Day() == 15 || d.Day() == 25 }, []int{15, 25}},
		"last working day":  {700, func(d time.Time) bool { return works(d) && nextWorking(d).Month() != d.Month() }, []int{lastWorking}},
		"first working day": {700, func(d time.Time) bool { return works(d) && d.Day() <= 3 && !worksBefore(d) }, []int{firstWorking}},
		"moved paydays": {700, func(d time.Time) bool {
			next := nextWorking(d).Day()
			return works(d) && (d.Day() <= 15 && next > 15 || d.Day() <= 25 && next > 25)
		}, []int{workingUpTo + 15, workingUpTo + 25}},
		"four months": {120, func(d time.Time) bool { return d.Day() == 1 }, nil},
		"none":        {700, func(time.Time) bool { return false }, nil},
	} {
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 66))
			s := daily(t, c.n, func(d time.Time, i int) float64 {
				y := 100 + 0.02*float64(i) + 20*math.Sin(float64(d.Weekday())) + 10*r.NormFloat64()
				if c.of(d) {
					y += 30
				}
				return y
			})
			var got []int
			if m := s.WithMonthDays().MonthDays; m != nil {
				got = m.Days
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s, seed %d: days %v, want %v", name, seed, got, c.want)
			}
		}
	}
}

// TestNoMonthDays: of 200 daily series of white, red, heavy-tailed and wandering noise, with a week and a year or without, at most
// six have a day of the month.
func TestNoMonthDays(t *testing.T) {
	const draws, most = 200, 6
	found := 0
	for seed := range uint64(draws) {
		r, v := rand.New(rand.NewPCG(seed, 67)), 0.0
		s := daily(t, []int{200, 400, 800, 1500}[seed/4%4], func(d time.Time, _ int) float64 {
			e := r.NormFloat64()
			if seed%4 == 2 { // Student's t of three degrees
				e /= math.Sqrt((math.Pow(r.NormFloat64(), 2) + math.Pow(r.NormFloat64(), 2) + math.Pow(r.NormFloat64(), 2)) / 3)
			}
			v = []float64{0, 0.8, 0, 1}[seed%4]*v + e
			if seed%8 < 4 {
				return v
			}
			return v + float64(d.Weekday()) + 5*math.Sin(2*math.Pi*float64(d.YearDay())/365)
		})
		if s.WithMonthDays().MonthDays != nil {
			found++
		}
	}
	if found > most {
		t.Errorf("%d of %d series without effects have a day of the month", found, draws)
	}
}

// TestMonthDaysOfSeveralRows: the rows of a day count by their mean, in which opposite errors cancel.
func TestMonthDaysOfSeveralRows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	once := daily(t, 700, func(day time.Time, _ int) float64 {
		y := 10 + 0.1*rnd.NormFloat64()
		if day.Day() == 1 {
			y++
		}
		return y
	})
	var x, y []float64
	for i, at := range once.X {
		e := 20 * rnd.NormFloat64()
		x, y = append(x, at, at), append(y, once.Y[i]-e, once.Y[i]+e)
	}
	twice := testkit.Must(NewSeries(once.Axis, x, y))(t).WithMonthDays()
	if m := twice.MonthDays; m == nil || !slices.Equal(m.Days, []int{1}) {
		t.Errorf("effects of days of the month: %+v, want the first", m)
	}
}
