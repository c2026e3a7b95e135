package fourier

import (
	"fmt"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Cosine turns samples of an even P-periodic function on the grid jP/N into the coefficients of its cosine series, and back. It
// owns scratch memory: one goroutine at a time.
type Cosine struct {
	n    int // N/2
	y, d []float64
	odd  []*fourier.QuarterWaveFFT // transforms of n/2, n/4, … values, while these are whole
	last *fourier.DCT              // transform of the part that cannot be halved, nil if it has two values
}

// NewCosine returns the plan for N samples a period. N must be even and
// positive; powers of two and products of 2, 3 and 5 are fast.
func NewCosine(size int) *Cosine {
	if size <= 0 || size%2 != 0 {
		panic(fmt.Sprintf("fourier: a grid of %d", size))
	}
	n := size / 2
	c := &Cosine{n: n, y: make([]float64, n+1), d: make([]float64, n/2)}
	for ; n%2 == 0; n /= 2 {
		c.odd = append(c.odd, fourier.NewQuarterWaveFFT(n/2))
	}
	if n > 1 {
		c.last = fourier.NewDCT(n + 1)
	}
	return c
}

// Coefficients sets dst to the coefficients c of the interpolant through the
// samples g, g_j = Σ_m c_m cos(2πmj/N), j, m = 0 … N/2:
//
//	c_m = (ε_m/N)·Σ_j ε_j g_j cos(2πmj/N),   ε = 1 at both ends, else 2.
//
// The matrix of this map is symmetric, so Coefficients is its own adjoint: it maps q to the w with Σ_m q_m c_m = Σ_j w_j g_j.
// It takes about 2.5·N·log₂N flops and allocates nothing; dst may be g.
//
// Folding separates even and odd coefficients: a DCT-I becomes a DCT-I and a DCT-III, each of half the size. The error is about
// 1e-16·max|c|·log N; gonum's DCT-I, a running sum over coefficients, has an error that grows with √N.
func (c *Cosine) Coefficients(dst, g []float64) {
	if len(dst) != c.n+1 || len(g) != c.n+1 {
		panic(fmt.Sprintf("fourier: %d coefficients of %d samples by a plan for %d", len(dst), len(g), c.n+1))
	}
	scale := 1 / float64(c.n)
	n, stride := c.n, 1
	copy(c.y, g)
	for _, fft := range c.odd {
		y, d := c.y[:n+1], c.d[:n/2]
		for j := range d {
			a, b := y[j], y[n-j]
			y[j], d[j] = a+b, a-b
		}
		y[n/2] *= 2
		fft.CosCoefficients(d, d)
		for i, v := range d {
			dst[stride*(2*i+1)] = scale * v
		}
		n, stride = n/2, 2*stride
	}
	if y := c.y[:n+1]; n == 1 {
		y[0], y[1] = y[0]+y[1], y[0]-y[1]
	} else {
		c.last.Transform(y, y)
	}
	for i, v := range c.y[:n+1] {
		dst[stride*i] = scale * v
	}
	dst[0] *= 0.5
	dst[c.n] *= 0.5
}
