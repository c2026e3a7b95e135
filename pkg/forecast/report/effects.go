package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// effectsTable returns a table of the coefficients of the regressors, and their number; nil if there are none. Of more than most
// coefficients it lists those that are largest in units of their standard errors.
func effectsTable(ctx context.Context, a *forecast.Analysis, most int) (*viz.Table, int, error) {
	effects, err := a.Effects(ctx)
	if err != nil || effects == nil {
		return nil, 0, err
	}
	factors := link(a) == logY || link(a) == "log rate"
	caption, column := effectsCaption(a, factors)
	unit := ""
	if factors {
		unit = "%"
	}
	t := &viz.Table{
		Caption: caption,
		Columns: []viz.Column{{Name: column}, {Name: "effect", Unit: unit, Right: true},
			{Name: "standard error", Unit: unit, Right: true}},
		Notes: []string{"Standard errors take the rest of the model for known."},
	}
	count := len(effects)
	if count > most {
		clear := func(e forecast.Effect) float64 { return math.Abs(e.Value) / e.StdErr }
		byClarity := func(a, b forecast.Effect) int { return cmp.Compare(clear(b), clear(a)) }
		least := clear(slices.SortedStableFunc(slices.Values(effects), byClarity)[most-1])
		effects = slices.DeleteFunc(slices.Clone(effects), func(e forecast.Effect) bool { return clear(e) < least })
		t.Notes = append(t.Notes, fmt.Sprintf("Shown are the %d of %d that stand out most.", len(effects), count))
	}
	for _, e := range effects {
		effect, se := e.Value, e.StdErr
		if factors { // the change of y in per cent, which is −75 for a change of log y by log ¼
			effect, se = 100*math.Expm1(e.Value), 100*math.Exp(e.Value)*e.StdErr
		}
		value, known := withError(effect, se)
		t.Rows = append(t.Rows, []any{e.Name, value, known})
	}
	return t, count, nil
}

// effectsCaption returns the caption of the table of effects, which may be factors on y, and the name of its first column.
func effectsCaption(a *forecast.Analysis, factors bool) (caption, column string) {
	s := a.Series
	var of []string
	if len(s.Events) > 0 {
		of = append(of, "events")
	}
	if s.Holidays != nil || s.MonthDays != nil {
		of = append(of, "single days")
	}
	column, add, change := "effect", "add to ", "change in "
	if of == nil {
		column, add, change = "regressor", "adds to ", "changes in "
	}
	if s.Known != nil {
		of = append(of, "one unit of a regressor")
	}
	if factors {
		return "What " + and(of) + " " + change + s.YName, column
	}
	return "What " + and(of) + " " + add + linked(a), column
}
