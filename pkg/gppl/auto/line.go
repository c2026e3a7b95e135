package auto

import (
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/timeline"
)

// line is a time series in ascending order.
type line struct{ t, y []float64 }

// newLine sorts a series; y may be nil.
func newLine(x gppl.Inputs, y []float64) *line {
	l := &line{times(x), y}
	if order := timeline.Order(l.t); order != nil {
		t := l.t
		l.t = picked(t, order)
		if y != nil {
			l.y = picked(y, order)
		}
	}
	return l
}

// times returns the times of a series, in their order.
func times(x gppl.Inputs) []float64 {
	t := make([]float64, x.Len())
	for i := range t {
		t[i] = x.At(i)[0]
	}
	return t
}

func picked(v []float64, order []int) []float64 {
	p := make([]float64, len(v))
	for i, o := range order {
		p[i] = v[o]
	}
	return p
}

// span is the range of the times.
func (l *line) span() float64 { return l.t[len(l.t)-1] - l.t[0] }

// spacing is the mean spacing of the times, gaps apart.
func (l *line) spacing() float64 { return timeline.Coverage(l.t) / float64(len(l.t)) }
