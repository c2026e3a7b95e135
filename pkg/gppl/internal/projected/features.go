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

// Features holds the projections of waves on as many circles as the lengthscales of kernels need. What is taken from it does
// not depend on what was asked before. It is safe for concurrent use.
type Features struct {
	x        []float64
	lo, span float64
	of       Directions
	moments  *fourier.WaveMoments // moments of directions that are waves
	fixed    *observed.Circle     // the only circle, known from sums; else nil
	circles  fourier.Circles      // the sums of Ω, without moments
}

// mostCircles bounds what is kept: the terms of a sum of kernels are asked for in turn.
const mostCircles = 8

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
	if period, windowed, err = spectral.Period(f.span, k, eps, false); err == nil && !windowed && f.span > 0 {
		period = f.span * (1 + fourier.Ladder(max(leastSpace, period/f.span-1), 1))
	}
	return period, windowed, err
}

// leastSpace is the least space for reach, in spans. Circles are fewer than for exact likelihoods, since sums of Ω have k columns
// and features cost little.
const leastSpace = 1. / 8

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

// upTo returns the features of at least the first m frequencies of a circle: 2m×k, b_0, s_0, b_1, s_1, …
func (f *Features) upTo(period float64, m int) blas64.General {
	return f.circles.On(f.lo, period, min(fourier.Rung(m), f.most())-1, f.sums).Columns
}

// sums computes features up to a frequency.
func (f *Features) sums(origin, period float64, highest int) (fourier.Moments, blas64.General) {
	rows := dense.New(2*(highest+1), f.of.K)
	if f.of.Waves != nil {
		f.moments.Product(rows, f.step(period))
	} else {
		fourier.NewPoints(f.x, origin, period).Sums(rows, f.of.Matrix(), 0, fourier.Tolerance)
	}
	return nil, rows
}

// Formed returns the bytes of Ω, if the features need it formed.
func (f *Features) Formed() float64 {
	if f.of.Waves != nil {
		return 0
	}
	return f.of.Formed()
}

// Seconds estimates the time for the first m frequencies of kernel k, whether or not they are computed already.
func (f *Features) Seconds(k spectral.Kernel, eps, m float64) float64 {
	period, _, err := f.period(k, eps)
	if err != nil {
		return 0
	}
	kk := float64(f.of.K)
	if f.of.Waves == nil {
		return fourier.Predict(f.of.N, f.of.K, 0, int(m)+1, fourier.Tolerance).Seconds / 2
	}
	return f.moments.Seconds(f.step(period)*int(m)) + m*kk*(kk/choice.FlopRate+2e-9)
}

// Expansion computes the series of one kernel after another from features. It is working memory, for one goroutine.
type Expansion struct {
	Of    *Features
	known []*fourier.Series // the series used last
}

// Expand returns the series of k, the number m of its leading frequencies (the others sum to at most eps of its variance), and
// the features of at least these.
func (e *Expansion) Expand(k spectral.Kernel, eps float64) (s *fourier.Series, m int, features blas64.General, err error) {
	period, windowed, err := e.Of.period(k, eps)
	if err != nil {
		return nil, 0, features, err
	}
	s = e.on(period, windowed)
	switch m, err = s.Expand(k, k.Bandwidth(eps), eps); {
	case err != nil:
		return nil, 0, features, err
	case m <= e.Of.most():
		return s, m, e.Of.upTo(period, m), nil
	case e.Of.fixed != nil:
		return nil, 0, features, spectral.Refused(choice.Because(e.Of.fixed.Beyond, float64(m)/e.Of.fixed.Period))
	}
	return nil, 0, features, fmt.Errorf("gppl: %d frequencies for %v", m, k)
}

// on returns the series of a period, an existing one if possible.
func (e *Expansion) on(period float64, windowed bool) *fourier.Series {
	for _, s := range e.known {
		if s.Period == period && s.Windowed() == windowed {
			return s
		}
	}
	s := fourier.NewSeries(e.Of.span, period, windowed)
	if e.known = append(e.known, s); len(e.known) > mostCircles {
		e.known = e.known[1:]
	}
	return s
}
