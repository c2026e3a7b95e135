package gppl

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// A Channel is a series of observations of a function f that other channels observe too:
//
//	y = Value·f(x) + Slope·f′(x) + offset + ε,  ε ~ N(0, Noise)
//
// Several instruments that measure one quantity have the Value 1 and the Slope 0. The radial velocity of a spotted star has a
// Slope, its activity indicators have none (Rajpaul et al. 2015). The offset is a coefficient with a flat prior: likelihoods
// average over it. Predictions of f leave out the offsets and the mean of the model.
//
// The kernel of a model with channels is Markovian, or a sum or product of Markovian kernels with Cosine or Periodic. If any
// Slope is not 0, f must be differentiable: Matern32 and smoother, SHO, Rotation, Cosine, Periodic, but not Laplace. White
// noise belongs to each channel, not to the kernel. The Mean of the model, such as the orbit of a planet, is added to the
// offsets. Its Regressors are columns of the inputs, 0 at observations of channels that they do not affect, and its
// coefficients follow the offsets in a Result.
//
// The data determine only the product of the kernel's variances and the squares of all Values and Slopes: fix one that is not
// 0, such as the Value of the first channel (Model.Fix).
type Channel struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`           // a, of any sign
	Slope float64 `json:"slope,omitempty"` // b, of any sign, in the unit of x times the unit of a
	// σ², in the unit of y²; 0 stays fixed, for a channel whose observations all have known errors
	Noise float64 `json:"noise"`
}

// NoiseOf returns the name of the channel's noise parameter. The offset is among the coefficients of a Result.
func (c Channel) NoiseOf() string { return NoiseName + " of " + c.Name }

// ValueOf returns the name of the parameter Value.
func (c Channel) ValueOf() string { return "value of " + c.Name }

// SlopeOf returns the name of the parameter Slope.
func (c Channel) SlopeOf() string { return "slope of " + c.Name }

// OffsetOf returns the name of the offset among the coefficients of a Result.
func (c Channel) OffsetOf() string { return "offset of " + c.Name }

// String returns the name of the channel and its Value and Slope.
func (c Channel) String() string {
	return fmt.Sprintf("channel %q(value=%.4g, slope=%.4g, noise variance=%.4g)", c.Name, c.Value, c.Slope, c.Noise)
}

// channelParams returns the parameters of the channels.
func (m Model) channelParams() (params []Param) {
	for _, c := range m.Channels {
		params = append(params, Param{Name: c.NoiseOf(), Value: c.Noise, Transform: transform.Log{}, Unit: UnitY2, Role: RoleNoise})
	}
	for _, c := range m.Channels {
		params = append(params, Param{Name: c.ValueOf(), Value: c.Value, Transform: transform.Free{}, Role: RoleCoefficient})
	}
	if isDifferentiable(m.Kernel) {
		for _, c := range m.Channels {
			params = append(params, Param{Name: c.SlopeOf(), Value: c.Slope, Transform: transform.Free{}, Unit: UnitX,
				Role: RoleCoefficient})
		}
	}
	return params
}

// withChannelParams is WithParams for a model with channels.
func (m Model) withChannelParams(theta []float64) Model {
	kernel, n := len(m.Kernel.Params()), len(m.Channels)
	if len(theta) != kernel+2*n && len(theta) != kernel+3*n {
		panic(fmt.Sprintf("gppl: Model.WithParams: len(theta) = %d, want %d parameters of the kernel and 2 or 3 of each of"+
			" %d channels", len(theta), kernel, n))
	}
	m.Kernel = m.Kernel.WithParams(theta[:kernel])
	m.Channels = slices.Clone(m.Channels)
	for c := range m.Channels {
		m.Channels[c].Noise, m.Channels[c].Value = theta[kernel+c], theta[kernel+n+c]
		if len(theta) == kernel+3*n {
			m.Channels[c].Slope = theta[kernel+2*n+c]
		}
	}
	return m
}

// checkChannels returns an error that names what is wrong with the channels, or with a kernel that channels do not support.
func (m Model) checkChannels() error {
	blocks, err := channelBlocks(m.Kernel)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, c := range m.Channels {
		if names[c.Name] {
			return fmt.Errorf("gppl: there are two channels %q", c.Name)
		}
		names[c.Name] = true
		if c.Slope != 0 && !differentiable(blocks) {
			return fmt.Errorf("gppl: channel %q sees the derivative of f, but %v is not differentiable, or its derivative"+
				" is unknown: use Matern32, Matern52, SHO, Rotation or Cosine, or products of them with Periodic", c.Name, m.Kernel)
		}
	}
	return nil
}

// covers returns an error unless the channels of d are channels of the model.
func (m Model) covers(d Data) error {
	switch n := len(m.Channels); {
	case n == 0 && d.Channels != nil:
		return errors.New("gppl: the data have channels, and the model does not say how they see f: set Model.Channels")
	case n > 1 && d.Channels == nil:
		return fmt.Errorf("gppl: the model has %d channels, and the data do not say which observation is of which:"+
			" use Data.WithChannels", n)
	default:
		for i, c := range d.Channels {
			if c >= n {
				return fmt.Errorf("gppl: observation %d is of channel %d, and the model has %d channels", i, c, n)
			}
		}
	}
	return nil
}

// CheckPlain returns an error unless the data are plain observations. Sums (SumsData) are not plain, nor are data or models
// with channels or exposures, which only NewExact supports among the likelihoods. what names the caller in the error.
func (m Model) CheckPlain(what string, d Data) error {
	if d.sums != nil {
		return fmt.Errorf("gppl: %s needs single observations, and sums hold none: %s take them", what, takeSums)
	}
	return m.checkViewless(what, d)
}

// checkViewless returns an error if the model has channels, or the data have channels or exposures.
func (m Model) checkViewless(what string, d Data) error {
	if len(m.Channels) > 0 || d.isViewed() {
		return fmt.Errorf("gppl: %s does not take channels or exposures: NewExact and NewPosterior do", what)
	}
	return nil
}

// channelBlocks returns the blocks of a kernel, or an error that says why channels do not support it.
func channelBlocks(k Kernel) ([]statespace.Block, error) {
	l := stateSpace{apart: true}
	switch {
	case capability.Nugget(k) > 0:
		return nil, fmt.Errorf("gppl: channels have noise of their own: leave White out of %v", k)
	case isPlaced(k) || !l.expand(k, mostLost):
		return nil, notForChannels(k)
	}
	return l.blocks, nil
}

// notForChannels is the error for a kernel that is not linear or has too many harmonics.
func notForChannels(k Kernel) error {
	return fmt.Errorf("gppl: channels do not take %v: it is %s, or its state has more than %d numbers", k, notMarkov, largestState)
}

// isDifferentiable reports whether channels can observe the derivative of the process of k.
func isDifferentiable(k Kernel) bool {
	blocks, err := channelBlocks(k)
	return err == nil && differentiable(blocks)
}

func differentiable(blocks []statespace.Block) bool {
	for i := range blocks {
		if !blocks[i].Differentiable() {
			return false
		}
	}
	return true
}

// deviations returns the standard deviations of f and of f′, the latter 0 if f has no derivative.
func deviations(k Kernel) (value, slope float64) {
	var curve float64
	l := stateSpace{apart: true}
	if l.expand(k, mostLost) {
		for i := range l.blocks {
			curve += l.blocks[i].SlopeVariance()
		}
	}
	return math.Sqrt(variance(k)), math.Sqrt(curve)
}
