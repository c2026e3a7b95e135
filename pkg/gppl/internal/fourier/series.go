package fourier

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/dense"
)

// Even is an even function with parameters, defined by its values at distances r.
type Even interface {
	Cov(dst, r []float64)          // sets dst to the values at r; dst may be r
	Contract(grad, w, r []float64) // adds Σ_i w_i·∂(value at r_i) to grad, an entry for each parameter
}

// Series expands an even function in cosines that represent it at all distances up to a span:
//
//	k(τ) = Σ_m c_m·cos(2πmτ/P),  0 ≤ τ ≤ span.
//
// A function that is negligible beyond a reach ρ is summed over its periodic images, P ≥ span + ρ: the coefficients are
// samples of its spectral density. Any other function is multiplied by a window that is 1 up to the span and falls smoothly to
// 0 at P/2. The coefficients come from samples by a cosine transform, which is its own adjoint: gradients pass back through it
// and are then contracted with the derivatives at the samples.
type Series struct {
	Period float64
	C      []float64 // coefficients of the last Expand

	span      float64
	windowed  bool
	all       []*sampling // all[i] takes leastSamples·2^i samples; nil until needed
	*sampling             // the one of the last Expand
	g, w      []float64   // samples, and derivatives in them
}

// sampling holds the places where a function is sampled.
type sampling struct {
	plan        *Cosine
	window      []float64 // window at the samples; nil for a sum of images
	tau, mirror []float64 // τ_j = jP/N and P − τ_j, j = 0 … N/2
}

// leastSamples and maxSamples bound N/2.
const leastSamples, maxSamples = 1 << 8, 1 << 18

// ChoosePeriod returns the period for a function that is negligible beyond reach and above the frequency band, and whether it
// needs a window. Images keep coefficients positive, which justifies more frequencies, but not without limit. ok is false if
// the span is 0 and the reach infinite.
func ChoosePeriod(span, reach, band float64, images bool) (period float64, windowed, ok bool) {
	limit := 1.2 * span
	if images {
		limit = 8 * span
	}
	switch {
	case reach < limit || span == 0 && !math.IsInf(reach, 0):
		return span + 1.4*reach, false, true // margin for a longer reach
	case span == 0:
		return 0, false, false
	}
	// A narrower fall has more frequencies itself: it is as narrow as the frequencies of the function allow.
	fall := 20 / (band * span)
	return 2 * span * (1 + max(narrowestFall, min(widestFall, fall))), true, true
}

// SharedPeriod returns the next longer of a few periods for the span (Ladder), so that kernels that differ a little share one.
// The given period is the one that ChoosePeriod returns for the reach.
func SharedPeriod(span, reach, period float64, windowed bool) float64 {
	switch {
	case span == 0:
		return period
	case windowed:
		fall := period/(2*span) - 1
		return 2 * span * (1 + min(widestFall, narrowestFall*Ladder(max(1, fall/narrowestFall), 1)))
	}
	return span * (1 + Ladder(max(leastReach, reach/span), 2))
}

const (
	// leastReach is the least reach, in spans, for which a period has space: shorter ones share it, at the cost of three in a
	// hundred frequencies more.
	leastReach = 1. / 32
	// narrowestFall and widestFall bound the fall of a window, in spans.
	narrowestFall, widestFall = 0.04, 0.1
)

// Frequencies estimates the number of frequencies in the series of a function with frequencies up to band.
func Frequencies(span, period, band float64, windowed bool) float64 {
	if windowed {
		band += 30 / (period - 2*span) // the window spreads the spectrum by this much
	}
	return math.Ceil(band*period) + 1
}

// NewSeries returns a series of the given period, with or without a window.
func NewSeries(span, period float64, windowed bool) *Series {
	return &Series{span: span, Period: period, windowed: windowed}
}

// Windowed reports whether a window cuts the function.
func (s *Series) Windowed() bool { return s.windowed }

// resample takes leastSamples·2^i + 1 samples in half a period.
func (s *Series) resample(i int) {
	n := leastSamples << i
	if missing := i + 1 - len(s.all); missing > 0 {
		s.all = append(s.all, make([]*sampling, missing)...)
	}
	if s.all[i] == nil {
		s.all[i] = s.newSampling(n)
	}
	s.sampling = s.all[i]
	s.g, s.C, s.w = dense.Resize(s.g, n+1), dense.Resize(s.C, n+1), dense.Resize(s.w, n+1)
}

// newSampling returns the places of n+1 samples in half a period.
func (s *Series) newSampling(n int) *sampling {
	g := &sampling{plan: NewCosine(2 * n), tau: make([]float64, n+1)}
	for j := range g.tau {
		g.tau[j] = s.Period * float64(j) / float64(2*n)
	}
	if !s.windowed {
		g.mirror = make([]float64, n+1)
		for j := range g.mirror {
			g.mirror[j] = s.Period - g.tau[j]
		}
		return g
	}
	// erfc falls from 2 to 0 within rounding between −6 and 6.
	g.window = make([]float64, n+1)
	for j, t := range g.tau {
		g.window[j] = 0.5 * math.Erfc(12*((t-s.span)/(0.5*s.Period-s.span)-0.5))
	}
	return g
}

// transform sets dst to the coefficients of the function with the given values, and samples to the values. It returns the
// value at 0.
func (s *Series) transform(dst, samples []float64, values func(dst, r []float64)) (first float64) {
	values(samples, s.tau)
	first = samples[0]
	if s.window != nil {
		floats.Mul(samples, s.window)
	} else {
		values(dst, s.mirror)
		floats.Add(samples, dst)
	}
	s.plan.Coefficients(dst, samples)
	return first
}

// Expand sets the coefficients for k and returns the number of leading ones; the others sum to less than eps times k(0). It
// takes as many samples as resolve frequencies up to band, and more where the coefficients do not fall. It returns an error if
// that takes too many.
func (s *Series) Expand(k Even, band, eps float64) (m int, err error) {
	// Samples that miss the shortest scale of k would alias it into a spectrum that looks resolved.
	i := 0
	for leastSamples<<i < maxSamples && float64(int(leastSamples)<<i) < 1.5*band*s.Period {
		i++
	}
	for ; ; i++ {
		s.resample(i)
		scale := math.Abs(s.transform(s.C, s.g, k.Cov))
		var tail float64
		m = len(s.C)
		for m > 0 && tail+math.Abs(s.C[m-1]) <= eps*scale {
			m--
			tail += math.Abs(s.C[m])
		}
		if m <= len(s.C)*3/4 {
			return m, nil
		}
		if len(s.C) > maxSamples {
			return 0, fmt.Errorf("gppl: more than %d frequencies for %v", m, k)
		}
	}
}

// Derivative sets dst to the derivatives of the coefficients in a parameter; values returns the derivatives of the function.
func (s *Series) Derivative(dst []float64, values func(dst, r []float64)) {
	s.transform(dst, make([]float64, len(s.tau)), values)
}

// crossing is the ratio to its neighbours below which a coefficient is about to change its sign: its size then does not bound
// its derivatives.
const crossing = 1e-3

// Crosses reports whether coefficient m crosses zero, as the side lobes of a window do.
func (s *Series) Crosses(m int) bool { return math.Abs(s.C[m]) <= crossing*s.around(m) }

// Keeps reports whether coefficient m is above the threshold, or crosses zero among such ones.
func (s *Series) Keeps(m int, threshold float64) bool {
	return math.Abs(s.C[m]) > threshold || s.Crosses(m) && s.around(m) > threshold/crossing
}

// around returns the size of the neighbours of coefficient m.
func (s *Series) around(m int) (size float64) {
	if m > 0 {
		size = math.Abs(s.C[m-1])
	}
	if m+1 < len(s.C) {
		size += math.Abs(s.C[m+1])
	}
	return size
}

// Adjoint returns w = Fᵀq: the derivatives in the samples of a quantity with the derivatives q in the leading coefficients c =
// Fg. They are for Contract, and valid until the next call.
func (s *Series) Adjoint(q []float64) (w []float64) {
	copy(s.w, q)
	clear(s.w[len(q):])
	s.plan.Coefficients(s.w, s.w)
	return s.w
}

// Contract adds Σ_m q_m ∂c_m to grad, given the Adjoint of q. It returns ⟨w, g⟩ and ⟨q, c⟩, which are equal up to rounding, and
// the sum of the absolute values of their terms.
func (s *Series) Contract(grad, q []float64, k Even) (adjoint, direct, size float64) {
	for m, v := range q {
		direct += v * s.C[m]
		size += math.Abs(v * s.C[m])
	}
	for j, w := range s.w {
		adjoint += w * s.g[j]
		size += math.Abs(w * s.g[j])
	}
	if s.window != nil {
		floats.Mul(s.w, s.window)
		k.Contract(grad, s.w, s.tau)
		return adjoint, direct, size
	}
	k.Contract(grad, s.w, s.tau)
	k.Contract(grad, s.w, s.mirror)
	return adjoint, direct, size
}

// Expansion holds the features φ_f of a Series that represent a function at the distances of points, k(t − t′) = Σ_f
// c_f·φ_f(t)·φ_f(t′), without negligible ones. It is working memory.
type Expansion struct {
	Series   *Series
	Features []Feature
	Root     []float64 // |c_f|^½ of each feature
	Negative int       // features from here on have negative weights
	Leading  []int     // frequencies kept, ascending
	Probed   int       // the last frequency to check if it was left out
}

// Choose lists the features of the first m frequencies with weights above the threshold. Features with negative weights begin
// a block of their own, after features of weight zero that fill up the previous block of the given size. most is the highest
// frequency with known features.
func (b *Expansion) Choose(m, most, block int, threshold float64) {
	b.Features, b.Root, b.Leading = b.Features[:0], b.Root[:0], b.Leading[:0]
	b.Probed = min(most, m+m/64+2)
	for j, c := range b.Series.C[:m] {
		if b.Series.Keeps(j, threshold) {
			b.Leading = append(b.Leading, j)
			if c > 0 {
				b.take(j, c)
			}
		}
	}
	b.Negative = len(b.Features)
	for _, j := range b.Leading {
		c := b.Series.C[j]
		if c >= 0 {
			continue
		}
		for len(b.Features) == b.Negative && b.Negative%block != 0 {
			b.Features, b.Root = append(b.Features, Cos(0)), append(b.Root, 0)
			b.Negative++
		}
		b.take(j, -c)
	}
}

// take adds the features of a frequency.
func (b *Expansion) take(m int, weight float64) {
	root := math.Sqrt(weight)
	b.Features, b.Root = append(b.Features, Cos(m)), append(b.Root, root)
	if m > 0 {
		b.Features, b.Root = append(b.Features, Sin(m)), append(b.Root, root)
	}
}

// Sign returns the sign of c_f.
func (b *Expansion) Sign(f int) float64 {
	if f >= b.Negative {
		return -1
	}
	return 1
}

// Weight returns c_f.
func (b *Expansion) Weight(f int) float64 { return b.Sign(f) * b.Root[f] * b.Root[f] }

// Highest returns the highest frequency of the features.
func (b *Expansion) Highest() (highest int) {
	for _, feature := range b.Features {
		highest = max(highest, feature.Frequency())
	}
	return highest
}
