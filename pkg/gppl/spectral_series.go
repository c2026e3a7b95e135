package gppl

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// cosineSeries expands a kernel in cosines that represent it at all distances
// up to span:
//
//	k(τ) = Σ_m c_m(θ)·cos(2πmτ/P),  0 ≤ τ ≤ span.
//
// A kernel that dies out within reach ρ is summed over its periodic images,
// P ≥ span + ρ: the coefficients are samples of its spectral density, and
// positive. Any other is multiplied by a window that is 1 up to span and falls
// smoothly to 0 at P/2, some hundredths of the span later. The coefficients come from samples of the
// kernel by a cosine transform, which is its own adjoint: gradients go back
// through it and are then contracted with ∂k/∂θ at the samples.
type cosineSeries struct {
	span, period float64
	window       []float64 // at the samples; nil for a sum of images
	plan         *fourier.Cosine
	tau, mirror  []float64 // τ_j = jP/N and P − τ_j, j = 0 … N/2
	g, c         []float64
	w            []float64  // derivatives in the samples
	adjoint      [3]float64 // ⟨q, c⟩ and ⟨w, g⟩ of the last contract, and the sum of absolute values
}

// maxSamples bounds N/2.
const maxSamples = 1 << 18

// newCosineSeries chooses the period for kernel k; images asks for a sum of
// images, however long the period, wherever k dies out.
func newCosineSeries(span float64, k Kernel, eps float64, images bool) (*cosineSeries, error) {
	period, windowed, err := seriesPeriod(span, k, eps, images)
	if err != nil {
		return nil, err
	}
	return newCosineSeriesOf(span, period, windowed, k, eps), nil
}

// newCosineSeriesOf returns the series of the given period for kernel k.
func newCosineSeriesOf(span, period float64, windowed bool, k Kernel, eps float64) *cosineSeries {
	s := &cosineSeries{span: span, period: period}
	if windowed {
		s.window = []float64{} // filled by resample
	}
	b := min(bandwidth(k, eps)*s.period, maxSamples/4)
	n := 256
	for float64(n) < 1.5*b {
		n *= 2
	}
	s.resample(n)
	return s
}

// seriesPeriod returns the period for kernel k and whether it takes a window.
// Images are worth their many frequencies for the sake of positive weights, but
// not without end.
func seriesPeriod(span float64, k Kernel, eps float64, images bool) (period float64, windowed bool, err error) {
	r := reach(k, eps)
	limit := 1.2 * span
	if images {
		limit = 8 * span
	}
	switch {
	case r < limit || span == 0 && !math.IsInf(r, 0):
		return span + 1.4*r, false, nil // room for a longer lengthscale
	case span == 0:
		return 0, false, fmt.Errorf("gppl: all inputs coincide and %v does not die out", k)
	}
	// The narrower the fall, the more frequencies it has itself: as many as fit
	// into those of the kernel.
	fall := 20 / (bandwidth(k, eps) * span)
	return 2 * span * (1 + max(0.04, min(0.1, fall))), true, nil
}

// seriesCovers reports whether a period, with a window or without, suits kernel k.
// With images, a window is only for kernels that cannot do without, and a period that
// a long lengthscale asked for is not kept for a short one, whose frequencies it would
// multiply.
func seriesCovers(span, period float64, windowed bool, k Kernel, eps float64, images bool) bool {
	if !windowed {
		r := reach(k, eps)
		return r <= period-span && (!images || period <= 1.5*(span+1.4*r))
	}
	_, must, err := seriesPeriod(span, k, eps, images)
	return !images || must && err == nil
}

// resample takes n+1 samples of half a period.
func (s *cosineSeries) resample(n int) {
	s.plan = fourier.NewCosine(2 * n)
	s.tau, s.g, s.c, s.w = make([]float64, n+1), make([]float64, n+1), make([]float64, n+1), make([]float64, n+1)
	for j := range s.tau {
		s.tau[j] = s.period * float64(j) / float64(2*n)
	}
	if s.window == nil {
		s.mirror = make([]float64, n+1)
		for j := range s.mirror {
			s.mirror[j] = s.period - s.tau[j]
		}
		return
	}
	// erfc falls from 2 to 0 within rounding between −6 and 6.
	s.window = make([]float64, n+1)
	for j, t := range s.tau {
		s.window[j] = 0.5 * math.Erfc(12*((t-s.span)/(0.5*s.period-s.span)-0.5))
	}
}

// expand sets the coefficients for kernel k and returns how many there are
// before those that sum to less than eps times the variance. It takes more
// samples where these do not resolve the kernel, up to a limit.
func (s *cosineSeries) expand(k Kernel, eps float64) (m int, err error) {
	// Samples that miss the shortest scale of k would alias it into what looks
	// resolved.
	for b := bandwidth(k, eps) * s.period; float64(len(s.c)) < 1.2*b && len(s.c) <= maxSamples; {
		s.resample(2 * (len(s.c) - 1))
	}
	for {
		k.Cov(s.g, s.tau)
		scale := math.Abs(s.g[0])
		if s.window != nil {
			for j, w := range s.window {
				s.g[j] *= w
			}
		} else {
			k.Cov(s.c, s.mirror)
			dense.Add(s.g, s.c)
		}
		s.plan.Coefficients(s.c, s.g)
		var tail float64
		m = len(s.c)
		for m > 0 && tail+math.Abs(s.c[m-1]) <= eps*scale {
			m--
			tail += math.Abs(s.c[m])
		}
		if m <= len(s.c)*3/4 {
			return m, nil
		}
		if len(s.c) > maxSamples {
			return 0, fmt.Errorf("gppl: more than %d frequencies for %v", m, k)
		}
		s.resample(2 * (len(s.c) - 1))
	}
}

// crossing is the share of its neighbours below which a coefficient is about to change its sign: its size says
// nothing of its derivatives.
const crossing = 1e-3

// crosses reports whether coefficient m crosses zero, as the side lobes of a window do.
func (s *cosineSeries) crosses(m int) bool { return math.Abs(s.c[m]) <= crossing*s.around(m) }

// keeps reports whether coefficient m is above the threshold, or crosses zero among such ones.
func (s *cosineSeries) keeps(m int, threshold float64) bool {
	return math.Abs(s.c[m]) > threshold || s.crosses(m) && s.around(m) > threshold/crossing
}

// around returns the size of the neighbours of coefficient m.
func (s *cosineSeries) around(m int) (size float64) {
	if m > 0 {
		size = math.Abs(s.c[m-1])
	}
	if m+1 < len(s.c) {
		size += math.Abs(s.c[m+1])
	}
	return size
}

// contract adds Σ_m q_m ∂c_m/∂log θ_p to grad[p]. verified checks it.
func (s *cosineSeries) contract(grad, q []float64, k Kernel) {
	s.adjoint = [3]float64{}
	for m, v := range q {
		s.adjoint[0] += v * s.c[m]
		s.adjoint[2] += math.Abs(v * s.c[m])
	}
	copy(s.w, q)
	clear(s.w[len(q):])
	s.plan.Coefficients(s.w, s.w)
	tampered("series adjoint", s.w)
	for j, w := range s.w {
		s.adjoint[1] += w * s.g[j]
		s.adjoint[2] += math.Abs(w * s.g[j])
	}
	if s.window != nil {
		for j, w := range s.window {
			s.w[j] *= w
		}
		k.Contract(grad, s.w, s.tau)
		return
	}
	k.Contract(grad, s.w, s.tau)
	k.Contract(grad, s.w, s.mirror)
}

// derivative sets dst to ∂c/∂log θ_p.
func (s *cosineSeries) derivative(dst []float64, k Kernel, p int) {
	grad := make([]float64, len(k.Params()))
	samples := make([]float64, len(s.tau))
	derivativeAt(samples, s.tau, k, p, grad)
	if s.window != nil {
		for j, w := range s.window {
			samples[j] *= w
		}
	} else {
		derivativeAt(dst, s.mirror, k, p, grad)
		dense.Add(samples, dst)
	}
	s.plan.Coefficients(dst, samples)
}

// derivativeAt sets dst[i] = ∂k(r[i])/∂log θ_p, one Contract each. grad has an
// entry per parameter.
func derivativeAt(dst, r []float64, k Kernel, p int, grad []float64) {
	one := [1]float64{1}
	for i := range r {
		clear(grad)
		k.Contract(grad, one[:], r[i:i+1])
		dst[i] = grad[p]
	}
}

// verified is an error if the last contract did not go back through the transform
// by which the coefficients came: with c = Fg and w = Fᵀq, ⟨q, c⟩ = ⟨w, g⟩.
func (s *cosineSeries) verified() error {
	return verify("the sum over features", s.adjoint[1], s.adjoint[0], 1e-10*s.adjoint[2])
}

// spectralData is the data as engines read them that represent a kernel by waves.
type spectralData struct{ summed }

// frequencies returns the number to expect, or why there are too many.
func (d *spectralData) frequencies(k Kernel, eps float64) (m float64, windowed bool, why reason) {
	if c, ok := d.circle(); ok {
		return c.frequencies(d.span, k, eps)
	}
	return forecastSpectral(k, d.span, eps, true)
}

// known reports whether the sums up to frequency m are there, on a circle that suits k.
func (d *spectralData) known(k Kernel, eps, m float64) bool {
	c := d.circles.find(func(c *circleSums) bool { return seriesCovers(d.span, c.period, c.windowed, k, eps, true) })
	return c != nil && m <= float64(c.m)
}

// circleFor returns a circle that suits k, with the sums on it that there are.
func (d *spectralData) circleFor(k Kernel, eps float64) (*circleSums, error) {
	if fixed, ok := d.circle(); ok {
		_, windowed, why := fixed.frequencies(d.span, k, eps)
		if why != (reason{}) {
			return nil, &Refusal{Engine: EngineSpectral, Reason: why.String()}
		}
		return d.circles.begin(func(c *circleSums) bool { return c.windowed == windowed },
			circleSums{origin: fixed.origin, period: fixed.period, windowed: windowed}), nil
	}
	period, windowed, err := seriesPeriod(d.span, k, eps, true)
	if err != nil {
		return nil, err
	}
	return d.circles.begin(func(c *circleSums) bool { return seriesCovers(d.span, c.period, c.windowed, k, eps, true) },
		circleSums{origin: d.lo, period: period, windowed: windowed}), nil
}

// spectralBasis is the features φ_f that represent a kernel at the distances of the
// data, k(t − t′) = Σ_f c_f·φ_f(t)·φ_f(t′), and the sums over the data on their circle.
// It is working memory.
type spectralBasis struct {
	sums     *circleSums
	series   *cosineSeries
	features []fourier.Feature
	root     []float64 // |c_f|^½ of each
	negative int       // features from here on have negative weights
	leading  []int     // the frequencies that are kept, ascending
	probed   int       // the last frequency that is worth a look if it was left out
}

// expand sets b to the features of k, but for weights that sum to eps times the
// variance, and makes sure of the sums that they need.
func (d *spectralData) expand(b *spectralBasis, k Kernel, eps float64) error {
	c, err := d.circleFor(k, eps)
	if err != nil {
		return err
	}
	if b.series == nil || b.series.period != c.period || c.windowed != (b.series.window != nil) {
		b.series = newCosineSeriesOf(d.span, c.period, c.windowed, k, eps)
	}
	m, err := b.series.expand(k, eps)
	if err != nil {
		return err
	}
	if m > maxFeatures {
		return fmt.Errorf("gppl: %d frequencies for %v", m, k)
	}
	if m > c.m {
		if c, err = d.circles.grow(c, m, m+m/8+8); err != nil {
			return err
		}
	}
	b.sums = c
	b.choose(m, eps*variance(k)/float64(2*m+1))
	return nil
}

// choose lists the features of the first m frequencies with weights above the
// threshold.
func (b *spectralBasis) choose(m int, threshold float64) {
	b.features, b.root, b.leading = b.features[:0], b.root[:0], b.leading[:0]
	b.probed = min(b.sums.m, m+m/64+2)
	for j, c := range b.series.c[:m] {
		if b.series.keeps(j, threshold) {
			b.leading = append(b.leading, j)
		}
		if c > 0 && b.series.keeps(j, threshold) {
			b.take(j, c)
		}
	}
	// The negative ones begin a block of their own, after features of weight
	// zero that fill the last.
	b.negative = dense.Tile * dense.Blocks(len(b.features))
	end := len(b.features)
	for j, c := range b.series.c[:m] {
		if c < 0 && b.series.keeps(j, threshold) {
			for len(b.features) < b.negative {
				b.features, b.root = append(b.features, fourier.Cos(0)), append(b.root, 0)
			}
			b.take(j, -c)
		}
	}
	if b.negative = min(b.negative, len(b.features)); len(b.features) == end {
		b.negative = end
	}
}

// take adds the features of a frequency.
func (b *spectralBasis) take(m int, weight float64) {
	root := math.Sqrt(weight)
	b.features, b.root = append(b.features, fourier.Cos(m)), append(b.root, root)
	if m > 0 {
		b.features, b.root = append(b.features, fourier.Sin(m)), append(b.root, root)
	}
}

// sign returns the sign of c_f.
func (b *spectralBasis) sign(f int) float64 {
	if f >= b.negative {
		return -1
	}
	return 1
}

// weight returns c_f.
func (b *spectralBasis) weight(f int) float64 { return b.sign(f) * b.root[f] * b.root[f] }

// maxFeatures bounds the number of frequencies.
const maxFeatures = 1 << 15

// forecastSpectral returns the number of frequencies to expect, or why there
// are too many.
func forecastSpectral(k Kernel, span, eps float64, images bool) (frequencies float64, windowed bool, why reason) {
	b := bandwidth(k, eps)
	if math.IsInf(b, 0) {
		return 0, false, reason{format: noSpectrum}
	}
	period, windowed, err := seriesPeriod(span, k, eps, images)
	if err != nil {
		return 0, false, reason{format: "all inputs coincide"}
	}
	if windowed {
		b += 30 / (period - 2*span) // what the window spreads
	}
	m := math.Ceil(b*period) + 1
	if m > maxFeatures {
		return m, windowed, tooMany(m).reason
	}
	return m, windowed, reason{}
}

// maxDenseFeatures bounds p, of which there is a p×p matrix: 1.2 GB.
const maxDenseFeatures = 12000

// tooMany refuses a number of frequencies.
func tooMany(frequencies float64) forecast {
	return forecast{reason: reason{"it would take about %.2g frequencies", frequencies}}
}
