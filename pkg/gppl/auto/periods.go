package auto

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/dsp/window"
)

// LikelyPeriods returns up to count periods at which the periodogram of a time
// series without its trend (gppl.Detrend) stands out, the strongest first: at least
// two mean spacings and at most half the range long. A Hann window keeps the rest of
// the trend from leaking into higher frequencies. The vertex of the parabola through
// the logs of a peak and its neighbours locates the peak between the frequencies of the
// grid. It takes O(n log n). It returns none for inputs of several dimensions, none if all x
// are equal, and none where squares of x or y overflow or vanish in float64.
func LikelyPeriods(d gppl.Data, count int) []float64 {
	if count < 0 {
		panic(fmt.Sprintf("gppl: LikelyPeriods: count = %d", count))
	}
	g := newPowerGrid(d)
	if g == nil {
		return nil
	}
	power, length, spacing := g.power, g.length, g.spacing
	type peak struct{ period, power float64 }
	var peaks []peak
	for j := 2; j+1 < len(power); j++ {
		p := length / float64(j)
		if power[j] > power[j-1] && power[j] >= power[j+1] && p <= g.span/2 && p >= 2*spacing {
			peaks = append(peaks, peak{length / (float64(j) + vertex(power[j-1:j+2])), power[j]})
		}
	}
	slices.SortFunc(peaks, func(a, b peak) int { return cmp.Compare(b.power, a.power) })
	var periods []float64
	for _, p := range peaks[:min(count, len(peaks))] {
		if p.power > 0.05*peaks[0].power {
			periods = append(periods, p.period)
		}
	}
	return periods
}

// powerGrid is the power of a time series without its trend, under a Hann window, at the frequencies j/length.
type powerGrid struct {
	power                 []float64
	length, spacing, span float64
}

// newPowerGrid bins the series on a grid of twice as many bins as there are mean spacings, padded to twice its range. It
// returns nil for what is no time series.
func newPowerGrid(d gppl.Data) *powerGrid {
	if d.X.Dim() != 1 || d.Len() < 3 || d.CheckUnits() != nil {
		return nil
	}
	l := newLine(d.X, gppl.Detrend(d).Y)
	if !(l.span() > 0) {
		return nil
	}
	spacing := l.spacing()
	bins := 64
	for float64(bins) < min(2*l.span()/spacing, 1<<15) {
		bins *= 2
	}
	width := l.span() / float64(bins-1)
	mean, n := make([]float64, 2*bins), make([]float64, 2*bins) // padded: peaks of twice as many points
	for i, t := range l.t {
		b := int((t-l.t[0])/width + 0.5)
		mean[b] += l.y[i]
		n[b]++
	}
	for b, c := range n {
		if c > 0 {
			mean[b] /= c
		}
	}
	window.Hann(mean[:bins])
	var power []float64
	for _, c := range fourier.NewFFT(2*bins).Coefficients(nil, mean) {
		power = append(power, real(c)*real(c)+imag(c)*imag(c))
	}
	return &powerGrid{power: power, length: 2 * float64(bins) * width, spacing: spacing, span: l.span()}
}

// vertex returns where, from the middle one, the parabola through the logs of
// three powers has its top, in (−½, ½); 0 if it has none.
func vertex(power []float64) float64 {
	a, b, c := math.Log(power[0]), math.Log(power[1]), math.Log(power[2])
	if math.IsInf(a, 0) || math.IsInf(c, 0) {
		return 0
	}
	return crest(a, b, c)
}

// findPeriods sets the periods of the kernel that are not fixed: of the likely
// ones those at which it fits the autocovariance of the data without their trend
// best. In the autocovariance of the original data, a trend would outweigh any
// periodicity.
func (s *starter) findPeriods(d gppl.Data) {
	likely := LikelyPeriods(d, 6)
	if likely == nil {
		return
	}
	rest := *s // a starter of its own, of which the periods are taken
	rest.theta = slices.Clone(s.theta)
	rest.periods = likely
	rest.match(autocovarianceOf(newLine(d.X, gppl.Detrend(d).Y)))
	for i, p := range s.params {
		if isPeriod(p) && !p.IsFixed() {
			s.theta[i] = rest.theta[i]
		}
	}
}

func isPeriod(p gppl.Param) bool { return p.Role == gppl.RolePeriod }
