package auto

import (
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// line is a time series in ascending order.
type line struct{ t, y []float64 }

// newLine sorts a series; y may be nil.
func newLine(x gppl.Inputs, y []float64) *line {
	l := &line{x.Coordinate(0), y}
	if order := timeline.Order(l.t); order != nil {
		l.t, l.y = timeline.Pick(l.t, order), timeline.Pick(y, order)
	}
	return l
}

// span is the range of the times.
func (l *line) span() float64 { return l.t[len(l.t)-1] - l.t[0] }

// spacing is the mean spacing of the times, gaps apart.
func (l *line) spacing() float64 { return timeline.Coverage(l.t) / float64(len(l.t)) }
