package series

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// CalendarPeriods returns the periods, in the unit of the axis, that dates with this step suggest: a year for monthly, quarterly
// and weekly series, and a quarter for weekly ones if weeks 13 apart are alike; a week and a year for daily series; a day and a
// week for steps from a minute to six hours. Series of numbers have none, unless the unit is the year.
func (s *Series) CalendarPeriods() []float64 {
	if !s.Axis.IsTime() || !s.Even {
		return nil
	}
	const hour, day = 3600.0, 86400.0
	unit := unitSeconds[s.Axis.Unit]
	year := s.Axis.Year() * unit
	step := s.Step * unit
	near := func(want float64) bool { return math.Abs(step/want-1) < 0.01 }
	of := func(seconds ...float64) (out []float64) {
		out = make([]float64, len(seconds))
		for i, v := range seconds {
			out[i] = v / unit
		}
		return out
	}
	switch {
	case s.Axis.Months >= 12:
		return nil
	case s.Axis.Months > 0:
		return of(year)
	case near(7 * day):
		const quarter = 13 // weeks
		if slices.Contains(SeasonPeaks(s.Y[max(0, len(s.Y)-MostRemembered):]), quarter) {
			return of(year/4, year)
		}
		return of(year)
	case near(day):
		return of(7*day, year)
	case step >= 60 && step <= 6*hour*1.01:
		return of(day, 7*day)
	}
	return nil
}

// Season names a period of dates, or of numbers in years: year, quarter, week, day or hour; any other by its length. A month is
// not named: "a monthly pattern" would be read as an effect of days of the month.
func (a Axis) Season(period float64) string {
	switch unit := a.unitOf(period); unit {
	case "year", "quarter", "week", "day", "hour":
		return unit
	}
	return UnnamedSeason + a.PeriodTo(period, 4)
}

// PeriodTo writes a period with its unit, rounded to a number of digits. Several months and several weeks of dates are named as
// such, since 2 months are 60.88 days on average. Between one and three days a period of times of the day that is not a number of
// days is in hours: 25 hours are easier to recognise than 1.042 days.
func (a Axis) PeriodTo(period float64, digits int) string {
	const same = 0.001 // 61 days are not 2 months
	if a.IsTime() {
		for _, unit := range []string{"month", "week"} {
			length := a.UnitLength(unit)
			several := math.Round(period / length)
			// two years and more are written in years
			if several > 1 && period*unitSeconds[a.Unit] < 2*unitSeconds["year"] && math.Abs(period/(several*length)-1) < same {
				return plural(several, unit, digits)
			}
		}
		days := period / a.UnitLength("day")
		if a.Clock && days > 1 && days < 3 && math.Abs(days-math.Round(days)) > same*days {
			return plural(24*days, "hour", digits)
		}
	}
	return a.LengthTo(period, digits)
}

// UnnamedSeason precedes the length of a season that has no name.
const UnnamedSeason = "season of "

// SeasonsOf names the period of each periodic term and factor, in order.
func (s *Series) SeasonsOf(terms []gppl.Kernel) (seasons []string) {
	for _, t := range terms {
		for _, period := range PeriodsOf(t.Params()) {
			seasons = append(seasons, strings.TrimPrefix(s.Axis.Season(period), UnnamedSeason))
		}
	}
	return seasons
}

// LeastPeriods is the number of periods that a series must span, and of steps that a period must have, for the period to be
// tried.
const LeastPeriods = 1.5

// ParsePeriod reads a period and returns it in the unit of the axis. If x are dates, it is a length with a unit (1y, 3mo, 52w,
// 7d, 24h, 90min, 30s) or a number of steps; otherwise it is a number in the unit of x.
func (s *Series) ParsePeriod(text string) (float64, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz ")
	unit := strings.TrimSpace(text[len(digits):])
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("the period %q: write it as 1y, 7d, 24h or as a number", text)
	}
	if unit == "" {
		if s.Axis.Dates {
			step := s.Step
			if s.Axis.Months > 0 {
				step = float64(s.Axis.Months) / 12 * s.Axis.Year()
			}
			return v * step, nil
		}
		return v, nil
	}
	named := slices.IndexFunc(calendarUnits, func(u calendarUnit) bool {
		return unit == u.short || unit == u.name || unit == u.name+"s"
	})
	switch {
	case named < 0:
		return 0, fmt.Errorf("the period %q: its unit is one of y, mo, w, d, h, min, s", text)
	case !s.Axis.Dates:
		return 0, fmt.Errorf("the period %q has a unit of time, but x are numbers: give it as a number", text)
	}
	return s.Axis.lengthOf(v * calendarUnits[named].seconds), nil
}

// PeriodsOf returns the values of the periods among parameters.
func PeriodsOf(params []gppl.Param) (periods []float64) {
	for _, p := range params {
		if p.Role == gppl.RolePeriod {
			periods = append(periods, p.Value)
		}
	}
	return periods
}
