package auto

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl"

	"gonum.org/v1/gonum/floats"
)

// scales are the values that a search tries for the parameters of a kernel: every octave of lengthscales between the
// spacing of x and its range, and every period that stands out of the periodogram.
type scales struct {
	lengthscales []float64
	periods      []float64    // most likely first; nil unless x is a time series
	shortest     float64      // period: twice the mean spacing, or shorter if irregular times show one below
	longest      float64      // period: the range
	searched     float64      // the shortest period that a periodogram showed
	irregular    *lombScargle // unless nil, shorter periods than twice the mean spacing stand out of it
}

// octaves is the largest number of lengthscales that are tried, and likeliest that of periods.
const (
	octaves   = 20
	likeliest = 24
)

// newScales reads the scales off the data. Lengthscales begin at half the mean spacing, or lower where a tenth of the
// neighbours are closer than that.
func newScales(d gppl.Data, withPeriods bool) scales {
	if d.X.Dim() != 1 {
		var extent float64
		for j := range d.X.Dim() {
			lo, hi := d.X.Range(j)
			extent = max(extent, hi-lo)
		}
		return scales{lengthscales: octavesOf(extent/128, 2*extent)}
	}
	l := newLine(d.X, nil)
	if !(l.span() > 0) {
		return scales{}
	}
	spacing := l.spacing()
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
		s.periods, s.searched = s.likely(d), s.shortest
		s.searchFast(d, spacing)
	}
	return s
}

// searchFast puts the peaks of the periodogram of irregular times in front of the periods if one of them is shorter than
// twice the mean spacing.
func (s *scales) searchFast(d gppl.Data, spacing float64) {
	const above = 3 // nats above the highest peak of white noise: one series of noise in twenty has as much
	rest := d
	rest.Y = gppl.Detrend(d).Y
	power := newLombScargle(rest, spacing)
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
			if p > s.shortest && p < s.longest && len(s.periods) < likeliest && !slices.ContainsFunc(s.periods, func(q float64) bool {
				return math.Abs(s.longest/p-s.longest/q) < 0.25
			}) {
				s.periods = append(s.periods, p)
			}
		}
	}
}

// multiples returns what a period of several harmonics may be whose strongest peak is the first of the periods.
func multiples(peaks []float64) []float64 {
	return []float64{2 * peaks[0], 3 * peaks[0], peaks[0] / 2}
}

// octavesOf returns values from lo to hi, a factor of two apart, or more if these would be too many.
func octavesOf(lo, hi float64) []float64 {
	if !(lo > 0) || !(lo < hi) {
		return nil
	}
	count := min(octaves, 2+int(math.Log2(hi/lo)))
	return floats.LogSpan(make([]float64, count), lo, hi)
}

// likely returns the periods worth trying: the peaks of the periodogram with their doubles and halves, the fundamentals
// whose harmonics together stand out, and the range.
func (s scales) likely(d gppl.Data) (periods []float64) {
	add := func(p float64) {
		p = min(max(p, s.shortest), s.longest)
		// Two periods are the same start if they drift apart by less than a quarter of a cycle over the range.
		if len(periods) < likeliest && !slices.ContainsFunc(periods, func(q float64) bool {
			return math.Abs(s.longest/p-s.longest/q) < 0.25
		}) {
			periods = append(periods, p)
		}
	}
	peaks := LikelyPeriods(d, 6)
	for _, p := range peaks[:min(3, len(peaks))] {
		add(p)
		add(2 * p)
		add(p / 2)
	}
	for _, p := range harmonicPeriods(d) {
		add(p)
	}
	for _, p := range peaks {
		add(p)
		add(2 * p)
	}
	add(s.longest)
	add(s.longest / 2)
	for _, p := range octavesOf(s.shortest, s.longest) { // in case that the periodogram shows nothing
		add(p)
	}
	return periods
}

// harmonicPeriods returns the periods whose first H harmonics together stand out most of the periodogram, for several H:
// a periodicity with many harmonics need not show in any single peak, and two periodicities show together as harmonics
// of a longer one. A frequency at P times the median power is worth P − 1 − log P nats to a model that has it (Whittle),
// less the mean of that over all frequencies.
func harmonicPeriods(d gppl.Data) (periods []float64) {
	g := newPowerGrid(d)
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
		const finer = 4 // steps of the fundamental, for its harmonics to move by less than a peak
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

// interval is the transform of a scale that may not leave [lo, hi]: logistic in log θ.
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

// inside moves theta into the interval, off its ends by a hundredth of its logarithm.
func (b interval) inside(theta float64) float64 {
	margin := math.Pow(b.hi/b.lo, 0.01)
	return min(max(theta, b.lo*margin), b.hi/margin)
}

// atEnd reports whether p is at an end of the interval that it is kept within.
func atEnd(p gppl.Param) bool {
	b, kept := p.Transform.(interval)
	return kept && p.Value != b.inside(p.Value)
}

// limit returns m with its periods trained within the shortest and the longest, but for those that have a transform of
// their own.
func (s scales) limit(m gppl.Model) gppl.Model {
	var within gppl.Transform = interval{s.shortest, s.longest}
	if s.irregular != nil {
		within = gppl.Cycles{Span: s.longest}
	}
	for _, p := range m.Params() {
		if isPeriod(p) && (p.Transform == nil || p.Transform == gppl.Log{}) {
			m = m.WithTransform(p.Name, within)
		}
	}
	return m
}

// inside returns m with its parameters moved to where their transforms reach.
func (s scales) inside(m gppl.Model) gppl.Model {
	theta := m.Values()
	for i, p := range m.Params() {
		switch t := p.Transform.(type) {
		case interval:
			theta[i] = t.inside(theta[i])
		case gppl.Cycles:
			theta[i] = min(max(theta[i], s.shortest), t.Span/1.01)
		case gppl.Softplus:
			theta[i] = max(theta[i], 1.001*t.Floor)
		}
	}
	return m.WithParams(theta)
}
