package series

import (
	"math"
	"slices"
	"time"
)

// takeOpenHours moves the times of a series with closed times to the equal steps of its open hours, and remarks on it, if stamps
// deviate slightly from these, as 07:00:08 and 08:00:36 do. The forecast is then for whole hours. Steps count from midnight or,
// if times deviate more from those, from the minute of the first.
func (s *Series) takeOpenHours() {
	const (
		coarse = 0.04 // share of a step; a larger deviation is a time of its own
		exact  = 1e-6 // share of a step; a smaller deviation is rounding
	)
	if s.closed == nil || len(s.X) < fewestEven {
		return
	}
	step := s.closed.cycle / float64(len(s.closed.closed))
	first := sinceEpoch(s.Axis.Time(s.X[0]))
	for _, anchor := range []float64{0, 60 * math.Round(first/60)} {
		most := 0.0
		even := make([]float64, len(s.X))
		for i, x := range s.X {
			at := sinceEpoch(s.Axis.Time(x)) - anchor
			whole := step * math.Round(at/step)
			even[i], most = s.Axis.fromSeconds(anchor+whole), max(most, math.Abs(at-whole))
		}
		if most <= exact*step {
			return
		}
		if most > coarse*step || len(slices.Compact(slices.Clone(even))) < len(even) {
			continue
		}
		s.remarks = append(s.remarks, message("Times are up to %v off steps of %v: each is taken at its step.",
			(time.Duration(most)*time.Second).String(), s.Axis.Length(step/unitSeconds[s.Axis.Unit])))
		s.X, s.Gaps, s.Duplicates, s.Absent = even, nil, nil, 0
		s.spacing()
		return
	}
}
