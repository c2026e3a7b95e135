package series

import (
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

// Holidays are the effects of the public holidays of a country, and of the days before and after each, on a daily or finer
// series. Each effect has a coefficient with the prior N(0, Scale²), which shrinks what few years show of a holiday towards
// zero.
type Holidays struct {
	Country string   `json:"country"`
	Names   []string `json:"names"` // of the effects; none if no effect was seen
	// Scale is the prior standard deviation of each effect, in standard deviations of y. One value is learnt for holidays and one
	// for the days around them.
	Scale []float64 `json:"scale"`
	// Groups are the effects of each name, which fall on the same days of the series and have one coefficient; the name has all. A
	// day that is itself a holiday has no effect of a day before or after another. nil, in files of earlier versions, says that
	// each name is one effect, and that a holiday may also be the day before or after another.
	Groups [][]string `json:"groups,omitempty"`
}

// NearHoliday stands in the name of an effect between the holiday and the day near it: before, after, or observed, for the
// working day on which a weekend holiday is kept.
const NearHoliday = ", the day "

const (
	HolidayPrefix = "holiday: " // of the columns of the mean, before the names
	holidayWeeks  = 4           // before and after a day, whose same weekday shows what it would be without a holiday
	leastAround   = 3           // such weekdays
	leastQuiet    = 30          // days without an effect, which show the spread
	holidayChance = 0.01        // largest chance of effects this large where there are none
	holidayLeast  = 2           // least n·z² of an effect with a column: columns cost time, and less would be shrunk away
	secondsOfDay  = 86400
)

// dayOf returns the day, from 1970, of x on an axis of dates.
func (a Axis) dayOf(x float64) int {
	const rounding = 1e-3 // of dates in floating point, in seconds
	t := a.Time(x)
	return int(math.Floor((sinceEpoch(t) + rounding) / secondsOfDay))
}

// dayNumber returns the day, from 1970, of the date of t in its own time zone.
func dayNumber(t time.Time) int {
	year, month, day := t.Date()
	return int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / secondsOfDay)
}

// holidayEffects returns the names of the effects of each day from first to last, and all names in the order of the year. A
// holiday has no effect of a day before or after another, unless twofold is set, as in models of earlier versions.
func holidayEffects(country string, first, last int, twofold bool) (of map[int][]string, names []string) {
	of = map[int][]string{}
	var around []func()
	holiday := map[int]bool{}
	year := func(day int) int { return instant(secondsOfDay * float64(day)).Year() }
	for y := year(first) - 1; y <= year(last)+1; y++ {
		for _, h := range countries[country] {
			actual, observed := h.Calc(y)
			if actual.IsZero() {
				continue
			}
			add := func(day int, name string) {
				if !slices.Contains(of[day], name) {
					of[day] = append(of[day], name)
				}
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
			day, kept := dayNumber(actual), dayNumber(observed)
			add(day, h.Name)
			holiday[day], holiday[kept] = true, true
			near := func(day int, which string) {
				if twofold {
					add(day, h.Name+NearHoliday+which)
					return
				}
				names = append(names, h.Name+NearHoliday+which)
				around = append(around, func() {
					if !holiday[day] {
						add(day, h.Name+NearHoliday+which)
					}
				})
			}
			near(day-1, "before")
			near(day+1, "after")
			if kept != day {
				add(kept, h.Name+NearHoliday+"observed")
			}
		}
	}
	for _, add := range around { // once all holidays are known
		add()
	}
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return of, once
}

// sameDays groups the effects that fall on the same of some days, in the order of their names. Those that fall on none are left
// out.
func sameDays(names []string, of map[int][]string, days []int) (groups [][]string) {
	falls := map[string][]int{}
	for _, day := range days {
		for _, name := range of[day] {
			falls[name] = append(falls[name], day)
		}
	}
	for _, name := range names {
		at := slices.IndexFunc(groups, func(g []string) bool { return slices.Equal(falls[g[0]], falls[name]) })
		switch {
		case len(falls[name]) == 0:
		case at < 0:
			groups = append(groups, []string{name})
		default:
			groups[at] = append(groups[at], name)
		}
	}
	return groups
}

// groupName names effects that have one coefficient.
func groupName(group []string) string { return strings.Join(group, " = ") }

// LearnHolidays adds the effects of the holidays of a country, by its ISO 3166 code, to a series with a step of a day or less:
// fits and forecasts then have them. The scales of their priors are learnt from the differences between each day and the median
// of the same weekdays of four weeks before and after. With the mean difference m of an effect over n days and the variance v of
// the differences of quiet days, a scale is the root of the mean of m² − v/n, one for holidays and one for the days around
// them. z are the normal scores of the differences among those of quiet days, and z̄ their mean. Effects of a kind are left out
// if chance explains Σ n·z̄² (χ² test at 1 %), and single effects if n·z̄² < 2.
func (s *Series) LearnHolidays(country string) error {
	country = strings.ToUpper(country)
	if countries[country] == nil {
		return fmt.Errorf("forecast: no holidays are known of %q: they are of %s",
			country, strings.Join(slices.Sorted(maps.Keys(countries)), ", "))
	}
	if err := s.takesHolidays(); err != nil {
		return err
	}
	s.Holidays = &Holidays{Country: country}
	groups, quiet, of := s.holidayDifferences(country)
	if len(quiet) < leastQuiet {
		return nil
	}
	var names []string
	group := map[string][]string{}
	for _, g := range groups {
		names, group[g[0]] = append(names, g[0]), g
	}
	unit := dataset.Series{X: s.X, Y: s.Y}.Scaling().Scale
	for _, kind := range [][]string{
		slices.DeleteFunc(slices.Clone(names), isAround),
		slices.DeleteFunc(names, func(name string) bool { return !isAround(name) }),
	} {
		seen, scale := seenEffects(kind, quiet, of)
		for _, name := range seen {
			h := s.Holidays
			h.Names, h.Scale = append(h.Names, groupName(group[name])), append(h.Scale, scale/unit)
			h.Groups = append(h.Groups, group[name])
		}
	}
	s.leaveDependentHolidays()
	return nil
}

// leaveDependentHolidays leaves out the effects whose column follows from those before it and from the regressors, such as a
// column of the file that is 1 on Christmas Day: its coefficient would be shared out by chance of the priors.
func (s *Series) leaveDependentHolidays() {
	h := s.Holidays
	columns := s.Known.columns(s.X)
	first := len(columns)
	in := h.inputs(gppl.Scalars(s.X), s.Axis, s.X)
	for _, name := range h.Names {
		column, _ := in.Column(HolidayPrefix + name)
		columns = append(columns, column)
	}
	kept := &Holidays{Country: h.Country}
	from := followsFrom(columns)
	for j, name := range h.Names {
		if from[first+j] == nil {
			kept.Names, kept.Scale = append(kept.Names, name), append(kept.Scale, h.Scale[j])
			kept.Groups = append(kept.Groups, h.Groups[j])
		}
	}
	s.Holidays = kept
}

// isAround reports whether an effect is of a day around a holiday.
func isAround(name string) bool { return strings.Contains(name, NearHoliday) }

// takesHolidays returns an error that says why a series cannot have holidays; nil for daily or finer dates.
func (s *Series) takesHolidays() error {
	if !s.Axis.Dates {
		return fmt.Errorf("forecast: holidays need dates, and %s is numbers", s.Axis.Label())
	}
	if step := s.Step * unitSeconds[s.Axis.Unit]; step > 1.01*secondsOfDay {
		every := s.Axis.Length(s.Step)
		if s.Axis.Months > 0 {
			every = strings.TrimPrefix(text.Count(s.Axis.Months, "month"), "1 ")
		}
		return fmt.Errorf("forecast: holidays are for daily and finer series, and this has an observation every %s", every)
	}
	return nil
}

// holidayDifferences returns the differences between days and the median of the same weekdays around them: those of each effect,
// by the first name of those that fall on the same days, and, sorted, those of quiet days, which have none.
func (s *Series) holidayDifferences(country string) (groups [][]string, quiet []float64, of map[string][]float64) {
	sum, n := map[int]float64{}, map[int]float64{}
	for i, x := range s.X {
		day := s.Axis.dayOf(x)
		sum[day] += s.Y[i]
		n[day]++
	}
	days := slices.Sorted(maps.Keys(n))
	effects, names := holidayEffects(country, days[0], days[len(days)-1], false)
	groups = sameDays(names, effects, days)
	of = map[string][]float64{}
	for _, day := range days {
		var around []float64
		for k := 1; k <= holidayWeeks; k++ {
			for _, other := range []int{day - 7*k, day + 7*k} {
				if n[other] > 0 && len(effects[other]) == 0 {
					around = append(around, sum[other]/n[other])
				}
			}
		}
		if len(around) < leastAround {
			continue
		}
		slices.Sort(around)
		d := sum[day]/n[day] - 0.5*(around[(len(around)-1)/2]+around[len(around)/2])
		if len(effects[day]) == 0 {
			quiet = append(quiet, d)
		}
		for _, name := range effects[day] {
			of[name] = append(of[name], d)
		}
	}
	slices.Sort(quiet)
	return slices.DeleteFunc(groups, func(g []string) bool { return len(of[g[0]]) == 0 }), quiet, of
}

// seenEffects returns the effects of a kind that are beyond chance, and the standard deviation of all of them.
func seenEffects(kind []string, quiet []float64, of map[string][]float64) (seen []string, scale float64) {
	spread := stat.Variance(quiet, nil)
	var test, square float64
	for _, name := range kind {
		n := float64(len(of[name]))
		mean, z := stat.Mean(of[name], nil), 0.0
		for _, d := range of[name] {
			z += normalScore(d, quiet) / n
		}
		test += n * z * z
		square += mean*mean - spread/n
		if n*z*z >= holidayLeast {
			seen = append(seen, name)
		}
	}
	if !(square > 0) || (distuv.ChiSquared{K: float64(len(kind))}).Survival(test) > holidayChance {
		return nil, 0
	}
	return seen, math.Sqrt(square / float64(len(kind)))
}

// normalScore returns the standard normal quantile of the rank of d among sorted values. Heavy tails thus make no score larger
// than the number of values allows.
func normalScore(d float64, sorted []float64) float64 {
	below, _ := slices.BinarySearch(sorted, d)
	return distuv.UnitNormal.Quantile((float64(below) + 0.5) / float64(len(sorted)+1))
}

// inputs adds the columns of the effects at x: Scale on their days, else 0.
func (h *Holidays) inputs(in gppl.Inputs, a Axis, x []float64) gppl.Inputs {
	if h == nil || len(h.Names) == 0 || len(x) == 0 {
		return in
	}
	var days []int
	for _, v := range x {
		days = append(days, a.dayOf(v))
	}
	of, _ := holidayEffects(h.Country, slices.Min(days), slices.Max(days), h.Groups == nil)
	for j, name := range h.Names {
		group := []string{name}
		if h.Groups != nil {
			group = h.Groups[j]
		}
		column := make([]float64, len(x))
		for i, day := range days {
			if slices.ContainsFunc(of[day], func(effect string) bool { return slices.Contains(group, effect) }) {
				column[i] = h.Scale[j]
			}
		}
		in = in.WithColumn(HolidayPrefix+name, column)
	}
	return in
}

// note describes the holidays of a model.
func (h *Holidays) note() string {
	if len(h.Names) == 0 {
		return fmt.Sprintf("Holidays of %s: no effect was seen beyond chance, so that the model has none.", h.Country)
	}
	return fmt.Sprintf("Holidays of %s: %s of holidays and of days around them.", h.Country, text.Count(len(h.Names), "effect"))
}

// check returns an error for holidays that no series on this axis can have; nil means no holidays.
func (h *Holidays) check(a Axis) error {
	if h == nil {
		return nil
	}
	if countries[h.Country] == nil || len(h.Names) != len(h.Scale) || h.Groups != nil && len(h.Groups) != len(h.Names) {
		return fmt.Errorf("the holidays of %q are not known", h.Country)
	}
	for j, name := range h.Names {
		if slices.Contains(h.Names[:j], name) || !(h.Scale[j] > 0 && h.Scale[j] <= Largest) {
			return fmt.Errorf("the holiday %q is incomplete", name)
		}
	}
	if !a.Dates {
		return errors.New("there are holidays, and no dates")
	}
	return nil
}
