package descent

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/internal/numeric"
)

// A Line is a function at a point and along a direction from it.
type Line struct {
	Value float64                    // value at the point
	At    func(step float64) float64 // value a step from the point; NaN where there is none
}

// Rounding is the assumed error of a value in differences, relative to the larger of the value and 1.
const Rounding = 1e-13

// steps are the steps of differences, in the order in which they are tried. The first suits most functions; one that
// oscillates needs shorter ones.
var steps = [...]float64{1e-3, 1e-4, 1e-2, 1e-5}

// slopes holds derivatives along a line by central differences of values.
type slopes struct {
	first, second float64 // derivatives
	limit         float64 // bound on the error of first: truncation and rounding
}

// slopes computes the derivatives from the values at ±h and, with four, at ±2h. ok is false where there are no values.
func (l Line) slopes(h float64, four bool) (s slopes, ok bool) {
	plus, minus := l.At(h), l.At(-h)
	s.first = (plus - minus) / (2 * h)
	s.second = (plus - 2*l.Value + minus) / (h * h)
	if four {
		coarse := s.first
		s.first = (8*(plus-minus) - (l.At(2*h) - l.At(-2*h))) / (12 * h)
		s.limit = 0.1 * math.Abs(s.first-coarse) // far more than the error of fourth order
	}
	s.limit += 2 * Rounding * max(1, math.Abs(l.Value), math.Abs(plus)) / h
	return s, numeric.IsFinite(s.first)
}

// ConfirmSlope compares a slope with differences of values. It returns a text that says by how much the slope is wrong, "" if by
// no more than visible. It takes two values, and more only if they disagree.
func (l Line) ConfirmSlope(slope, visible float64) string {
	if s, ok := l.slopes(steps[0], false); ok && math.Abs(s.first-slope) <= visible {
		return ""
	}
	disagreed := math.NaN() // difference at the step before
	for _, h := range steps {
		s, ok := l.slopes(h, true)
		off := math.Abs(s.first - slope)
		switch {
		case off <= visible:
			return ""
		case !ok || off <= s.limit: // too coarse to decide
		case math.Abs(s.first-disagreed) <= 0.2*off: // two steps agree with each other
			return fmt.Sprintf("along one direction it gives a slope of %.6g, differences of the value %.6g ± %.1g",
				slope, s.first, s.limit)
		default:
			disagreed = s.first
		}
	}
	return ""
}

// ConfirmMinimum returns a text that says by how much values still fall along the line, "" if by no more than gain. With the
// slope s and the curvature c, both by differences, the minimum lies s²/2c below.
func (l Line) ConfirmMinimum(gain float64) string {
	const step = 1e-2
	if s, ok := l.slopes(step, false); ok && s.second > 0 && s.first*s.first <= 2*gain*s.second {
		return ""
	}
	for _, h := range [...]float64{step, step / 10, step / 100} {
		s, ok := l.slopes(h, true)
		if !ok {
			continue
		}
		// Where the curvature is lost in rounding, or negative, only the gain of a step is known.
		excess := max(0, math.Abs(s.first)-s.limit)
		below := excess * step
		if s.second > 0 {
			below = min(below, 0.5*excess*excess/s.second)
		}
		if below <= gain {
			return ""
		}
		if h == step/100 {
			return fmt.Sprintf("where training ended differences of the value give a slope of %.3g ± %.1g: the minimum is %.2g nats"+
				" below or more", s.first, s.limit, below)
		}
	}
	return ""
}
