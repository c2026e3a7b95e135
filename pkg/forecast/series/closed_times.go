package series

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// closedTimes are the times of the week, or of the day, at which a series of dates never has an observation, such as the weekends
// of a stock exchange or the nights of a shop. A forecast skips them. nil means none.
type closedTimes struct {
	axis   Axis
	cycle  float64 // seconds: a week or a day
	first  float64 // x of step 0
	closed []bool  // for each step of a cycle
	latest int     // number of latest observations that determine closed; 0: all
}

// find sets which of the n steps of a cycle are closed, and reports whether there are any. Chance must not explain it: if a share
// p of the open steps is missing, the probability that any step is missing in all k ≥ 2 cycles is at most n·pᵏ.
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

// open returns the share of the steps that are not closed.
func (r *closedTimes) open() float64 {
	open := 0.0
	for _, c := range r.closed {
		if !c {
			open++
		}
	}
	return open / float64(len(r.closed))
}

// between returns the number of closed steps between two observations.
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
	var days []string // weekdays of the closed steps
	for i, c := range r.closed {
		if c {
			at := r.first + float64(i)/float64(len(r.closed))*r.cycle/unitSeconds[r.axis.Unit]
			days = append(days, r.axis.Time(at).Add(time.Minute).Weekday().String()) // rounding must not give the day before
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
