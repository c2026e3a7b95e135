package series

import (
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Effect is a column that Inputs adds to x, with a coefficient that models learn.
type Effect struct {
	Column string // name of the column
	Name   string // name for readers
	// Component is the component of the mean to which the effect belongs, and Part the part of a forecast; "" for regressors, which
	// belong to the trend.
	Component, Part string
	// Unit is what a coefficient of 1 adds to y on the day, after the change, or for one unit of a regressor, in standard deviations
	// of y.
	Unit float64
}

// Effects returns the effects of the series, in the order of the columns of Inputs.
func (s *Series) Effects() (all []Effect) {
	if h := s.Holidays; h != nil {
		for j, name := range h.Names {
			part, _, _ := strings.Cut(name, NearHoliday)
			all = append(all, Effect{HolidayPrefix + name, name, HolidaysName, part, h.Scale[j]})
		}
	}
	if m := s.MonthDays; m != nil {
		for _, name := range m.Names() {
			all = append(all, Effect{MonthDayPrefix + name, name, HolidaysName, name, m.Scale})
		}
	}
	for _, e := range s.Events {
		all = append(all, Effect{EventPrefix + e.Name, e.Name, EventsName, e.Name, EventScale})
	}
	for _, c := range s.Shifts {
		name := c.Text(s.Axis)
		all = append(all, Effect{ShiftPrefix + name, name, ShiftsName, ShiftsName, c.Scale})
	}
	if k := s.Known; k != nil {
		for _, group := range k.AllGroups() {
			name := k.GroupName(group)
			all = append(all, Effect{Column: name, Name: name, Unit: 1 / k.Scale[group[0]]})
		}
	}
	return all
}

// EffectsIn returns the effect of each column of a mean; the zero value for columns of the trend.
func (s *Series) EffectsIn(m gppl.Mean) []Effect {
	of := map[string]Effect{}
	for _, e := range s.Effects() {
		of[e.Column] = e
	}
	columns := m.Columns()
	all := make([]Effect, len(columns))
	for j, c := range columns {
		all[j] = of[c.Name]
	}
	return all
}

// HolidaysName, EventsName and ShiftsName are the names of all effects of a sort together among the components of a mean. Days of
// the month are among the holidays.
const HolidaysName, EventsName, ShiftsName = "holidays", "events", "changes"
