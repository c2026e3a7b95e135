package report

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// shiftLines says in sentences which changes of level and of slope there are, and whether the forecast includes them.
func shiftLines(ctx context.Context, a *forecast.Analysis) (lines []string, err error) {
	all, err := a.Shifts(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return []string{unsought("Changes of level", err)}, nil
	}
	var left []string
	for _, s := range all {
		line := shift(a, s)
		if s.Chance > 0 {
			line += fmt.Sprintf(" A series without a change shows one as clear with a probability of %s.", chance(s.Chance))
		}
		lines = append(lines, line)
		if !s.Used {
			left = append(left, s.When)
		}
	}
	switch {
	case len(left) > 0:
		lines = append(lines, fmt.Sprintf("The forecast does not include %s: --shifts use does.",
			text.Choose(len(left), "this change", "these changes")))
	case len(all) > 0 && a.Found():
		lines = append(lines, fmt.Sprintf("The forecast includes %s: --shifts never leaves %s out.",
			text.Choose(len(all), "this change", "these changes"), text.Choose(len(all), "it", "them")))
	}
	return lines, nil
}

// unsought says why something was not looked for.
func unsought(what string, err error) string {
	return what + " were not looked for: " + strings.TrimPrefix(err.Error(), "gppl: ") + "."
}

// shift describes a change in a sentence.
func shift(a *forecast.Analysis, s forecast.ShiftSize) string {
	unit := a.Series.YUnit
	if link(a) != "" {
		unit = ""
	}
	if s.Kind == "slope" {
		length, per := unitOfGrowth(a.Series)
		return fmt.Sprintf("The slope of %s changed by %s%s at %s.", linked(a),
			uncertain(length*s.Size, length*s.StdErr, unit), per, s.When)
	}
	verb := "rose"
	if s.Size < 0 {
		verb = "fell"
	}
	if link(a) == logY { // the size is given in the unit of y and in per cent
		return fmt.Sprintf("The level of %s %s by %s, %s, at %s.", a.Series.YName, verb,
			uncertain(math.Abs(s.InY), math.Abs(s.InY*s.StdErr/math.Expm1(s.Size)*math.Exp(s.Size)), a.Series.YUnit),
			uncertain(100*math.Abs(math.Expm1(s.Size)), 100*s.StdErr*math.Exp(s.Size), "%"), s.When)
	}
	return fmt.Sprintf("The level of %s %s by %s at %s.", linked(a), verb, uncertain(math.Abs(s.Size), s.StdErr, unit), s.When)
}

// uncertain writes a value with its standard error, if known, and its unit.
func uncertain(v, se float64, unit string) string {
	text, known := withError(v, se)
	if known != nil {
		text = fmt.Sprintf("%v ± %v", text, known)
	}
	return strings.TrimSpace(fmt.Sprintf("%v %s", text, unit))
}

// chance writes a small probability.
func chance(p float64) string {
	if p < 1e-12 {
		return "less than 1e-12"
	}
	return viz.Digits(1)(p)
}

// mostOutliersListed is how many outliers a text lists; JSON has all.
const mostOutliersListed = 8

// outlierLines says in sentences which observations the model does not explain.
func outlierLines(ctx context.Context, a *forecast.Analysis) (lines []string, err error) {
	o, err := a.Outliers(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return []string{unsought("Outliers", err)}, nil
	}
	if len(o.List) == 0 {
		return nil, nil
	}
	head := fmt.Sprintf("%d of the latest %d observations are further off than the model explains:", len(o.List), o.Of)
	if o.Of == len(a.Series.X) {
		head = fmt.Sprintf("%d of %d observations %s further off than the model explains:", len(o.List), o.Of, text.Are(len(o.List)))
	}
	if a.Series.Student != nil {
		head = fmt.Sprintf("%d of %d observations %s far off and %s for less:",
			len(o.List), o.Of, text.Are(len(o.List)), text.Does(len(o.List), "count"))
	}
	each := func(at forecast.Outlier) string { return "probability " + chance(at.Probability) }
	same := len(o.List) > 1 && !slices.ContainsFunc(o.List, func(at forecast.Outlier) bool { return each(at) != each(o.List[0]) })
	if same { // the probability is stated once, for all
		head = strings.TrimSuffix(head, ":") + ", each with a " + strings.Replace(each(o.List[0]), " ", " of ", 1) + ":"
	}
	var list []string
	for i, at := range o.List {
		if i == mostOutliersListed {
			list = append(list, fmt.Sprintf("and %d more", len(o.List)-i))
			break
		}
		shown := viz.UpTo(5)(at.Y)
		if !same {
			shown += ", " + each(at)
		}
		list = append(list, fmt.Sprintf("%s (%s)", at.When, shown))
	}
	lines = append(lines, head+" "+strings.Join(list, ", ")+".")
	if n := atChanges(ctx, a, o.List); n > 0 {
		who := fmt.Sprintf("%d of them", n)
		if n == len(o.List) {
			who = text.Choose(n, "It", "They")
		}
		lines = append(lines, fmt.Sprintf("%s %s at a change of level that the forecast does not include, which explains %s.",
			who, text.Choose(n, "stands", "stand"), text.Choose(n, "it", "them")))
		if n == len(o.List) {
			return lines, nil
		}
	}
	if i := slices.IndexFunc(o.List, func(at forecast.Outlier) bool { return at.Late }); i >= 0 {
		when := briefTime(o.List[i].When)
		value := when
		if strings.Contains(value, " ") { // a shell needs quotation marks
			value = strconv.Quote(value)
		}
		lines = append(lines, fmt.Sprintf("So near the end changes of level are not looked for: "+
			"if it changed at %s, --shifts %s gives the forecast the new level.", when, value))
	}
	if n := bunched(o.List); n >= 4 && 2*n >= len(o.List) {
		lines = append(lines, fmt.Sprintf("%d of them stand within %d observations of another, as where a series varies more "+
			"at some times than at others: the bands of the model are as wide at all times.", n, near))
	}
	if o.Heavy {
		lines = append(lines, ifWrong(len(o.List)))
	}
	return lines, nil
}

// near is the number of observations within which two outliers count as one event.
const near = 5

// bunched counts the outliers near another.
func bunched(all []forecast.Outlier) (n int) {
	for i, o := range all {
		if i > 0 && o.Index-all[i-1].Index <= near || i+1 < len(all) && all[i+1].Index-o.Index <= near {
			n++
		}
	}
	return n
}

// ifWrong says what to do about n outliers.
func ifWrong(n int) string {
	who := "they are wrong readings, --robust lets them count"
	if n == 1 {
		who = "it is a wrong reading, --robust lets it count"
	}
	return fmt.Sprintf("If %s for less.", who)
}

// farOff says in sentences that observations are so far from all others that they may dominate the forecast; "" for none.
func farOff(a *forecast.Analysis, f *forecast.Forecast) string {
	if a.Series.Student != nil {
		return ""
	}
	outliers, err := a.Outliers(context.Background())
	if err != nil { // the line on outliers reports it
		return ""
	}
	y := make([]float64, len(outliers.List))
	for i, o := range outliers.List {
		y[i] = o.Y
	}
	_, n := withoutFar(y, a.Series.Y, f.Lower, f.Upper)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s far from all others and may widen the bands. %s",
		text.Count(n, "observation"), text.Are(n), ifWrong(n))
}

// atChanges counts the outliers beside a change of level that is not in the mean.
func atChanges(ctx context.Context, a *forecast.Analysis, outliers []forecast.Outlier) (n int) {
	shifts, err := a.Shifts(ctx)
	if err != nil {
		return 0 // another line reports it
	}
	for _, o := range outliers {
		if slices.ContainsFunc(shifts, func(c forecast.ShiftSize) bool {
			return !c.Used && c.Kind == "level" && math.Abs(a.Series.X[o.Index]-c.X) < 1.5*a.Series.Step
		}) {
			n++
		}
	}
	return n
}

// marks returns the changes and the outliers in a figure that begins at an observation; none if they were not looked for.
func marks(ctx context.Context, a *forecast.Analysis, first int) (changes []viz.Event, off viz.Points) {
	s := a.Series
	if shifts, err := a.Shifts(ctx); err == nil {
		for _, c := range shifts {
			if c.X > s.X[first] {
				changes = append(changes, viz.Event{X: c.X, Name: "change of " + c.Kind})
			}
		}
	}
	off.Name = "outliers"
	if outliers, err := a.Outliers(ctx); err == nil {
		for _, o := range outliers.List {
			if o.Index >= first {
				off.X, off.Y = append(off.X, s.X[o.Index]), append(off.Y, o.Y)
			}
		}
	}
	return changes, off
}
