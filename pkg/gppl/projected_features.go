package gppl

import (
	"fmt"
	"sync"

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

	mu      sync.Mutex
	circles []*featureCircle
}

// featureCircle holds the features of the waves of one period.
type featureCircle struct {
	period float64
	step   int // frequency 1, in waves of the circle of waves

	mu     sync.Mutex
	points *fourier.Points
	m      int            // frequencies that are computed
	rows   blas64.General // 2m×k: b_0, s_0, b_1, s_1, …
}

// maxCircles bounds what is kept. Periods run from once to 2.7 times the range, and one
// serves kernels whose own is a third shorter, so that a few do.
const maxCircles = 6

// slack is how many times as long as a kernel's own period one may be that is there.
const slack = 1.5

func newFeatures(x Inputs, l *observed.Line, d directions) *features {
	f := &features{x: x, lo: l.Lo, span: l.Span, dirs: d}
	if d.waves != nil {
		f.moments = &fourier.WaveMoments{Of: d.waves}
	}
	return f
}

// period returns that of kernel k by itself, its step, and whether it takes a window.
func (f *features) period(k Kernel, eps float64) (step int, period float64, windowed bool, err error) {
	if f.fixed != nil {
		windowed, why := f.fixed.Covers(f.span, decay{k}, eps)
		if why.Given() {
			return 0, 0, false, &Refusal{Engine: EngineSpectral, Reason: why.String()}
		}
		return 1, f.fixed.Period, windowed, nil
	}
	if f.dirs.waves != nil {
		return wavePeriod(f.span, k, eps)
	}
	period, windowed, err = seriesPeriod(f.span, k, eps, false)
	return 0, period, windowed, err
}

// suits reports whether the circle can replace a kernel's own period; it multiplies the
// number of frequencies. A window falls from the range to half a period; images end
// within what the period leaves.
func (f *features) suits(c *featureCircle, k Kernel, eps, own float64, windowed bool) bool {
	least := f.span + reach(k, eps)
	if windowed {
		least = min(own, 2.07*f.span) // the narrowest fall
	}
	return c.period >= least && c.period <= slack*own
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

// find returns the shortest circle that there is for kernel k, nil if there is none,
// and whether it takes a window.
func (f *features) find(k Kernel, eps float64) (best *featureCircle, windowed bool, err error) {
	_, own, windowed, err := f.period(k, eps)
	if err != nil {
		return nil, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.circles {
		if f.suits(c, k, eps, own, windowed) && (best == nil || c.period < best.period) {
			best = c
		}
	}
	return best, windowed, nil
}

// circle returns one for kernel k, begun if need be, and whether it takes a window.
func (f *features) circle(k Kernel, eps float64) (*featureCircle, bool, error) {
	c, windowed, err := f.find(k, eps)
	if c != nil || err != nil {
		return c, windowed, err
	}
	c = new(featureCircle)
	c.step, c.period, _, _ = f.period(k, eps)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.circles = append(f.circles, c); len(f.circles) > maxCircles {
		f.circles = f.circles[1:] // who computes with it keeps it
	}
	return c, windowed, nil
}

// upTo returns the features of at least the first m frequencies.
func (f *features) upTo(c *featureCircle, m int) (rows blas64.General) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m > c.m {
		f.grow(c, min(m+m/8+8, f.most())) // some to spare
	}
	return c.rows
}

// grow computes features up to frequency m, in other memory than those before.
func (f *features) grow(c *featureCircle, m int) {
	k := f.dirs.k
	rows := dense.New(2*m, k)
	copy(rows.Data, c.rows.Data)
	more := dense.Rows(rows, 2*c.m, 2*(m-c.m))
	if f.dirs.waves != nil {
		f.moments.Product(more, c.step, c.m)
	} else {
		if c.points == nil {
			c.points = fourier.NewPoints(f.x.at, f.lo, c.period)
		}
		c.points.Sums(more, f.dirs.matrix(), c.m, fourier.Tolerance)
	}
	c.m, c.rows = m, rows
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
	var have int
	c, _, err := f.find(k, eps)
	if c != nil {
		c.mu.Lock()
		have = c.m
		c.mu.Unlock()
	}
	if err != nil || have > 0 && int(m) <= have {
		return 0
	}
	kk := float64(f.dirs.k)
	if f.dirs.waves == nil {
		return fourier.Predict(f.dirs.n, f.dirs.k, have, int(m)+1, fourier.Tolerance).Seconds / 2
	}
	step, _, _, err := f.period(k, eps)
	if err != nil {
		return 0
	}
	return f.moments.Seconds(step*int(m)) + m*kk*(kk/flopRate+2e-9)
}

// wavePeriod returns a period of lattice/step times the range that suits a series
// for kernel k, and whether that takes a window: the shortest that leaves room for
// a lengthscale longer by a fifth, or for the fall of the window.
func wavePeriod(span float64, k Kernel, eps float64) (step int, period float64, windowed bool, err error) {
	period, windowed, err = seriesPeriod(span, k, eps, false)
	if err != nil {
		return 0, 0, false, err
	}
	if !windowed {
		period = span + 1.2*reach(k, eps)
	}
	step = max(1, min(lattice-1, int(lattice*span/period)))
	return step, lattice / float64(step) * span, windowed, nil
}

// forecastWaves returns the seconds that k directions by waves take for n inputs, with
// their products with m frequencies of a kernel's series, of twice the range at most.
func forecastWaves(n, k, m int) float64 {
	kk := float64(k)
	sums := fourier.Predict(n, 1, 0, lattice/2*m+wave(k-1)+1, fourier.Tolerance).Seconds
	return 3*sums/2 + float64(m)*kk*(kk/flopRate+2e-9) // moments twice, and the sums of y
}
