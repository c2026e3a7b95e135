package series

import (
	"fmt"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Shifted returns the series with a change of level at each x, or at the first observation after it. It is an error if there are
// no observations on either side.
func (s *Series) Shifted(at ...float64) (*Series, error) {
	var shifts []Shift
	for _, x := range at {
		i, _ := slices.BinarySearch(s.X, x)
		if i == 0 || i == len(s.X) {
			return nil, fmt.Errorf("a change of level at %s is %w, from %s to %s",
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

// givenShifts returns the shifts that were given, not found, and that have observations on both sides.
func (s *Series) givenShifts(shifts []Shift) (given []Shift) {
	for _, c := range shifts {
		if c.Chance == 0 && c.At > s.X[0] && c.At <= s.X[len(s.X)-1] {
			given = append(given, c)
		}
	}
	return given
}

// withShiftColumns adds the columns of the shifts at x.
func (s *Series) withShiftColumns(in gppl.Inputs, x []float64) gppl.Inputs {
	for _, c := range s.Shifts {
		in = in.WithColumn(ShiftPrefix+c.Text(s.Axis), c.Column(x))
	}
	return in
}
