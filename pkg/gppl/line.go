package gppl

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// line is a time series in ascending order, with columns beside it.
type line struct {
	t       []float64
	y       []float64      // the first column; nil if there are none
	columns blas64.General // n×c: y, and the basis of the mean
	unread  int            // of the columns, the last, whose products with one another nobody reads
	noise   rowNoise       // what is known of each observation's noise
	weights []float64      // 1/e_i² where errors are known up to their scale; nil if not
	order   []int          // t[i] = x[order[i]]; nil if x was sorted
	lo      float64
	span    float64
}

// newLine sorts a one-dimensional data set; y may be nil.
func newLine(x Inputs, y []float64) *line {
	l := sortLine(x)
	if y != nil {
		l.setColumns(dense.AsColumn(y))
	}
	return l
}

// setColumns brings columns that belong to x into the order of the series.
func (l *line) setColumns(c blas64.General) {
	l.columns = l.sortRows(c)
	if c.Cols == 1 {
		l.y = l.columns.Data
		return
	}
	l.y = make([]float64, c.Rows)
	blas64.Copy(blas64.Vector{N: c.Rows, Inc: c.Stride, Data: l.columns.Data}, dense.Vec(l.y))
}

func sortLine(x Inputs) *line {
	l := &line{t: x.at, order: timeline.Order(x.at)}
	if l.order != nil {
		l.t = timeline.Pick(x.at, l.order)
	}
	l.lo = l.t[0]
	l.span = l.t[len(l.t)-1] - l.lo
	return l
}

// middle returns the middle of the range.
func (l *line) middle() float64 { return l.lo + 0.5*l.span }

// neighbours estimates the mean number of points within distance r to the right
// of a point, from a sample of points.
func (l *line) neighbours(r float64) float64 {
	n := len(l.t)
	const sample = 64
	step := max(1, n/sample)
	var total, count float64
	for i := 0; i < n; i += step {
		j, _ := slices.BinarySearch(l.t[i:], l.t[i]+r)
		total += float64(j)
		count++
	}
	return total / count
}

// sortRows returns the rows of a in the order of the series, copied unless they
// are in it already.
func (l *line) sortRows(a blas64.General) blas64.General {
	if l.order == nil {
		return a
	}
	sorted := dense.New(a.Rows, a.Cols)
	for i, o := range l.order {
		copy(sorted.Data[i*sorted.Stride:][:a.Cols], a.Data[o*a.Stride:])
	}
	return sorted
}

// setNoise sets what is known of the noise of each observation, given in the order of x.
func (l *line) setNoise(r rowNoise) {
	l.noise, l.weights = rowNoise{}, nil
	if r.known != nil {
		l.noise.known = l.sortRows(dense.AsColumn(r.known)).Data
	}
	if r.scale != nil {
		l.noise.scale = l.sortRows(dense.AsColumn(r.scale)).Data
		l.weights = make([]float64, len(l.t))
		for i, e := range l.noise.scale {
			l.weights[i] = 1 / e
		}
	}
}

// ranks returns where each observation stands in the series, nil if x was sorted.
func (l *line) ranks() []int {
	if l.order == nil {
		return nil
	}
	rank := make([]int, len(l.order))
	for i, o := range l.order {
		rank[o] = i
	}
	return rank
}
