package periodogram

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/dsp/fourier"

	sizes "github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Transform is the discrete Fourier transform of a length that may be a prime,
//
//	X_j = Σ_t x_t·exp(−2πi·jt/n),
//
// in O(n log n): lengths that are odd, or have other factors than 2, 3 and 5, take Bluestein's convolution with a chirp (1970),
// which two transforms of a power of two compute. It is for one goroutine; Fresh returns one for another.
type Transform struct {
	n     int
	plain *fourier.CmplxFFT // transform of the length itself, or of the convolution
	real  *fourier.FFT      // nil if there is a chirp
	chirp *chirp            // nil if the length has only small factors
	full  []float64
	work  []complex128
}

// chirp holds exp(−πi·t²/n), and the spectrum of its conjugate. It is immutable.
type chirp struct {
	at, spectrum []complex128
}

// NewTransform returns the transform of length n ≥ 1.
func NewTransform(n int) *Transform {
	if n%2 == 0 && sizes.Smooth(n) == n {
		return (&Transform{n: n}).Fresh()
	}
	size := 1 << bits.Len(uint(2*n-2))
	c := &chirp{at: make([]complex128, n), spectrum: make([]complex128, size)}
	for t := range c.at {
		sin, cos := math.Sincos(math.Pi * float64(t*t%(2*n)) / float64(n)) // t² modulo the period keeps all digits
		c.at[t], c.spectrum[t] = complex(cos, -sin), complex(cos, sin)
		if t > 0 {
			c.spectrum[size-t] = c.spectrum[t]
		}
	}
	f := (&Transform{n: n, chirp: c}).Fresh()
	f.plain.Coefficients(c.spectrum, c.spectrum)
	for i := range c.spectrum {
		c.spectrum[i] /= complex(float64(size), 0)
	}
	return f
}

// Fresh returns the same transform with its own working memory.
func (f *Transform) Fresh() *Transform {
	size := f.n
	if f.chirp != nil {
		size = len(f.chirp.spectrum)
	}
	of := &Transform{n: f.n, chirp: f.chirp, plain: fourier.NewCmplxFFT(size), work: make([]complex128, size)}
	if f.chirp == nil {
		of.real, of.full = fourier.NewFFT(f.n), make([]float64, f.n)
	}
	return of
}

// Forward sets x, of n entries, to its transform.
func (f *Transform) Forward(x []complex128) {
	if f.chirp == nil {
		f.plain.Coefficients(x, x)
		return
	}
	for t, c := range f.chirp.at {
		f.work[t] = x[t] * c
	}
	clear(f.work[f.n:])
	f.plain.Coefficients(f.work, f.work)
	for i, s := range f.chirp.spectrum {
		f.work[i] *= s
	}
	f.plain.Sequence(f.work, f.work)
	for t, c := range f.chirp.at {
		x[t] = f.work[t] * c
	}
}

// Cosines sets dst[j] = Σ_t x_t·cos(2πjt/n), j = 0 … ⌊n/2⌋, for the sequence of period n with x_t = x_{n−t}; x holds its first
// ⌊n/2⌋ + 1 entries. dst and x may be the same slice.
func (f *Transform) Cosines(dst, x []float64) {
	top := f.n / 2
	if f.chirp == nil {
		for t := range f.full {
			f.full[t] = x[min(t, f.n-t)]
		}
		for j, c := range f.real.Coefficients(f.work[:top+1], f.full) {
			dst[j] = real(c)
		}
		return
	}
	for t, c := range f.chirp.at {
		f.work[t] = complex(x[min(t, f.n-t)], 0) * c
	}
	clear(f.work[f.n:])
	f.plain.Coefficients(f.work, f.work)
	for i, s := range f.chirp.spectrum {
		f.work[i] *= s
	}
	f.plain.Sequence(f.work, f.work)
	for j := range top + 1 {
		dst[j] = real(f.work[j] * f.chirp.at[j])
	}
}
