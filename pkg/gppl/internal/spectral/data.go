package spectral

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/internal/costs"
	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// Kernel is a covariance function with the bounds that its series needs.
type Kernel interface {
	fmt.Stringer
	fourier.Even
	observed.Decaying
}

const (
	// MostFrequencies bounds the number of frequencies of a series.
	MostFrequencies = 1 << 15
	// MostFeatures bounds p, because of a p×p matrix: 1.2 GB.
	MostFeatures = 12000
)

// TooMany returns the estimate that refuses a number of frequencies.
func TooMany(frequencies float64) choice.Estimate {
	return choice.Estimate{Reason: choice.Because("it would take about %.2g frequencies", frequencies)}
}

// Seconds is the time of value and gradient with p features.
func Seconds(p float64) float64 {
	return costs.Of(costs.SpectralCube, p*p*p) + costs.Of(costs.SpectralSquare, p*p)
}

// Refused returns the error for a kernel that the sums on a fixed circle cannot represent.
func Refused(why choice.Reason) error { return &choice.Refused{Engine: "spectral", Why: why.String()} }

// Period returns the period of a series of kernel k (fourier.Series) for distances up to span, and whether it needs a window.
// images requests a sum of images, however long the period, wherever k decays.
func Period(span float64, k Kernel, eps float64, images bool) (period float64, windowed bool, err error) {
	period, windowed, ok := fourier.ChoosePeriod(span, k.Reach(eps), k.Bandwidth(eps), images)
	if !ok {
		err = fmt.Errorf("gppl: all inputs coincide and %v does not die out", k)
	}
	return period, windowed, err
}

// covers reports whether a period, with or without a window, suits kernel k. A window is only for kernels that need one, and a
// short lengthscale does not reuse the period of a long one, which would multiply its frequencies.
func covers(span, period float64, windowed bool, k Kernel, eps float64) bool {
	if !windowed {
		r := k.Reach(eps)
		return r <= period-span && period <= 1.5*(span+1.4*r)
	}
	_, must, err := Period(span, k, eps, true)
	return must && err == nil
}

// Frequencies estimates the number of frequencies in the series of k, or says why there are too many.
func Frequencies(span float64, k Kernel, eps float64, images bool) (m float64, windowed bool, why choice.Reason) {
	b := k.Bandwidth(eps)
	if math.IsInf(b, 0) {
		return 0, false, choice.Cannot(observed.NoSpectrum).Reason
	}
	period, windowed, err := Period(span, k, eps, images)
	if err != nil {
		return 0, false, choice.Cannot("all inputs coincide").Reason
	}
	m = fourier.Frequencies(span, period, b, windowed)
	if m > MostFrequencies {
		return m, windowed, TooMany(m).Reason
	}
	return m, windowed, choice.Reason{}
}

// ContractSeries adds Σ_m q_m ∂c_m/∂log θ_p to grad[p]. It returns an error if the derivatives did not pass back through the
// transform that made the coefficients.
func ContractSeries(s *fourier.Series, grad, q []float64, k fourier.Even) error {
	verify.Tampered("series adjoint", s.Adjoint(q))
	adjoint, direct, size := s.Contract(grad, q, k)
	return verify.Near("the sum over features", adjoint, direct, 1e-10*size)
}

// Data is the data for engines that represent a kernel by waves.
type Data struct{ observed.Summed }

// Frequencies estimates the number of frequencies, or says why there are too many.
func (d *Data) Frequencies(k Kernel, eps float64) (m float64, windowed bool, why choice.Reason) {
	if c, ok := d.Circle(); ok {
		return c.Frequencies(d.Span, k, eps)
	}
	return Frequencies(d.Span, k, eps, true)
}

// CircleFor returns a circle that suits k, with its known sums.
func (d *Data) CircleFor(k Kernel, eps float64) (*fourier.CircleSums, error) {
	if fixed, ok := d.Circle(); ok {
		_, windowed, why := fixed.Frequencies(d.Span, k, eps)
		if why.Given() {
			return nil, Refused(why)
		}
		return d.Circles.Begin(func(c *fourier.CircleSums) bool { return c.Windowed == windowed },
			fourier.CircleSums{Origin: fixed.Origin, Period: fixed.Period, Windowed: windowed}), nil
	}
	period, windowed, err := Period(d.Span, k, eps, true)
	if err != nil {
		return nil, err
	}
	return d.Circles.Begin(func(c *fourier.CircleSums) bool { return covers(d.Span, c.Period, c.Windowed, k, eps) },
		fourier.CircleSums{Origin: d.Lo, Period: period, Windowed: windowed}), nil
}

// Expand sets b to the features of k, of the given variance, without weights that sum to eps of it, and returns the sums on
// their circle.
func (d *Data) Expand(b *fourier.Expansion, k Kernel, variance, eps float64) (*fourier.CircleSums, error) {
	c, err := d.CircleFor(k, eps)
	if err != nil {
		return nil, err
	}
	if b.Series == nil || b.Series.Period != c.Period || c.Windowed != b.Series.Windowed() {
		b.Series = fourier.NewSeries(d.Span, c.Period, c.Windowed, k.Bandwidth(eps))
	}
	m, err := b.Series.Expand(k, k.Bandwidth(eps), eps)
	if err != nil {
		return nil, err
	}
	if m > MostFrequencies {
		return nil, fmt.Errorf("gppl: %d frequencies for %v", m, k)
	}
	if m > c.Highest {
		if c, err = d.Grow(c, m, m+m/8+8); err != nil {
			return nil, err
		}
	}
	b.Choose(m, c.Highest, dense.Tile, eps*variance/float64(2*m+1))
	return c, nil
}
