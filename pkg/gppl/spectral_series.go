package gppl

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// seriesPeriod returns the period of a series of kernel k (fourier.Series) for distances up to span, and whether it takes a window; images
// asks for a sum of images, however long the period, wherever k dies out.
func seriesPeriod(span float64, k Kernel, eps float64, images bool) (period float64, windowed bool, err error) {
	period, windowed, ok := fourier.ChoosePeriod(span, reach(k, eps), bandwidth(k, eps), images)
	if !ok {
		err = fmt.Errorf("gppl: all inputs coincide and %v does not die out", k)
	}
	return period, windowed, err
}

// seriesCovers reports whether a period, with a window or without, suits kernel k. A window is only for kernels that cannot do without, and a
// period that a long lengthscale asked for is not kept for a short one, whose frequencies it would multiply.
func seriesCovers(span, period float64, windowed bool, k Kernel, eps float64) bool {
	if !windowed {
		r := reach(k, eps)
		return r <= period-span && period <= 1.5*(span+1.4*r)
	}
	_, must, err := seriesPeriod(span, k, eps, true)
	return must && err == nil
}

// contractSeries adds Σ_m q_m ∂c_m/∂log θ_p to grad[p]. It is an error if the derivatives did not go back through the transform
// by which the coefficients came.
func contractSeries(s *fourier.Series, grad, q []float64, k Kernel) error {
	verify.Tampered("series adjoint", s.Adjoint(q))
	adjoint, direct, size := s.Contract(grad, q, k)
	return verify.Near("the sum over features", adjoint, direct, 1e-10*size)
}

// derivativeAt sets dst[i] = ∂k(r[i])/∂log θ_p, one Contract each. grad has an
// entry per parameter.
func derivativeAt(dst, r []float64, k Kernel, p int, grad []float64) {
	one := [1]float64{1}
	for i := range r {
		clear(grad)
		k.Contract(grad, one[:], r[i:i+1])
		dst[i] = grad[p]
	}
}

// spectralData is the data as engines read them that represent a kernel by waves.
type spectralData struct{ observed.Summed }

// frequencies returns the number to expect, or why there are too many.
func (d *spectralData) frequencies(k Kernel, eps float64) (m float64, windowed bool, why choice.Reason) {
	if c, ok := d.Circle(); ok {
		return c.Frequencies(d.Span, decay{k}, eps)
	}
	return forecastSpectral(k, d.Span, eps, true)
}

// circleFor returns a circle that suits k, with the sums on it that there are.
func (d *spectralData) circleFor(k Kernel, eps float64) (*fourier.CircleSums, error) {
	if fixed, ok := d.Circle(); ok {
		_, windowed, why := fixed.Frequencies(d.Span, decay{k}, eps)
		if why.Given() {
			return nil, &Refusal{Engine: EngineSpectral, Reason: why.String()}
		}
		return d.Circles.Begin(func(c *fourier.CircleSums) bool { return c.Windowed == windowed },
			fourier.CircleSums{Origin: fixed.Origin, Period: fixed.Period, Windowed: windowed}), nil
	}
	period, windowed, err := seriesPeriod(d.Span, k, eps, true)
	if err != nil {
		return nil, err
	}
	return d.Circles.Begin(func(c *fourier.CircleSums) bool { return seriesCovers(d.Span, c.Period, c.Windowed, k, eps) },
		fourier.CircleSums{Origin: d.Lo, Period: period, Windowed: windowed}), nil
}

// expand sets b to the features of k, but for weights that sum to eps times the
// variance, and returns the sums on their circle.
func (d *spectralData) expand(b *fourier.Expansion, k Kernel, eps float64) (*fourier.CircleSums, error) {
	c, err := d.circleFor(k, eps)
	if err != nil {
		return nil, err
	}
	if b.Series == nil || b.Series.Period != c.Period || c.Windowed != b.Series.Windowed() {
		b.Series = fourier.NewSeries(d.Span, c.Period, c.Windowed, bandwidth(k, eps))
	}
	m, err := b.Series.Expand(k, bandwidth(k, eps), eps)
	if err != nil {
		return nil, err
	}
	if m > maxFeatures {
		return nil, fmt.Errorf("gppl: %d frequencies for %v", m, k)
	}
	if m > c.Highest {
		if c, err = d.Grow(c, m, m+m/8+8); err != nil {
			return nil, err
		}
	}
	b.Choose(m, c.Highest, dense.Tile, eps*variance(k)/float64(2*m+1))
	return c, nil
}

// maxFeatures bounds the number of frequencies.
const maxFeatures = 1 << 15

// forecastSpectral returns the number of frequencies to expect, or why there
// are too many.
func forecastSpectral(k Kernel, span, eps float64, images bool) (frequencies float64, windowed bool, why choice.Reason) {
	b := bandwidth(k, eps)
	if math.IsInf(b, 0) {
		return 0, false, choice.Cannot(observed.NoSpectrum).Reason
	}
	period, windowed, err := seriesPeriod(span, k, eps, images)
	if err != nil {
		return 0, false, choice.Cannot("all inputs coincide").Reason
	}
	m := fourier.Frequencies(span, period, b, windowed)
	if m > maxFeatures {
		return m, windowed, tooMany(m).Reason
	}
	return m, windowed, choice.Reason{}
}

// maxDenseFeatures bounds p, of which there is a p×p matrix: 1.2 GB.
const maxDenseFeatures = 12000

// tooMany refuses a number of frequencies.
func tooMany(frequencies float64) choice.Forecast {
	return choice.Forecast{Reason: choice.Because("it would take about %.2g frequencies", frequencies)}
}
