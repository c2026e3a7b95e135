package series

import (
	"math"
	"slices"
)

// Next returns the x of a number of steps beyond the last observation: if there are regressors, the next at which they are known.
// It is an error if these are fewer.
func (s *Series) Next(steps int) ([]float64, error) {
	if s.Known == nil {
		return s.after(s.X[len(s.X)-1], steps), nil
	}
	ahead := s.Ahead()
	if len(ahead) < steps {
		return nil, s.unknown(s.Known.Names[0], s.Axis.after(s.Known.X[len(s.Known.X)-1], s.Step, 1))
	}
	return ahead[:steps], nil
}

// after returns the given number of steps after x, skipping those at which the series never has an observation.
func (s *Series) after(x float64, steps int) []float64 {
	out := make([]float64, 0, steps)
	for k := 1; len(out) < steps; k++ {
		if v := s.Axis.after(x, s.Step, k); !s.closed.isClosed(v) {
			out = append(out, v)
		}
	}
	return out
}

// Closed reports whether x is at a time of the day or week at which a series of hours or minutes never has an observation, such
// as the nights of a shop. It is false for weekends of a daily series: of these a figure shows the days beside them.
func (s *Series) Closed(x float64) bool {
	const days = 7
	return s.closed.isClosed(x) && len(s.closed.closed) > days
}

// Rows returns the number of observations in a length on the axis, if none is missing at the steps that are not closed.
func (s *Series) Rows(length float64) int {
	open := 1.0
	if s.closed != nil {
		open = s.closed.open()
	}
	return int(math.Round(open * length / s.Step))
}

// findClosed finds the steps of a week, or else of a day, that an even series leaves out, if its step divides the week or day;
// one that is whole minutes but for 1 % then becomes these. Of a long series the latest 1000 observations, or 20 cycles of them,
// tell: stock exchanges once were open on Saturdays.
func (s *Series) findClosed() *closedTimes {
	if !s.Axis.Dates || s.Axis.Months > 0 || !s.Even {
		return nil
	}
	for _, cycle := range []float64{7 * unitSeconds["day"], unitSeconds["day"]} {
		const many = 4 // steps of a cycle to an observation, beyond which most of one would be empty
		parts := cycle / (s.Step * unitSeconds[s.Axis.Unit])
		n := math.Round(parts)
		jittered := math.Abs(parts-n) > 0.01
		if n < 2 || n > many*float64(len(s.X)) || jittered && (math.Abs(parts-n) > 0.01*n || math.Mod(cycle/n, 60) != 0) {
			continue
		}
		r := &closedTimes{axis: s.Axis, cycle: cycle, first: s.X[0], closed: make([]bool, int(n))}
		latest := min(len(s.X), max(1000, 20*int(n)))
		if r.find(s.X[len(s.X)-latest:]) {
			if slices.ContainsFunc(s.X, r.isClosed) {
				r.latest = latest
			}
			if jittered {
				s.Step = cycle / n / unitSeconds[s.Axis.Unit]
			}
			return r
		}
	}
	return nil
}
