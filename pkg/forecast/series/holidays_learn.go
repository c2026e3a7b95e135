package series

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// LearnHolidays adds the effects of the holidays of a country, by its ISO 3166 code, to a series with a step of a day or less:
// fits and forecasts then have them. The scales of their priors are learnt from the differences between each day and the median
// of the same weekdays of four weeks before and after. With the mean difference m of an effect over n days and the variance v of
// the differences of quiet days, a scale is the root of the mean of m² − v/n; there is one for holidays and one for the days
// around them. z is the normal score of a difference among the differences of quiet days, z̄ the mean score of an effect. All
// effects of a kind are left out if chance explains Σ n·z̄² (χ² test at 1 %), and single effects if n·z̄² < 2.
func (s *Series) LearnHolidays(country string) error {
	country = strings.ToUpper(country)
	if countries[country] == nil {
		return fmt.Errorf("no holidays are known of %q: they are of %s",
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
		significant, scale := significantEffects(kind, quiet, of)
		for _, name := range significant {
			h := s.Holidays
			h.Names, h.Scale = append(h.Names, groupName(group[name])), append(h.Scale, scale/unit)
			h.Groups = append(h.Groups, group[name])
		}
	}
	s.leaveDependentHolidays()
	return nil
}

// leaveDependentHolidays leaves out the effects whose column depends linearly on those before it and on the regressors, such as a
// column of the file that is 1 on Christmas Day: only the priors would divide the effect between them.
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

// takesHolidays returns an error that says why a series cannot have holidays; nil for daily or finer dates.
func (s *Series) takesHolidays() error {
	if !s.Axis.Dates {
		return fmt.Errorf("holidays need dates, and %s is numbers", s.Axis.Label())
	}
	if step := s.Step * unitSeconds[s.Axis.Unit]; step > 1.01*secondsOfDay {
		every := s.Axis.Length(s.Step)
		if s.Axis.Months > 0 {
			every = strings.TrimPrefix(text.Count(s.Axis.Months, "month"), "1 ")
		}
		return fmt.Errorf("holidays are for daily and finer series, and this has an observation every %s", every)
	}
	return nil
}

// holidayDifferences returns the differences between days and the median of the same weekdays around them. of has them by effect,
// under the first name of effects that fall on the same days; quiet has them, sorted, for days without an effect.
func (s *Series) holidayDifferences(country string) (groups [][]string, quiet []float64, of map[string][]float64) {
	days, value := s.dayMeans()
	effects, names := holidayEffects(country, days[0], days[len(days)-1], false)
	groups = sameDays(names, effects, days)
	of = map[string][]float64{}
	for day, d := range fromWeekdays(days, value, func(day int) bool { return len(effects[day]) > 0 }) {
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

// dayMeans returns the days that have observations, from 1970 on, and their means.
func (s *Series) dayMeans() (days []int, mean map[int]float64) {
	mean = map[int]float64{}
	n := map[int]float64{}
	for i, x := range s.X {
		day := s.Axis.dayOf(x)
		mean[day] += s.Y[i]
		n[day]++
	}
	for day := range mean {
		mean[day] /= n[day]
	}
	return slices.Sorted(maps.Keys(n)), mean
}

// fromWeekdays yields the difference between the value of each of some days and the median of the same weekdays of four weeks
// before and after, without those that have an effect. Days with fewer than leastAround such weekdays are left out.
func fromWeekdays(days []int, value map[int]float64, effect func(day int) bool) iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		for _, day := range days {
			var around []float64
			for k := 1; k <= holidayWeeks; k++ {
				for _, other := range []int{day - 7*k, day + 7*k} {
					if y, ok := value[other]; ok && !effect(other) {
						around = append(around, y)
					}
				}
			}
			if len(around) < leastAround {
				continue
			}
			slices.Sort(around)
			if !yield(day, value[day]-0.5*(around[(len(around)-1)/2]+around[len(around)/2])) {
				return
			}
		}
	}
}

// significantEffects returns the effects of a kind that are significant, and the standard deviation of all effects of the kind.
func significantEffects(kind []string, quiet []float64, of map[string][]float64) (significant []string, scale float64) {
	spread := stat.Variance(quiet, nil)
	var test, square float64
	for _, name := range kind {
		n, mean, score := float64(len(of[name])), stat.Mean(of[name], nil), clarity(of[name], quiet)
		test += score
		square += mean*mean - spread/n
		if score >= holidayLeast {
			significant = append(significant, name)
		}
	}
	if !(square > 0) || (distuv.ChiSquared{K: float64(len(kind))}).Survival(test) > holidayChance {
		return nil, 0
	}
	return significant, math.Sqrt(square / float64(len(kind)))
}

// clarity returns n·z̄², with z̄ the mean normal score of n differences among sorted ones. By chance it is χ² with one degree of
// freedom.
func clarity(differences, sorted []float64) float64 {
	n, z := float64(len(differences)), 0.0
	for _, d := range differences {
		z += normalScore(d, sorted) / n
	}
	return n * z * z
}

// normalScore returns the standard normal quantile of the rank of d among sorted values, the middle rank of equal values. With
// heavy tails, too, no score is larger than the number of values allows.
func normalScore(d float64, sorted []float64) float64 {
	below, _ := slices.BinarySearch(sorted, d)
	equal := 0
	for below+equal < len(sorted) && sorted[below+equal] == d {
		equal++
	}
	return numeric.NormalQuantile((float64(below) + 0.5*float64(equal) + 0.5) / float64(len(sorted)+1))
}

// isAround reports whether an effect belongs to a day around a holiday.
func isAround(name string) bool { return strings.Contains(name, NearHoliday) }
