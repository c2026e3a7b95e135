package gppl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
)

// features are computed once by the spectral engine of PL: the projections of waves, on
// as many circles as the lengthscales of kernels need, and on each up to the highest
// frequency of any kernel. They only grow, so that data taken from them stay valid.
// They are safe for concurrent use.
type features struct {
	x        Inputs
	lo, span float64
	dirs     directions
	moments  *fourier.WaveMoments // with directions by waves
	fixed    *observed.Circle     // the only one, from Sums; else nil
	circles  fourier.Circles      // the sums of Ω, without moments
}

// mostCircles bounds what is kept. Periods run from once to 2.7 times the range, and one
// serves kernels whose own is a third shorter, so that a few do.
const mostCircles = 6

// slack is how many times as long as a kernel's own period one may be that is there.
const slack = 1.5

func newFeatures(x Inputs, lo, span float64, d directions, fixed *observed.Circle) *features {
	f := &features{x: x, lo: lo, span: span, dirs: d, fixed: fixed, circles: fourier.Circles{Most: mostCircles}}
	if d.waves != nil {
		f.moments = &fourier.WaveMoments{Of: d.waves}
	}
	return f
}

// period returns that of kernel k by itself, and whether it takes a window.
func (f *features) period(k Kernel, eps float64) (period float64, windowed bool, err error) {
	if f.fixed != nil {
		windowed, why := f.fixed.Covers(f.span, decay{k}, eps)
		if why.Given() {
			return 0, false, &Refusal{Engine: EngineSpectral, Reason: why.String()}
		}
		return f.fixed.Period, windowed, nil
	}
	if f.dirs.waves != nil {
		return wavePeriod(f.span, k, eps)
	}
	return seriesPeriod(f.span, k, eps, false)
}

// step returns frequency 1 of a circle, in waves of the circle of waves.
func (f *features) step(period float64) int {
	if f.fixed != nil {
		return 1
	}
	return int(math.Round(lattice * f.span / period))
}

// suits reports whether the circle can replace a kernel's own period; it multiplies the
// number of frequencies. A window falls from the range to half a period; images end
// within what the period leaves.
func (f *features) suits(c *fourier.CircleSums, k Kernel, eps, own float64, windowed bool) bool {
	least := f.span + reach(k, eps)
	if windowed {
		least = min(own, 2.07*f.span) // the narrowest fall
	}
	return c.Period >= least && c.Period <= slack*own
}

// most is the largest number of frequencies that there may be.
func (f *features) most() int {
	if f.fixed != nil { // their products with the directions are moments
		return min(maxFeatures, 2*f.fixed.Highest+1-f.dirs.waves.Top())
	}
	return maxFeatures
}

// allow returns an error if m frequencies of k are too many: a Refusal where sums do not have them.
func (f *features) allow(k Kernel, m int) error {
	switch {
	case m <= f.most():
		return nil
	case f.fixed != nil:
		return &Refusal{Engine: EngineSpectral, Reason: choice.Because(f.fixed.Beyond, float64(m)/f.fixed.Period).String()}
	}
	return fmt.Errorf("gppl: %d frequencies for %v", m, k)
}

// frequencies returns the number that kernel k is expected to take, or why there are too many.
func (f *features) frequencies(k Kernel, eps float64) (m float64, why choice.Reason) {
	if f.fixed == nil {
		m, _, why = forecastSpectral(k, f.span, eps, false)
		return m, why
	}
	m, _, why = f.fixed.Needs(f.span, decay{k}, eps)
	if !why.Given() && m > float64(f.most()) {
		why = choice.Because(f.fixed.Beyond, m/f.fixed.Period)
	}
	return m, why
}

// find returns the shortest circle that there is for kernel k, nil if there is none, the period of its own,
// and whether it takes a window.
func (f *features) find(k Kernel, eps float64) (best *fourier.CircleSums, own float64, windowed bool, err error) {
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

// circle returns one for kernel k, begun if need be, and whether it takes a window.
func (f *features) circle(k Kernel, eps float64) (*fourier.CircleSums, bool, error) {
	c, own, windowed, err := f.find(k, eps)
	if c == nil && err == nil {
		c = f.circles.Begin(func(c *fourier.CircleSums) bool { return c.Period == own }, fourier.CircleSums{Origin: f.lo, Period: own, Highest: -1})
	}
	return c, windowed, err
}

// upTo returns the features of at least the first m frequencies: 2m×k, b_0, s_0, b_1, s_1, …
func (f *features) upTo(c *fourier.CircleSums, m int) blas64.General {
	if m > c.Highest+1 {
		c = f.circles.Grow(c, m-1, min(m+m/8+8, f.most())-1, f.grow) // some to spare
	}
	return c.Columns
}

// grow computes features up to a frequency, in other memory than those that are known.
func (f *features) grow(c *fourier.CircleSums, highest int) (fourier.Moments, blas64.General) {
	from := c.Highest + 1
	rows := dense.New(2*(highest+1), f.dirs.k)
	copy(rows.Data, c.Columns.Data)
	more := dense.Rows(rows, 2*from, rows.Rows-2*from)
	if f.dirs.waves != nil {
		f.moments.Product(more, f.step(c.Period), from)
	} else {
		fourier.NewPoints(f.x.at, c.Origin, c.Period).Sums(more, f.dirs.matrix(), from, fourier.Tolerance)
	}
	return nil, rows
}

// formed returns the bytes of Ω, if the features take it and it is not there yet.
func (f *features) formed() float64 {
	if f.dirs.waves != nil {
		return 0
	}
	return f.dirs.formed()
}

// forecast returns the seconds that the first m frequencies of kernel k may take, 0 if
// they are there.
func (f *features) forecast(k Kernel, eps, m float64) float64 {
	c, own, _, err := f.find(k, eps)
	have := 0
	if c != nil {
		have = c.Highest + 1
	}
	if err != nil || have > 0 && int(m) <= have {
		return 0
	}
	kk := float64(f.dirs.k)
	if f.dirs.waves == nil {
		return fourier.Predict(f.dirs.n, f.dirs.k, have, int(m)+1, fourier.Tolerance).Seconds / 2
	}
	return f.moments.Seconds(f.step(own)*int(m)) + m*kk*(kk/flopRate+2e-9)
}

// wavePeriod returns a period of lattice/step times the range that suits a series
// for kernel k, and whether that takes a window: the shortest that leaves room for
// a lengthscale longer by a fifth, or for the fall of the window.
func wavePeriod(span float64, k Kernel, eps float64) (period float64, windowed bool, err error) {
	if period, windowed, err = seriesPeriod(span, k, eps, false); err != nil {
		return 0, false, err
	}
	if !windowed {
		period = span + 1.2*reach(k, eps)
	}
	step := max(1, min(lattice-1, int(lattice*span/period)))
	return lattice / float64(step) * span, windowed, nil
}

// forecastWaves returns the seconds that k directions by waves take for n inputs, with
// their products with m frequencies of a kernel's series, of twice the range at most.
func forecastWaves(n, k, m int) float64 {
	kk := float64(k)
	sums := fourier.Predict(n, 1, 0, lattice/2*m+wave(k-1)+1, fourier.Tolerance).Seconds
	return 3*sums/2 + float64(m)*kk*(kk/flopRate+2e-9) // moments twice, and the sums of y
}
