package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

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
	of, column, does := "one unit of a regressor", "regressor", "adds to "
	if days := a.Series.Holidays != nil || a.Series.MonthDays != nil; days || len(a.Series.Events) > 0 {
		of, column, does = "single days", "effect", "add to "
		if a.Series.Known != nil {
			of = "single days and one unit of a regressor"
		}
		if len(a.Series.Events) > 0 {
			of = strings.Replace(of, "single days", "events and single days", 1)
		}
		if !days {
			of = strings.Replace(of, "events and single days", "events", 1)
		}
	}
	unit := ""
	factors := link(a) == logY || link(a) == "log rate"
	caption := "What " + of + " " + does + linked(a)
	if factors {
		change := map[string]string{"adds to ": " changes in ", "add to ": " change in "}[does]
		caption, unit = "What "+of+change+a.Series.YName, "%"
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
