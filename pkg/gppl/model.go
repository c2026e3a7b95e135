package gppl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
)

// A Model is a Gaussian process observed with independent noise:
//
//	y_i = h(x_i)ᵀβ + f(x_i) + ε_i,  f ~ GP(0, Kernel),  ε_i ~ N(0, Noise)
//
// It is an immutable value; training returns a new one.
type Model struct {
	Kernel Kernel
	Noise  float64 // noise variance σ², in the unit of y²; 0 only beside known errors of all observations: a loss keeps it
	Mean   Mean    // h and the prior of β; nil for a mean of zero

	transforms []Transform // one per parameter; nil for each parameter's own
	unknown    []string    // names given to WithTransform or Fix that are no parameter's
}

// NoiseName is the name of the noise variance, the last of a model's parameters.
const NoiseName = "noise variance"

// PaperModel returns k as the paper starts training it: every raw parameter at log 1, so that every kernel parameter is 1 and the
// noise variance, which is softplus(raw) + 1e-6, is ln 2 + 1e-6.
func PaperModel(k Kernel) Model {
	noise, ones := Softplus{Floor: 1e-6}, slices.Repeat([]float64{1}, len(k.Params()))
	return Model{Kernel: k.WithParams(ones), Noise: noise.Natural(0)}.WithTransform(NoiseName, noise)
}

// Params returns the kernel's parameters and, last, the noise variance, each with the transform under which it is trained.
func (m Model) Params() []Param {
	params := append(m.Kernel.Params(), Param{Name: NoiseName, Value: m.Noise, Transform: Log{}, Unit: UnitY2, Role: RoleNoise})
	for i, t := range m.transforms {
		if t != nil {
			params[i].Transform = t
		}
	}
	return params
}

// Values returns the natural values of all parameters, in the order of Params.
func (m Model) Values() []float64 { return Values(m.Params()) }

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

// WithTransform returns the same model with the named parameter trained through t. If there is no such parameter, the model
// remembers the name, and Check returns an error that names it, as do all losses, posteriors and trainings.
func (m Model) WithTransform(name string, t Transform) Model {
	var params []Param
	if m.Kernel != nil {
		params = m.Params()
	}
	i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		m.unknown = append(slices.Clip(m.unknown), name)
		return m
	}
	ts := make([]Transform, len(params))
	copy(ts, m.transforms)
	ts[i] = t
	m.transforms = ts
	return m
}

// Fix returns the same model with the named parameters kept at their values. A name of no
// parameter is an error of Check, as with WithTransform.
func (m Model) Fix(names ...string) Model {
	for _, name := range names {
		m = m.WithTransform(name, Fixed{})
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

// trained returns the parameters as a loss trains them: a noise variance of 0, which checkWith takes, is kept.
func (m Model) trained() []Param {
	params := m.Params()
	if m.Noise == 0 {
		params[len(params)-1].Transform = Fixed{}
	}
	return params
}

// checkWith is Check, for a model of the data: a noise variance of 0 is taken beside known errors of all observations.
func (m Model) checkWith(d Data) error {
	if m.Noise != 0 || len(d.Errors) == 0 || m.Kernel == nil {
		return m.Check()
	}
	for i, s := range d.Errors {
		if s == 0 {
			return fmt.Errorf("gppl: parameter %q = 0 is taken beside known errors alone, and the error of observation %d is 0",
				NoiseName, i)
		}
	}
	m.Noise = 1
	if m.transforms != nil { // of the noise, which is kept
		m.transforms = slices.Clone(m.transforms)
		m.transforms[len(m.transforms)-1] = nil
	}
	return m.Check()
}

// Check returns an error that names the first parameter that is not finite and positive or that its transform cannot reach, a
// name that Fix or WithTransform was given and no parameter has, with the nearest one that there is, or the error of the mean.
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
	if err := CheckParams(params, Values(params)); err != nil {
		return err
	}
	for i, p := range params {
		if u := transformOf(p).Raw(p.Value); !numeric.IsFinite(u) {
			return fmt.Errorf("gppl: parameter %q (index %d) = %v is out of the range of its transform %v",
				p.Name, i, p.Value, p.Transform)
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

// String renders the mean, the kernel and the noise variance.
func (m Model) String() string {
	if m.Mean != nil {
		return fmt.Sprintf("GP(mean %v, %v, %s=%.4g)", m.Mean, m.Kernel, NoiseName, m.Noise)
	}
	return fmt.Sprintf("GP(%v, %s=%.4g)", m.Kernel, NoiseName, m.Noise)
}
