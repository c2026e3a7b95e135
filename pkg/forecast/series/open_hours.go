package series

import (
	"math"
	"slices"
	"time"
)

// takeOpenHours takes the times of a series with closed times at the equal steps of its open ones, and remarks on it, if stamps
// are a little off them: 07:00:08, 08:00:36. Its forecast is then for whole hours. Steps count from midnight or,
// if times are further off those, from the minute of the first.
func (s *Series) takeOpenHours() {
	const (
		coarse = 0.04 // of a step: what may be a late stamp, and not a time of its own
		exact  = 1e-6 // of a step
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
