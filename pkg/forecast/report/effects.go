package report

import (
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// effectsTable returns a table of the coefficients of the regressors; nil if there are none.
func effectsTable(a *forecast.Analysis) (*viz.Table, error) {
	effects, err := a.Effects()
	if err != nil || effects == nil {
		return nil, err
	}
	of := a.Series.YName
	switch {
	case a.Series.Bounds != nil:
		of = "the log odds of " + of
	case effects[0].Log:
		of = "log " + of
	}
	if a.Series.Counting != nil {
		of = "the " + link(a) + " of " + of
	}
	holiday, column := "", "regressor"
	if a.Series.Holidays != nil {
		holiday, column = ", or a holiday,", "effect"
	}
	t := &viz.Table{
		Caption: "What one unit of a regressor" + holiday + " adds to " + of,
		Columns: []viz.Column{{Name: column}, {Name: "coefficient"}, {Name: "standard error"}},
		Notes:   []string{"Standard errors treat the kernel's parameters and the noise as known."},
	}
	for _, e := range effects {
		t.Rows = append(t.Rows, []any{e.Name, e.Value, e.StdErr})
	}
	return t, nil
}
