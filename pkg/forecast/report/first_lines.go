package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// Sentences returns what a reader wants to know first, in this order: the model that was found, how its forecasts did in the past
// unless trust is nil, what comes next unless f is nil, and what may be wrong with the bands.
func Sentences(a *forecast.Analysis, f *forecast.Forecast, trust *judge.Trust) []string {
	said := []string{found(a)}
	if trust != nil {
		said = append(said, trust.Verdict)
	}
	if f != nil && len(f.When) > 0 {
		said = append(append(said, comes(a, f)), bandLines(a, f)...)
	}
	return allBrief(said)
}

// found says what the model is made of, and whether it stands out among those that were compared: "Growth of 3 % a year with a
// weekly pattern, as percentages, fits clearly best."
func found(a *forecast.Analysis) string {
	const clear = 0.9 // the share of the weight from which a model stands out
	agreed, n := agreement(a), averaged(a)
	what := pattern(a)
	averages := "the forecast averages " + text.Number(n)
	var said string
	switch {
	case len(a.Candidates) == 1:
		said = strings.TrimSuffix(what, ",")
	case n > 1 && agreed < 0.5:
		said = fmt.Sprintf("No model stands out; %s. The likeliest: %s", averages, lowered(strings.TrimSuffix(what, ",")))
	case n > 1 && agreed < clear:
		said = fmt.Sprintf("%s fits best; %s", what, averages)
	case n <= 1 && !apart(a):
		said = what + " fits best, hardly better than others"
	default:
		said = what + " fits clearly best"
	}
	return strings.Join(append([]string{said + "."}, precautions(a)...), " ")
}

// agreement returns the share of the weight that the evidence gives to the best model and to others with the same seasons. It
// leaves out weights that are fixed.
func agreement(a *forecast.Analysis) float64 {
	best := a.Candidates[0]
	var same, all float64
	for _, c := range a.Candidates {
		if fixed, _, _ := c.FixedWeight(); fixed {
			continue
		}
		all += c.Weight
		if c.Name() == best.Name() || len(best.Seasons) > 0 && slices.Equal(c.Seasons, best.Seasons) && c.Log == best.Log {
			same += c.Weight
		}
	}
	return same / max(all, 1e-300)
}

// apart reports whether the evidence tells the best of several models from the next.
func apart(a *forecast.Analysis) bool {
	const decisive = 3 // nats, which are odds of 20 to 1
	next := next(a)
	return next.Error != "" || next.Score-a.Candidates[0].Score >= decisive
}

// precautions says in sentences which weights of an average do not follow from the evidence.
func precautions(a *forecast.Analysis) (said []string) {
	for _, c := range a.Candidates {
		if c.Weight > 0 {
			if _, _, summary := c.FixedWeight(); summary != "" {
				said = append(said, summary)
			}
		}
	}
	return said
}

// lowered begins a phrase with a small letter.
func lowered(phrase string) string { return strings.ToLower(phrase[:1]) + phrase[1:] }

// shape says in words what the trend and the terms of the best model are, the slowest first.
func shape(a *forecast.Analysis) []string {
	model, s := a.Result.Model, a.Series
	parts := make([]string, 1)
	var slow, named, unnamed, cycles, rough []string
	if !a.Candidates[0].NoSignal() {
		for i, t := range search.TermsOf(model.Kernel) {
			switch periods := series.PeriodsOf(t.Params()); {
			case len(periods) > 0 && swings(t):
				cycles = append(cycles, "a cycle of about "+s.Axis.LengthTo(periods[0], 2))
			case len(periods) > 0:
				for _, p := range periods { // a day whose shape depends on the day of the week has two
					if name := adjective(s.Axis.Season(p)); name != "" {
						named = append(named, name)
					} else {
						unnamed = append(unnamed, repeating(s.Axis, p))
					}
				}
			case i == 0 && a.Candidates[0].Wanders(model.Kernel):
				slow = append(slow, wandering(t))
			case lasts(a, t):
				slow = append(slow, "slow change")
			default:
				rough = append(rough, "irregular variation")
			}
		}
	}
	if parts[0] = growth(a, len(slow) == 0); a.Candidates[0].NoSignal() {
		parts = append(parts, "scatter about a "+map[bool]string{true: "line", false: "level"}[parts[0] != ""])
	}
	parts = append(parts, slow...)
	if named = unique(named); named != nil {
		parts = append(parts, and(named)+" pattern")
	}
	parts = slices.Concat(parts, unnamed, cycles, rough)
	return unique(slices.DeleteFunc(parts, func(p string) bool { return p == "" }))
}

// repeating names the pattern of a season that has no name: "a pattern of 10 days", "a pattern of period 12" where x has no unit.
func repeating(a series.Axis, period float64) string {
	length := a.PeriodTo(period, 3)
	if _, err := strconv.ParseFloat(strings.ReplaceAll(length, "−", "-"), 64); err == nil {
		return "a pattern of period " + length
	}
	return "a pattern of " + length
}

// pattern says in words what the best model is made of: its shape and what else the series knows.
func pattern(a *forecast.Analysis) string {
	parts, s := shape(a), a.Series
	if h := s.Holidays; h != nil && len(h.Names) > 0 {
		parts = append(parts, "holidays")
	}
	if m := s.MonthDays; m != nil {
		parts = append(parts, and(m.Names()))
	}
	for _, e := range s.Events {
		parts = append(parts, "the effect of "+e.Name)
	}
	if s.Known != nil {
		parts = append(parts, "the effect of "+and(s.Known.Names))
	}
	levels, slopes := 0, 0
	for _, c := range s.Shifts {
		if c.Slope {
			slopes++
		} else {
			levels++
		}
	}
	parts = append(parts, changes(levels, "level"), changes(slopes, "slope"))
	if a.Noise != nil {
		parts = append(parts, "a scatter that depends on the "+a.Noise.Of)
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	said := phrase(parts)
	switch link(a) {
	case logY, "log rate":
		said += ", as percentages,"
	case "log odds":
		said += ", as odds,"
	}
	return strings.ToUpper(said[:1]) + said[1:]
}

// changes says how many changes of level or slope there are; "" for none.
func changes(n int, of string) string {
	if n == 0 {
		return ""
	}
	return text.Choose(n, "a change", text.Number(n)+" changes") + " of " + of
}

// phrase joins parts: "growth with a weekly pattern and holidays".
func phrase(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return parts[0] + " with " + and(parts[1:])
}

// wandering names a random walk.
func wandering(t gppl.Kernel) string {
	if _, damped := t.(gppl.DampedTrend); damped {
		return "a slope that comes and goes"
	}
	return "a level that wanders"
}

// swings reports whether a term with a period is a cycle that comes and goes, no season.
func swings(t gppl.Kernel) bool {
	switch t.(type) {
	case gppl.SHO, gppl.Rotation, gppl.SpectralMixture:
		return true
	}
	return false
}

// lasts reports whether a term changes little over a tenth of the observations.
func lasts(a *forecast.Analysis, t gppl.Kernel) bool {
	const part = 0.1
	x := a.Series.X
	for _, p := range t.Params() {
		if p.Role == gppl.RoleLengthscale {
			return p.Value > part*(x[len(x)-1]-x[0])
		}
	}
	return false
}

// growth names the trend of the best model: "a curved trend", or growth or decline that exceeds two standard errors; "" for any
// other. It gives the size of a line that alone makes up the level.
func growth(a *forecast.Analysis, alone bool) string {
	const beyond = 2 // standard errors
	if a.Candidates[0].Trend == "quadratic" {
		return "a curved trend"
	}
	x := a.Series.X
	for _, c := range a.Result.Mean {
		if c.Name != "trend 1" {
			continue
		}
		if !(math.Abs(c.Value) > beyond*c.StdErr) {
			return ""
		}
		slope := 2 * c.Value * a.Scaling.Scale / (x[len(x)-1] - x[0])
		length, per := unitOfGrowth(a.Series)
		switch {
		case !alone, link(a) != "" && link(a) != logY:
			return rises(slope, "")
		case link(a) == logY:
			return rises(slope, viz.UpTo(2)(100*math.Abs(math.Expm1(slope*length)))+" %"+per)
		}
		return rises(slope, strings.TrimSpace(viz.UpTo(2)(math.Abs(slope*length))+" "+a.Series.YUnit)+per)
	}
	return ""
}

// rises names a trend by its sign, with its size unless that is "".
func rises(slope float64, size string) string {
	name := "growth"
	if slope < 0 {
		name = "decline"
	}
	if size != "" {
		name += " of " + size
	}
	return name
}

// unitOfGrowth returns the length on the axis that growth is given for, and its name: the longest unit that the series spans at
// least twice.
func unitOfGrowth(s *series.Series) (length float64, per string) {
	span := s.X[len(s.X)-1] - s.X[0]
	if !s.Axis.IsTime() {
		if s.Axis.Unit == "" {
			return 1, " per unit of " + cmp.Or(s.Axis.Name, "x")
		}
		return 1, " per " + s.Axis.Unit
	}
	const several = 2
	for _, unit := range []string{"year", "month"} {
		if length := s.Axis.UnitLength(unit); span >= several*length {
			return length, " a " + unit
		}
	}
	return s.Axis.UnitLength("day"), " a day"
}

// adjective names the pattern of a season of the calendar: "a weekly"; "" for any other.
func adjective(season string) string {
	switch season {
	case "day":
		return "a daily"
	case "hour":
		return "an hourly"
	case "week", "year", "quarter":
		return "a " + season + "ly"
	}
	return ""
}

// comes says what is expected next and at the end: "Saturday, 17 May 2025: 345 (95 %: 304 to 386)".
func comes(a *forecast.Analysis, f *forecast.Forecast) string {
	number := digits(f)
	end, about := number, ""
	if f.Counts != nil {
		end, about = viz.Fixed(0), "about "
	}
	at := func(i int) string {
		value := strings.TrimSpace(number(f.Point()[i]) + " " + a.Series.YUnit)
		if f.Counts != nil && !events(a.Series) {
			value = strings.TrimSpace(viz.UpTo(2)(f.Point()[i]) + " " + a.Series.YName)
		}
		return fmt.Sprintf("%s: %s%s (95 %%: %s to %s)", a.Series.Axis.Words(f.X[i]), about, value, end(f.Lower[i]), end(f.Upper[i]))
	}
	last := len(f.When) - 1
	if last == 0 {
		return at(0) + "."
	}
	return at(0) + "; " + at(last) + "."
}

// and joins words: "a, b and c".
func and(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// unique returns the words without those that occurred before.
func unique(words []string) (once []string) {
	for _, w := range words {
		if !slices.Contains(once, w) {
			once = append(once, w)
		}
	}
	return once
}
