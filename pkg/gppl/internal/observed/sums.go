package observed

import (
	"math"
	"strconv"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Source is the data for the spectral and the gridded engine: n, and inner products and sums over the data for several columns
// C (n×c) at a time; the first column is y. Sums may have weights w.
type Source interface {
	Count() int                  // n
	Squares() blas64.General     // Σ w·c_i·c_iᵀ, c×c
	LogWeights() float64         // Σ log w
	Precision() float64          // Σ w
	Extent() (lo, span float64)  // bounds on the inputs
	Circle() (c Circle, ok bool) // ok if sums are known on this circle only
	// Sums returns the moments, to frequency 2m at least, and the sums of the columns, 2(m+1)×c, to m, on a circle: Circle's
	// if there is one.
	Sums(origin, period float64, m int) (fourier.Moments, blas64.General)
}

// Circle is a fixed circle, with frequencies up to Highest.
type Circle struct {
	Origin, Period float64
	Highest        int
	Most           float64 // largest number of features for a dense matrix
	Resolves       string  // describes the kernels that the sums resolve, for errors
	Beyond         string  // format of the error for a frequency beyond that
}

var _ Source = (*Line)(nil)

// WindowRoom is the margin, relative to the range, by which the period must exceed twice the range for a window to fall in it.
const WindowRoom = 0.04

// Decaying is a covariance function with the bounds that circles need: see Reacher and Bandlimited.
type Decaying interface {
	Reach(eps float64) float64
	Bandwidth(eps float64) float64
}

// Least returns the smallest sum of coefficients, relative to the variance, at which a series may be cut off. With a window it
// is ten times the total rounding of the coefficients: even if that is above the requested tolerance, there may be no other
// engine.
func (c Circle) Least(span float64, k Decaying) float64 {
	const images, window = 1e-14, 1e-13
	if k.Reach(images) <= c.Period-span {
		return images
	}
	const rounding = 1e-16 // rounding of a coefficient
	if b := k.Bandwidth(window); !math.IsInf(b, 1) {
		return max(window, rounding*b*c.Period)
	}
	return window // makes no difference, since no frequency is the last (Needs)
}

// Covers reports whether k needs a window on the circle, or why the circle cannot represent k.
func (c Circle) Covers(span float64, k Decaying, eps float64) (windowed bool, why choice.Reason) {
	if windowed = !(k.Reach(eps) <= c.Period-span); windowed && c.Period < (2+2*WindowRoom)*span {
		why = choice.Cannot(c.Resolves).Reason
	}
	return windowed, why
}

// Needs returns the number of frequencies of the circle that k needs, whether it needs a window, or why there are none.
func (c Circle) Needs(span float64, k Decaying, eps float64) (m float64, windowed bool, why choice.Reason) {
	b := k.Bandwidth(eps)
	if math.IsInf(b, 0) {
		return 0, false, choice.Cannot(NoSpectrum).Reason
	}
	if windowed, why = c.Covers(span, k, eps); why.Given() {
		return 0, windowed, why
	}
	return fourier.Frequencies(span, c.Period, b, windowed), windowed, choice.Reason{}
}

// Frequencies returns the number of frequencies of the circle that k needs, whether it needs a window, or why the sums do not
// resolve k.
func (c Circle) Frequencies(span float64, k Decaying, eps float64) (m float64, windowed bool, why choice.Reason) {
	if m, windowed, why = c.Needs(span, k, eps); why.Given() {
		return m, windowed, why
	}
	if m > float64(c.Highest) {
		return m, windowed, choice.Because(c.Beyond, m/c.Period)
	}
	if p := 2*m - 1; p > c.Most {
		return m, windowed, choice.Because("it would take a dense matrix of %.0f features, and "+
			strconv.FormatFloat(c.Most, 'f', 0, 64)+" is the limit: a single SE needs no such matrix, and"+
			" longer lengthscales need fewer features", p)
	}
	return m, windowed, choice.Reason{}
}

// Summed is data that an engine reads by sums. It is immutable except for the sums that it keeps.
type Summed struct {
	Source
	N        int
	Lo, Span float64
	circles  fourier.Circles
}

// WithKnown returns the line of the data if its observations have known errors.
func (d *Summed) WithKnown() (*Line, bool) {
	l, ok := d.Source.(*Line)
	return l, ok && l.Noise.Known != nil
}

// Refuses says why sums cannot represent the data, or "": with known errors in addition to a learnt noise variance, the
// weights of the observations change with it.
func (d *Summed) Refuses() string {
	if _, known := d.WithKnown(); known {
		return "observations have errors of their own, and sums over the data would change with the noise variance"
	}
	return ""
}

// Averaged returns the noise variance, equal for all observations, whose precisions add up to the data's, n/Σ(w/σ²): σ²
// without weights.
func (d *Summed) Averaged(noise float64) float64 { return noise * float64(d.N) / d.Precision() }

// Read sets the data.
func (d *Summed) Read(o Source) {
	d.Source, d.N = o, o.Count()
	d.Lo, d.Span = o.Extent()
}

// On returns the sums on a circle with frequencies up to m at least: up to the Rung above, or all if only sums are known. It
// returns a choice.Refused if these are too few.
func (d *Summed) On(origin, period float64, m int) (*fourier.CircleSums, error) {
	highest := fourier.Rung(m)
	if fixed, ok := d.Circle(); ok {
		if highest = fixed.Highest; m > highest {
			return nil, &choice.Refused{Why: choice.Because(fixed.Beyond, float64(m)/fixed.Period).String()}
		}
	}
	return d.circles.On(origin, period, highest, d.Sums), nil
}

// Forget drops all sums: the source computes others from now on.
func (d *Summed) Forget() { d.circles.Forget() }

// Pass returns the time of a pass over the data at the given seconds per observation. It is 0 if only their sums are known:
// otherwise a chooser would count it and prefer a slower engine.
func (d *Summed) Pass(each float64) (seconds float64) {
	if _, ok := d.Circle(); ok {
		return 0
	}
	return float64(d.N) * each
}

// NoSpectrum says why features do not support a kernel.
const NoSpectrum = "its spectrum does not fall, or it does not declare so by capability.Bandlimited"
