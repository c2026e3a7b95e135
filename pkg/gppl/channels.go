package gppl

import (
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// A Channel is a series that sees a function f, which other channels see too:
//
//	y = Value·f(x) + Slope·f′(x) + offset + ε,  ε ~ N(0, Noise)
//
// Several instruments of one quantity have the Value 1 and the Slope 0. The radial velocity of a spotted star has a Slope, its
// activity indicators have none (Rajpaul et al. 2015). The offset is a coefficient with a flat prior: likelihoods average over
// it.
type Channel struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`           // a, of any sign
	Slope float64 `json:"slope,omitempty"` // b, of any sign, in the unit of x times that of a
	Noise float64 `json:"noise"`           // σ², in the unit of y²; 0, which is kept, where all observations have known errors
}

// ChannelModel is a Gaussian process f ~ GP(0, Kernel) seen by several channels. The kernel is Markovian, a LinearSDE, or a sum
// or product of these with Cosine or Periodic. If any Slope is not 0, f must be differentiable: Matern32 and smoother, SHO,
// Rotation, Cosine, Periodic, but not Laplace. White noise belongs to each channel, not to the kernel.
//
// Training changes everything that WithFixed does not name. The data determine only the product of the kernel's variances and the
// squares of all Values and Slopes: fix one of these that is not 0, such as the Value of the first channel. A ChannelModel does
// not change.
type ChannelModel struct {
	Kernel   Kernel
	Channels []Channel
	// Mean is added to the offsets, such as the orbit of a planet; nil for nothing. Its Regressors are columns of the inputs, 0 at
	// the observations of channels that do not see them. Its coefficients are integrated out like the offsets, and follow these in a
	// Result. Predictions leave it out.
	Mean  Mean
	fixed []string
}

// NoiseOf, ValueOf, SlopeOf and OffsetOf name the parameters of a channel, and its offset among the coefficients of a Result.
func (c Channel) NoiseOf() string { return NoiseName + " of " + c.Name }

// ValueOf is the name of Value.
func (c Channel) ValueOf() string { return "value of " + c.Name }

// SlopeOf is the name of Slope.
func (c Channel) SlopeOf() string { return "slope of " + c.Name }

// OffsetOf is the name of the offset.
func (c Channel) OffsetOf() string { return "offset of " + c.Name }

// WithFixed returns the same model with the named parameters kept at their values.
func (m ChannelModel) WithFixed(names ...string) ChannelModel {
	m.fixed = append(slices.Clip(m.fixed), names...)
	return m
}

// Params returns the kernel's parameters, then the channels' noise variances, Values and, if f has a derivative, Slopes.
func (m ChannelModel) Params() []Param {
	params := m.Kernel.Params()
	for _, c := range m.Channels {
		noise := Param{Name: c.NoiseOf(), Value: c.Noise, Transform: Log{}, Unit: UnitY2, Role: RoleNoise}
		if c.Noise == 0 {
			noise.Transform = Fixed{}
		}
		params = append(params, noise)
	}
	for _, c := range m.Channels {
		params = append(params, Param{Name: c.ValueOf(), Value: c.Value, Transform: Free{}, Role: RoleCoefficient})
	}
	if IsDifferentiable(m.Kernel) {
		for _, c := range m.Channels {
			params = append(params, Param{Name: c.SlopeOf(), Value: c.Slope, Transform: Free{}, Unit: UnitX, Role: RoleCoefficient})
		}
	}
	for i := range params {
		if slices.Contains(m.fixed, params[i].Name) {
			params[i].Transform = Fixed{}
		}
	}
	return params
}

// WithParams returns the same model at the values theta, in the order of Params. It panics if their number is wrong.
func (m ChannelModel) WithParams(theta []float64) ChannelModel {
	kernel, n := len(m.Kernel.Params()), len(m.Channels)
	if len(theta) != kernel+2*n && len(theta) != kernel+3*n {
		panic(fmt.Sprintf("gppl: ChannelModel.WithParams: len(theta) = %d, want %d parameters of the kernel and 2 or 3 of each of"+
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

// Check returns an error that names what is wrong with the model.
func (m ChannelModel) Check() error {
	if m.Kernel == nil {
		return fmt.Errorf("gppl: the model has no kernel")
	}
	if len(m.Channels) == 0 {
		return fmt.Errorf("gppl: the model has no channels")
	}
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
	if m.Mean != nil {
		if err := checkMean(m.Mean); err != nil {
			return err
		}
	}
	params := m.Params()
	for _, name := range m.fixed {
		if !slices.ContainsFunc(params, func(p Param) bool { return p.Name == name }) {
			return noParameter(name, params)
		}
	}
	return CheckParams(params, Values(params))
}

// channelsOf is a model of the observations of channels.
type channelsOf struct {
	ChannelModel
	data    Data
	channel []int
}

// Check is that of the model, where a noise variance of 0 is taken beside known errors of all observations of the channel.
func (m channelsOf) Check() error {
	if len(m.data.Errors) != len(m.channel) {
		return m.ChannelModel.Check()
	}
	m.Channels = slices.Clone(m.Channels)
	for i, of := range m.channel {
		if c := &m.Channels[of]; c.Noise == 0 && m.data.Errors[i] == 0 {
			return fmt.Errorf("gppl: parameter %q = 0 is taken beside known errors alone, and the error of observation %d is 0",
				c.NoiseOf(), i)
		}
	}
	for i := range m.Channels {
		if c := &m.Channels[i]; c.Noise == 0 {
			c.Noise = 1
		}
	}
	return m.ChannelModel.Check()
}

// channelBlocks returns the blocks of a kernel, or why channels do not take it.
func channelBlocks(k Kernel) ([]statespace.Block, error) {
	l := linear{apart: true}
	switch {
	case Nugget(k) > 0:
		return nil, fmt.Errorf("gppl: channels have noise of their own: leave White out of %v", k)
	case IsPlaced(k) || !l.expand(k, mostLost):
		return nil, notForChannels(k)
	}
	return l.blocks, nil
}

// notForChannels is the error for a kernel that is no linear one, or has too many harmonics.
func notForChannels(k Kernel) error {
	return fmt.Errorf("gppl: channels do not take %v: it is %s, or its state has more than %d numbers", k, notLinear, largestState)
}

// IsDifferentiable reports whether channels can see the derivative of the process of k.
func IsDifferentiable(k Kernel) bool {
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

// deviations returns the standard deviations of f and of f′, 0 if it has none.
func deviations(k Kernel) (value, slope float64) {
	var curve float64
	l := linear{apart: true}
	if l.expand(k, mostLost) {
		for i := range l.blocks {
			curve += l.blocks[i].SlopeVariance()
		}
	}
	return math.Sqrt(variance(k)), math.Sqrt(curve)
}
