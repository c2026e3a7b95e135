package report

import (
	"context"

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
	if a.Series.Holidays != nil {
		holiday, column = ", or a holiday,", "effect"
	}
	t := &viz.Table{
		Caption: "What one unit of a regressor" + holiday + " adds to " + linked(a),
		Columns: []viz.Column{{Name: column}, {Name: "coefficient", Right: true}, {Name: "standard error", Right: true}},
		Notes:   []string{"Standard errors treat the kernel's parameters and the noise as known."},
	}
	for _, e := range effects {
		value, known := withError(e.Value, e.StdErr)
		t.Rows = append(t.Rows, []any{e.Name, value, known})
	}
	return t, nil
}
