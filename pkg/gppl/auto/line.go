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

// binned returns, for bins over the range, the sums of the values and their counts, on a grid padded to twice as many bins,
// and the width of a bin.
func (l *line) binned(bins int) (sum, count []float64, width float64) {
	sum, count = make([]float64, 2*bins), make([]float64, 2*bins)
	width = l.span() / float64(bins-1)
	for i, t := range l.t {
		b := int((t-l.t[0])/width + 0.5)
		sum[b] += l.y[i]
		count[b]++
	}
	return sum, count, width
}

// span is the range of the times.
func (l *line) span() float64 { return l.t[len(l.t)-1] - l.t[0] }

// spacing returns the mean spacing of the times, not counting gaps.
func (l *line) spacing() float64 { return timeline.Coverage(l.t) / float64(len(l.t)) }
