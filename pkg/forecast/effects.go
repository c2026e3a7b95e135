package forecast

import (
	"context"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Effects returns the coefficients of regressors, holidays, days of the month and events in the best model, in the units of the
// file; nil if there are none.
func (a *Analysis) Effects(ctx context.Context) ([]Effect, error) {
	units := map[string]Effect{} // maps a column to the name of the effect, and to the value of a coefficient of 1
	if k := a.Series.Known; k != nil {
		for _, group := range k.AllGroups() {
			name := k.GroupName(group)
			units[name] = Effect{Name: name, Value: 1 / k.Scale[group[0]]}
		}
	}
	if h := a.Series.Holidays; h != nil {
		for j, name := range h.Names {
			units[series.HolidayPrefix+name] = Effect{Name: name, Value: h.Scale[j]}
		}
	}
	if m := a.Series.MonthDays; m != nil {
		for _, name := range m.Names() {
			units[series.MonthDayPrefix+name] = Effect{Name: name, Value: m.Scale}
		}
	}
	for _, e := range a.Series.Events {
		units[series.EventPrefix+e.Name] = Effect{Name: e.Name, Value: series.EventScale}
	}
	if len(units) == 0 {
		return nil, nil
	}
	learnt, err := a.coefficients(ctx)
	if err != nil {
		return nil, err
	}
	best := a.members[0]
	var out []Effect
	for _, column := range best.Model.Mean.Columns() {
		of, ok := units[column.Name]
		if !ok {
			continue
		}
		unit, c := best.scale.Scaling.Scale*of.Value, learnt[column.Name]
		out = append(out, Effect{of.Name, c.Value * unit, c.StdErr * unit, best.Log})
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
