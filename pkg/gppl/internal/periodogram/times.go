// Package periodogram computes periodograms with Hann's window, and their expectations under a covariance, from times and values
// or from trigonometric sums over them.
package periodogram

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/timeline"
)

// Periodogram holds I(ξ) and its expectation.
type Periodogram struct {
	Frequency      []float64 // ξ, in cycles per unit of time, ascending: from 1/range to half the mean sampling rate
	Data, Expected []float64
}

// Times returns the periodogram of values at times,
//
//	I(ξ) = |uᵀy|² / Σ_i w_i²,   u_i = w_i·exp(−2πi·ξ·t_i),
//
// with Hann's window w, and its expectation where y = Mf, M = I − QQᵀ, the columns of Q are orthonormal, and f has the
// covariance K in addition to the noise. cov sets dst to the values of K at lags:
//
//	E I(ξ) = u*M(K + noise·I)Mu / Σ_i w_i².
//
// Times are rounded to a part of the mean spacing, a 32nd up to n = 30 000. Times takes O(n log n), and O(c² log n) more for c
// columns of Q. It panics with a parallel.Stop once ctx has ended. At least three times must differ. It returns an error if
// there are more frequencies than float64 can count.
func Times(
	ctx context.Context, t, y []float64, q [][]float64, cov func(dst, lags []float64), noise float64,
) (*Periodogram, error) {
	g := newGrid(t)
	span, spacing := g.span, g.spacing
	p := &Periodogram{}
	lowest, highest := float64(g.length)*g.width/span, float64(g.length)*g.width/(2*spacing)
	if !(lowest <= float64(g.length) && highest >= 0) {
		return nil, fmt.Errorf("a periodogram of times over %.3g with a mean spacing of %.3g would have more frequencies than"+
			" float64 can count", span, spacing)
	}
	first, last := max(1, int(math.Ceil(lowest))), int(min(float64(g.length/2), highest))

	window := make([]float64, len(t))
	var squares float64
	for i, t := range t {
		s := math.Sin(math.Pi * (t - g.lo) / span)
		window[i] = s * s
		squares += window[i] * window[i]
	}
	// low returns the requested frequencies: a small part of the fine grid's.
	low := func(series []float64) []complex128 {
		parallel.Look(ctx)
		return slices.Clone(g.fft.Coefficients(nil, series)[:last+1])
	}
	// transform returns Σ_i w_i·v_i·exp(−2πi·ξ·x_i).
	transform := func(v []float64) []complex128 {
		return low(g.put(floats.MulTo(make([]float64, len(v)), window, v)))
	}
	data := transform(y)
	for j := first; j <= last; j++ {
		p.Frequency = append(p.Frequency, float64(j)/(float64(g.length)*g.width))
		p.Data = append(p.Data, power(data[j])/squares)
	}

	// u*Ku: the pairs of each lag times their covariance, summed with cosines.
	parallel.Look(ctx)
	pairs := g.correlate(g.put(window))
	parallel.Look(ctx)
	lags := g.covariances(cov)
	all := low(floats.MulTo(pairs, pairs, lags))

	// Subtracting the trend changes this by the following: with the columns q of Q, A = u*q and B = u*Kq, −2·Re Σ_c A_c·B̄_c +
	// Σ_cd A_c·Ā_d·q_cᵀKq_d, and the noise by Σ_c|A_c|².
	parallel.Look(ctx)
	spectrum := g.fft.Coefficients(nil, lags)
	covered := make([][]float64, len(q)) // Kq
	a, b := make([][]complex128, len(q)), make([][]complex128, len(q))
	for c := range q {
		parallel.Look(ctx)
		covered[c] = g.convolve(q[c], spectrum)
		a[c], b[c] = transform(q[c]), transform(covered[c])
	}
	inner := mat.NewDense(len(q), len(q), nil) // QᵀKQ
	for c := range q {
		for e := range q {
			parallel.Look(ctx)
			inner.Set(c, e, floats.Dot(q[c], covered[e]))
		}
	}
	for j := first; j <= last; j++ {
		parallel.Look(ctx)
		signal, white := real(all[j]), squares
		for c := range q {
			signal -= 2 * real(a[c][j]*cmplx.Conj(b[c][j]))
			white -= power(a[c][j])
			for e := range q {
				signal += real(a[c][j]*cmplx.Conj(a[e][j])) * inner.At(c, e)
			}
		}
		p.Expected = append(p.Expected, (max(signal, 0)+noise*max(white, 0))/squares)
	}
	return p, nil
}

// grid is a fine even grid over the times of a series, padded to more than
// twice their range, so that no pair reaches across the ends.
type grid struct {
	at                       []int // the place of each time
	bins, length             int
	lo, span, spacing, width float64
	fft                      *fourier.FFT
}

func newGrid(x []float64) *grid {
	t := slices.Clone(x)
	slices.Sort(t)
	g := &grid{lo: t[0], span: t[len(t)-1] - t[0], spacing: timeline.Coverage(t) / float64(len(t)-1)}
	const finer = 32
	g.bins = 1 + int(math.Round(min(finer*g.span/g.spacing, 1<<20)))
	g.width = g.span / float64(g.bins-1)
	g.length = 1 << bits.Len(uint(2*g.bins))
	for _, t := range x {
		g.at = append(g.at, int(math.Round((t-g.lo)/g.width)))
	}
	g.fft = fourier.NewFFT(g.length)
	return g
}

// put returns the sums of values at the places of the grid.
func (g *grid) put(v []float64) []float64 {
	s := make([]float64, g.length)
	for i, at := range g.at {
		s[at] += v[i]
	}
	return s
}

// correlate returns Σ_b s_b·s_{b+h} for every lag h, negative ones at the end.
func (g *grid) correlate(s []float64) []float64 {
	c := g.fft.Coefficients(nil, s)
	for i, v := range c {
		c[i] = complex((real(v)*real(v)+imag(v)*imag(v))/float64(g.length), 0)
	}
	return g.fft.Sequence(nil, c)
}

// covariances returns the values of cov at every lag of the grid, 0 beyond the range.
func (g *grid) covariances(cov func(dst, lags []float64)) []float64 {
	near := make([]float64, g.bins)
	for h := range near {
		near[h] = float64(h) * g.width
	}
	cov(near, near)
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
func (g *grid) convolve(v []float64, spectrum []complex128) []float64 {
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
