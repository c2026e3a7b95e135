package periodogram

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

func power(v complex128) float64 { return real(v)*real(v) + imag(v)*imag(v) }

// Circle holds sums over values y with weights w at phases φ of a circle, at all frequencies, positive and negative:
//
//	E_j = Σ w·exp(2πijφ),  F_j = Σ w·y·exp(2πijφ).
type Circle struct {
	moment, values []float64 // E and F, cos and sin by turns
	cycle          float64   // number of frequencies per cycle over the extent of the values
	mean           float64   // mean of y
	weight         float64   // Σ w
	squares        float64   // Σ w·h²
	window         Window
	at             []complex128 // a_s·exp(−2πi·s·μ) of the window; μ is its middle
}

// NewCircle returns the sums over values whose phases extend from lo to hi.
func NewCircle(moment, values []float64, lo, hi float64) *Circle {
	g := &Circle{moment: moment, values: values, cycle: 1 / (hi - lo), weight: moment[0], mean: values[0] / moment[0]}
	g.window = NewWindow(g.cycle)
	middle := 0.5*lo + 0.5*hi
	for k := range g.window.A {
		sin, cos := math.Sincos(-2 * math.Pi * math.Mod(float64(k*g.window.Step)*middle, 1))
		g.at = append(g.at, complex(g.window.A[k]*cos, g.window.A[k]*sin))
	}
	for k := -len(g.at) + 1; k < len(g.at); k++ {
		g.squares += real(g.tap(k) * g.windowed(k*g.window.Step))
	}
	return g
}

// Highest returns the highest frequency of the window: periodograms need sums that reach so far beyond their own frequencies.
func (g *Circle) Highest() int { return g.window.highest() }

// OneValue reports whether the sums, up to the highest frequency of F, belong to little more than one value, whose power is
// the same at all frequencies. It takes O(M).
func (g *Circle) OneValue(highest int) bool {
	const least = 30 // frequencies: with so few, the ratio for white noise is below ¼ about once in a thousand series
	const even = 0.25
	var count, sum, squares float64
	for c := 1.0; int(c*g.cycle) <= highest; c++ { // steps of a frequency that is independent
		j := int(c * g.cycle)
		p := power(entry(g.values, j) - complex(g.mean, 0)*entry(g.moment, j))
		count++
		sum += p
		squares += p * p
	}
	return count >= least && squares*count-sum*sum < even*sum*sum
}

// At returns, for j = first … last,
//
//	I_j = |Σ w·h·(y − ȳ)·exp(2πijφ)|² / Σ w·h²
//
// and its expectation where y has the covariance Σ_m ĉ_m·exp(2πimτ) over all m, ĉ_m = ĉ_−m, and the noise noise/w. The moments
// must reach to last + Highest + len(ĉ). It takes O(M log M).
func (g *Circle) At(ctx context.Context, first, last int, hat []float64, noise float64) (data, expected []float64) {
	expected = g.expected(ctx, hat, first, last)
	for i := range expected {
		parallel.Look(ctx)
		j := first + i
		b := power(g.windowed(j))
		data = append(data, power(g.data(j))/g.squares)
		expected[i] = max(0, expected[i])/g.squares + noise*max(0, 1-b/(g.weight*g.squares))
	}
	return data, expected
}

// tap returns the kth coefficient of the window, at frequency k·step.
func (g *Circle) tap(k int) complex128 {
	if k < 0 {
		return cmplx.Conj(g.at[-k])
	}
	return g.at[k]
}

// entry returns the complex number at frequency q of sums v, cos and sin by turns.
func entry(v []float64, q int) complex128 {
	if q < 0 {
		return complex(v[-2*q], -v[-2*q+1])
	}
	return complex(v[2*q], v[2*q+1])
}

// windowed returns Σ w·h·exp(2πijφ).
func (g *Circle) windowed(j int) (b complex128) {
	for k := -len(g.at) + 1; k < len(g.at); k++ {
		b += g.tap(k) * entry(g.moment, j+k*g.window.Step)
	}
	return b
}

// data returns Σ w·h·(y − ȳ)·exp(2πijφ).
func (g *Circle) data(j int) (u complex128) {
	for k := -len(g.at) + 1; k < len(g.at); k++ {
		q := j + k*g.window.Step
		u += g.tap(k) * (entry(g.values, q) - complex(g.mean, 0)*entry(g.moment, q))
	}
	return u
}

// expected returns E|Σ w·h·(f − f̄)·exp(2πijφ)|² for j = first … last. With B the sums of windowed and E the moments, f at
// frequency m enters by B_{j−m} − B_j·E_{−m}/W:
//
//	Σ_m ĉ_m|B_{j−m}|² − (2/W)·Re B̄_j Σ_m ĉ_m·E_m·B_{j−m} + |B_j|²/W²·Σ_m ĉ_m|E_m|².
func (g *Circle) expected(ctx context.Context, hat []float64, first, last int) []float64 {
	m := len(hat) - 1
	from := first - m // first frequency of B
	count := last + m - from + 1
	size := 1 << bits.Len(uint(count+2*m))
	b, e := make([]complex128, size), make([]complex128, size)
	squares, c := make([]complex128, size), make([]complex128, size)
	for i := range count {
		parallel.Look(ctx)
		b[i] = g.windowed(from + i)
		squares[i] = complex(power(b[i]), 0)
	}
	var all float64
	for q := -m; q <= m; q++ {
		weight := hat[max(q, -q)]
		of := entry(g.moment, q)
		c[q+m], e[q+m] = complex(weight, 0), complex(weight, 0)*of
		all += weight * power(of)
	}
	fft := fourier.NewCmplxFFT(size)
	convolve := func(a, b []complex128) []complex128 {
		fft.Coefficients(a, a)
		fft.Coefficients(b, b)
		for i := range a {
			a[i] *= b[i] / complex(float64(size), 0)
		}
		return fft.Sequence(a, a)
	}
	parallel.Look(ctx)
	plain := append([]complex128(nil), b...)
	one, two := convolve(squares, c), convolve(b, e)
	out := make([]float64, last-first+1)
	for i := range out {
		at := i + 2*m // the place of frequency first+i, since (first−m) + (−m) is at 0
		bj := plain[i+m]
		out[i] = real(one[at]) - 2/g.weight*real(cmplx.Conj(bj)*two[at]) + power(bj)/(g.weight*g.weight)*all
	}
	return out
}

// Window is h(u) = a_0 + 2·Σ_k a_k·cos(2π·k·Step·u/R), u in units of the extent about its middle, R the period over the extent.
type Window struct {
	Step int
	A    []float64
}

// highest returns the highest frequency.
func (w Window) highest() int { return w.Step * (len(w.A) - 1) }

// windowTerms is the degree of the polynomial, which keeps within 0.005 of Hann's window: see TestWindow.
const windowTerms = 5

// NewWindow fits Hann's window cos²(πu), |u| ≤ ½, by least squares. Waves of some two or three extents suffice, and are
// distinguishable.
func NewWindow(ratio float64) Window {
	w := Window{Step: max(1, int(ratio/2))}
	const samples, ridge = 200, 1e-7
	a, b := mat.NewDense(samples+windowTerms+1, windowTerms+1, nil), mat.NewVecDense(samples+windowTerms+1, nil)
	for i := range samples {
		u := 0.5 * (float64(i) + 0.5) / samples
		cos := math.Cos(math.Pi * u)
		b.SetVec(i, cos*cos)
		for k := range windowTerms + 1 {
			v := 2 * math.Cos(2*math.Pi*float64(k*w.Step)*u/ratio)
			if k == 0 {
				v = 1
			}
			a.Set(i, k, v)
		}
	}
	for k := range windowTerms + 1 { // favours small coefficients, which round little
		a.Set(samples+k, k, ridge)
	}
	var qr mat.QR
	qr.Factorize(a)
	var x mat.VecDense
	if err := qr.SolveVecTo(&x, false, b); err != nil && !errors.As(err, new(mat.Condition)) {
		panic(fmt.Sprintf("periodogram: a window for a period of %v ranges: %v", ratio, err)) // the ridge makes it regular
	}
	w.A = append(w.A, x.RawVector().Data...)
	return w
}
