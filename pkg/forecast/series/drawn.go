package series

import (
	"math"

	"github.com/projected-likelihood/gppl/internal/timeline"
)

// Drawn returns the ascending x between two places at which a figure draws a line through the series: the observations and, in a
// series with a step, the missing steps between them. It has no place between two steps, since that has another hour or day of
// the week than any observation. If the steps vary, more places lie between the observations. Beyond 2000 steps, x are those with
// the smallest and the largest y of each pixel or so. Up to 2000, a stretch at which the series never has an observation has one
// place, for which Closed holds, so that a gap is left there.
func (s *Series) Drawn(from, to float64) []float64 {
	x, y := timeline.Instants(s.X, s.Y, from, to, s.absent)
	if len(x) > timeline.MostDrawn { // gaps are below a pixel
		x, y = s.open(x, y)
	}
	if x = timeline.Pick(x, timeline.Extremes(x, y)); !s.stepped() {
		x = s.between(timeline.Smooth(x), x)
	}
	return x
}

// DrawnAhead is Drawn for the steps of a forecast, all after the last observation. Beyond 2000 steps it returns those with the
// smallest and the largest of each of the values in each pixel or so.
func (s *Series) DrawnAhead(steps []float64, values ...[]float64) []float64 {
	x := timeline.Pick(steps, timeline.Extremes(steps, values...))
	last := s.X[len(s.X)-1]
	var all []float64
	for i, v := range x {
		before := last
		if i > 0 {
			before = x[i-1]
		}
		if at := s.Axis.after(before, s.Step, 1); len(x) == len(steps) && at < v-0.5*s.Step && s.Closed(at) {
			all = append(all, at)
		}
		all = append(all, v)
	}
	if !s.stepped() {
		all = append([]float64{last}, all...)
		return s.between(timeline.Smooth(all), all)[1:]
	}
	return all
}

// between moves places of a line that are not among the given ones to the nearest x that a date can name (Axis.Text), which is a
// midnight if dates have no time of day. It leaves out those that are then not between their neighbours.
func (s *Series) between(places, given []float64) (x []float64) {
	if !s.Axis.Dates {
		return places
	}
	const near = 1e-9 // share of the length of the axis, for rounding
	next := 0
	apart := near * (places[len(places)-1] - places[0])
	for _, v := range places {
		if next < len(given) && v == given[next] {
			x = append(x, v)
			next++
			continue
		}
		v, err := s.Axis.Parse(s.Axis.Text(v))
		if err == nil && (len(x) == 0 || v > x[len(x)-1]+apart) && (next == len(given) || v < given[next]-apart) {
			x = append(x, v)
		}
	}
	return x
}

// stepped reports whether observations are a step apart, or a number of months.
func (s *Series) stepped() bool { return s.Even || s.Axis.Months > 0 }

// absent returns the steps without an observation between two neighbours. Of steps that are always closed it returns the first.
func (s *Series) absent(from, to float64) (x []float64) {
	const wide = 1.5 // steps
	if !s.stepped() || to-from <= wide*s.Step {
		return nil
	}
	steps := timeline.Absent(from, to, s.Step)
	if s.Axis.Months > 0 {
		steps = s.absentMonths(from, to)
	}
	open := true
	for _, v := range steps {
		closed := s.Closed(v)
		if closed && open || !s.closed.isClosed(v) {
			x = append(x, v)
		}
		open = !closed
	}
	return x
}

// absentMonths is timeline.Absent where steps are months.
func (s *Series) absentMonths(from, to float64) (x []float64) {
	const near = 0.5 // share of a step before the next observation
	every := int(max(1, math.Ceil((to-from)/s.Step/timeline.MostDrawn)))
	for k := every; ; k += every {
		v := s.Axis.after(from, s.Step, k)
		if v > to-near*s.Step {
			return x
		}
		x = append(x, v)
	}
}

// open leaves out closed places without an observation, whose y is NaN.
func (s *Series) open(x, y []float64) (openX, openY []float64) {
	for i, v := range x {
		if !math.IsNaN(y[i]) || !s.Closed(v) {
			openX, openY = append(openX, v), append(openY, y[i])
		}
	}
	return openX, openY
}
