package report

import (
	"context"
	"math"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// effectsTable returns a table of the coefficients of the regressors; nil if there are none.
func effectsTable(ctx context.Context, a *forecast.Analysis) (*viz.Table, error) {
	effects, err := a.Effects(ctx)
	if err != nil || effects == nil {
		return nil, err
	}
	holiday, column := "", "regressor"
	if a.Series.Holidays != nil || a.Series.MonthDays != nil {
		holiday, column = ", or a day of its own,", "effect"
	}
	caption, unit := "What one unit of a regressor"+holiday+" adds to "+linked(a), ""
	factors := link(a) == logY || link(a) == "log rate"
	if factors {
		caption, unit = "What one unit of a regressor"+holiday+" changes in "+a.Series.YName, "%"
	}
	t := &viz.Table{
		Caption: caption,
		Columns: []viz.Column{{Name: column}, {Name: "effect", Unit: unit, Right: true},
			{Name: "standard error", Unit: unit, Right: true}},
		Notes: []string{"Standard errors treat the kernel's parameters and the noise as known."},
	}
	for _, e := range effects {
		effect, se := e.Value, e.StdErr
		if factors { // of the logarithm: −75 % for log ¼
			effect, se = 100*math.Expm1(e.Value), 100*math.Exp(e.Value)*e.StdErr
		}
		value, known := withError(effect, se)
		t.Rows = append(t.Rows, []any{e.Name, value, known})
	}
	return t, nil
}
