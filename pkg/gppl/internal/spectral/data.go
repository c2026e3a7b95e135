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

// Period returns the period of sums over data for kernel k: OwnPeriod, rounded so that kernels share periods.
func Period(span float64, k Kernel, eps float64, images bool) (period float64, windowed bool, err error) {
	if period, windowed, err = OwnPeriod(span, k, eps, images); err == nil {
		period = fourier.SharedPeriod(span, k.Reach(eps), period, windowed)
	}
	return period, windowed, err
}

// OwnPeriod returns the period of a series of kernel k (fourier.Series) for distances up to span, and whether it needs a window.
// images requests a sum of images, however long the period, wherever k decays.
func OwnPeriod(span float64, k Kernel, eps float64, images bool) (period float64, windowed bool, err error) {
	period, windowed, ok := fourier.ChoosePeriod(span, k.Reach(eps), k.Bandwidth(eps), images)
	if !ok {
		err = fmt.Errorf("gppl: all inputs coincide and %v does not die out", k)
	}
	return period, windowed, err
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

// circle returns the circle that suits k, and whether it needs a window.
func (d *Data) circle(k Kernel, eps float64) (origin, period float64, windowed bool, err error) {
	if fixed, ok := d.Circle(); ok {
		_, windowed, why := fixed.Frequencies(d.Span, k, eps)
		if why.Given() {
			return 0, 0, false, Refused(why)
		}
		return fixed.Origin, fixed.Period, windowed, nil
	}
	period, windowed, err = Period(d.Span, k, eps, true)
	return d.Lo, period, windowed, err
}

// Expand sets b to the features of k, of the given variance, without weights that sum to eps of it, and returns the sums on
// their circle.
func (d *Data) Expand(b *fourier.Expansion, k Kernel, variance, eps float64) (*fourier.CircleSums, error) {
	origin, period, windowed, err := d.circle(k, eps)
	if err != nil {
		return nil, err
	}
	if b.Series == nil || b.Series.Period != period || b.Series.Windowed() != windowed {
		b.Series = fourier.NewSeries(d.Span, period, windowed)
	}
	m, err := b.Series.Expand(k, k.Bandwidth(eps), eps)
	if err != nil {
		return nil, err
	}
	if m > MostFrequencies {
		return nil, fmt.Errorf("gppl: %d frequencies for %v", m, k)
	}
	c, err := d.On(origin, period, m)
	if err != nil {
		return nil, err
	}
	b.Choose(m, c.Highest, dense.Tile, eps*variance/float64(2*m+1))
	return c, nil
}
