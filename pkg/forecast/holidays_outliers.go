package forecast

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// AtHolidays are outliers that fall on public holidays, or on the days around them, more often than by chance.
type AtHolidays struct {
	Count int `json:"count"` // of the outliers
	// Country is the ISO 3166 code of the country of the holidays; "" if those of several countries explain the outliers about
	// equally well.
	Country string `json:"country,omitempty"`
}

const (
	leastAtHolidays = 3    // days with outliers on holidays: two are too often chance
	clearCountry    = 20.0 // how much more probable the days are with the holidays of a country than with those of another
)

// calendarFit says how well the holidays of a country explain the days of outliers.
type calendarFit struct {
	country string
	days    map[int]bool // of holidays, with or without those around them
	hits    int
	chance  float64 // of as many hits on random days of the series
	// weight is the log of the probability of the days if each is a holiday with an unknown probability, over that of random days.
	weight float64
}

// fitCalendar compares outliers on m days with holidays that are h of the n days of a series, k of the m among them.
func fitCalendar(country string, days map[int]bool, k, m, h, n int) calendarFit {
	of := calendarFit{country: country, days: days, hits: k, chance: 1, weight: math.Inf(-1)}
	if h == 0 || h == n {
		return of
	}
	share := float64(h) / float64(n)
	of.chance = distuv.Binomial{N: float64(m), P: share}.Survival(float64(k) - 1)
	of.weight = -combin.LogGeneralizedBinomial(float64(m), float64(k)) - math.Log(float64(m+1)) -
		float64(k)*math.Log(share) - float64(m-k)*math.Log(1-share)
	return of
}

// atHolidays says which of some outliers, among the observations from an index on, are at holidays; nil if chance explains them
// or the series cannot have holidays. It tries all calendars, with and without the days around holidays. It names a country if
// the days are clearCountry times as probable with its holidays as with those of any other, and if LearnHolidays finds effects.
// It names a state only if the holidays of its country do not explain the days as well.
func (s *Series) atHolidays(list []Outlier, from int) *AtHolidays {
	if s.Holidays != nil || len(list) < leastAtHolidays || s.takesHolidays() != nil {
		return nil
	}
	off, all := map[int]bool{}, map[int]bool{}
	for _, x := range s.X[from:] {
		all[s.Axis.dayOf(x)] = true
	}
	for _, o := range list {
		off[s.Axis.dayOf(s.X[o.Index])] = true
	}
	first, last := s.Axis.dayOf(s.X[from]), s.Axis.dayOf(s.X[len(s.X)-1])
	var fits []calendarFit
	for _, country := range slices.Sorted(maps.Keys(countries)) {
		effects, _ := holidayEffects(country, first, last)
		for _, around := range []bool{false, true} {
			days, k, h := map[int]bool{}, 0, 0
			for day := range all {
				if !slices.ContainsFunc(effects[day], func(name string) bool { return around || !isAround(name) }) {
					continue
				}
				days[day] = true
				h++
				if off[day] {
					k++
				}
			}
			fits = append(fits, fitCalendar(country, days, k, len(off), h, len(all)))
		}
	}
	best := slices.MaxFunc(fits, func(a, b calendarFit) int { return cmp.Compare(a.weight, b.weight) })
	if best.hits < leastAtHolidays || best.chance*float64(len(fits)) > holidayChance {
		return nil
	}
	at := &AtHolidays{}
	for _, o := range list {
		if best.days[s.Axis.dayOf(s.X[o.Index])] {
			at.Count++
		}
	}
	if country := clearest(fits, best); country != "" {
		learnt := *s
		if err := learnt.LearnHolidays(country); err == nil && len(learnt.Holidays.Names) > 0 {
			at.Country = country
		}
	}
	return at
}

// clearest returns the country or state of the best calendar; "" if another comes near it. A country has precedence over its
// states.
func clearest(fits []calendarFit, best calendarFit) string {
	near := map[string]bool{}
	for _, f := range fits {
		if f.weight >= best.weight-math.Log(clearCountry) {
			near[f.country] = true
		}
	}
	whole, _, _ := strings.Cut(best.country, "-")
	if near[whole] {
		maps.DeleteFunc(near, func(code string, _ bool) bool { return strings.HasPrefix(code, whole+"-") })
		best.country = whole
	}
	if len(near) > 1 {
		return ""
	}
	return best.country
}
