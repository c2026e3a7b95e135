package gppl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/periodogram"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// spectrum describes a model of a time series by frequency (Whittle's approximation). At frequency ξ the covariance of the
// observations has the eigenvalue λ(ξ) = (n/covered)·f(ξ) + σ², with f the spectral density, and there are 2·covered·dξ such
// eigenvalues.
type spectrum struct {
	series  *fourier.Series
	step    float64   // step of frequency, in cycles per unit of x
	signal  []float64 // (n/covered)·f at 0, step, 2·step, …
	noise   float64   // σ², including the nugget
	n       float64
	span    float64
	covered float64 // length of the range without its gaps
}

// newSpectrum expands the kernel of m. It returns an error if its spectrum does not fall below a hundredth of the noise within
// the largest number of frequencies of an engine.
func newSpectrum(m Model, x Inputs) (*spectrum, error) {
	l := observed.Sorted(x.at)
	return newSpectrumOf(m, float64(x.Len()), l.Span, timeline.Coverage(l.T))
}

// newSpectrumOf is newSpectrum for n observations, or for weights that sum to n.
func newSpectrumOf(m Model, n, span, covered float64) (*spectrum, error) {
	s := &spectrum{n: n, span: span, covered: covered}
	tail := s.tail(m)
	switch b := bandwidth(m.Kernel, tail) * span; {
	case math.IsInf(b, 1):
		return nil, fmt.Errorf("gppl: the spectrum of %v falls too slowly to get below a noise variance of %.3g", m.Kernel, m.Noise)
	case !(b < 4*spectral.MostFrequencies):
		return nil, fmt.Errorf("gppl: the spectrum of %v falls too slowly: it takes %.2g frequencies to get below a noise variance"+
			" of %.3g", m.Kernel, b, m.Noise)
	}
	period, windowed, err := spectral.OwnPeriod(span, decay{m.Kernel}, tail, false)
	if err != nil {
		return nil, err
	}
	s.series, s.step = fourier.NewSeries(span, period, windowed), 1/period
	return s, s.set(m)
}

// tail bounds the sum of the omitted coefficients, relative to the variance.
func (s *spectrum) tail(m Model) float64 {
	return min(1e-3, max(1e-13, 0.01*m.Noise/(variance(m.Kernel)*s.n)))
}

// set computes the spectrum of m at the current frequencies.
func (s *spectrum) set(m Model) error {
	var parts split
	if !parts.set(m.Kernel) {
		return fmt.Errorf("gppl: %v has no spectrum that is known", m.Kernel)
	}
	s.noise = m.Noise + capability.Nugget(m.Kernel)
	tail := s.tail(m)
	count, err := s.series.Expand(m.Kernel, bandwidth(m.Kernel, tail), tail)
	if err != nil {
		return err
	}
	s.signal = s.signal[:0]
	for j, c := range s.series.C[:count] {
		f := 0.5 * c * s.series.Period
		if j == 0 {
			f *= 2
		}
		s.signal = append(s.signal, s.n/s.covered*max(f, 0))
	}
	return nil
}

// cutoff returns the highest frequency where the signal's part of the spectrum is at least ratio times the noise, or 0.
func (s *spectrum) cutoff(ratio float64) float64 {
	for j := len(s.signal) - 1; j >= 0; j-- {
		if s.signal[j] >= ratio*s.noise {
			return float64(j+1) * s.step
		}
	}
	return 0
}

// SpectralColumns returns the number of columns of Spectral that cover the frequencies at which the signal of m, observed at
// x, is above ratio times the noise: k ≥ 2·ξ_c·range where (n/range)·f(ξ) < ratio·σ² for ξ > ξ_c, f the spectral density (the
// range in n/range does not count gaps in x). With ratio ≪ 1, the residual energy cannot distinguish the rest from white
// noise. SpectralColumns returns an error if the spectrum falls too slowly for any number of columns, like Laplace's, or if x
// is no time series. Sums count observations by their weights, as if they had no gaps.
func (m Model) SpectralColumns(d Data, ratio float64) (int, error) {
	if err := m.checkViewless("SpectralColumns", d); err != nil {
		return 0, err
	}
	if d.sums != nil {
		return sumsColumns(m, d.sums, ratio)
	}
	x := d.X
	if !(ratio > 0) || math.IsInf(ratio, 1) {
		return 0, fmt.Errorf("gppl: SpectralColumns: ratio = %v: want a positive number", ratio)
	}
	if err := m.Check(); err != nil {
		return 0, err
	}
	if _, _, err := rangeOf(x, "Spectral"); err != nil {
		return 0, err
	}
	s, err := newSpectrum(m, x)
	if err != nil {
		return 0, err
	}
	return Spectral{}.columns(s.cutoff(ratio) * s.span), nil
}

// sumsColumns is SpectralColumns for sums.
func sumsColumns(m Model, s *sums.Sums, ratio float64) (int, error) {
	if s.Len() == 0 {
		return 0, errors.New("gppl: Sums: no observations")
	}
	lo, hi := s.Extent()
	f, err := newSpectrumOf(m, s.Weight(), hi-lo, hi-lo)
	if err != nil {
		return 0, err
	}
	return Spectral{}.columns(f.cutoff(ratio) * f.span), nil
}

// SpectralCost estimates the seconds of a value and gradient of NewResidual at m with the first columns of
// SpectralProjection(x), including a share of the set-up. It constructs neither and, like Exact.Cost, counts operations: it is
// the same on every machine. It is +Inf if no engine projects the kernel for less than n²k.
func (m Model) SpectralCost(x Inputs, columns int) float64 {
	n, k := float64(x.Len()), float64(columns)
	lo, hi := x.Range(0)
	eps := spectralEps(1e-8*k, n, variance(m.Kernel), m.Noise)
	terms, _, why := spectral.Frequencies(hi-lo, decay{m.Kernel}, eps, false)
	if why.Given() {
		return math.Inf(1)
	}
	setup := estimateWaves(x.Len(), columns, int(terms))
	if columns > commonWaves {
		setup = 8*n*k*k/(2*choice.FlopRate) + fourier.Predict(x.Len(), columns, 0, int(terms)+1, fourier.Tolerance).Seconds/2
	}
	return (8*terms*k*k+2*k*k*k)/(2*choice.FlopRate) + setup/choice.EvaluationsAhead
}

// Periodogram compares a time series with its expectation under a model, frequency by frequency. Where they differ, the data have
// a periodic component or a noise level that the model lacks.
type Periodogram struct {
	Frequency []float64 // ξ, cycles per unit of x, ascending: from 1/range to half the mean sampling rate
	Data      []float64 // I(ξ) of the data without their trend, in the unit of y²
	Expected  []float64 // expectation of the periodogram under the model, the noise included
	Noise     float64   // expectation of white noise, at every frequency: σ², known errors and the nugget
}

// String returns the number of frequencies and their range, not the values.
func (p *Periodogram) String() string {
	if len(p.Frequency) == 0 {
		return "periodogram at no frequency"
	}
	return fmt.Sprintf("periodogram at %d frequencies from %.4g to %.4g cycles per unit of x", len(p.Frequency), p.Frequency[0],
		p.Frequency[len(p.Frequency)-1])
}

// Periodogram returns the periodogram of d minus its trend (Detrend) and minus the part that the columns of m.Mean explain,
// with Hann's window w,
//
//	I(ξ) = |uᵀMy|² / Σ_i w_i²,   u_i = w_i·exp(−2πi·ξ·x_i),   M = I − QQᵀ,
//
// where the columns of Q are an orthonormal basis of the cubics and of those columns. It also returns the expectation of I under
// m, which takes account of the leakage from the window and from gaps in x, and of the power that trend and mean remove,
//
//	E I(ξ) = u*M(K + σ²I)Mu / Σ_i w_i².
//
// Known errors e_i enter by their mean square, σ² + Σ_i e_i²/n, and relative ones by σ²·Σ_i e_i²/n. Under the model I/E I is
// approximately exponential with mean one: 95 % of its values lie between 0.025 and 3.7. Times are rounded to a part of the
// mean spacing, a 32nd up to n = 30 000. It takes O(n log n). It returns an error unless x is a time series with at least
// three distinct times. For sums (SumsData) only the weighted mean is removed, the frequencies are their circle's, and it
// takes O(M log M) for any n; it returns a Refusal if they do not resolve m.
func (m Model) Periodogram(ctx context.Context, d Data) (of *Periodogram, err error) {
	defer parallel.Stopped(&err)
	if err := cmp.Or(m.checkViewless("a periodogram", d), m.Check()); err != nil {
		return nil, err
	}
	if d.sums != nil {
		return newSumsPeriodogram(ctx, m, d.sums)
	}
	if dim := d.X.Dim(); dim != 1 {
		return nil, fmt.Errorf("gppl: a periodogram needs inputs of dimension 1, not %d", dim)
	}
	if err := d.CheckUnits(); err != nil {
		return nil, err
	}
	x := slices.Clone(d.X.at)
	slices.Sort(x)
	if x = slices.Compact(x); len(x) < 3 {
		return nil, fmt.Errorf("gppl: a periodogram needs three distinct times, x has %d", len(x))
	}
	n := float64(d.Len())
	noise := m.Noise + floats.Dot(d.Errors, d.Errors)/n
	if d.Relative != nil {
		noise = m.Noise * floats.Dot(d.Relative, d.Relative) / n
	}
	noise += capability.Nugget(m.Kernel)
	q, y, err := meanRemoved(ctx, m.Mean, d)
	if err != nil {
		return nil, err
	}
	p, err := periodogram.Times(ctx, d.X.at, y, q, m.Kernel.Cov, noise)
	if err != nil {
		return nil, fmt.Errorf("gppl: %w", err)
	}
	return &Periodogram{Frequency: p.Frequency, Data: p.Data, Expected: p.Expected, Noise: noise}, nil
}

// meanRemoved returns an orthonormal basis of the cubics in x and of the columns of a mean, if not nil, and y minus its
// projection on both, until ctx ends (parallel.Look).
func meanRemoved(ctx context.Context, m Mean, d Data) (q [][]float64, y []float64, err error) {
	const rounding = 1e-7 // share of the length of a column below which the columns before it explain it
	q, y = trend(d.X), slices.Clone(d.Detrend().Y)
	if m == nil {
		return q, y, nil
	}
	h, err := basisWithin(ctx, m, d.X)
	if err != nil {
		return nil, nil, err
	}
	_, columns := h.Dims()
	for j := range columns {
		left := mat.Col(nil, j, h)
		length := floats.Norm(left, 2)
		for range 2 {
			for _, u := range q {
				parallel.Look(ctx)
				floats.AddScaled(left, -floats.Dot(u, left), u)
			}
		}
		if rest := floats.Norm(left, 2); rest > rounding*length {
			floats.Scale(1/rest, left)
			q = append(q, left)
			floats.AddScaled(y, -floats.Dot(left, y), left)
		}
	}
	return q, y, nil
}

// newSumsPeriodogram compares the observations in s with their expectation under m, like Periodogram, but subtracts only their
// (weighted) mean ȳ, no trend. At the frequencies ξ = j/Period of s, from 1/range to half the mean sampling rate or to the
// highest that s resolves,
//
//	I(ξ) = |Σ_i w_i·h(t_i)·(y_i − ȳ)·exp(−2πi·ξ·t_i)|² / Σ_i w_i·h(t_i)²,
//
// where h is close to Hann's window on the extent of the observations. It is a trigonometric polynomial on the circle of s, so
// I and its expectation under m follow from the sums, including the leakage from the window and the gaps and the power that
// the mean removes. It takes O(M log M), for any n. It returns a Refusal if s does not resolve m.
func newSumsPeriodogram(ctx context.Context, m Model, s *sums.Sums) (p *Periodogram, err error) {
	defer parallel.Stopped(&err)
	if err := m.Check(); err != nil {
		return nil, err
	}
	if s.Len() < 3 {
		return nil, fmt.Errorf("gppl: a periodogram needs three observations, and there are %d", s.Len())
	}
	g, h := periodogramOf(s), s.Header()
	lo, hi := s.Extent()
	first := int(math.Ceil(h.Period / (hi - lo)))
	last := min(h.Highest-g.Highest(), int(0.5*float64(s.Len()-1)/(hi-lo)*h.Period))
	if last < first {
		return nil, fmt.Errorf("gppl: no frequency lies between one cycle over the observations and what %v resolve", s)
	}
	coefficients, err := sumsCoefficients(m, h, g.Highest()+last)
	if err != nil {
		return nil, err
	}
	p = &Periodogram{Noise: m.Noise + capability.Nugget(m.Kernel)}
	for j := first; j <= last; j++ {
		p.Frequency = append(p.Frequency, float64(j)/h.Period)
	}
	p.Data, p.Expected = g.At(ctx, first, last, coefficients, p.Noise)
	return p, nil
}

// periodogramOf returns the sums in the form of package periodogram.
func periodogramOf(s *sums.Sums) *periodogram.Circle {
	lo, hi := s.Extent()
	h := s.Header()
	return periodogram.NewCircle(s.Moments(), s.Values(), (lo-h.Origin)/h.Period, (hi-h.Origin)/h.Period)
}

// sumsCoefficients returns the ĉ_m, m ≥ 0, of k(τ) = Σ_m ĉ_m·exp(2πimτ/P) over all m. The omitted ones are far below the
// noise. taken is the number of frequencies whose moments are needed elsewhere.
func sumsCoefficients(m Model, h sums.Header, taken int) ([]float64, error) {
	span, c := h.Hi-h.Lo, circleOf(h)
	var parts split
	if !parts.set(m.Kernel) {
		return []float64{0}, nil
	}
	eps := max(c.Least(span, decay{m.Kernel}), min(1e-9, 1e-6*m.Noise/variance(m.Kernel)))
	most := 2*c.Highest - taken
	count, windowed, why := c.Needs(span, decay{m.Kernel}, eps)
	if !why.Given() && count > float64(most) {
		why = choice.Because(c.Beyond, count/c.Period)
	}
	if why.Given() {
		return nil, &Refusal{Reason: why.String()}
	}
	series := fourier.NewSeries(span, c.Period, windowed)
	n, err := series.Expand(m.Kernel, bandwidth(m.Kernel, eps), eps)
	if err != nil {
		return nil, err
	}
	if n > most {
		return nil, &Refusal{Reason: choice.Because(c.Beyond, float64(n)/c.Period).String()}
	}
	hat := make([]float64, n)
	for i, v := range series.C[:n] {
		if hat[i] = 0.5 * v; i == 0 {
			hat[i] = v
		}
	}
	return hat, nil
}
