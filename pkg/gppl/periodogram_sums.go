package gppl

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/mat"
)

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
	g := newSumsGrid(s)
	lo, hi := s.Extent()
	first := int(math.Ceil(s.header.Period / (hi - lo)))
	last := min(s.header.Highest-g.window.highest(), int(0.5*float64(s.Len()-1)/(hi-lo)*s.header.Period))
	if last < first {
		return nil, fmt.Errorf("gppl: no frequency lies between one cycle over the observations and what %v resolve", s)
	}
	coefficients, err := g.coefficients(m, last)
	if err != nil {
		return nil, err
	}
	p := &Periodogram{Noise: m.Noise + Nugget(m.Kernel)}
	signal := g.expected(coefficients, first, last)
	for j := first; j <= last; j++ {
		b := power(g.windowed(j))
		p.Frequency = append(p.Frequency, float64(j)/s.header.Period)
		p.Data = append(p.Data, power(g.data(j))/g.squares)
		p.Expected = append(p.Expected, max(0, signal[j-first])/g.squares+p.Noise*max(0, 1-b/(g.weight*g.squares)))
	}
	return p, nil
}

func power(v complex128) float64 { return real(v)*real(v) + imag(v)*imag(v) }

// sumsGrid are sums at all frequencies, negative ones among them.
type sumsGrid struct {
	header  SumsHeader
	moment  []float64 // E
	values  []float64 // F
	mean    float64   // of y less the centre
	weight  float64   // Σ w
	squares float64   // Σ w·h²
	window  circleWindow
	at      []complex128 // a_s·exp(−2πi·s·μ) of the window, μ its middle
}

func newSumsGrid(s *Sums) *sumsGrid {
	g := &sumsGrid{header: s.header, moment: s.plan.Moments(s.sum), values: s.plan.Values(s.sum)}
	g.weight = g.moment[0]
	g.mean = g.values[0] / g.weight
	lo, hi := s.Extent()
	h := s.header
	g.window = newCircleWindow(h.Period / (hi - lo))
	middle := (0.5*lo + 0.5*hi - h.Origin) / h.Period
	for k := range g.window.a {
		sin, cos := math.Sincos(-2 * math.Pi * math.Mod(float64(k*g.window.step)*middle, 1))
		g.at = append(g.at, complex(g.window.a[k]*cos, g.window.a[k]*sin))
	}
	for k := -len(g.at) + 1; k < len(g.at); k++ {
		g.squares += real(g.tap(k) * g.windowed(k*g.window.step))
	}
	return g
}

// OneValue reports whether the sums are those of one value and little else. The power of one value is the same at all
// frequencies. That of white noise varies as much as its mean is, and that of a signal more. With the share q of Σy² in one
// value the squared ratio of standard deviation to mean is (1 − q)(1 + q): ¼ at q = 0.87. Sums of fewer than some sixty observations are never
// those of one value. It takes O(M), M the frequencies of s.
func (s *Sums) OneValue() bool {
	const least = 30 // frequencies: of so few of white noise the ratio is below ¼ about once in a thousand series
	const even = 0.25
	g := newSumsGrid(s)
	lo, hi := s.Extent()
	cycle := s.header.Period / (hi - lo) // of j: a frequency further apart is another
	var count, sum, squares float64
	for c := 1.0; int(c*cycle) <= s.header.Highest; c++ {
		j := int(c * cycle)
		p := power(entry(g.values, j) - complex(g.mean, 0)*entry(g.moment, j))
		count++
		sum += p
		squares += p * p
	}
	return count >= least && squares*count-sum*sum < even*sum*sum
}

// tap returns the kth coefficient of the window, at frequency k·step.
func (g *sumsGrid) tap(k int) complex128 {
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
func (g *sumsGrid) windowed(j int) (b complex128) {
	for k := -len(g.at) + 1; k < len(g.at); k++ {
		b += g.tap(k) * entry(g.moment, j+k*g.window.step)
	}
	return b
}

// data returns Σ w·h·(y − ȳ)·exp(2πijφ).
func (g *sumsGrid) data(j int) (u complex128) {
	for k := -len(g.at) + 1; k < len(g.at); k++ {
		q := j + k*g.window.step
		u += g.tap(k) * (entry(g.values, q) - complex(g.mean, 0)*entry(g.moment, q))
	}
	return u
}

// coefficients returns those ĉ_m, m ≥ 0, of k(τ) = Σ_m ĉ_m·exp(2πimτ/P) over all m. What
// they leave out is far below the noise.
func (g *sumsGrid) coefficients(m Model, last int) ([]float64, error) {
	span, c := g.header.Hi-g.header.Lo, g.header.circle()
	var parts split
	if !parts.of(m.Kernel) {
		return []float64{0}, nil
	}
	eps := max(c.least(span, m.Kernel), min(1e-9, 1e-6*m.Noise/variance(m.Kernel)))
	room := 2*c.highest - g.window.highest() - last
	count, windowed, why := c.needs(span, m.Kernel, eps)
	if why == (reason{}) && count > float64(room) {
		why = reason{c.beyond, count / c.period}
	}
	if why != (reason{}) {
		return nil, &Refusal{Reason: why.String()}
	}
	series := newCosineSeriesOf(span, c.period, windowed, m.Kernel, eps)
	n, err := series.expand(m.Kernel, eps)
	if err != nil {
		return nil, err
	}
	if n > room {
		return nil, &Refusal{Reason: reason{c.beyond, float64(n) / c.period}.String()}
	}
	hat := make([]float64, n)
	for i, v := range series.c[:n] {
		if hat[i] = 0.5 * v; i == 0 {
			hat[i] = v
		}
	}
	return hat, nil
}

// expected returns E|Σ w·h·(f − f̄)·exp(2πijφ)|² for j = first … last. With B the sums
// that windowed returns and E the moments, f at frequency m enters by B_{j−m} − B_j·E_{−m}/W:
//
//	Σ_m ĉ_m|B_{j−m}|² − (2/W)·Re B̄_j Σ_m ĉ_m·E_m·B_{j−m} + |B_j|²/W²·Σ_m ĉ_m|E_m|².
func (g *sumsGrid) expected(hat []float64, first, last int) []float64 {
	m := len(hat) - 1
	from := first - m // of B
	count := last + m - from + 1
	size := 1 << bits.Len(uint(count+2*m))
	b, e := make([]complex128, size), make([]complex128, size)
	squares, c := make([]complex128, size), make([]complex128, size)
	for i := range count {
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
	plain := append([]complex128(nil), b...)
	one, two := convolve(squares, c), convolve(b, e)
	out := make([]float64, last-first+1)
	for i := range out {
		at := i + 2*m // the place of frequency first+i: (first−m) + (−m) is at 0
		bj := plain[i+m]
		out[i] = real(one[at]) - 2/g.weight*real(cmplx.Conj(bj)*two[at]) + power(bj)/(g.weight*g.weight)*all
	}
	return out
}

// circleWindow is h(u) = a_0 + 2·Σ_k a_k·cos(2π·k·step·u/R), u in units of the extent about
// its middle, R the period over the extent.
type circleWindow struct {
	step int
	a    []float64
}

// highest returns the highest frequency.
func (w circleWindow) highest() int { return w.step * (len(w.a) - 1) }

// windowTerms is the degree of the polynomial, which keeps within 0.005 of Hann's window: see
// TestCircleWindow.
const windowTerms = 5

// newCircleWindow fits Hann's window cos²(πu), |u| ≤ ½, by least squares. Frequencies of some
// two or three extents a wave are enough, and are told apart.
func newCircleWindow(ratio float64) circleWindow {
	w := circleWindow{step: max(1, int(ratio/2))}
	const samples, ridge = 200, 1e-7
	a, b := mat.NewDense(samples+windowTerms+1, windowTerms+1, nil), mat.NewVecDense(samples+windowTerms+1, nil)
	for i := range samples {
		u := 0.5 * (float64(i) + 0.5) / samples
		cos := math.Cos(math.Pi * u)
		b.SetVec(i, cos*cos)
		for k := range windowTerms + 1 {
			v := 2 * math.Cos(2*math.Pi*float64(k*w.step)*u/ratio)
			if k == 0 {
				v = 1
			}
			a.Set(i, k, v)
		}
	}
	for k := range windowTerms + 1 { // small coefficients, which round little
		a.Set(samples+k, k, ridge)
	}
	var qr mat.QR
	qr.Factorize(a)
	var x mat.VecDense
	if err := qr.SolveVecTo(&x, false, b); err != nil && !errors.As(err, new(mat.Condition)) {
		panic(fmt.Sprintf("gppl: a window for a period of %v ranges: %v", ratio, err)) // the ridge makes it regular
	}
	w.a = append(w.a, x.RawVector().Data...)
	return w
}
