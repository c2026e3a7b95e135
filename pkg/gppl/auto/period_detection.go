package auto

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/dsp/window"
)

// LikelyPeriods returns up to count periods at which the periodogram of a time series without its trend (gppl.Data.Detrend)
// stands out, the strongest first: at least two mean spacings and at most half the range long. A Hann window keeps the rest of
// the trend from leaking into higher frequencies. The vertex of the parabola through the logs of a peak and its neighbours
// locates the peak between the frequencies of the grid. It takes O(n log n). It returns none for inputs of several dimensions,
// none if all x are equal, and none where squares of x or y overflow or vanish in float64.
func LikelyPeriods(ctx context.Context, d gppl.Data, count int) (periods []float64, err error) {
	defer parallel.Stopped(&err)
	if count < 0 {
		panic(fmt.Sprintf("gppl: LikelyPeriods: count = %d", count))
	}
	return newPowerGrid(ctx, d).likely(count), nil
}

// likely returns LikelyPeriods.
func (g *powerGrid) likely(count int) []float64 {
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

// ClearPeriods returns up to count of the six likeliest periods: those that noise of any colour does not explain. Their power is
// compared with the median of the powers at half to one and a half times their frequency; noise reaches such a ratio, at any
// frequency, with a probability of at most 5 %. Harmonics of likelier periods are left out. It takes O(n log n), and returns none
// where LikelyPeriods does.
func ClearPeriods(ctx context.Context, d gppl.Data, count int) (periods []float64, err error) {
	defer parallel.Stopped(&err)
	return newPowerGrid(ctx, d).clear(count), nil
}

// clear returns ClearPeriods.
func (g *powerGrid) clear(count int) (periods []float64) {
	const (
		likeliest = 6
		level     = 0.05
		lobe      = 4 // half the width of a peak under a Hann window, on a grid of twice the range
		fewest    = 8 // least number of powers for a median
	)
	for _, period := range g.likely(likeliest) {
		j := int(math.Round(g.length / period))
		var around []float64
		for i := (j + 1) / 2; i <= min(j+j/2, len(g.power)-1); i++ {
			if i < j-lobe || i > j+lobe {
				around = append(around, g.power[i])
			}
		}
		if len(around) < fewest {
			continue
		}
		slices.Sort(around)
		mean := around[len(around)/2] / math.Ln2 // mean power of noise, which has an exponential distribution
		frequencies := g.length / (2 * g.spacing)
		harmonic := slices.ContainsFunc(periods, func(of float64) bool {
			cycles := of / period
			return math.Round(cycles) >= 1 && math.Abs(cycles-math.Round(cycles)) < period/g.span
		})
		if g.power[j] > mean*math.Log(frequencies/level) && len(periods) < count && !harmonic {
			periods = append(periods, period)
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
// returns nil if the data are no time series.
func newPowerGrid(ctx context.Context, d gppl.Data) *powerGrid {
	parallel.Look(ctx)
	if d.X.Dim() != 1 || d.Len() < 3 || d.CheckUnits() != nil {
		return nil
	}
	y := d.Detrend().Y
	parallel.Look(ctx)
	l := newLine(d.X, y)
	if !(l.span() > 0) {
		return nil
	}
	parallel.Look(ctx)
	spacing := l.spacing()
	parallel.Look(ctx)
	bins := 64
	for float64(bins) < min(2*l.span()/spacing, 1<<15) {
		bins *= 2
	}
	mean, n, width := l.binned(bins) // the padding gives peaks twice as many points
	for b, c := range n {
		if c > 0 {
			mean[b] /= c
		}
	}
	parallel.Look(ctx)
	window.Hann(mean[:bins])
	var power []float64
	for _, c := range fourier.NewFFT(2*bins).Coefficients(nil, mean) {
		power = append(power, real(c)*real(c)+imag(c)*imag(c))
	}
	return &powerGrid{power: power, length: 2 * float64(bins) * width, spacing: spacing, span: l.span()}
}

// vertex returns the place of the vertex of the parabola through the logs of three powers, relative to the middle one, in (−½,
// ½); 0 if it has no maximum.
func vertex(power []float64) float64 {
	a, b, c := math.Log(power[0]), math.Log(power[1]), math.Log(power[2])
	if math.IsInf(a, 0) || math.IsInf(c, 0) {
		return 0
	}
	return crest(a, b, c)
}

// findPeriods sets the trained periods of the kernel to those likely periods at which it fits the autocovariance of the
// detrended data best. In the autocovariance of the original data, a trend would outweigh any periodicity.
func (s *starter) findPeriods(ctx context.Context, d gppl.Data) {
	likely := newPowerGrid(ctx, d).likely(6)
	if likely == nil {
		return
	}
	rest := *s // a starter of its own, whose periods are set in turn
	rest.theta = slices.Clone(s.theta)
	rest.periods = likely
	y := d.Detrend().Y
	parallel.Look(ctx)
	rest.match(autocovarianceOf(ctx, newLine(d.X, y)))
	for i, p := range s.params {
		if isTrainedPeriod(p) {
			s.theta[i] = rest.theta[i]
		}
	}
}

func isPeriod(p gppl.Param) bool { return p.Role == gppl.RolePeriod }

// isNew reports whether a period differs from each of those known by so many cycles over a span.
func isNew(period float64, known []float64, span, cycles float64) bool {
	return !slices.ContainsFunc(known, func(p float64) bool { return math.Abs(span/period-span/p) < cycles })
}

func isTrainedPeriod(p gppl.Param) bool { return isPeriod(p) && !p.IsFixed() }

// isTrainedLength reports whether p is in the unit of x, trained and no period.
func isTrainedLength(p gppl.Param) bool { return p.Unit == gppl.UnitX && !isPeriod(p) && !p.IsFixed() }

// searchFast puts the peaks of the periodogram of irregular times in front of the periods if one of them is shorter than
// twice the mean spacing.
func (s *scales) searchFast(ctx context.Context, d gppl.Data, spacing float64) {
	const above = 3 // nats above the highest peak of white noise: one series of noise in twenty reaches as much
	rest := d
	rest.Y = d.Detrend().Y
	power := newLombScargle(ctx, rest, spacing)
	if power == nil {
		return
	}
	s.searched = min(s.searched, power.shortest())
	peaks := power.peaks(6, above)
	if len(peaks) == 0 || slices.Min(peaks) >= s.shortest {
		return
	}
	s.irregular, s.shortest = power, s.searched
	slow := s.periods
	s.periods = nil
	for _, list := range [][]float64{peaks[:min(2, len(peaks))], multiples(peaks), peaks, slow} {
		for _, p := range list {
			if p > s.shortest && p < s.longest && len(s.periods) < likeliest && isNew(p, s.periods, s.longest, drift) {
				s.periods = append(s.periods, p)
			}
		}
	}
}

// drift is the largest difference of two periods that count as one start, in cycles over the range.
const drift = 0.25

// multiples returns twice, three times and half the first peak's period: periods at whose harmonics it may be the strongest
// peak.
func multiples(peaks []float64) []float64 {
	return []float64{2 * peaks[0], 3 * peaks[0], peaks[0] / 2}
}

// likely returns the periods to try: the peaks of the periodogram with their doubles and halves, the fundamentals whose
// harmonics together stand out, and the range.
func (s scales) likely(ctx context.Context, d gppl.Data) (periods []float64) {
	add := func(p float64) {
		p = min(max(p, s.shortest), s.longest)
		if len(periods) < likeliest && isNew(p, periods, s.longest, drift) {
			periods = append(periods, p)
		}
	}
	peaks := newPowerGrid(ctx, d).likely(6)
	for _, p := range peaks[:min(3, len(peaks))] {
		add(p)
		add(2 * p)
		add(p / 2)
	}
	for _, p := range harmonicPeriods(ctx, d) {
		add(p)
	}
	for _, p := range peaks {
		add(p)
		add(2 * p)
	}
	add(s.longest)
	add(s.longest / 2)
	for _, p := range octavesOf(s.shortest, s.longest) { // a fallback for data whose periodogram shows nothing
		add(p)
	}
	return periods
}

// harmonicPeriods returns the periods whose first H harmonics together stand out most of the periodogram, for several H: a
// periodicity with many harmonics need not show in any single peak, and two periodicities show together as harmonics of a
// longer one. A frequency at P times the median power is worth P − 1 − log P nats to a model that has it (Whittle); the mean
// over all frequencies is subtracted.
func harmonicPeriods(ctx context.Context, d gppl.Data) (periods []float64) {
	g := newPowerGrid(ctx, d)
	if g == nil {
		return nil
	}
	first, last := 2, min(len(g.power)-1, int(g.length/(2*g.spacing)))
	if last < 8 {
		return nil
	}
	sorted := slices.Clone(g.power[first : last+1])
	slices.Sort(sorted)
	median := sorted[len(sorted)/2]
	if !(median > 0) {
		return nil
	}
	worth := make([]float64, last+1)
	var mean float64
	for j := first; j <= last; j++ {
		if p := g.power[j] / median; p > 1 {
			worth[j] = min(p-1-math.Log(p), 1e3)
			mean += worth[j] / float64(last-first+1)
		}
	}
	type comb struct{ period, score float64 }
	for _, harmonics := range []int{1, 2, 3, 5, 8, 12} {
		const finer = 4 // steps of the fundamental per peak, so that harmonics move by less than a peak
		scores := make([]float64, finer*last/harmonics+1)
		for j := finer * first; j < len(scores); j++ {
			for h := 1; h <= harmonics; h++ {
				scores[j] += worth[(j*h+finer/2)/finer] - mean
			}
		}
		var combs []comb
		for j := finer * first; j+1 < len(scores); j++ {
			if scores[j] > 0 && scores[j] >= scores[j-1] && scores[j] > scores[j+1] {
				combs = append(combs, comb{g.length * finer / float64(j), scores[j]})
			}
		}
		slices.SortFunc(combs, func(a, b comb) int { return cmp.Compare(b.score, a.score) })
		for _, c := range combs[:min(3, len(combs))] {
			periods = append(periods, c.period)
		}
	}
	return periods
}
