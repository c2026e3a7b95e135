package main

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/dsp/fourier"
)

// signalGrid is one draw of the Gaussian process on a fine grid. Between its points it is a polynomial through the nearest ones.
type signalGrid struct {
	span, step float64
	value      []float64 // value[i] is f at (i + 1 − taps/2) steps
}

const (
	// perLengthscale is the number of grid points in a lengthscale, taps the number that a polynomial passes through. They keep the
	// error of interpolation below 1e-9.
	perLengthscale = 24
	taps           = 12
)

// newSignal draws SE of variance and lengthscale 1 on [0, span]: f(t) = Σ_m √c_m·(a_m cos + b_m sin)(2πmt/P), with a and b
// normal. This is exact to rounding, because the period P exceeds the range by the reach of the kernel.
func newSignal(span float64, seed uint64) *signalGrid {
	const reach = 9.0
	period := span + reach + 1
	n := 2 * int(math.Ceil(period*perLengthscale/2))
	period = float64(n) / perLengthscale
	rnd := rand.New(rand.NewPCG(seed, 1))
	fft := fourier.NewFFT(n)
	hat := make([]complex128, n/2+1)
	for m := range hat {
		w := 2 * math.Pi * float64(m) / period
		c := 2 * math.Sqrt(2*math.Pi) / period * math.Exp(-0.5*w*w)
		if m == 0 {
			c /= 2
		}
		amplitude := math.Sqrt(c)
		a, b := amplitude*rnd.NormFloat64(), amplitude*rnd.NormFloat64()
		if m == 0 {
			hat[m] = complex(a, 0)
		} else {
			hat[m] = complex(a/2, -b/2)
		}
	}
	hat[n/2] = 0
	return &signalGrid{span: span, step: 1 / float64(perLengthscale), value: fft.Sequence(nil, hat)}
}

// interpolate returns f(t).
func (f *signalGrid) interpolate(t float64) float64 {
	u := t / f.step
	i := math.Floor(u)
	x := u - i + taps/2 - 1 // place of t if the nodes are 0 … taps−1
	v := f.value[int(i):]
	// The barycentric weights of equidistant nodes are binomial.
	var sum, total float64
	for j, w := range binomial {
		d := x - float64(j)
		if d == 0 {
			return v[j]
		}
		w /= d
		total += w
		sum += w * v[j]
	}
	return sum / total
}

// binomial[j] = (−1)^j·(taps−1 choose j).
var binomial = func() (w [taps]float64) {
	w[0] = 1
	for j := 1; j < taps; j++ {
		w[j] = -w[j-1] * float64(taps-j) / float64(j)
	}
	return w
}()

// observe sets t and y to the observations of chunk c. The range has n equal parts, and each part has one observation at a random
// place.
func (f *signalGrid) observe(t, y []float64, c, n int, noise float64, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, uint64(c)+2))
	sigma := math.Sqrt(noise)
	part := f.span / float64(n)
	for i := range t {
		t[i] = min(f.span, part*(float64(c*chunk+i)+rnd.Float64()))
		y[i] = f.interpolate(t[i]) + sigma*rnd.NormFloat64()
	}
}
