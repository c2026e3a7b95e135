package series

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// MonthDays are the effects of days of the month on a daily series: of its first and last days, or of paydays. Each has a
// coefficient with the prior N(0, Scale²).
type MonthDays struct {
	Days  []int   `json:"days"`  // from 1 on or, of the last three of a month, −1, −2 and −3
	Scale float64 `json:"scale"` // in standard deviations of y
}

const (
	MonthDayPrefix = "day of the month: " // of the columns of the mean, before the names
	mostMonthDays  = 6                    // the largest number of effects
	fewestMonths   = 5                    // in which a day must be seen
	monthDayChance = 0.005                // largest chance of an effect as clear on any day where there is none
)

// monthDay returns the day of the month of a day from 1970 on, counted from the end for the last three.
func monthDay(day int) int {
	date := time.Unix(secondsOfDay*int64(day), 0).UTC()
	const last = 3
	if left := time.Date(date.Year(), date.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day() - date.Day(); left < last {
		return -1 - left
	}
	return date.Day()
}

// inMonth orders days of the month by their time.
func inMonth(a, b int) int {
	const long = 32
	return cmp.Compare((a+long)%long, (b+long)%long)
}

// monthDayName names a day of the month, as in "the last day of the month".
func monthDayName(day int) string {
	switch {
	case day == -1:
		return "the last day of the month"
	case day < 0:
		return fmt.Sprintf("the last day of the month but %d", -1-day)
	}
	suffix := map[int]string{1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}[day]
	return fmt.Sprintf("the %d%s of the month", day, cmp.Or(suffix, "th"))
}

// WithMonthDays returns a series of dates, a day apart, with the effects of the days of the month that it shows; the series
// itself if it shows none, and with regressors, which may be the same. As of holidays (LearnHolidays), the difference of each day
// from the median of the same weekdays around it has a normal score among those of all days; z̄ is the mean of n scores of a day
// of the month. The clearest day has an effect if the chance of its n·z̄² on any of the days is below half a per cent (χ² test).
// Then the others are compared without it: a week before the first, the first is one of the days around.
func (s *Series) WithMonthDays() *Series {
	const exact = 0.01
	if !s.Axis.Dates || s.Axis.Months > 0 || s.Known != nil || s.MonthDays != nil ||
		math.Abs(s.Step*unitSeconds[s.Axis.Unit]/secondsOfDay-1) > exact {
		return s
	}
	var days []int
	var square float64
	for range mostMonthDays {
		day, chance := s.clearestMonthDay(days)
		if chance >= monthDayChance {
			break
		}
		days = append(days, day)
	}
	if days == nil {
		return s
	}
	slices.SortFunc(days, inMonth)
	all, of := s.monthDayDifferences(days)
	for _, day := range days {
		mean := stat.Mean(of[day], nil)
		square += mean*mean - stat.Variance(all, nil)/float64(len(of[day]))
	}
	if !(square > 0) {
		return s
	}
	scale := math.Sqrt(square/float64(len(days))) / dataset.Series{X: s.X, Y: s.Y}.Scaling().Scale
	out := *s
	out.MonthDays = &MonthDays{Days: days, Scale: scale}
	return &out
}

// clearestMonthDay returns the day of the month, beside those that have an effect, that stands out most, and the chance of a day
// as clear among all.
func (s *Series) clearestMonthDay(known []int) (clearest int, chance float64) {
	all, of := s.monthDayDifferences(known)
	chance = 1
	if len(all) < fewestMonths*28 {
		return 0, chance
	}
	slices.Sort(all)
	for _, day := range slices.SortedFunc(maps.Keys(of), inMonth) {
		n, z := float64(len(of[day])), 0.0
		if n < fewestMonths || slices.Contains(known, day) {
			continue
		}
		for _, d := range of[day] {
			z += normalScore(d, all) / n
		}
		if here := float64(len(of)) * (distuv.ChiSquared{K: 1}).Survival(n*z*z); here < chance {
			clearest, chance = day, here
		}
	}
	return clearest, chance
}

// monthDayDifferences returns the differences between days and the median of the same weekdays of four weeks before and after
// that have no effect: of all days but holidays and those with an effect, and of each day of the month.
func (s *Series) monthDayDifferences(known []int) (all []float64, of map[int][]float64) {
	value := map[int]float64{}
	for i, x := range s.X {
		value[s.Axis.dayOf(x)] = s.Y[i]
	}
	days := slices.Sorted(maps.Keys(value))
	holidays := map[int][]string{}
	if s.Holidays != nil {
		holidays, _ = holidayEffects(s.Holidays.Country, days[0], days[len(days)-1], false)
	}
	of = map[int][]float64{}
	for _, day := range days {
		if len(holidays[day]) > 0 {
			continue
		}
		var around []float64
		for k := 1; k <= holidayWeeks; k++ {
			for _, other := range []int{day - 7*k, day + 7*k} {
				if y, ok := value[other]; ok && !slices.Contains(known, monthDay(other)) {
					around = append(around, y)
				}
			}
		}
		if len(around) < leastAround {
			continue
		}
		slices.Sort(around)
		d := value[day] - 0.5*(around[(len(around)-1)/2]+around[len(around)/2])
		of[monthDay(day)] = append(of[monthDay(day)], d)
		if !slices.Contains(known, monthDay(day)) {
			all = append(all, d)
		}
	}
	return all, of
}

// inputs adds the columns of the effects at x: Scale on their days, else 0.
func (m *MonthDays) inputs(in gppl.Inputs, a Axis, x []float64) gppl.Inputs {
	if m == nil {
		return in
	}
	for _, day := range m.Days {
		column := make([]float64, len(x))
		for i, v := range x {
			if monthDay(a.dayOf(v)) == day {
				column[i] = m.Scale
			}
		}
		in = in.WithColumn(MonthDayPrefix+monthDayName(day), column)
	}
	return in
}

// Names returns the names of the days.
func (m *MonthDays) Names() (names []string) {
	for _, day := range m.Days {
		names = append(names, monthDayName(day))
	}
	return names
}

// note describes the effects.
func (m *MonthDays) note() string {
	return fmt.Sprintf("%s of the month %s unlike the same weekdays around, and the model has an effect of each: %s.",
		text.Count(len(m.Days), "day"), text.Are(len(m.Days)), strings.Join(m.Names(), ", "))
}

// check returns an error for effects that no series on this axis can have; nil means none.
func (m *MonthDays) check(a Axis) error {
	if m == nil {
		return nil
	}
	for i, day := range m.Days {
		if day < -3 || day == 0 || day > 28 || slices.Contains(m.Days[:i], day) {
			return fmt.Errorf("%d is no day of the month", day)
		}
	}
	if !a.Dates || len(m.Days) == 0 || !(m.Scale > 0 && m.Scale <= Largest) {
		return errors.New("the effects of days of the month are incomplete")
	}
	return nil
}
