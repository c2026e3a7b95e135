package gppl

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/periodogram"
)

// Periodogram compares a time series with its expectation under a model, frequency by
// frequency. Where they differ, the data have a periodic component or a noise level
// that the model lacks.
type Periodogram struct {
	Frequency []float64 // ξ, cycles per unit of x, ascending: from 1/range to half the mean sampling rate
	Data      []float64 // I(ξ), of the data without their trend, in the unit of y²
	Expected  []float64 // its expectation under the model, the noise included
	Noise     float64   // the expectation of white noise, at every frequency: σ² plus the nugget
}

// NewPeriodogram returns the periodogram of d less its trend (Detrend), with
// Hann's window w,
//
//	I(ξ) = |uᵀMy|² / Σ_i w_i²,   u_i = w_i·exp(−2πi·ξ·x_i),   M = I − QQᵀ,
//
// the columns of Q an orthonormal basis of the cubics, and its expectation under
// m, including the leakage from the window and from gaps in x, and the power that the
// trend removes,
//
//	E I(ξ) = u*M(K + σ²I)Mu / Σ_i w_i².
//
// Under the model I/E I is approximately exponential with mean one: 95 % of its values
// lie between 0.025 and 3.7. Times are rounded to a part of the mean spacing, a 32nd up
// to n = 30 000. It takes O(n log n). It is an error unless x is a time series with at
// least three distinct times.
func NewPeriodogram(m Model, d Data) (*Periodogram, error) {
	if m.Kernel == nil {
		return nil, errors.New("gppl: the model has no kernel")
	}
	if err := m.Check(); err != nil {
		return nil, err
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
	noise := m.Noise + Nugget(m.Kernel)
	p, err := periodogram.Times(d.X.at, Detrend(d).Y, trend(d.X), m.Kernel.Cov, noise)
	if err != nil {
		return nil, fmt.Errorf("gppl: %w", err)
	}
	return &Periodogram{Frequency: p.Frequency, Data: p.Data, Expected: p.Expected, Noise: noise}, nil
}

// NewSumsPeriodogram compares the observations in s with their expectation under m, like
// NewPeriodogram, but subtracts only their (weighted) mean ȳ, no trend. At the frequencies
// ξ = j/Period of s, from 1/range to half the mean sampling rate or to the highest that s
// resolves,
//
//	I(ξ) = |Σ_i w_i·h(t_i)·(y_i − ȳ)·exp(−2πi·ξ·t_i)|² / Σ_i w_i·h(t_i)²,
//
// where h is close to Hann's window on the extent of the observations. It is a
// trigonometric polynomial on the circle of s, so that I and its expectation under m follow
// from the sums, including the leakage from the window and the gaps and the power that the
// mean takes. It takes O(M log M), whatever n is. It is a Refusal if s does not resolve m.
func NewSumsPeriodogram(m Model, s *Sums) (*Periodogram, error) {
	if m.Kernel == nil {
		return nil, errors.New("gppl: the model has no kernel")
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	if s.Len() < 3 {
		return nil, fmt.Errorf("gppl: a periodogram needs three observations, and there are %d", s.Len())
	}
	g := s.circle()
	lo, hi := s.Extent()
	first := int(math.Ceil(s.header.Period / (hi - lo)))
	last := min(s.header.Highest-g.Highest(), int(0.5*float64(s.Len()-1)/(hi-lo)*s.header.Period))
	if last < first {
		return nil, fmt.Errorf("gppl: no frequency lies between one cycle over the observations and what %v resolve", s)
	}
	coefficients, err := s.coefficients(m, g.Highest()+last)
	if err != nil {
		return nil, err
	}
	p := &Periodogram{Noise: m.Noise + Nugget(m.Kernel)}
	for j := first; j <= last; j++ {
		p.Frequency = append(p.Frequency, float64(j)/s.header.Period)
	}
	p.Data, p.Expected = g.At(first, last, coefficients, p.Noise)
	return p, nil
}

// circle returns the sums as a periodogram reads them.
func (s *Sums) circle() *periodogram.Circle {
	lo, hi := s.Extent()
	h := s.header
	return periodogram.NewCircle(s.plan.Moments(s.sum), s.plan.Values(s.sum), (lo-h.Origin)/h.Period, (hi-h.Origin)/h.Period)
}

// OneValue reports whether the sums are those of one value and little else. The power of one value is the same at all
// frequencies. That of white noise varies as much as its mean is, and that of a signal more. With the share q of Σy² in one
// value the squared ratio of standard deviation to mean is (1 − q)(1 + q): ¼ at q = 0.87. Sums of fewer than some sixty observations are never
// those of one value. It takes O(M), M the frequencies of s.
func (s *Sums) OneValue() bool { return s.circle().OneValue(s.header.Highest) }

// coefficients returns those ĉ_m, m ≥ 0, of k(τ) = Σ_m ĉ_m·exp(2πimτ/P) over all m. What
// they leave out is far below the noise. Moments up to the given frequency are for others.
func (s *Sums) coefficients(m Model, taken int) ([]float64, error) {
	span, c := s.header.Hi-s.header.Lo, s.header.circle()
	var parts split
	if !parts.of(m.Kernel) {
		return []float64{0}, nil
	}
	eps := max(c.least(span, m.Kernel), min(1e-9, 1e-6*m.Noise/variance(m.Kernel)))
	room := 2*c.highest - taken
	count, windowed, why := c.needs(span, m.Kernel, eps)
	if why == (reason{}) && count > float64(room) {
		why = reason{c.beyond, count / c.period}
	}
	if why != (reason{}) {
		return nil, &Refusal{Reason: why.String()}
	}
	series := fourier.NewSeries(span, c.period, windowed, bandwidth(m.Kernel, eps))
	n, err := series.Expand(m.Kernel, bandwidth(m.Kernel, eps), eps)
	if err != nil {
		return nil, err
	}
	if n > room {
		return nil, &Refusal{Reason: reason{c.beyond, float64(n) / c.period}.String()}
	}
	hat := make([]float64, n)
	for i, v := range series.C[:n] {
		if hat[i] = 0.5 * v; i == 0 {
			hat[i] = v
		}
	}
	return hat, nil
}
