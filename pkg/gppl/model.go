package gppl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/internal/timeline"
)

// A Model is a Gaussian process observed with independent noise:
//
//	y_i = h(x_i)ᵀβ + f(x_i) + ε_i,  f ~ GP(0, Kernel),  ε_i ~ N(0, Noise)
//
// With channels, each channel observes f in its own way (Channel).
//
// It is an immutable value; training returns a new one.
type Model struct {
	Kernel   Kernel
	Noise    float64   // noise variance σ², in the unit of y²; 0 only if all observations have known errors: it stays 0
	Mean     Mean      // h and the prior of β; nil for a mean of zero
	Channels []Channel // how each channel observes f, with its own noise in place of Noise; nil if there are none

	transforms []transform.Transform // one per parameter; nil for each parameter's own
	unknown    []string              // names given to WithTransform or Fix that are no parameter's
}

// PaperModel returns k as the paper starts training it: every raw parameter at log 1, so that every kernel parameter is 1 and the
// noise variance, which is softplus(raw) + 1e-6, is ln 2 + 1e-6.
func PaperModel(k Kernel) Model {
	noise, ones := transform.Softplus{Floor: 1e-6}, slices.Repeat([]float64{1}, len(k.Params()))
	return Model{Kernel: k.WithParams(ones), Noise: noise.Natural(0)}.WithTransform(NoiseName, noise)
}

// Params returns the kernel's parameters and, last, the noise variance, each with the transform under which it is trained. With
// channels these are the kernel's parameters, then the channels' noise variances, their Values and, if f has a derivative, their
// Slopes.
func (m Model) Params() []Param {
	params := m.Kernel.Params()
	if len(m.Channels) == 0 {
		params = append(params, Param{Name: NoiseName, Value: m.Noise, Transform: transform.Log{}, Unit: UnitY2, Role: RoleNoise})
	} else {
		params = append(params, m.channelParams()...)
	}
	for i, t := range m.transforms {
		if t != nil {
			params[i].Transform = t
		}
	}
	return params
}

// Values returns the natural values of all parameters, in the order of Params.
func (m Model) Values() []float64 { return Values(m.Params()) }

// WithParams returns the same model at the natural values theta, in the order of Params.
// It panics if their number is wrong; it does not judge their values.
func (m Model) WithParams(theta []float64) Model {
	if len(m.Channels) > 0 {
		return m.withChannelParams(theta)
	}
	last := len(theta) - 1
	if last < 0 {
		panic("gppl: Model.WithParams: theta is empty")
	}
	m.Kernel = m.Kernel.WithParams(theta[:last])
	m.Noise = theta[last]
	return m
}

// WithTransform returns the same model with the named parameter trained through t. If there is no such parameter, the model
// remembers the name, and Check returns an error that names it, as do all losses, posteriors and trainings.
func (m Model) WithTransform(name string, t transform.Transform) Model {
	var params []Param
	if m.Kernel != nil {
		params = m.Params()
	}
	i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		m.unknown = append(slices.Clip(m.unknown), name)
		return m
	}
	ts := make([]transform.Transform, len(params))
	copy(ts, m.transforms)
	ts[i] = t
	m.transforms = ts
	return m
}

// Fix returns the same model with the named parameters kept at their values. A name of no
// parameter is an error of Check, as with WithTransform.
func (m Model) Fix(names ...string) Model {
	for _, name := range names {
		m = m.WithTransform(name, transform.Fixed{})
	}
	return m
}

// FixRedundant returns the same model with redundant variances fixed: in a product, the variances of all factors but the first,
// since the likelihood determines only the product of the variances.
func (m Model) FixRedundant() Model {
	params := m.Kernel.Params()
	for _, i := range redundant(m.Kernel, 0) {
		m = m.Fix(params[i].Name)
	}
	return m
}

// Amplitudes returns the indices of the parameters that scale the kernel as a whole, as far as they are known
// (capability.Amplified): all terms' variances in a sum, one factor's variances in a product, none of White.
func (m Model) Amplitudes() []int {
	at, _ := amplitudesOf(m.Kernel, 0)
	return at
}

// NoiseTerms returns the indices of the variances of white noise in the kernel or in the terms of a sum: the parameters of
// RoleNoise, which act as the noise variance of the model does. White as a factor, or on one side of a change, is no noise of its
// own.
func (m Model) NoiseTerms() []int { return noiseTerms(m.Kernel) }

// IsPlaced reports whether the covariance of the kernel, or of a part of it, depends on the inputs themselves, not on their
// distance alone (capability.Placed), like On, ARD and ChangePoint. Code that calls Kernel.Cov on distances must refuse such a
// kernel.
func (m Model) IsPlaced() bool { return isPlaced(m.Kernel) }

// CheckAxes returns an error if the kernel, or a part of it, is on an axis that x does not have, or has more or fewer
// lengthscales than x has axes. Losses, draws and posteriors check it.
func (m Model) CheckAxes(x Inputs) error { return checkAxes(m.Kernel, x.Dim()) }

// PairGrad returns k(x, y), without the nugget, and sets grad to its derivatives: in the log of each parameter of the kernel, and
// in a parameter of RoleLocation itself. It panics if len(grad) is not the number of these parameters.
func (m Model) PairGrad(grad, x, y []float64) float64 {
	if n := len(m.Kernel.Params()); len(grad) != n {
		panic(fmt.Sprintf("gppl: PairGrad: len(grad) = %d, want %d", len(grad), n))
	}
	clear(grad)
	contractPair(grad, m.Kernel, 1, x, y)
	return atPair(m.Kernel, x, y)
}

// AxesOf returns, for each parameter of the kernel, on which of the d axes of the inputs it acts: on all, for a kernel of
// distances.
func (m Model) AxesOf(d int) [][]int {
	return axesOf(m.Kernel, timeline.Range(0, d))
}

// trained returns the parameters as a loss trains them: a noise variance of 0, which checkWith takes, is kept.
func (m Model) trained() []Param {
	params := m.Params()
	for i, p := range params {
		if p.Role == RoleNoise && p.Value == 0 && i >= len(m.Kernel.Params()) {
			params[i].Transform = transform.Fixed{}
		}
	}
	return params
}

// noises returns the names and the variances of the noise of each channel, or of all observations without channels.
func (m Model) noises() (names []string, variances []float64) {
	if len(m.Channels) == 0 {
		return []string{NoiseName}, []float64{m.Noise}
	}
	for _, c := range m.Channels {
		names, variances = append(names, c.NoiseOf()), append(variances, c.Noise)
	}
	return names, variances
}

// checkWith is Check, for a model of the data: a noise variance of 0 is taken beside known errors of all observations that have
// it.
func (m Model) checkWith(d Data) error {
	if m.Kernel == nil || len(d.Errors) != len(d.Y) {
		return m.Check()
	}
	names, variances := m.noises()
	if !slices.Contains(variances, 0) {
		return m.Check()
	}
	for i, s := range d.Errors {
		if c := d.channel(i); variances[c] == 0 && s == 0 {
			return fmt.Errorf("gppl: parameter %q = 0 is taken beside known errors alone, and the error of observation %d is 0",
				names[c], i)
		}
	}
	// What is kept at 0 is not checked, and neither is its transform.
	m.transforms = slices.Clone(m.transforms)
	m.Channels = slices.Clone(m.Channels)
	for c, v := range variances {
		if v != 0 {
			continue
		}
		if len(m.Channels) == 0 {
			m.Noise = 1
		} else {
			m.Channels[c].Noise = 1
		}
		if m.transforms != nil {
			m.transforms[len(m.Kernel.Params())+c] = nil
		}
	}
	return m.Check()
}

// Check returns an error that names the first parameter that is not finite and positive, or that its transform cannot reach. If
// Fix or WithTransform was given a name that no parameter has, the error names the nearest existing one. It also returns the
// error of the mean.
func (m Model) Check() error {
	if m.Kernel == nil {
		return fmt.Errorf("gppl: the model has no kernel")
	}
	if err := checkPlaced(m.Kernel); err != nil {
		return err
	}
	params := m.Params()
	if len(m.unknown) > 0 {
		return noParameter(m.unknown[0], params)
	}
	if err := checkParams(params, Values(params)); err != nil {
		return err
	}
	for i, p := range params {
		if u := transformOf(p).Raw(p.Value); !numeric.IsFinite(u) {
			return fmt.Errorf("gppl: parameter %q (index %d) = %v is out of the range of its transform %v",
				p.Name, i, p.Value, p.Transform)
		}
	}
	if len(m.Channels) > 0 {
		if err := m.checkChannels(); err != nil {
			return err
		}
	}
	if m.Mean != nil {
		return checkMean(m.Mean)
	}
	return nil
}

// noParameter says that no parameter has the name, and which name comes nearest.
func noParameter(name string, params []Param) error {
	var names []string
	for _, p := range params {
		if p.Role != RoleInput {
			names = append(names, p.Name)
		}
	}
	return fmt.Errorf("gppl: there is no parameter %q: did you mean %q? There are %s",
		name, text.Nearest(name, names), namesOf(params))
}

// MarshalJSON is an error: a kernel is written with its type, as store.Model does.
func (m Model) MarshalJSON() ([]byte, error) {
	return nil, errors.New("gppl: JSON cannot tell the types of a model: write a store.Model")
}

// String renders the mean, the kernel and the noise variance, or the channels.
func (m Model) String() string {
	var b strings.Builder
	b.WriteString("GP(")
	if m.Mean != nil {
		fmt.Fprintf(&b, "mean %v, ", m.Mean)
	}
	fmt.Fprint(&b, m.Kernel)
	for _, c := range m.Channels {
		fmt.Fprintf(&b, ", %v", c)
	}
	if len(m.Channels) == 0 {
		fmt.Fprintf(&b, ", %s=%.4g", NoiseName, m.Noise)
	}
	b.WriteString(")")
	return b.String()
}
