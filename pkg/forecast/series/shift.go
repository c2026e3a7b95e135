package series

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Shift is a change of the mean of a series at a time, whose size models learn: a step from At on or, if Slope is set, a kink.
type Shift struct {
	At    float64 `json:"at"` // the first observation with it
	Slope bool    `json:"slope,omitempty"`
	// Scale is the prior standard deviation of its size: of a step in standard deviations of y, of a kink in these per unit of x.
	Scale float64 `json:"scale"`
	// Chance, if the shift was found, is the probability of one as clear in a series without shifts; 0 if it was given.
	Chance float64 `json:"chance,omitempty"`
}

const ShiftPrefix = "change: " // of the columns of the mean, before the names

const (
	// ShiftScale is the prior standard deviation of a step, in standard deviations of y, and of a kink over half the range.
	ShiftScale = 2
)

// errShift says that a series cannot have a shift at a time.
var errShift = errors.New("not within the observations")

// Shifted returns the series with a change of level at each x, or at the first observation after it. It is an error if there are
// no observations on either side.
func (s *Series) Shifted(at ...float64) (*Series, error) {
	var shifts []Shift
	for _, x := range at {
		i, _ := slices.BinarySearch(s.X, x)
		if i == 0 || i == len(s.X) {
			return nil, fmt.Errorf("forecast: a change of level at %s is %w, from %s to %s",
				s.Axis.Text(x), errShift, s.Axis.Text(s.X[0]), s.Axis.Text(s.X[len(s.X)-1]))
		}
		if c := (Shift{At: s.X[i], Scale: ShiftScale}); !slices.Contains(shifts, c) {
			shifts = append(shifts, c)
		}
	}
	return s.WithShifts(shifts), nil
}

// WithShifts returns the series with other shifts.
func (s *Series) WithShifts(shifts []Shift) *Series {
	out := *s
	out.Shifts = shifts
	return &out
}

// givenShifts returns those that were given, not found, and that have observations on both sides.
func (s *Series) givenShifts(shifts []Shift) (given []Shift) {
	for _, c := range shifts {
		if c.Chance == 0 && c.At > s.X[0] && c.At <= s.X[len(s.X)-1] {
			given = append(given, c)
		}
	}
	return given
}

// Text names a shift on an axis.
func (c Shift) Text(a Axis) string {
	if c.Slope {
		return "change of slope at " + a.Text(c.At)
	}
	return "change of level at " + a.Text(c.At)
}

// Column returns the shift at each x, in units of its prior standard deviation.
func (c Shift) Column(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, at := range x {
		switch {
		case at < c.At:
		case c.Slope:
			out[i] = c.Scale * (at - c.At)
		default:
			out[i] = c.Scale
		}
	}
	return out
}

// withShiftColumns adds the columns of the shifts at x.
func (s *Series) withShiftColumns(in gppl.Inputs, x []float64) gppl.Inputs {
	for _, c := range s.Shifts {
		in = in.WithColumn(ShiftPrefix+c.Text(s.Axis), c.Column(x))
	}
	return in
}

// ShiftsName is the column of shifts among the components of a mean.
const ShiftsName = "changes"

// EffectColumns returns the part of the forecast to which each column of a mean belongs: the name of a holiday, or ShiftsName; ""
// for the trend and regressors.
func (s *Series) EffectColumns(m gppl.Mean) []string {
	out := make([]string, len(m.Columns()))
	for j, c := range m.Columns() {
		if effect, ok := strings.CutPrefix(c.Name, HolidayPrefix); ok {
			out[j], _, _ = strings.Cut(effect, NearHoliday)
		} else if IsShift(c.Name) {
			out[j] = ShiftsName
		}
	}
	return out
}

// IsShift reports whether a column of a mean is that of a shift.
func IsShift(column string) bool { return strings.HasPrefix(column, ShiftPrefix) }

// checkShifts returns an error for shifts that no series can have.
func checkShifts(shifts []Shift) error {
	for i, c := range shifts {
		if !(math.Abs(c.At) <= Largest) || !(c.Scale > 0 && c.Scale <= Largest) || !(c.Chance >= 0 && c.Chance <= 1) ||
			slices.ContainsFunc(shifts[:i], func(o Shift) bool { return o.At == c.At && o.Slope == c.Slope }) {
			return fmt.Errorf("the change at %v is incomplete", c.At)
		}
	}
	return nil
}
