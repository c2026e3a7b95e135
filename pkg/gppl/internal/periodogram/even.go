package periodogram

import (
	"fmt"
	"math"
	"math/bits"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// Even is the periodogram of values y on an even grid of N places, which may have gaps, at the Fourier frequencies j/N,
// j = 0 … ⌊N/2⌋, in cycles a step,
//
//	I_j = |u_jᴴMy|²,  u_j = h_t·exp(2πi·jt/N),  M = I − QQᵀ,
//
// with a taper h, Σ h² = 1, that is 0 at empty places, and an orthonormal Q, whose columns are subtracted from y by least
// squares. If y has the covariance A = K + σ²I + PPᵀ, where P are the functions of known covariance, its expectation is
//
//	E I_j = u_jᴴM(K + σ²I)Mu_j + |Pᵀu_j|²,
//
// which takes O((1 + c)·N log N) for c columns of Q (Sykulski et al. 2019 without, Guillaumin et al. 2022 with empty places).
// Model.Periodogram computes the effect of means and Q on a fine grid (Times). Even is immutable and safe for concurrent use.
type Even struct {
	Lags
	Data  []float64 // I_j
	White []float64 // E I_j of white noise of variance 1
	Known []float64 // |Pᵀu_j|²; nil without P

	n          int
	taper      []float64
	free, held []column // columns of Q, and of P
	transform  *Transform
	size       int // size of convolutions without wrapping
}

// column is a function at the places, 0 at empty ones.
type column struct {
	at    []float64
	waves []complex128 // u_jᴴq, j = 0 … N−1
}

// NewEven returns the periodogram of y at the given places 0 ≤ p < n, each at most once, under a taper of n entries. The columns
// of q are orthonormal and already subtracted from y; the columns of p are orthogonal to them.
func NewEven(n int, places []int, y []float64, q, p [][]float64, taper []float64) *Even {
	if len(taper) != n || len(y) != len(places) {
		panic(fmt.Sprintf("periodogram: NewEven: len(taper) = %d, want n = %d; len(y) = %d, want %d places", len(taper), n, len(y),
			len(places)))
	}
	e := &Even{n: n, taper: make([]float64, n), transform: NewTransform(n), size: 1 << bits.Len(uint(2*n-1))}
	for _, at := range places {
		e.taper[at] = taper[at]
	}
	floats.Scale(1/floats.Norm(e.taper, 2), e.taper)
	e.Lags = Lags{Period: n, Pairs: e.correlate(e.taper, e.taper)}
	half := n/2 + 1
	e.Data, e.White = make([]float64, half), make([]float64, half)
	for j, v := range e.waves(e.scatter(places, y))[:half] {
		e.Data[j], e.White[j] = power(v), 1
	}
	for _, c := range q {
		at := e.scatter(places, c)
		e.free = append(e.free, column{at, e.waves(at)})
		for j := range e.White {
			e.White[j] -= power(e.free[len(e.free)-1].waves[j])
		}
	}
	for _, c := range p {
		if at := e.scatter(places, c); e.Known == nil {
			e.held, e.Known = []column{{at, e.waves(at)}}, make([]float64, half)
		} else {
			e.held = append(e.held, column{at, e.waves(at)})
		}
		for j := range e.Known {
			e.Known[j] += power(e.held[len(e.held)-1].waves[j])
		}
	}
	return e
}

// scatter returns values at the places.
func (e *Even) scatter(places []int, values []float64) []float64 {
	all := make([]float64, e.n)
	for i, at := range places {
		all[at] = values[i]
	}
	return all
}

// waves returns u_jᴴv, j = 0 … N−1, of values at the places.
func (e *Even) waves(v []float64) []complex128 {
	z := make([]complex128, e.n)
	e.wavesTo(z, v, e.transform.Fresh())
	return z
}

func (e *Even) wavesTo(z []complex128, v []float64, f *Transform) {
	for t, h := range e.taper {
		z[t] = complex(h*v[t], 0)
	}
	f.Forward(z)
}

// correlate returns Σ_t a_t·b_{t+d} for lags d ≥ 0.
func (e *Even) correlate(a, b []float64) []float64 {
	w := convolver{fft: fourier.NewFFT(e.size), seq: make([]float64, e.size), spectrum: make([]complex128, e.size/2+1)}
	first := append([]complex128(nil), w.forward(a)...)
	for i, s := range w.forward(b) {
		first[i] = cmplx.Conj(first[i]) * s / complex(float64(e.size), 0)
	}
	return append([]float64(nil), w.fft.Sequence(w.seq, first)[:e.n]...)
}

// convolver is the working memory of convolutions without wrapping.
type convolver struct {
	fft      *fourier.FFT
	seq      []float64
	spectrum []complex128
}

// forward returns the transform of v, which the next call overwrites.
func (c *convolver) forward(v []float64) []complex128 {
	copy(c.seq, v)
	clear(c.seq[len(v):])
	return c.fft.Coefficients(c.spectrum, c.seq)
}

// Work is the working memory of one goroutine.
type Work struct {
	transform *Transform
	half      []float64
	// Memory for Q alone.
	convolver
	toeplitz []complex128 // spectrum of the covariance
	covered  [][]float64  // Kq
	z        []complex128
	sum      []complex128
	inner    []float64
}

// set makes the memory for e.
func (w *Work) set(e *Even) {
	if w.transform != nil {
		return
	}
	w.transform, w.half = e.transform.Fresh(), make([]float64, e.n/2+1)
	if len(e.free) == 0 {
		return
	}
	w.convolver = convolver{fourier.NewFFT(e.size), make([]float64, e.size), make([]complex128, e.size/2+1)}
	w.toeplitz, w.sum = make([]complex128, e.size/2+1), make([]complex128, e.size/2+1)
	w.z, w.inner = make([]complex128, e.n), make([]float64, len(e.free)*len(e.free))
	for range e.free {
		w.covered = append(w.covered, make([]float64, e.n))
	}
}

// Expected sets dst_j to u_jᴴMKMu_j for the covariances of the lags 0 … N−1. It is linear in them.
func (e *Even) Expected(dst, covariances []float64, w *Work) {
	w.set(e)
	e.Fold(w.half, covariances)
	w.transform.Cosines(dst, w.half)
	if len(e.free) == 0 {
		return
	}
	w.cover(e, covariances)
	for c := range e.free {
		e.wavesTo(w.z, w.covered[c], w.transform)
		waves := e.free[c].waves
		for j := range dst {
			dst[j] -= 2 * real(cmplx.Conj(waves[j])*w.z[j])
		}
		for d := range e.free {
			inner, other := floats.Dot(e.free[c].at, w.covered[d]), e.free[d].waves
			for j := range dst {
				dst[j] += inner * real(waves[j]*cmplx.Conj(other[j]))
			}
		}
	}
}

// cover sets covered to the products of the covariance with the columns of Q, at the occupied places.
func (w *Work) cover(e *Even, covariances []float64) {
	copy(w.seq, covariances)
	clear(w.seq[e.n:])
	for d, v := range covariances[1:] {
		w.seq[e.size-1-d] = v
	}
	for i, v := range w.fft.Coefficients(w.spectrum, w.seq) {
		w.toeplitz[i] = complex(real(v)/float64(e.size), 0)
	}
	for c := range e.free {
		for i, v := range w.forward(e.free[c].at) {
			w.sum[i] = v * w.toeplitz[i]
		}
		for t, v := range w.fft.Sequence(w.seq, w.sum)[:e.n] {
			if w.covered[c][t] = v; e.taper[t] == 0 {
				w.covered[c][t] = 0
			}
		}
	}
}

// LagSlopes sets dst to the derivatives of Σ_j a_j·E I_j in the covariances of the lags: the sums along the diagonals of
// M·(Σ_j a_j·u_ju_jᴴ)·M. With D the real part of the inner sum, these are the sums of D and of qvᵀ + vqᵀ over the columns q of
// Q, where v = −Dq + ½Σ_e (qᵀDq_e)·q_e.
func (e *Even) LagSlopes(dst, a []float64, w *Work) {
	w.set(e)
	w.cosines(a, e)
	e.Slopes(dst, w.half)
	if len(e.free) == 0 {
		return
	}
	for c := range e.free { // Dq_s = h_s·Re Σ_j a_j·exp(iω_j·s)·u_jᴴq, by a transform of the conjugate
		clear(w.z)
		for j, v := range a {
			w.z[j] = complex(v, 0) * cmplx.Conj(e.free[c].waves[j])
		}
		w.transform.Forward(w.z)
		for t, h := range e.taper {
			w.covered[c][t] = h * real(w.z[t])
		}
	}
	for c := range e.free {
		for d := range e.free {
			w.inner[c*len(e.free)+d] = floats.Dot(e.free[c].at, w.covered[d])
		}
	}
	clear(w.sum)
	for c := range e.free {
		v := w.covered[c]
		floats.Scale(-1, v)
		for d := range e.free {
			floats.AddScaled(v, 0.5*w.inner[c*len(e.free)+d], e.free[d].at)
		}
		copy(w.toeplitz, w.forward(e.free[c].at))
		for i, s := range w.forward(v) {
			w.sum[i] += complex(real(w.toeplitz[i]*cmplx.Conj(s))*2/float64(e.size), 0)
		}
	}
	w.fft.Sequence(w.seq, w.sum)
	dst[0] += w.seq[0]
	for d := 1; d < e.n; d++ {
		dst[d] += 2 * w.seq[d]
	}
}

// Rounding bounds the effect of rounding in the transforms on an expectation of the covariances.
func (e *Even) Rounding(covariances []float64) float64 {
	var squares float64
	for d, p := range e.Pairs {
		squares += p * p * covariances[d] * covariances[d]
	}
	return 0x1p-52 * math.Log2(float64(e.size)) * (1 + float64(len(e.free))) * math.Sqrt(2*squares)
}

// Columns returns the number of columns of Q.
func (e *Even) Columns() float64 { return float64(len(e.free)) }

// Wrapped sets dst_j to Σ_d k(d)·cos(2πjd/N), over all given lags d and −d: the spectral density, if k has decayed there.
func (w *Work) Wrapped(dst, covariances []float64, e *Even) {
	w.set(e)
	l := Lags{Period: e.n}
	l.Fold(w.half, covariances)
	w.transform.Cosines(dst, w.half)
}

// WrappedSlopes sets dst to the derivatives of Σ_j a_j·k̂_j in the covariances of the lags, k̂ as by Wrapped.
func (w *Work) WrappedSlopes(dst, a []float64, e *Even) {
	w.set(e)
	l := Lags{Period: e.n}
	w.cosines(a, e)
	l.Slopes(dst, w.half)
}

// cosines sets half_t to Σ_j a_j·cos(2πjt/N), over j = 0 … ⌊N/2⌋.
func (w *Work) cosines(a []float64, e *Even) {
	for j, v := range a {
		if w.half[j] = v; j > 0 && 2*j != e.n {
			w.half[j] = 0.5 * v
		}
	}
	w.transform.Cosines(w.half, w.half)
}
