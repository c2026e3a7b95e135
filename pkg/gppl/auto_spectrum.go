package gppl

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// spectrum describes a model of a time series by frequency (Whittle's approximation).
// At frequency ξ the covariance of the observations has the eigenvalue λ(ξ) =
// (n/covered)·f(ξ) + σ², with f the spectral density, and there are 2·covered·dξ such
// eigenvalues.
type spectrum struct {
	series  *cosineSeries
	step    float64   // of frequency, in cycles per unit of x
	signal  []float64 // (n/covered)·f at 0, step, 2·step, …
	noise   float64   // σ², with the nugget
	n       float64
	span    float64
	covered float64 // length of the range without its gaps
}

// newSpectrum expands the kernel of m; it is an error if its spectrum does not
// fall below a hundredth of the noise within as many frequencies as an engine
// would take.
func newSpectrum(m Model, x Inputs) (*spectrum, error) {
	l := newLine(x, nil)
	return newSpectrumOf(m, float64(x.Len()), l.span, coverage(l.t))
}

// newSpectrumOf is newSpectrum for n observations, or of weights that sum to n.
func newSpectrumOf(m Model, n, span, covered float64) (*spectrum, error) {
	s := &spectrum{n: n, span: span, covered: covered}
	tail := s.tail(m)
	switch b := bandwidth(m.Kernel, tail) * span; {
	case math.IsInf(b, 1):
		return nil, fmt.Errorf("gppl: the spectrum of %v falls too slowly to get below a noise variance of %.3g", m.Kernel, m.Noise)
	case !(b < 4*maxFeatures):
		return nil, fmt.Errorf("gppl: the spectrum of %v falls too slowly: it takes %.2g frequencies to get below a noise variance of %.3g", m.Kernel, b, m.Noise)
	}
	series, err := newCosineSeries(span, m.Kernel, tail, false)
	if err != nil {
		return nil, err
	}
	s.series, s.step = series, 1/series.period
	return s, s.set(m)
}

// tail is what the coefficients that are left out may sum to, relative to the
// variance.
func (s *spectrum) tail(m Model) float64 {
	return min(1e-3, max(1e-13, 0.01*m.Noise/(variance(m.Kernel)*s.n)))
}

// set computes the spectrum of m at the frequencies there are.
func (s *spectrum) set(m Model) error {
	var parts split
	if !parts.of(m.Kernel) {
		return fmt.Errorf("gppl: %v has no spectrum that is known", m.Kernel)
	}
	s.noise = m.Noise + Nugget(m.Kernel)
	count, err := s.series.expand(m.Kernel, s.tail(m))
	if err != nil {
		return err
	}
	s.signal = s.signal[:0]
	for j, c := range s.series.c[:count] {
		f := 0.5 * c * s.series.period
		if j == 0 {
			f *= 2
		}
		s.signal = append(s.signal, s.n/s.covered*max(f, 0))
	}
	return nil
}

// logAt returns log λ at frequency j·step.
func (s *spectrum) logAt(j int) float64 {
	if j < len(s.signal) {
		return math.Log(s.signal[j] + s.noise)
	}
	return math.Log(s.noise)
}

// coverage returns the length of the range of the sorted times t, gaps of more
// than twenty times the median spacing counted as that.
func coverage(t []float64) float64 {
	span := t[len(t)-1] - t[0]
	gaps := make([]float64, 0, len(t))
	for i, v := range t[1:] {
		if v > t[i] {
			gaps = append(gaps, v-t[i])
		}
	}
	if len(gaps) == 0 {
		return span
	}
	slices.Sort(gaps)
	limit := 20 * gaps[len(gaps)/2]
	var sum float64
	for _, g := range gaps {
		sum += min(g, limit)
	}
	return sum
}

// cutoff returns the highest frequency where the signal's part of the spectrum
// is at least ratio times the noise, or 0.
func (s *spectrum) cutoff(ratio float64) float64 {
	for j := len(s.signal) - 1; j >= 0; j-- {
		if s.signal[j] >= ratio*s.noise {
			return float64(j+1) * s.step
		}
	}
	return 0
}

// SpectralColumns returns how many columns of Spectral cover the frequencies at
// which the signal of m, observed at x, is above ratio times the noise:
// k ≥ 2·ξ_c·range where (n/range)·f(ξ) < ratio·σ² for ξ > ξ_c, f the spectral
// density (in the density n/range gaps in x are left out). With ratio ≪ 1, the
// residual energy cannot tell what lies beyond from white noise. It is an error
// if the spectrum falls too slowly for any number of columns to cover it, as
// that of Laplace does, or if x is no time series.
func SpectralColumns(m Model, x Inputs, ratio float64) (int, error) {
	if !(ratio > 0) || math.IsInf(ratio, 1) {
		return 0, fmt.Errorf("gppl: SpectralColumns: ratio = %v: want a positive number", ratio)
	}
	if err := m.Check(); err != nil {
		return 0, err
	}
	if _, _, err := series(x, "Spectral"); err != nil {
		return 0, err
	}
	s, err := newSpectrum(m, x)
	if err != nil {
		return 0, err
	}
	return Spectral{}.columns(s.cutoff(ratio) * s.span), nil
}

// whittleInformation approximates the Fisher information of all observations in
// the logs of the parameters, noise last (Whittle 1953),
//
//	I_Y ≈ ½ Σ_eigenvalues ∂_a log λ·∂_b log λ,
//
// ∂ by central differences. It holds for smooth spectra, a range of many
// lengthscales and x without clusters. It is an error if there are more
// frequencies than observations, or if the spectrum is not known.
func whittleInformation(m Model, x Inputs) (*mat.SymDense, error) {
	const h = 1e-3
	theta := m.Values()
	p := len(theta)
	s, err := newSpectrum(m, x)
	if err != nil {
		return nil, err
	}
	signals := len(s.signal)
	dlog := mat.NewDense(p, signals+1, nil) // the last: where there is no signal
	for a := range p {
		at := slices.Clone(theta)
		for _, side := range []float64{h, -h} {
			at[a] = theta[a] * math.Exp(side)
			if err := s.set(m.WithParams(at)); err != nil {
				return nil, err
			}
			for j := range signals {
				dlog.Set(a, j, dlog.At(a, j)+s.logAt(j)/(2*side))
			}
			dlog.Set(a, signals, dlog.At(a, signals)+math.Log(s.noise)/(2*side))
		}
	}
	per := 2 * s.covered * s.step // eigenvalues for each frequency
	weight := make([]float64, signals+1)
	for j := range signals {
		weight[j] = per
	}
	weight[0] = per / 2
	weight[signals] = s.n - per*(float64(signals)-0.5)
	if weight[signals] < 0 {
		return nil, fmt.Errorf("gppl: the signal has more frequencies than the %d observations tell apart", x.Len())
	}
	info := mat.NewSymDense(p, nil)
	for a := range p {
		for b := range a + 1 {
			var sum float64
			for j, w := range weight {
				sum += 0.5 * w * dlog.At(a, j) * dlog.At(b, j)
			}
			info.SetSym(a, b, sum)
		}
	}
	return info, nil
}
