package gppl

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/timeline"
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
	g := newTimeGrid(d.X)
	span, spacing := g.span, g.spacing
	p := &Periodogram{}
	lowest, highest := float64(g.length)*g.width/span, float64(g.length)*g.width/(2*spacing)
	if !(lowest <= float64(g.length) && highest >= 0) {
		return nil, fmt.Errorf("gppl: a periodogram of times over %.3g with a mean spacing of %.3g would have more frequencies than float64 can count", span, spacing)
	}
	first, last := max(1, int(math.Ceil(lowest))), int(min(float64(g.length/2), highest))

	window := make([]float64, d.Len())
	var squares float64
	for i, t := range d.X.at {
		s := math.Sin(math.Pi * (t - g.lo) / span)
		window[i] = s * s
		squares += window[i] * window[i]
	}
	// low are the frequencies that are asked for: a small part of those of the fine grid.
	low := func(series []float64) []complex128 {
		return slices.Clone(g.fft.Coefficients(nil, series)[:last+1])
	}
	// transform returns Σ_i w_i·v_i·exp(−2πi·ξ·x_i).
	transform := func(v []float64) []complex128 {
		return low(g.put(floats.MulTo(make([]float64, len(v)), window, v)))
	}
	data := transform(Detrend(d).Y)
	for j := first; j <= last; j++ {
		p.Frequency = append(p.Frequency, float64(j)/(float64(g.length)*g.width))
		p.Data = append(p.Data, power(data[j])/squares)
	}

	// u*Ku: the pairs of each lag times their covariance, summed with cosines.
	pairs := g.correlate(g.put(window))
	cov := g.covariances(m.Kernel)
	p.Noise = m.Noise + Nugget(m.Kernel)
	all := low(floats.MulTo(pairs, pairs, cov))

	// What the trend takes: with the columns q of Q, A = u*q and B = u*Kq,
	// −2·Re Σ_c A_c·B̄_c + Σ_cd A_c·Ā_d·q_cᵀKq_d, and of the noise Σ_c|A_c|².
	q := trend(d.X)
	spectrum := g.fft.Coefficients(nil, cov)
	covered := make([][]float64, len(q)) // Kq
	a, b := make([][]complex128, len(q)), make([][]complex128, len(q))
	for c := range q {
		covered[c] = g.convolve(q[c], spectrum)
		a[c], b[c] = transform(q[c]), transform(covered[c])
	}
	inner := mat.NewDense(len(q), len(q), nil) // QᵀKQ
	for c := range q {
		for e := range q {
			inner.Set(c, e, floats.Dot(q[c], covered[e]))
		}
	}
	for j := first; j <= last; j++ {
		signal, noise := real(all[j]), squares
		for c := range q {
			signal -= 2 * real(a[c][j]*cmplx.Conj(b[c][j]))
			noise -= power(a[c][j])
			for e := range q {
				signal += real(a[c][j]*cmplx.Conj(a[e][j])) * inner.At(c, e)
			}
		}
		p.Expected = append(p.Expected, (max(signal, 0)+p.Noise*max(noise, 0))/squares)
	}
	return p, nil
}

// timeGrid is a fine even grid over the times of a series, padded to more than
// twice their range, so that no pair reaches across the ends.
type timeGrid struct {
	at                       []int // the place of each time
	bins, length             int
	lo, span, spacing, width float64
	fft                      *fourier.FFT
}

func newTimeGrid(x Inputs) *timeGrid {
	l := newLine(x, nil)
	g := &timeGrid{lo: l.t[0], span: l.span, spacing: timeline.Coverage(l.t) / float64(x.Len()-1)}
	const finer = 32
	g.bins = 1 + int(math.Round(min(finer*g.span/g.spacing, 1<<20)))
	g.width = g.span / float64(g.bins-1)
	g.length = 1 << bits.Len(uint(2*g.bins))
	for _, t := range x.at {
		g.at = append(g.at, int(math.Round((t-g.lo)/g.width)))
	}
	g.fft = fourier.NewFFT(g.length)
	return g
}

// put returns the sums of values at the places of the grid.
func (g *timeGrid) put(v []float64) []float64 {
	s := make([]float64, g.length)
	for i, at := range g.at {
		s[at] += v[i]
	}
	return s
}

// correlate returns Σ_b s_b·s_{b+h} for every lag h, negative ones at the end.
func (g *timeGrid) correlate(s []float64) []float64 {
	c := g.fft.Coefficients(nil, s)
	for i, v := range c {
		c[i] = complex((real(v)*real(v)+imag(v)*imag(v))/float64(g.length), 0)
	}
	return g.fft.Sequence(nil, c)
}

// covariances returns k at every lag of the grid, 0 beyond the range.
func (g *timeGrid) covariances(k Kernel) []float64 {
	near := make([]float64, g.bins)
	for h := range near {
		near[h] = float64(h) * g.width
	}
	k.Cov(near, near)
	all := make([]float64, g.length)
	for h, v := range near {
		all[h] = v
		if h > 0 {
			all[g.length-h] = v
		}
	}
	return all
}

// convolve returns Σ_j k(x_i − x_j)·v_j, from the spectrum of the covariances.
func (g *timeGrid) convolve(v []float64, spectrum []complex128) []float64 {
	c := g.fft.Coefficients(nil, g.put(v))
	for i := range c {
		c[i] *= complex(real(spectrum[i])/float64(g.length), 0)
	}
	s := g.fft.Sequence(nil, c)
	out := make([]float64, len(v))
	for i, at := range g.at {
		out[i] = s[at]
	}
	return out
}
