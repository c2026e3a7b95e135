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
	Days  []int   `json:"days"`  // 1, 2, …; −1, −2 or −3 for the last three of a month; or a payday
	Scale float64 `json:"scale"` // in standard deviations of y
	// Country has the holidays that are not working days (Holidays.Country); "" if only weekends are not.
	Country string `json:"country,omitempty"`
}

// Paydays among MonthDays.Days, which move with the working days.
const (
	firstWorking = 101
	lastWorking  = -101
	workingUpTo  = 200 // plus the day of the month: that day or, if it is not a working day, the working day before
)

// paidOn lists the days of the month on which salaries are often paid, or on the working day before.
var paidOn = []int{15, 25}

const (
	MonthDayPrefix = "day of the month: " // precedes the names of columns of the mean
	mostMonthDays  = 6                    // largest number of effects
	fewestMonths   = 5                    // smallest number of months in which a day must be seen
	monthDayChance = 0.005                // largest probability of an effect as clear on any day without effects
)

// monthDay returns the day of the month of a day from 1970 on, counted from the end for the last three.
func monthDay(day int) int {
	const last = 3
	if left := daysLeft(day); left < last {
		return -1 - left
	}
	return time.Unix(secondsOfDay*int64(day), 0).UTC().Day()
}

// inMonth orders days of the month by time; a payday comes after the day on which it usually is.
func inMonth(a, b int) int {
	place := func(day int) int {
		const long = 32
		switch {
		case day == firstWorking:
			return 3
		case day == lastWorking:
			return 2*long - 1
		case day > workingUpTo:
			return 2*(day-workingUpTo) + 1
		}
		return 2 * ((day + long) % long)
	}
	return cmp.Compare(place(a), place(b))
}

// workweek distinguishes working days, Monday to Friday except the holidays of a country.
type workweek struct{ holiday map[int]bool }

// newWorkweek returns the workweek of a country, "" for none, between two days from 1970 on.
func newWorkweek(country string, first, last int) workweek {
	w := workweek{map[int]bool{}}
	if countries[country] == nil {
		return w
	}
	const month = 31
	of, _ := holidayEffects(country, first-month, last+month, false)
	for day, names := range of {
		for _, name := range names {
			if !isAround(name) || strings.HasSuffix(name, NearHoliday+"observed") {
				w.holiday[day] = true
			}
		}
	}
	return w
}

func (w workweek) works(day int) bool {
	const thursday = 4 // weekday of 1 January 1970
	weekday := ((day+thursday)%7 + 7) % 7
	return weekday >= 1 && weekday <= 5 && !w.holiday[day]
}

// monthDays returns the day of the month of a day from 1970 on, and the paydays on it.
func (w workweek) monthDays(day int) []int {
	all := []int{monthDay(day)}
	if !w.works(day) {
		return all
	}
	date := time.Unix(secondsOfDay*int64(day), 0).UTC().Day()
	next := 1 // days until the next working day
	for !w.works(day + next) {
		next++
	}
	before := 1
	for !w.works(day - before) {
		before++
	}
	if date-before < 1 {
		all = append(all, firstWorking)
	}
	if length := date + daysLeft(day); date+next > length {
		all = append(all, lastWorking)
	}
	for _, paid := range paidOn {
		if date <= paid && date+next > paid {
			all = append(all, workingUpTo+paid)
		}
	}
	return all
}

// daysLeft returns the number of days in the month after a day from 1970 on.
func daysLeft(day int) int {
	date := time.Unix(secondsOfDay*int64(day), 0).UTC()
	return time.Date(date.Year(), date.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day() - date.Day()
}

// anyOf reports whether two lists of days of the month share a day.
func anyOf(days, others []int) bool {
	return slices.ContainsFunc(days, func(day int) bool { return slices.Contains(others, day) })
}

// monthDayName names a day of the month, as in "the last day of the month".
func monthDayName(day int) string {
	switch {
	case day == firstWorking:
		return "the first working day of the month"
	case day == lastWorking:
		return "the last working day of the month"
	case day > workingUpTo:
		return monthDayName(day-workingUpTo) + " or the working day before"
	case day == -1:
		return "the last day of the month"
	case day < 0:
		return fmt.Sprintf("the last day of the month but %d", -1-day)
	}
	suffix := map[int]string{1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}[day]
	return fmt.Sprintf("the %d%s of the month", day, cmp.Or(suffix, "th"))
}

// WithMonthDays returns a daily series with the effects of the days of the month that it shows; the series itself if it shows
// none, or if it has regressors, which may describe the same effects. As for holidays (LearnHolidays), the difference of each day
// from the median of the same weekdays around it gets a normal score among all days; z̄ is the mean of the n scores of a day of
// the month. The clearest day has an effect if the probability that n·z̄² is as large on any of the days is below half a per cent
// (χ² test). The other days are then compared again without it, since it is among the weekdays around a day a week earlier or
// later.
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
	out.MonthDays = &MonthDays{Days: days, Scale: scale, Country: s.holidayCountry()}
	return &out
}

// holidayCountry returns the country of the holidays of the series; "" for none.
func (s *Series) holidayCountry() string {
	if s.Holidays == nil {
		return ""
	}
	return s.Holidays.Country
}

// clearestMonthDay returns the day of the month that stands out most, except those that already have an effect, and the
// probability of a day as clear among all.
func (s *Series) clearestMonthDay(known []int) (clearest int, chance float64) {
	all, of := s.monthDayDifferences(known)
	chance = 1
	if len(all) < fewestMonths*28 {
		return 0, chance
	}
	slices.Sort(all)
	for _, day := range slices.SortedFunc(maps.Keys(of), inMonth) {
		if len(of[day]) < fewestMonths || slices.Contains(known, day) {
			continue
		}
		if here := float64(len(of)) * (distuv.ChiSquared{K: 1}).Survival(clarity(of[day], all)); here < chance {
			clearest, chance = day, here
		}
	}
	return clearest, chance
}

// monthDayDifferences returns differences between days and the median of the same weekdays, without effects, of four weeks before
// and after. all has them for every day except holidays and days with an effect; of has them for each day of the month and
// payday, without the days that have another effect.
func (s *Series) monthDayDifferences(known []int) (all []float64, of map[int][]float64) {
	days, value := s.dayMeans()
	holidays := map[int][]string{}
	if s.Holidays != nil {
		holidays, _ = holidayEffects(s.Holidays.Country, days[0], days[len(days)-1], false)
	}
	of = map[int][]float64{}
	work := newWorkweek(s.holidayCountry(), days[0], days[len(days)-1])
	on, has := map[int][]int{}, map[int]bool{}
	for _, day := range days {
		on[day] = work.monthDays(day)
		has[day] = anyOf(on[day], known)
	}
	for day, d := range fromWeekdays(days, value, func(day int) bool { return has[day] }) {
		if len(holidays[day]) > 0 {
			continue
		}
		for _, kind := range on[day] {
			if !has[day] || slices.Contains(known, kind) {
				of[kind] = append(of[kind], d)
			}
		}
		if !has[day] {
			all = append(all, d)
		}
	}
	return all, of
}

// inputs adds the columns of the effects at x: Scale on their days, 0 on others.
func (m *MonthDays) inputs(in gppl.Inputs, a Axis, x []float64) gppl.Inputs {
	if m == nil {
		return in
	}
	if len(x) == 0 {
		return in
	}
	days := make([]int, len(x))
	for i, v := range x {
		days[i] = a.dayOf(v)
	}
	work := newWorkweek(m.Country, slices.Min(days), slices.Max(days))
	for _, day := range m.Days {
		column := make([]float64, len(x))
		for i, v := range days {
			if slices.Contains(work.monthDays(v), day) {
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

// check returns an error if the effects are impossible on this axis. A nil m has no effects and is no error.
func (m *MonthDays) check(a Axis) error {
	if m == nil {
		return nil
	}
	for i, day := range m.Days {
		pays := day == firstWorking || day == lastWorking || slices.Contains(paidOn, day-workingUpTo)
		if !pays && (day < -3 || day == 0 || day > 28) || slices.Contains(m.Days[:i], day) {
			return fmt.Errorf("%d is no day of the month", day)
		}
	}
	if !a.Dates || len(m.Days) == 0 || !(m.Scale > 0 && m.Scale <= Largest) {
		return errors.New("the effects of days of the month are incomplete")
	}
	return nil
}
