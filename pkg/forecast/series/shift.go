package series

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
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

// ShiftsName is the column of shifts among the components of a mean.
const ShiftsName = "changes"

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
