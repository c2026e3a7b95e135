// Package observed prepares observations for engines: a time series with columns beside it, the noise of each observation, and
// sums over them on circles.
package observed

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

// Line is a time series in ascending order, with columns beside it.
type Line struct {
	T       []float64
	Y       []float64       // the first column; nil if there are none
	Columns blas64.General  // n×c: y, and the basis of the mean
	Sparse  *regress.Sparse // basis of the mean in sparse columns, with rows in the order of the inputs; nil if it is dense
	Unread  int             // number of last columns whose products with one another nobody reads
	Noise   Noise           // the known part of each observation's noise
	Weights []float64       // 1/e_i² where errors are known up to their scale; nil if not
	Order   []int           // T[i] = x[Order[i]]; nil if x was sorted
	Lo      float64
	Span    float64
}

// SetColumns brings columns that belong to x into the order of the series.
func (l *Line) SetColumns(c blas64.General) {
	l.Columns = l.SortRows(c)
	if c.Cols == 1 {
		l.Y = l.Columns.Data
		return
	}
	l.Y = make([]float64, c.Rows)
	blas64.Copy(blas64.Vector{N: c.Rows, Inc: c.Stride, Data: l.Columns.Data}, dense.Vec(l.Y))
}

// Sorted sorts one-dimensional inputs. SetColumns adds the columns that belong to them.
func Sorted(x []float64) *Line {
	l := &Line{T: x, Order: timeline.Order(x)}
	if l.Order != nil {
		l.T = timeline.Pick(x, l.Order)
	}
	l.Lo = l.T[0]
	l.Span = l.T[len(l.T)-1] - l.Lo
	return l
}

// Middle returns the middle of the range.
func (l *Line) Middle() float64 { return l.Lo + 0.5*l.Span }

// Neighbours estimates the mean number of points within distance r to the right of a point, from a sample of points.
func (l *Line) Neighbours(r float64) float64 {
	n := len(l.T)
	const sample = 64
	step := max(1, n/sample)
	var total, count float64
	for i := 0; i < n; i += step {
		j, _ := slices.BinarySearch(l.T[i:], l.T[i]+r)
		total += float64(j)
		count++
	}
	return total / count
}

// SortRows returns the rows of a in the order of the series: a itself if they have it already, else a copy.
func (l *Line) SortRows(a blas64.General) blas64.General {
	if l.Order == nil {
		return a
	}
	sorted := dense.New(a.Rows, a.Cols)
	for i, o := range l.Order {
		copy(sorted.Data[i*sorted.Stride:][:a.Cols], a.Data[o*a.Stride:])
	}
	return sorted
}

// SetNoise sets the noise of each observation, given in the order of x.
func (l *Line) SetNoise(r Noise) {
	l.Noise, l.Weights = r, nil
	if r.Known != nil {
		l.Noise.Known = l.SortRows(dense.AsColumn(r.Known)).Data
	}
	if r.Scale != nil {
		l.Noise.Scale = l.SortRows(dense.AsColumn(r.Scale)).Data
		l.Weights = make([]float64, len(l.T))
		for i, e := range l.Noise.Scale {
			l.Weights[i] = 1 / e
		}
	}
}

// Input returns the index in x of the observation at a place of the series.
func (l *Line) Input(place int) int {
	if l.Order == nil {
		return place
	}
	return l.Order[place]
}

// Ranks returns the place of each observation in the series.
func (l *Line) Ranks() []int {
	rank := make([]int, len(l.T))
	for i := range rank {
		rank[l.Input(i)] = i
	}
	return rank
}

// Line is a Source of sums on any circle.

func (l *Line) Count() int                 { return len(l.T) }
func (l *Line) Extent() (lo, span float64) { return l.Lo, l.Span }
func (l *Line) Circle() (Circle, bool)     { return Circle{}, false }

func (l *Line) LogWeights() (sum float64) {
	for _, w := range l.Weights {
		sum += math.Log(w)
	}
	return sum
}

func (l *Line) Precision() (sum float64) {
	if l.Weights == nil {
		return float64(len(l.T))
	}
	for _, w := range l.Weights {
		sum += w
	}
	return sum
}

// weighted returns the columns C, or WC with weights.
func (l *Line) weighted() blas64.General {
	if l.Weights == nil {
		return l.Columns
	}
	wc := dense.New(l.Columns.Rows, l.Columns.Cols)
	dense.Copy(wc, l.Columns)
	dense.ScaleRows(wc, l.Weights)
	return wc
}

func (l *Line) Squares() blas64.General {
	c := l.Columns
	g := dense.New(c.Cols, c.Cols)
	if c.Cols > fewColumns {
		dense.Mul(context.Background(), g, blas.Trans, c, l.weighted())
		return g
	}
	for a := range c.Cols {
		for b := range a + 1 {
			var sum float64
			for i := range c.Rows {
				v := c.Data[i*c.Stride+a] * c.Data[i*c.Stride+b]
				if l.Weights != nil {
					v *= l.Weights[i]
				}
				sum += v
			}
			g.Data[a*g.Stride+b], g.Data[b*g.Stride+a] = sum, sum
		}
	}
	return g
}

// fewColumns is the largest number of columns that are squared faster one by one than by a product of matrices.
const fewColumns = 4

func (l *Line) Sums(origin, period float64, m int) (fourier.Moments, blas64.General) {
	points := fourier.NewPoints(l.T, origin, period)
	var moments fourier.Moments
	if l.Weights == nil {
		moments = points.Moments(2*m, fourier.Tolerance)
	} else {
		t := dense.New(2*(2*m+1), 1)
		points.Sums(t, dense.AsColumn(l.Weights), 0, fourier.Tolerance)
		moments = t.Data
	}
	sums := dense.New(2*(m+1), l.Columns.Cols)
	points.Sums(sums, l.weighted(), 0, fourier.Tolerance)
	return moments, sums
}

// AveragedKnown is Averaged with known errors: n/Σ(1/λ).
func (l *Line) AveragedKnown(noise float64) float64 {
	var precision float64
	for i, s := range l.Noise.Known {
		precision += 1 / (noise*l.Noise.Weight(i) + s)
	}
	return float64(len(l.T)) / precision
}
