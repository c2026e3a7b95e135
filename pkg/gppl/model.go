package gppl

import (
	"fmt"
	"math"
	"slices"
)

// A Model is a Gaussian process observed with independent noise:
//
//	y_i = h(x_i)ᵀβ + f(x_i) + ε_i,  f ~ GP(0, Kernel),  ε_i ~ N(0, Noise)
//
// It is an immutable value; training returns a new one.
type Model struct {
	Kernel Kernel
	Noise  float64 // noise variance σ², in the unit of y²
	Mean   Mean    // h and the prior of β; nil for a mean of zero

	transforms []Transform // one per parameter; nil for each parameter's own
}

// NoiseName is the name of the noise variance, the last of a model's parameters.
const NoiseName = "noise variance"

// PaperModel returns k as the paper starts training it: every raw parameter at
// log 1, so that every kernel parameter is 1 and the noise variance, which is
// softplus(raw) + 1e-6, is ln 2 + 1e-6.
func PaperModel(k Kernel) Model {
	theta := values(k.Params())
	for i := range theta {
		theta[i] = 1
	}
	noise := Softplus{Floor: 1e-6}
	return Model{Kernel: k.WithParams(theta), Noise: noise.Natural(0)}.WithTransform(NoiseName, noise)
}

// Params returns the kernel's parameters and, last, the noise variance, each
// with the transform under which it is trained.
func (m Model) Params() []Param {
	params := append(m.Kernel.Params(), Param{Name: NoiseName, Value: m.Noise, Transform: Log{}, Unit: unitY2, Role: RoleNoise})
	for i, t := range m.transforms {
		if t != nil {
			params[i].Transform = t
		}
	}
	return params
}

// WithParams returns the same model at the natural values theta, noise last.
// It panics if their number is wrong; it does not judge their values.
func (m Model) WithParams(theta []float64) Model {
	last := len(theta) - 1
	if last < 0 {
		panic("gppl: Model.WithParams: theta is empty")
	}
	m.Kernel = m.Kernel.WithParams(theta[:last])
	m.Noise = theta[last]
	return m
}

// WithTransform returns the same model with the named parameter trained
// through t. It panics if there is no such parameter.
func (m Model) WithTransform(name string, t Transform) Model {
	params := m.Params()
	i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		var names []string
		for _, p := range params {
			names = append(names, p.Name)
		}
		panic(fmt.Sprintf("gppl: no parameter %q among %q", name, names))
	}
	ts := make([]Transform, len(params))
	copy(ts, m.transforms)
	ts[i] = t
	m.transforms = ts
	return m
}

// Fix returns the same model with the named parameters kept at their values.
func (m Model) Fix(names ...string) Model {
	for _, name := range names {
		m = m.WithTransform(name, Fixed{})
	}
	return m
}

// FixRedundant returns the same model with redundant variances fixed: in a product, the
// variances of all factors but the first, since the likelihood determines only the
// product of the variances.
func (m Model) FixRedundant() Model {
	params := m.Kernel.Params()
	for _, i := range redundant(m.Kernel, 0) {
		m = m.Fix(params[i].Name)
	}
	return m
}

// Check returns an error that names the first parameter that is not finite and positive
// or that its transform cannot reach, or the error of the mean.
func (m Model) Check() error {
	if m.Kernel == nil {
		return fmt.Errorf("gppl: the model has no kernel")
	}
	if err := checkPlaced(m.Kernel); err != nil {
		return err
	}
	params := m.Params()
	if err := checkParams(params, values(params)); err != nil {
		return err
	}
	for i, p := range params {
		if u := transformOf(p).Raw(p.Value); math.IsNaN(u) || math.IsInf(u, 0) {
			return fmt.Errorf("gppl: parameter %q (index %d) = %v is out of the range of its transform %v", p.Name, i, p.Value, p.Transform)
		}
	}
	if m.Mean != nil {
		return checkMean(m.Mean)
	}
	return nil
}

// String renders the mean, the kernel and the noise variance.
func (m Model) String() string {
	if m.Mean != nil {
		return fmt.Sprintf("GP(mean %v, %v, %s=%.4g)", m.Mean, m.Kernel, NoiseName, m.Noise)
	}
	return fmt.Sprintf("GP(%v, %s=%.4g)", m.Kernel, NoiseName, m.Noise)
}
