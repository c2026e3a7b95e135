package series

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Shift is a change of the mean of a series at a time, whose size models learn: a step at At or, if Slope is set, a change of
// slope.
type Shift struct {
	At    float64 `json:"at"` // first observation after the change
	Slope bool    `json:"slope,omitempty"`
	// Scale is the prior standard deviation of its size: in standard deviations of y for a step, and in these per unit of x for a
	// slope.
	Scale float64 `json:"scale"`
	// Chance is the probability of a shift as clear in a series without shifts, if the shift was found; 0 if it was given.
	Chance float64 `json:"chance,omitempty"`
}

const ShiftPrefix = "change: " // precedes the names of columns of the mean

const (
	// ShiftScale is the prior standard deviation of a step, in standard deviations of y, and of a change of slope over half the
	// range.
	ShiftScale = 2
)

// errShift is the error for a time at which a series cannot have a shift.
var errShift = errors.New("not within the observations")

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

// IsShift reports whether a column of a mean is a shift.
func IsShift(column string) bool { return strings.HasPrefix(column, ShiftPrefix) }

// checkShifts returns an error for impossible shifts.
func checkShifts(shifts []Shift) error {
	for i, c := range shifts {
		if !(math.Abs(c.At) <= Largest) || !(c.Scale > 0 && c.Scale <= Largest) || !(c.Chance >= 0 && c.Chance <= 1) ||
			slices.ContainsFunc(shifts[:i], func(o Shift) bool { return o.At == c.At && o.Slope == c.Slope }) {
			return fmt.Errorf("the change at %v is incomplete", c.At)
		}
	}
	return nil
}
