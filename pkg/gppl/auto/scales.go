package auto

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/ends"

	"gonum.org/v1/gonum/floats"
)

// scales holds the values that a search tries for the parameters of a kernel: every octave of lengthscales between the spacing
// of x and its range, and every period that stands out of the periodogram.
type scales struct {
	lengthscales []float64
	periods      []float64    // most likely first; nil unless x is a time series
	shortest     float64      // shortest period: twice the mean spacing, or less if irregular times show a shorter one
	longest      float64      // longest period: the range
	searched     float64      // the shortest period that a periodogram showed
	irregular    *lombScargle // unless nil, it shows periods shorter than twice the mean spacing
}

// octaves is the largest number of lengthscales to try, likeliest the largest number of periods.
const (
	octaves   = 20
	likeliest = 24
)

// newScales reads the scales off the data. Lengthscales begin at half the mean spacing, or lower where a tenth of the
// neighbours are closer than that.
func newScales(ctx context.Context, d gppl.Data, withPeriods bool) scales {
	if d.X.Dim() != 1 {
		extent := extentOf(d.X)
		return scales{lengthscales: octavesOf(extent/128, 2*extent)}
	}
	parallel.Look(ctx)
	l := newLine(d.X, nil)
	if !(l.span() > 0) {
		return scales{}
	}
	parallel.Look(ctx)
	spacing := l.spacing()
	parallel.Look(ctx)
	var gaps []float64
	for i, t := range l.t[1:] {
		if t > l.t[i] {
			gaps = append(gaps, t-l.t[i])
		}
	}
	slices.Sort(gaps)
	least := max(min(spacing/2, 2*gaps[len(gaps)/10]), 1e-7*l.span())
	s := scales{lengthscales: octavesOf(least, l.span()), shortest: 2 * spacing, longest: l.span()}
	if withPeriods && s.shortest < s.longest {
		s.periods, s.searched = s.likely(ctx, d), s.shortest
		s.searchFast(ctx, d, spacing)
	}
	return s
}

// extentOf returns the largest range of the inputs over their dimensions.
func extentOf(x gppl.Inputs) (extent float64) {
	for j := range x.Dim() {
		lo, hi := x.Range(j)
		extent = max(extent, hi-lo)
	}
	return extent
}

// allow reports whether a period is within the shortest and the longest.
func (s scales) allow(period float64) bool { return period >= s.shortest && period <= s.longest }

// octavesOf returns values from lo to hi in steps of a factor of two, or of a larger factor if there would be too many.
func octavesOf(lo, hi float64) []float64 {
	if !(lo > 0) || !(lo < hi) {
		return nil
	}
	count := min(octaves, 2+int(math.Log2(hi/lo)))
	return floats.LogSpan(make([]float64, count), lo, hi)
}

// interval is the transform of a scale confined to [lo, hi]: logistic in log θ.
type interval struct{ lo, hi float64 }

func (b interval) Natural(u float64) float64 {
	return b.lo * math.Pow(b.hi/b.lo, 1/(1+math.Exp(-u)))
}

func (b interval) Raw(theta float64) float64 {
	s := math.Log(theta/b.lo) / math.Log(b.hi/b.lo)
	return math.Log(s / (1 - s))
}

func (b interval) Slope(u float64) float64 {
	e := math.Exp(-math.Abs(u))
	return b.Natural(u) * math.Log(b.hi/b.lo) * e / ((1 + e) * (1 + e))
}

func (b interval) String() string { return fmt.Sprintf("%.3g to %.3g", b.lo, b.hi) }

// inside moves theta into the interval, away from its ends by a hundredth of its logarithmic length.
func (b interval) inside(theta float64) float64 {
	margin := math.Pow(b.hi/b.lo, 0.01)
	return min(max(theta, b.lo*margin), b.hi/margin)
}

// atEnd reports whether p is at an end of its interval.
func atEnd(p gppl.Param) bool {
	b, kept := p.Transform.(interval)
	return kept && p.Value != b.inside(p.Value)
}

// limit returns m with its periods confined to the range from the shortest to the longest, except periods with a transform of
// their own.
func (s scales) limit(m gppl.Model) gppl.Model {
	var within transform.Transform = interval{s.shortest, s.longest}
	if s.irregular != nil {
		within = transform.Cycles{Span: s.longest}
	}
	for _, p := range m.Params() {
		if isPeriod(p) && (p.Transform == nil || p.Transform == transform.Log{}) {
			m = m.WithTransform(p.Name, within)
		}
	}
	return m
}

// reachable returns the value nearest to theta that keeps a distance from the ends of the transform of p: a thousandth above a
// floor, and a hundredth of the way inside an interval, measured in the logarithm if it is positive.
func reachable(p gppl.Param, theta float64) float64 {
	if p.Transform == nil || p.IsFixed() {
		return theta
	}
	lo, hi := ends.Of(p.Transform.Natural)
	const above, within = 1.001, 0.01
	switch {
	case math.IsInf(hi, 1):
		if lo > 0 {
			return max(theta, above*lo)
		}
	case lo > 0:
		return interval{lo, hi}.inside(theta)
	case p.IsScale():
		return min(theta, (1-within)*hi)
	case !math.IsInf(lo, -1):
		return min(max(theta, lo+within*(hi-lo)), hi-within*(hi-lo))
	}
	return theta
}

// inside returns m with its parameters moved into the ranges of their transforms.
func (s scales) inside(m gppl.Model) gppl.Model {
	theta := m.Values()
	for i, p := range m.Params() {
		switch t := p.Transform.(type) {
		case interval:
			theta[i] = t.inside(theta[i])
		case transform.Cycles:
			theta[i] = min(max(theta[i], s.shortest), t.Span/1.01)
		default:
			theta[i] = reachable(p, theta[i])
		}
	}
	return m.WithParams(theta)
}
