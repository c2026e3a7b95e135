package auto

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// lombScargle is the periodogram of irregular times with a floating mean (Zechmeister and Kürster 2009): the part of the
// weighted sum of squares about the mean that a wave and a constant explain,
//
//	P(ξ) = 1 − χ²(ξ)/χ²₀,   worth −½n·log(1 − P) nats to a model that has it,
//
// at frequencies of 1/finer cycles over the range. Irregular times distinguish frequencies far above half the mean sampling rate
// (Eyer and Bartholdi 1999; VanderPlas 2018, section 4.1). The window shows how far above: where |W(ξ)| = 1, W = Σ_i
// w_i·exp(−2πi·ξ·x_i)/Σ_i w_i, all times are whole cycles apart, and a frequency ν is the same as ξ − ν.
type lombScargle struct {
	nats   []float64 // nats at frequency j/(finer·span)
	window []float64 // |W|² at the same frequencies
	span   float64
	last   int // index of the highest frequency that the times resolve
}

const (
	// finer is the number of frequencies in 1/span, the width of a peak; astropy takes 5.
	finer = 5
	// manyCycles is the ratio of the cycles over the range at the highest frequency to n: periods down to a fiftieth of the
	// mean spacing. More frequencies make chance peaks higher.
	manyCycles = 50
	// manyFrequencies bounds the number of frequencies, and so the cost to a tenth of a second.
	manyFrequencies = 1 << 19
	// leastReach is the least ratio of the highest frequency to half the mean sampling rate, which other periodograms reach.
	// Beyond 175 000 times manyFrequencies keeps the ratio below it.
	leastReach = 1.2
	// latticeWindow is |W|² from which times count as even. A grid whose jitter has a standard deviation of a twentieth of its
	// step reaches it; months in decimal years have less jitter. Little more than convention then distinguishes a frequency
	// from its mirror image.
	latticeWindow = 0.9
)

// newLombScargle computes two transforms in O(n + m log m), or in O(nm/2¹⁵ + m) if the number of frequencies m exceeds 8n. It
// returns nil if the data are no time series, or if the highest frequency is less than leastReach times half of 1/spacing.
func newLombScargle(ctx context.Context, d gppl.Data, spacing float64) *lombScargle {
	if d.X.Dim() != 1 || d.Len() < 8 {
		return nil
	}
	parallel.Look(ctx)
	t := newLine(d.X, nil).t
	n := len(t)
	s := &lombScargle{span: t[n-1] - t[0]}
	cycles := min(float64(manyCycles*n), manyFrequencies/finer)
	if step := evenStep(t); step > 0 {
		cycles = min(cycles, s.span/(2*step))
	}
	if !(s.span > 0) || !(cycles > leastReach*s.span/(2*spacing)) {
		return nil
	}
	s.last = int(finer * cycles)
	least := leastReach * finer * s.span / (2 * spacing)
	weights := dense.New(n, 2) // w and w·(y − ȳ), Σw = 1
	var sum, mean, all float64
	for i, w := range weightsOf(d) {
		weights.Data[2*i] = w
		sum += w
		mean += w * d.Y[i]
	}
	mean /= sum
	for i := range n {
		weights.Data[2*i] /= sum
		y := d.Y[i] - mean
		weights.Data[2*i+1] = weights.Data[2*i] * y
		all += weights.Data[2*i+1] * y
	}
	const tolerance = 1e-9
	only := dense.New(n, 1)
	for i := range n {
		only.Data[i] = weights.Data[2*i]
	}
	parallel.Look(ctx)
	var both parallel.Group
	sums := func(dst, w blas64.General, period float64) {
		points := fourier.NewPoints(d.X.Coordinate(0), t[0], period)
		points.Ctx = ctx
		points.Sums(dst, w, 0, tolerance)
	}
	// The window of nearly even times repeats at low frequencies, and nothing else is then needed.
	early := dense.New(2*(min(2*int(least)+1, s.last)+1), 1)
	sums(early, only, finer*s.span)
	s.window = make([]float64, early.Rows/2)
	for j := range s.window {
		s.window[j] = early.Data[2*j]*early.Data[2*j] + early.Data[2*j+1]*early.Data[2*j+1]
	}
	if s.repeats(spacing) < len(s.window) {
		return nil
	}
	parallel.Look(ctx)
	first, second := dense.New(2*(s.last+1), 2), dense.New(2*(s.last+1), 1)
	both.Go(func() { sums(first, weights, finer*s.span) })
	both.Go(func() { sums(second, only, finer*s.span/2) }) // up to twice the highest frequency
	both.Wait()
	parallel.Look(ctx)
	s.nats, s.window = make([]float64, s.last+1), make([]float64, s.last+1)
	for j := range s.nats {
		c, yc := first.Data[4*j], first.Data[4*j+1]
		sn, ys := first.Data[4*j+2], first.Data[4*j+3]
		c2, s2 := second.Data[2*j], second.Data[2*j+1]
		s.window[j] = c*c + sn*sn
		cc, ss, cs := 0.5*(1+c2)-c*c, 0.5*(1-c2)-sn*sn, 0.5*s2-c*sn
		const known = 1e-4 // least determinant; it is ¼ where the times show the whole wave
		if det := cc*ss - cs*cs; det > known && all > 0 {
			p := (ss*yc*yc + cc*ys*ys - 2*cs*yc*ys) / (det * all)
			s.nats[j] = -0.5 * float64(n) * math.Log1p(-min(max(p, 0), 1-1e-12))
		}
	}
	if j := s.repeats(spacing); j < len(s.window) {
		s.last = j / 2
	}
	if float64(s.last) <= least {
		return nil
	}
	s.nats, s.window = s.nats[:s.last+1], s.window[:min(len(s.window), 2*s.last+1)]
	return s
}

// repeats returns the first frequency, from the mean sampling rate on, at which the window repeats; the length of the window if
// there is none.
func (s *lombScargle) repeats(spacing float64) int {
	for j := int(0.5 * finer * s.span / spacing); j < len(s.window); j++ {
		if s.window[j] >= latticeWindow {
			return j
		}
	}
	return len(s.window)
}

// weightsOf returns the inverse of the known part of each observation's variance. With known errors this is their variance
// plus as much noise on average.
func weightsOf(d gppl.Data) []float64 {
	weights := make([]float64, d.Len())
	var mean float64
	for _, s := range d.Errors {
		mean += s * s / float64(len(weights))
	}
	for i := range weights {
		v := 1.0
		if d.Relative != nil {
			v = d.Relative[i] * d.Relative[i]
		}
		if mean > 0 {
			v += d.Errors[i] * d.Errors[i] / mean
		}
		weights[i] = 1 / v
	}
	return weights
}

// evenStep returns the step of the sorted times if all of them lie on an even grid to a hundredth of its step, else 0.
func evenStep(t []float64) float64 {
	step := math.Inf(1)
	for i, v := range t[1:] {
		if v > t[i] {
			step = min(step, v-t[i])
		}
	}
	span := t[len(t)-1] - t[0]
	count := math.Round(span / step)
	if !(count >= 1) || math.IsInf(count, 0) {
		return 0
	}
	step = span / count
	for _, v := range t {
		if q := (v - t[0]) / step; math.Abs(q-math.Round(q)) > 0.01 {
			return 0
		}
	}
	return step
}

// shortest returns the period of the highest frequency.
func (s *lombScargle) shortest() float64 { return finer * s.span / float64(s.last) }

// chance returns about the nats of the highest peak of white noise, which has as many independent frequencies as there are
// cycles.
func (s *lombScargle) chance() float64 { return math.Log(float64(s.last) / finer) }

// worth returns the nats of the frequency of a period.
func (s *lombScargle) worth(period float64) float64 {
	j := int(math.Round(finer * s.span / period))
	if j < 1 || j > s.last {
		return 0
	}
	return slices.Max(s.nats[j-1 : min(j+2, len(s.nats))])
}

// peaks returns the periods of up to count peaks, and of up to three combs for each of several numbers of harmonics, strongest
// first. Each exceeds what chance explains by above nats.
func (s *lombScargle) peaks(count int, above float64) (periods []float64) {
	type peak struct{ frequency, nats float64 }
	const chanceOf = 1 // nats of a frequency of white noise, on average
	top := func(found []peak, count int) {
		slices.SortStableFunc(found, func(a, b peak) int { return cmp.Compare(b.nats, a.nats) })
		for _, p := range found {
			if count == 0 {
				return
			}
			if !slices.ContainsFunc(periods, func(q float64) bool { return math.Abs(finer*s.span/q-p.frequency) < 0.25*finer }) {
				periods = append(periods, finer*s.span/p.frequency)
				count--
			}
		}
	}
	for _, harmonics := range []int{1, 2, 3, 5, 8} {
		fine, most := 1, count
		if harmonics > 1 { // the fundamental needs a grid on which its harmonics move by less than a peak
			fine, most = 4, 3
		}
		end := fine * s.last / harmonics
		score := func(j int) (sum float64) {
			for h := 1; h <= harmonics; h++ {
				sum += s.nats[min((2*j*h+fine)/(2*fine), s.last)] - chanceOf
			}
			return sum
		}
		// The sum of h frequencies of white noise has a longer tail than one of them, by about √h.
		least := s.chance() + above + math.Sqrt(float64(harmonics)) - 1
		var found []peak
		before, here := 0.0, score(fine*finer)
		for j := fine * finer; j < end; j++ {
			next := score(j + 1)
			if here > least && here > before && here >= next {
				found = append(found, peak{(float64(j) + crest(before, here, next)) / float64(fine), here})
			}
			before, here = here, next
		}
		top(found, most)
	}
	return periods
}

// aliases returns up to count periods that the times hardly distinguish from the given one, the likeliest first: the
// frequencies that differ from it, or from its mirror image, by one at which the window is high, and the strongest peaks of
// the periodogram itself.
func (s *lombScargle) aliases(period float64, count int) (periods []float64) {
	own := finer * s.span / period
	type peak struct {
		j    int
		nats float64
	}
	var found []peak
	for j := 2; j+1 < len(s.nats); j++ {
		if v := s.nats[j]; v > s.chance() && v > s.nats[j-1] && v >= s.nats[j+1] && math.Abs(float64(j)-own) > finer {
			found = append(found, peak{j, v})
		}
	}
	const high = 0.1
	for j := finer; j+1 < len(s.window); j++ {
		if w := s.window[j]; w > high && w > s.window[j-1] && w >= s.window[j+1] {
			for _, f := range []float64{math.Abs(own - float64(j)), own + float64(j)} {
				if i := int(math.Round(f)); i > 1 && i+1 < len(s.nats) {
					found = append(found, peak{i, s.worth(finer * s.span / f)})
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b peak) int { return cmp.Compare(b.nats, a.nats) })
	for _, p := range found {
		if len(periods) == count {
			break
		}
		of := finer * s.span / (float64(p.j) + crest(s.nats[p.j-1], s.nats[p.j], s.nats[p.j+1]))
		if isNew(of, periods, s.span, 1) {
			periods = append(periods, of)
		}
	}
	return periods
}

// crest returns the place of the vertex of the parabola through three values, relative to the middle one, in (−½, ½); 0 if it
// has no maximum.
func crest(a, b, c float64) float64 {
	if bend := a - 2*b + c; bend < 0 {
		return min(max(0.5*(a-c)/bend, -0.5), 0.5)
	}
	return 0
}
