package gppl

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

var _ Loss = (*MAP)(nil)

// A ParamPrior is the prior of the parameter with the given name or, if the name is
// empty, of all parameters with the given role.
type ParamPrior struct {
	Name  string
	Role  Role
	Prior Prior
}

func (p ParamPrior) String() string {
	if p.Name == "" {
		return fmt.Sprintf("every %v ~ %v", p.Role, p.Prior)
	}
	return fmt.Sprintf("%s ~ %v", p.Name, p.Prior)
}

// MAP is a loss with priors, whose minimum is the maximum a posteriori estimate:
//
//	L(θ) − Σ_j log p_j(θ_j).
//
// The densities are with respect to θ, not to log θ: they are those that a user writes
// down, and the minimum does not depend on the transform of training. (With respect to
// log θ, the minimum would be where θ·p(θ)·likelihood is largest.) A parameter without
// a prior is determined by the likelihood alone.
//
// Since a MAP is a Loss, the standard errors of Fit follow from the curvature of the
// posterior. Result reports likelihood and prior separately.
type MAP struct {
	loss   Loss
	priors []Prior // one per parameter; nil for none
}

// NewMAP returns loss with the given priors. A prior by name takes precedence over one
// by role; priors by role do not apply to Fixed parameters. It is an error if a prior
// is out of range, names no trained parameter, or is the second one for the same
// parameter. It panics if loss is nil.
func NewMAP(loss Loss, priors ...ParamPrior) (*MAP, error) {
	notNil("NewMAP", "the loss", loss)
	params := loss.Params()
	m := &MAP{loss: loss, priors: make([]Prior, len(params))}
	byName := make([]bool, len(params))
	set := func(i int, p ParamPrior) error {
		if m.priors[i] != nil {
			return fmt.Errorf("gppl: parameter %q has two priors, %v and %v", params[i].Name, m.priors[i], p.Prior)
		}
		m.priors[i] = p.Prior
		return nil
	}
	for _, p := range priors {
		if p.Prior == nil {
			return nil, fmt.Errorf("gppl: the prior of %q, role %v, is nil", p.Name, p.Role)
		}
		if err := p.Prior.Check(); err != nil {
			return nil, err
		}
		if p.Name == "" {
			continue
		}
		i := slices.IndexFunc(params, func(q Param) bool { return q.Name == p.Name })
		switch {
		case i < 0:
			return nil, fmt.Errorf("gppl: a prior on %q: there is no such parameter among %s", p.Name, namesOf(params))
		case params[i].IsFixed():
			return nil, fmt.Errorf("gppl: a prior on %q, which is fixed", p.Name)
		case !params[i].IsScale():
			return nil, fmt.Errorf("gppl: a prior on %q, which may be negative", p.Name)
		}
		if err := set(i, p); err != nil {
			return nil, err
		}
		byName[i] = true
	}
	for _, p := range priors {
		if p.Name != "" {
			continue
		}
		found := false
		for i, q := range params {
			if q.Role != p.Role || q.IsFixed() || !q.IsScale() {
				continue
			}
			found = true
			if byName[i] {
				continue
			}
			if err := set(i, p); err != nil {
				return nil, err
			}
		}
		if !found {
			return nil, fmt.Errorf("gppl: a prior on every %v: no parameter that is trained has this role", p.Role)
		}
	}
	return m, nil
}

func namesOf(params []Param) string {
	var names []string
	for _, p := range params {
		if p.Role != RoleInput {
			names = append(names, fmt.Sprintf("%q", p.Name))
		}
	}
	return strings.Join(names, ", ")
}

// Priors returns the prior of each parameter that has one, by name.
func (m *MAP) Priors() (priors []ParamPrior) {
	for i, p := range m.loss.Params() {
		if m.priors[i] != nil {
			priors = append(priors, ParamPrior{p.Name, p.Role, m.priors[i]})
		}
	}
	return priors
}

// LogPrior returns Σ log p_j(θ_j), −Inf outside the support.
func (m *MAP) LogPrior(theta []float64) (sum float64) {
	for i, p := range m.priors {
		if p != nil {
			v, _ := p.LogDensity(theta[i])
			sum += v
		}
	}
	return sum
}

func (m *MAP) Params() []Param             { return m.loss.Params() }
func (m *MAP) Model(theta []float64) Model { return m.loss.Model(theta) }
func (m *MAP) Report() LossReport          { return m.loss.Report() }
func (m *MAP) String() string              { return fmt.Sprintf("MAP of %v", m.loss) }

func (m *MAP) ValueGrad(grad, theta []float64) (float64, error) {
	value, err := m.loss.ValueGrad(grad, theta)
	if err != nil {
		return 0, err
	}
	return m.addPriors(value, grad, theta)
}

// ValueGradContext implements Interruptible.
func (m *MAP) ValueGradContext(ctx context.Context, grad, theta []float64) (float64, error) {
	value, err := ValueGradContext(ctx, m.loss, grad, theta)
	if err != nil {
		return 0, err
	}
	return m.addPriors(value, grad, theta)
}

// addPriors adds the priors to a value and its gradient.
func (m *MAP) addPriors(value float64, grad, theta []float64) (float64, error) {
	for i, p := range m.priors {
		if p == nil {
			continue
		}
		log, slope := p.LogDensity(theta[i])
		if math.IsInf(log, -1) || math.IsNaN(log) {
			return 0, fmt.Errorf("gppl: parameter %q (index %d) = %v is outside the support of its prior %v", m.Params()[i].Name, i, theta[i], p)
		}
		value -= log
		if grad != nil {
			grad[i] -= slope
		}
	}
	return value, nil
}

func (m *MAP) withoutEngine() (Loss, string) {
	other, engine := withoutEngine(m.loss)
	if other == nil {
		return nil, ""
	}
	return &MAP{other, m.priors}, engine
}

// withPriors is a loss that priors are a part of, itself or what it wraps.
type withPriors interface {
	priorsAt(theta []float64) (log float64, priors []ParamPrior)
}

func (m *MAP) priorsAt(theta []float64) (log float64, priors []ParamPrior) {
	log, priors = priorsAt(m.loss, theta)
	return log + m.LogPrior(theta), append(priors, m.Priors()...)
}

// priorsAt returns the log prior density of a loss at theta, and the priors.
func priorsAt(l Loss, theta []float64) (log float64, priors []ParamPrior) {
	if l, ok := l.(withPriors); ok {
		return l.priorsAt(theta)
	}
	return 0, nil
}

// DefaultPriors returns weak priors on the trained parameters of m, derived from the
// scale of the data. All are log-normal, and so wide that a few dozen informative
// observations override them:
//
//   - a variance: the median is the variance of y divided by the number of the kernel's
//     terms, or 1 for a further factor of a product; one standard deviation is a factor
//     of e² either way;
//   - noise: the same, with a median of a tenth of the variance of y;
//   - a lengthscale: 98 % between the mean spacing of x and its range;
//   - a period: 98 % between two mean spacings and half the range;
//   - a shape: the median is 1; one standard deviation is a factor of e either way.
//
// For inputs of several dimensions, the range is the longest side of their bounding box,
// the spacing range/n^(1/d). If the model has a mean, y stands for its residuals after a
// least-squares fit of the mean. Parameters without a known role get no prior. State
// what you know about a parameter by a prior with its name.
func DefaultPriors(m Model, d Data) []ParamPrior {
	const wide, narrow = 2, 1 // standard deviations of the log
	d = m.SubtractMean(d)
	var mean, variance, extent float64
	n := float64(d.Len())
	for _, y := range d.Y {
		mean += y / n
	}
	for _, y := range d.Y {
		variance += (y - mean) * (y - mean) / n
	}
	for j := range d.X.Dim() {
		lo, hi := d.X.Range(j)
		extent = max(extent, hi-lo)
	}
	spacing := extent / math.Pow(n, 1/float64(max(1, d.X.Dim())))
	if !(variance > 0) {
		variance = 1
	}
	if !(extent > 0) || n < 5 { // the bounds below must be apart
		extent, spacing = max(extent, 1), max(extent, 1)/5
	}
	terms := Amplitudes(m.Kernel)
	var priors []ParamPrior
	for i, p := range m.Params() {
		if p.IsFixed() || !p.IsScale() {
			continue
		}
		var prior Prior
		switch p.Role {
		case RoleVariance:
			median := 1.0
			if slices.Contains(terms, i) {
				median = variance / float64(len(terms))
			}
			prior = LogNormal{math.Log(median), wide}
		case RoleNoise:
			prior = LogNormal{math.Log(0.1 * variance), wide}
		case RoleLengthscale:
			prior = LogNormalWithin(spacing, extent)
		case RolePeriod:
			prior = LogNormalWithin(2*spacing, max(extent/2, 2.5*spacing))
		case RoleShape:
			prior = LogNormal{0, narrow}
		default:
			continue
		}
		priors = append(priors, ParamPrior{p.Name, p.Role, prior})
	}
	return priors
}
