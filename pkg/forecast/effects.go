package forecast

import (
	"context"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Effects returns the coefficients of regressors, holidays, days of the month and events in the best model, in the units of the
// file; nil if there are none.
func (a *Analysis) Effects(ctx context.Context) ([]Effect, error) {
	listed := func(e series.Effect) bool { return e.Column != "" && e.Component != series.ShiftsName }
	if !slices.ContainsFunc(a.Series.Effects(), listed) {
		return nil, nil
	}
	learnt, err := a.coefficients(ctx)
	if err != nil {
		return nil, err
	}
	best := a.members[0]
	var out []Effect
	for _, e := range a.Series.EffectsIn(best.Model.Mean) {
		if listed(e) {
			unit, c := best.scale.Scaling.Scale*e.Unit, learnt[e.Column]
			out = append(out, Effect{e.Name, c.Value * unit, c.StdErr * unit, best.Log})
		}
	}
	return out, nil
}

// coefficients returns the coefficients of the mean of the best model, by the names of its columns.
func (a *Analysis) coefficients(ctx context.Context) (map[string]gppl.Coefficient, error) {
	if err := a.Condition(ctx); err != nil {
		return nil, err
	}
	all := map[string]gppl.Coefficient{}
	for _, c := range a.members[0].posterior.Coefficients() {
		all[c.Name] = c
	}
	return all, nil
}

// Effect is the learnt coefficient of a regressor, a holiday, a day of the month or an event: a unit of it, or the day, adds
// Value to y, or log y if Log is set.
type Effect struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	StdErr float64 `json:"std_err"`       // standard error of Value if the kernel's parameters and the noise are known
	Log    bool    `json:"log,omitempty"` // Value is added to log y
}
