package series

import (
	"math"
	"slices"
)

// Next returns the x of a number of steps after the last observation. If there are regressors, x are the next places at which
// they are known; it is an error if there are fewer.
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

// after returns the given number of steps after x, skipping the steps at which the series never has an observation.
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
// as the nights of a shop. It is false for weekends of a daily series, where a figure joins Friday and Monday.
func (s *Series) Closed(x float64) bool {
	const days = 7
	return s.closed.isClosed(x) && len(s.closed.closed) > days
}

// Rows returns the number of observations within a length on the axis if only closed steps lack one.
func (s *Series) Rows(length float64) int {
	open := 1.0
	if s.closed != nil {
		open = s.closed.open()
	}
	return int(math.Round(open * length / s.Step))
}

// findClosed finds the steps of a week, or else of a day, that an even series leaves out, if its step divides the week or day. A
// step within 1 % of whole minutes is set to these. In a long series only the latest 1000 observations count, or 20 cycles of
// them: stock exchanges once were open on Saturdays.
func (s *Series) findClosed() *closedTimes {
	if !s.Axis.Dates || s.Axis.Months > 0 || !s.Even {
		return nil
	}
	for _, cycle := range []float64{7 * unitSeconds["day"], unitSeconds["day"]} {
		const many = 4 // steps of a cycle for each observation; with more, most of a cycle would be empty
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
