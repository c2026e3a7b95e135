package series

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// closedTimes are the times of the week, or of the day, at which a series of dates never has an observation: the weekends of a
// stock exchange, the nights of a shop. A forecast steps over them. nil means none.
type closedTimes struct {
	axis   Axis
	cycle  float64 // seconds: a week or a day
	first  float64 // x of step 0
	closed []bool  // of each step of a cycle
	latest int     // the number of latest observations that show it; 0: all
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

// find fills in what is closed, and reports whether some of the n steps are. Chance must not explain it: if a share p of the open
// steps is missing, the probability that any step is missing in all of k cycles, of which there are two, is at most n·pᵏ.
func (r *closedTimes) find(x []float64) bool {
	const chance, least = 0.01, 2
	cycles := math.Floor((x[len(x)-1] - x[0]) * unitSeconds[r.axis.Unit] / r.cycle)
	n, open, present := float64(len(r.closed)), 0.0, 0.0
	for i := range r.closed {
		r.closed[i] = true
	}
	for i, v := range x {
		if i > 0 && v == x[i-1] {
			continue
		}
		if present++; r.isClosed(v) {
			r.closed[r.phase(v)] = false
			open++
		}
	}
	p := (max(0, open*cycles-present) + 1) / (open*cycles + 2)
	return open < n && cycles >= least && n*math.Pow(p, cycles) <= chance
}

// steps converts a distance on the axis to steps.
func (r *closedTimes) steps(d float64) int {
	return int(math.Round(d * unitSeconds[r.axis.Unit] / r.cycle * float64(len(r.closed))))
}

// phase returns the index of x among the steps of its cycle.
func (r *closedTimes) phase(x float64) int {
	n := len(r.closed)
	return (r.steps(x-r.first)%n + n) % n
}

func (r *closedTimes) isClosed(x float64) bool { return r != nil && r.closed[r.phase(x)] }

// Closed reports whether x is at a time of the day or week at which a series of hours or minutes never has an observation, such
// as the nights of a shop. It is false for weekends of a daily series: of these a figure shows the days beside them.
func (s *Series) Closed(x float64) bool {
	const days = 7
	return s.closed.isClosed(x) && len(s.closed.closed) > days
}

// between returns how many steps between two observations are closed.
func (r *closedTimes) between(from, to float64) (closed int) {
	if r == nil {
		return 0
	}
	first, last := r.phase(from), r.steps(to-from)
	for k := 1; k < last; k++ {
		if r.closed[(first+k)%len(r.closed)] {
			closed++
		}
	}
	return closed
}

// note describes the closed times.
func (r *closedTimes) note() string {
	const forecast = "and the forecast has none there."
	var days []string // of the closed steps
	for i, c := range r.closed {
		if c {
			at := r.first + float64(i)/float64(len(r.closed))*r.cycle/unitSeconds[r.axis.Unit]
			days = append(days, r.axis.Time(at).Add(time.Minute).Weekday().String()) // rounding must not end in the day before
		}
	}
	among, a := "There is no observation", "any"
	if r.latest > 0 {
		among, a = fmt.Sprintf("Of the latest %d observations none is", r.latest), "a"
	}
	switch {
	case r.cycle == unitSeconds["day"]:
		return fmt.Sprintf("%s at %d of the %d times of a day, %s", among, len(days), len(r.closed), forecast)
	case len(r.closed) == 7:
		return fmt.Sprintf("%s on %s %s, %s", among, a, strings.Join(days, " or "), forecast)
	}
	return fmt.Sprintf("%s at %d of the %d times of a week, %s", among, len(days), len(r.closed), forecast)
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
