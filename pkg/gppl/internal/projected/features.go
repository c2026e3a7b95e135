package projected

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
)

// Lattice is the number of frequencies per cycle over the range of x that contain both the directions by waves and the series
// of a kernel: waves on one circle of Lattice times the range, so all of their products follow from one row of sums. As few as
// 16 do not change the condition of 101 directions.
const Lattice = 16

// Features holds the projections of waves on as many circles as the lengthscales of kernels need, each up to the highest
// frequency of any kernel. It only grows, so data taken from it stay valid. It is safe for concurrent use.
type Features struct {
	x        []float64
	lo, span float64
	of       Directions
	moments  *fourier.WaveMoments // with directions by waves
	fixed    *observed.Circle     // the only circle, known from sums; else nil
	circles  fourier.Circles      // the sums of Ω, without moments
}

// mostCircles bounds what is kept. Periods run from once to 2.7 times the range, and one
// serves kernels whose own is a third shorter, so that a few do.
const mostCircles = 6

// slack is the largest ratio of an existing period to a kernel's own at which it is used again.
const slack = 1.5

// NewFeatures returns the Features of directions at x, which span the given range. fixed, unless nil, is the only circle with
// known sums; x is then nil.
func NewFeatures(x []float64, lo, span float64, d Directions, fixed *observed.Circle) *Features {
	f := &Features{x: x, lo: lo, span: span, of: d, fixed: fixed, circles: fourier.Circles{Most: mostCircles}}
	if d.Waves != nil {
		f.moments = &fourier.WaveMoments{Of: d.Waves}
	}
	return f
}

// Least returns the smallest sum of coefficients, relative to the variance, at which the series of k may be cut off; 0 for
// any.
func (f *Features) Least(k spectral.Kernel) float64 {
	if f.fixed == nil {
		return 0
	}
	return f.fixed.Least(f.span, k)
}

// period returns the period of kernel k by itself, and whether it needs a window.
func (f *Features) period(k spectral.Kernel, eps float64) (period float64, windowed bool, err error) {
	if f.fixed != nil {
		windowed, why := f.fixed.Covers(f.span, k, eps)
		if why.Given() {
			return 0, false, spectral.Refused(why)
		}
		return f.fixed.Period, windowed, nil
	}
	if f.of.Waves != nil {
		return wavePeriod(f.span, k, eps)
	}
	return spectral.Period(f.span, k, eps, false)
}

// wavePeriod returns a period of Lattice/step times the range for a series of kernel k, and whether the series needs a window.
// It is the shortest period with a margin of a fifth in the lengthscale, or with space for the fall of the window.
func wavePeriod(span float64, k spectral.Kernel, eps float64) (period float64, windowed bool, err error) {
	if period, windowed, err = spectral.Period(span, k, eps, false); err != nil {
		return 0, false, err
	}
	if !windowed {
		period = span + 1.2*k.Reach(eps)
	}
	step := max(1, min(Lattice-1, int(Lattice*span/period)))
	return Lattice / float64(step) * span, windowed, nil
}

// step returns frequency 1 of a circle as a frequency of the circle of waves.
func (f *Features) step(period float64) int {
	if f.fixed != nil {
		return 1
	}
	return int(math.Round(Lattice * f.span / period))
}

// suits reports whether the circle can replace a kernel's own period; a longer period multiplies the number of frequencies. A
// window falls from the range to half a period; images end within the rest of the period.
func (f *Features) suits(c *fourier.CircleSums, k spectral.Kernel, eps, own float64, windowed bool) bool {
	least := f.span + k.Reach(eps)
	if windowed {
		least = min(own, 2.07*f.span) // the narrowest fall
	}
	return c.Period >= least && c.Period <= slack*own
}

// most returns the largest number of frequencies allowed.
func (f *Features) most() int {
	if f.fixed != nil { // products with the directions are moments
		return min(spectral.MostFrequencies, 2*f.fixed.Highest+1-f.of.Waves.Top())
	}
	return spectral.MostFrequencies
}

// Frequencies estimates the number of frequencies of kernel k, or says why there are too many.
func (f *Features) Frequencies(k spectral.Kernel, eps float64) (m float64, why choice.Reason) {
	if f.fixed == nil {
		m, _, why = spectral.Frequencies(f.span, k, eps, false)
		return m, why
	}
	m, _, why = f.fixed.Needs(f.span, k, eps)
	if !why.Given() && m > float64(f.most()) {
		why = choice.Because(f.fixed.Beyond, m/f.fixed.Period)
	}
	return m, why
}

// find returns the shortest existing circle for kernel k, nil if there is none, the kernel's own period, and whether it needs
// a window.
func (f *Features) find(k spectral.Kernel, eps float64) (best *fourier.CircleSums, own float64, windowed bool, err error) {
	if own, windowed, err = f.period(k, eps); err != nil {
		return nil, 0, false, err
	}
	for _, c := range f.circles.Known() {
		if f.suits(c, k, eps, own, windowed) && (best == nil || c.Period < best.Period) {
			best = c
		}
	}
	return best, own, windowed, nil
}

// circle returns a circle for kernel k, and begins one if necessary, and whether it needs a window.
func (f *Features) circle(k spectral.Kernel, eps float64) (*fourier.CircleSums, bool, error) {
	c, own, windowed, err := f.find(k, eps)
	if c == nil && err == nil {
		c = f.circles.Begin(func(c *fourier.CircleSums) bool { return c.Period == own },
			fourier.CircleSums{Origin: f.lo, Period: own, Highest: -1})
	}
	return c, windowed, err
}

// upTo returns the features of at least the first m frequencies: 2m×k, b_0, s_0, b_1, s_1, …
func (f *Features) upTo(c *fourier.CircleSums, m int) blas64.General {
	if m > c.Highest+1 {
		c = f.circles.Grow(c, m-1, min(m+m/8+8, f.most())-1, f.grow) // with some to spare
	}
	return c.Columns
}

// grow computes features up to a frequency, in new memory.
func (f *Features) grow(c *fourier.CircleSums, highest int) (fourier.Moments, blas64.General) {
	from := c.Highest + 1
	rows := dense.New(2*(highest+1), f.of.K)
	copy(rows.Data, c.Columns.Data)
	more := dense.Rows(rows, 2*from, rows.Rows-2*from)
	if f.of.Waves != nil {
		f.moments.Product(more, f.step(c.Period), from)
	} else {
		fourier.NewPoints(f.x, c.Origin, c.Period).Sums(more, f.of.Matrix(), from, fourier.Tolerance)
	}
	return nil, rows
}

// Formed returns the bytes of Ω, if the features need it and it is not formed yet.
func (f *Features) Formed() float64 {
	if f.of.Waves != nil {
		return 0
	}
	return f.of.Formed()
}

// Seconds estimates the time for the first m frequencies of kernel k, 0 if they are known.
func (f *Features) Seconds(k spectral.Kernel, eps, m float64) float64 {
	c, own, _, err := f.find(k, eps)
	have := 0
	if c != nil {
		have = c.Highest + 1
	}
	if err != nil || have > 0 && int(m) <= have {
		return 0
	}
	kk := float64(f.of.K)
	if f.of.Waves == nil {
		return fourier.Predict(f.of.N, f.of.K, have, int(m)+1, fourier.Tolerance).Seconds / 2
	}
	return f.moments.Seconds(f.step(own)*int(m)) + m*kk*(kk/choice.FlopRate+2e-9)
}

// Expansion computes the series of one kernel after another from features. It is working memory, for one goroutine.
type Expansion struct {
	Of    *Features
	known []*fourier.Series // series of the circles used so far
}

// Expand returns the series of k, the number m of its leading frequencies (the others sum to at most eps of its variance), and
// the features of at least these.
func (e *Expansion) Expand(k spectral.Kernel, eps float64) (s *fourier.Series, m int, features blas64.General, err error) {
	circle, windowed, err := e.Of.circle(k, eps)
	if err != nil {
		return nil, 0, features, err
	}
	s = e.on(circle, windowed, k.Bandwidth(eps))
	switch m, err = s.Expand(k, k.Bandwidth(eps), eps); {
	case err != nil:
		return nil, 0, features, err
	case m <= e.Of.most():
		return s, m, e.Of.upTo(circle, m), nil
	case e.Of.fixed != nil:
		return nil, 0, features, spectral.Refused(choice.Because(e.Of.fixed.Beyond, float64(m)/e.Of.fixed.Period))
	}
	return nil, 0, features, fmt.Errorf("gppl: %d frequencies for %v", m, k)
}

// on returns the series of a circle, an existing one if possible.
func (e *Expansion) on(c *fourier.CircleSums, windowed bool, band float64) *fourier.Series {
	for _, s := range e.known {
		if s.Period == c.Period && s.Windowed() == windowed {
			return s
		}
	}
	s := fourier.NewSeries(e.Of.span, c.Period, windowed, band)
	if e.known = append(e.known, s); len(e.known) > mostCircles {
		e.known = e.known[1:]
	}
	return s
}
