package gppl

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// observed is the view of the data for the spectral and the gridded engine: n, and
// inner products and sums over the data for several columns C (n×c) at a time; the
// first column is y. Sums may have weights w.
type observed interface {
	count() int                  // n
	squares() blas64.General     // Σ w·c_i·c_iᵀ, c×c
	logWeights() float64         // Σ log w
	precision() float64          // Σ w
	extent() (lo, span float64)  // bounds on the inputs
	circle() (c circle, ok bool) // ok if sums are known on this circle only
	// sums returns the moments, to frequency 2m at least, and the sums of the
	// columns, 2(m+1)×c, to m, on a circle: that of circle if there is one.
	sums(origin, period float64, m int) (fourier.Moments, blas64.General)
}

// circle is a fixed circle, with frequencies up to highest.
type circle struct {
	origin, period float64
	highest        int
	resolves       string // for errors
	beyond         string // that, with a frequency to be filled in
}

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
	l.noise, l.weights = r, nil
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

// input returns which of the observations is at the given place of the series.
func (l *line) input(place int) int {
	if l.order == nil {
		return place
	}
	return l.order[place]
}

// ranks returns where each observation stands in the series.
func (l *line) ranks() []int {
	rank := make([]int, len(l.t))
	for i := range rank {
		rank[l.input(i)] = i
	}
	return rank
}

var _ observed = (*line)(nil)

func (l *line) count() int                 { return len(l.t) }
func (l *line) extent() (lo, span float64) { return l.lo, l.span }
func (l *line) circle() (circle, bool)     { return circle{}, false }

func (l *line) logWeights() (sum float64) {
	for _, w := range l.weights {
		sum += math.Log(w)
	}
	return sum
}

func (l *line) precision() (sum float64) {
	if l.weights == nil {
		return float64(len(l.t))
	}
	for _, w := range l.weights {
		sum += w
	}
	return sum
}

// weighted returns the columns, or WC where there are weights.
func (l *line) weighted() blas64.General {
	if l.weights == nil {
		return l.columns
	}
	wc := dense.New(l.columns.Rows, l.columns.Cols)
	dense.Copy(wc, l.columns)
	dense.ScaleRows(wc, l.weights)
	return wc
}

func (l *line) squares() blas64.General {
	c := l.columns
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
				if l.weights != nil {
					v *= l.weights[i]
				}
				sum += v
			}
			g.Data[a*g.Stride+b], g.Data[b*g.Stride+a] = sum, sum
		}
	}
	return g
}

// fewColumns is how many columns are squared faster one by one than by a product of matrices.
const fewColumns = 4

func (l *line) sums(origin, period float64, m int) (fourier.Moments, blas64.General) {
	points := fourier.NewPoints(l.t, origin, period)
	var moments fourier.Moments
	if l.weights == nil {
		moments = points.Moments(2*m, featureTolerance)
	} else {
		t := dense.New(2*(2*m+1), 1)
		points.Sums(t, dense.AsColumn(l.weights), 0, featureTolerance)
		moments = t.Data
	}
	sums := dense.New(2*(m+1), l.columns.Cols)
	points.Sums(sums, l.weighted(), 0, featureTolerance)
	return moments, sums
}

// windowRoom is how much longer than twice the range the period must be for a window to
// fall in it, relative to the range.
const windowRoom = 0.04

// least is the smallest sum of coefficients, relative to the variance, at which a series
// may be cut off. With a window it is ten times the total rounding of the coefficients:
// even if that is above the requested tolerance, there may be no other engine to take
// over.
func (c circle) least(span float64, k Kernel) float64 {
	const images, window = 1e-14, 1e-13
	if reach(k, images) <= c.period-span {
		return images
	}
	const rounding = 1e-16 // of a coefficient
	return max(window, rounding*bandwidth(k, window)*c.period)
}

// MaxSumsProjections is the largest number of projections of Sums, and of features that are kept for a dense
// matrix: an evaluation takes some seconds.
const MaxSumsProjections = 4000

// covers reports whether k takes a window on the circle, or why it cannot.
func (c circle) covers(span float64, k Kernel, eps float64) (windowed bool, why reason) {
	if windowed = !(reach(k, eps) <= c.period-span); windowed && c.period < (2+2*windowRoom)*span {
		why = cannot(c.resolves).reason
	}
	return windowed, why
}

// needs returns how many frequencies of the circle k takes, whether by a window, or why
// there are none.
func (c circle) needs(span float64, k Kernel, eps float64) (m float64, windowed bool, why reason) {
	b := bandwidth(k, eps)
	if math.IsInf(b, 0) {
		return 0, false, cannot(noSpectrum).reason
	}
	if windowed, why = c.covers(span, k, eps); why != (reason{}) {
		return 0, windowed, why
	}
	return fourier.Frequencies(span, c.period, b, windowed), windowed, reason{}
}

// frequencies returns how many of the circle k takes, whether by a window, or why k is
// beyond what the sums resolve.
func (c circle) frequencies(span float64, k Kernel, eps float64) (m float64, windowed bool, why reason) {
	if m, windowed, why = c.needs(span, k, eps); why != (reason{}) {
		return m, windowed, why
	}
	if m > float64(c.highest) {
		return m, windowed, reason{c.beyond, m / c.period}
	}
	if p := 2*m - 1; p > MaxSumsProjections {
		return m, windowed, reason{"it would take a dense matrix of %.0f features, and 4000 are the most: a single SE needs none, and longer lengthscales fewer", p}
	}
	return m, windowed, reason{}
}

// summed is data that an engine reads by sums. It does not change, but for the sums
// that it keeps.
type summed struct {
	observed
	n        int
	lo, span float64
	circles  fourier.Circles
}

// withKnown returns the line of the data if its observations have known errors.
func (d *summed) withKnown() (*line, bool) {
	l, ok := d.observed.(*line)
	return l, ok && l.noise.known != nil
}

// refuses says why sums cannot represent the data: with known errors in addition to a
// learnt noise variance, the weights of the observations change with it.
func (d *summed) refuses() string {
	if _, known := d.withKnown(); known {
		return "observations have errors of their own, and sums over the data would change with the noise variance"
	}
	return ""
}

// averaged returns the noise variance of all observations whose precisions add to those
// of the data, n/Σ(w/σ²): σ² without weights.
func (d *summed) averaged(noise float64) float64 { return noise * float64(d.n) / d.precision() }

func (d *summed) read(o observed) {
	d.observed, d.n = o, o.count()
	d.lo, d.span = o.extent()
}

// grow returns the sums on a circle with frequencies up to m at least. If they have
// to be computed, they reach up to spare. It is a Refusal if only sums are known, and these are too few.
func (d *summed) grow(c *fourier.CircleSums, m, spare int) (*fourier.CircleSums, error) {
	if fixed, ok := d.circle(); ok {
		if spare = fixed.highest; m > spare {
			return nil, &Refusal{Reason: reason{fixed.beyond, float64(m) / fixed.period}.String()}
		}
	}
	return d.circles.Grow(c, m, spare, d.sums), nil
}

// pass returns the time of a pass over the data at the given seconds per observation: 0
// if only their sums are known, since a chooser that counted it would prefer a slower
// engine.
func (d *summed) pass(each float64) (seconds float64) {
	if _, ok := d.circle(); ok {
		return 0
	}
	return float64(d.n) * each
}

const noSpectrum = "its spectrum does not fall, or not in a way that is known"
