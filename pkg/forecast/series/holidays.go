package series

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Holidays are the effects of the public holidays of a country, and of the days before and after each, on a daily or finer
// series. Each effect has a coefficient with the prior N(0, Scale²). The prior shrinks an effect that only few years show.
type Holidays struct {
	Country string   `json:"country"`
	Names   []string `json:"names"` // names of the effects; nil if none was seen
	// Scale is the prior standard deviation of each effect, in standard deviations of y. One scale is learnt for holidays and one
	// for the days around them.
	Scale []float64 `json:"scale"`
	// Groups lists, for each name, its effects: they fall on the same days of the series and have one coefficient. A holiday has
	// no effect of the day before or after another one. nil, in files of earlier versions, means that each name is one effect,
	// and that a holiday may also be the day before or after another.
	Groups [][]string `json:"groups,omitempty"`
}

// NearHoliday, in the name of an effect, separates the holiday from the day near it: before, after, or observed, for the working
// day on which a weekend holiday is kept.
const NearHoliday = ", the day "

const (
	HolidayPrefix = "holiday: " // precedes the names of columns of the mean
	holidayWeeks  = 4           // before and after a day, whose same weekdays show what it would be without a holiday
	leastAround   = 3           // smallest number of such weekdays
	leastQuiet    = 30          // smallest number of days without an effect, which show the spread
	holidayChance = 0.01        // largest probability of effects as large by chance
	holidayLeast  = 2           // smallest n·z² of an effect with a column; less would be shrunk away, and columns cost time
	secondsOfDay  = 86400
)

// dayOf returns the day, from 1970 on, of x on an axis of dates.
func (a Axis) dayOf(x float64) int {
	const rounding = 1e-3 // seconds, of dates in floating point
	t := a.Time(x)
	return int(math.Floor((sinceEpoch(t) + rounding) / secondsOfDay))
}

// dayNumber returns the day, from 1970 on, of the date of t in its own time zone.
func dayNumber(t time.Time) int {
	year, month, day := t.Date()
	return int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / secondsOfDay)
}

// holidayEffects returns the names of the effects of each day from first to last, and all names in the order of the year. A
// holiday has no effect of the day before or after another one, unless twofold is set, as in models of earlier versions.
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

// sameDays groups effects that fall on the same of some days, in the order of their names. Effects that fall on none of the days
// are left out.
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

// inputs adds the columns of the effects at x: Scale on their days, 0 on others.
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

// check returns an error for holidays that are impossible on this axis; nil means no holidays.
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
