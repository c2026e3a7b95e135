package gppl

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// MAP is a loss with priors, whose minimum is the maximum a posteriori estimate:
//
//	L(θ) − Σ_j log p_j(θ_j).
//
// The densities are with respect to θ, not to log θ: they are the densities that a user writes down, and the minimum does not
// depend on the transform of training. (With respect to log θ, the minimum would be where θ·p(θ)·likelihood is largest.) A
// parameter without a prior is determined by the likelihood alone.
//
// Since a MAP is a Loss, the standard errors of Fit follow from the curvature of the
// posterior. Result reports likelihood and prior separately.
type MAP struct {
	loss   Loss
	priors []Prior // one per parameter; nil for none
}

// NewMAP returns loss with the given priors. A prior by name takes precedence over one by role; priors by role do not apply to
// Fixed parameters. NewMAP returns an error if a prior is out of range, names no trained parameter, or is the second one for
// the same parameter. It panics if loss is nil.
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

// Priors returns the prior of each parameter that has one, by name, after the priors of the wrapped loss.
func (m *MAP) Priors() (priors []ParamPrior) {
	if within, ok := m.loss.(believing); ok {
		priors = within.Priors()
	}
	for i, p := range m.loss.Params() {
		if m.priors[i] != nil {
			priors = append(priors, ParamPrior{p.Name, p.Role, m.priors[i]})
		}
	}
	return priors
}

// LogPrior returns Σ log p_j(θ_j) over Priors, −Inf outside the support.
func (m *MAP) LogPrior(theta []float64) (sum float64) {
	if within, ok := m.loss.(believing); ok {
		sum = within.LogPrior(theta)
	}
	for i, p := range m.priors {
		if p != nil {
			v, _ := p.LogDensity(theta[i])
			sum += v
		}
	}
	return sum
}

// addCurvature adds to j the second derivatives of −LogPrior in the logs of the parameters, where they are positive.
func (m *MAP) addCurvature(j *mat.SymDense, theta []float64) {
	const h = numeric.GradientStep
	for i, p := range m.priors {
		if p == nil {
			continue
		}
		up, down := theta[i]*math.Exp(h), theta[i]*math.Exp(-h)
		_, above := p.LogDensity(up)
		_, below := p.LogDensity(down)
		if curvature := (below*down - above*up) / (2 * h); curvature > 0 {
			j.SetSym(i, i, j.At(i, i)+curvature)
		}
	}
}

func (m *MAP) Params() []Param             { return m.loss.Params() }
func (m *MAP) Model(theta []float64) Model { return m.loss.Model(theta) }
func (m *MAP) Report() LossReport          { return m.loss.Report() }
func (m *MAP) String() string              { return fmt.Sprintf("MAP of %v", m.loss) }

func (m *MAP) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	value, err := m.loss.ValueGrad(ctx, grad, theta)
	if err != nil {
		return 0, err
	}
	for i, p := range m.priors {
		if p == nil {
			continue
		}
		log, slope := p.LogDensity(theta[i])
		if math.IsInf(log, -1) || math.IsNaN(log) {
			return 0, fmt.Errorf("gppl: parameter %q (index %d) = %v is outside the support of its prior %v",
				m.Params()[i].Name, i, theta[i], p)
		}
		value -= log
		if grad != nil {
			grad[i] -= slope
		}
	}
	return value, nil
}

// Cost returns the estimate of the wrapped loss.
func (m *MAP) Cost(theta []float64) (engine string, seconds float64) { return costWithin(m, theta) }

// costWithin returns the estimate of a wrapped loss, zero values if it has none.
func costWithin(l wrapping, theta []float64) (engine string, seconds float64) {
	within, at := l.within(theta)
	if l, ok := within.(costing); ok {
		return l.Cost(at)
	}
	return "", 0
}

func (m *MAP) withoutEngine() (Loss, string) {
	other, engine := withoutEngine(m.loss)
	if other == nil {
		return nil, ""
	}
	return &MAP{other, m.priors}, engine
}

func (m *MAP) within(theta []float64) (Loss, []float64) { return m.loss, theta }

// believing is a loss with priors.
type believing interface {
	Priors() []ParamPrior
	LogPrior(theta []float64) float64
}

// Tied is a loss in which some parameters share one value: the first of each group is trained, and the others take its value.
// They stay among the parameters, as Fixed, and their own values do not matter.
type Tied struct {
	loss    Loss
	params  []Param
	leader  []int // index of the first parameter in each parameter's group, its own if it is not tied
	scratch parallel.Pool[[]float64]
}

// Tie returns loss with each group of parameters, by their names, tied to the first of the group. It returns an error if a
// group has fewer than two, if a name is unknown or in two groups, if a parameter is fixed, or if units differ. It panics if
// loss is nil.
func Tie(loss Loss, groups ...[]string) (*Tied, error) {
	notNil("Tie", "the loss", loss)
	params := loss.Params()
	t := &Tied{loss: loss, params: slices.Clone(params)}
	for i := range params {
		t.leader = append(t.leader, i)
	}
	taken := map[string]bool{}
	for _, group := range groups {
		if len(group) < 2 {
			return nil, fmt.Errorf("gppl: a group of %d parameters, %q: two or more can be tied", len(group), group)
		}
		first := -1
		for _, name := range group {
			i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name })
			switch {
			case i < 0:
				return nil, fmt.Errorf("gppl: %q cannot be tied: there is no such parameter among %s", name, namesOf(params))
			case taken[name]:
				return nil, fmt.Errorf("gppl: %q is tied twice", name)
			case params[i].IsFixed():
				return nil, fmt.Errorf("gppl: %q cannot be tied: it is fixed", name)
			}
			taken[name] = true
			if first < 0 {
				first = i
				continue
			}
			if a, b := params[first], params[i]; a.Unit != b.Unit {
				return nil, fmt.Errorf("gppl: %q and %q cannot be tied: their units are %q and %q", a.Name, b.Name, a.Unit, b.Unit)
			}
			t.leader[i] = first
			t.params[i].Transform = transform.Fixed{}
			t.params[i].Value = params[first].Value
		}
	}
	return t, nil
}

func (t *Tied) Params() []Param    { return slices.Clone(t.params) }
func (t *Tied) Report() LossReport { return t.loss.Report() }
func (t *Tied) String() string     { return fmt.Sprintf("%v, tied", t.loss) }

// Model returns the model at theta, with tied parameters set to the value of the first of their group.
func (t *Tied) Model(theta []float64) Model {
	l, theta := t.within(theta)
	return l.Model(theta)
}

func (t *Tied) within(theta []float64) (Loss, []float64) {
	theta = slices.Clone(theta)
	t.complete(theta)
	return t.loss, theta
}

// complete sets the tied parameters.
func (t *Tied) complete(theta []float64) {
	for i := range theta {
		theta[i] = theta[t.leader[i]]
	}
}

func (t *Tied) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	if err := checkEvaluation(t.params, grad, theta); err != nil {
		return 0, err
	}
	s, n := t.scratch.Get(), len(theta)
	*s = dense.Resize(*s, 2*n)
	full, all := (*s)[:n], (*s)[n:]
	copy(full, theta)
	t.complete(full)
	if grad == nil {
		all = nil
	}
	value, err := t.loss.ValueGrad(ctx, all, full)
	clear(grad)
	for i, slope := range all {
		grad[t.leader[i]] += slope
	}
	t.scratch.Put(s)
	return value, err
}

// Cost returns the estimate of the wrapped loss.
func (t *Tied) Cost(theta []float64) (engine string, seconds float64) { return costWithin(t, theta) }

func (t *Tied) withoutEngine() (Loss, string) {
	other, engine := withoutEngine(t.loss)
	if other == nil {
		return nil, ""
	}
	return &Tied{loss: other, params: t.params, leader: t.leader}, engine
}

// Priors returns the priors of the loss whose parameters are tied, if it has any.
func (t *Tied) Priors() []ParamPrior {
	if within, ok := t.loss.(believing); ok {
		return within.Priors()
	}
	return nil
}

// LogPrior returns the log density of Priors at theta, with tied parameters set; 0 without priors.
func (t *Tied) LogPrior(theta []float64) float64 {
	if within, ok := t.loss.(believing); ok {
		_, theta = t.within(theta)
		return within.LogPrior(theta)
	}
	return 0
}

// leaders returns, for each parameter of a loss, the index of the parameter whose value it takes, mostly its own; nil if none
// is tied.
func leaders(l Loss) []int {
	switch l := l.(type) {
	case *Tied:
		return l.leader
	case wrapping:
		inner, _ := l.within(nil)
		return leaders(inner)
	}
	return nil
}

// Panel is the likelihood of several independent series that have all parameters in common:
//
//	L(θ) = Σ_s L_s(θ).
//
// Each series has its own inputs, noise and mean, whose coefficients are its own.
type Panel struct {
	losses  []Loss
	params  []Param
	scratch parallel.Pool[panelScratch]
}

// panelScratch holds a value, a gradient and an error for each series.
type panelScratch struct {
	values []float64
	grads  []float64 // one after another, by series
	errs   []error
}

// NewPanel returns the sum of losses with the same parameters: equal in names, in units, and in which are fixed at which values.
// Training starts from the values of the first. Give priors of the shared parameters to the sum (NewMAP), where they count once.
// NewPanel returns an error if parameters differ, or if there is no loss; it panics if one is nil.
func NewPanel(losses ...Loss) (*Panel, error) {
	if len(losses) == 0 {
		return nil, fmt.Errorf("gppl: a panel of no series")
	}
	p := &Panel{losses: slices.Clone(losses)}
	for s, l := range losses {
		notNil("NewPanel", fmt.Sprintf("loss %d", s), l)
		params := l.Params()
		if s == 0 {
			p.params = params
		}
		if err := sameParams(p.params, params); err != nil {
			return nil, fmt.Errorf("gppl: series %d of the panel: %w", s, err)
		}
	}
	return p, nil
}

// sameParams returns an error unless the other parameters match the first series'.
func sameParams(first, other []Param) error {
	if len(other) != len(first) {
		return fmt.Errorf("it has the parameters %s, and the first series %s", namesOf(other), namesOf(first))
	}
	for i, q := range other {
		switch p := first[i]; {
		case p.Name != q.Name || p.Unit != q.Unit || p.Role != q.Role:
			return fmt.Errorf("parameter %d is %q in %q, and %q in %q in the first series", i, q.Name, q.Unit, p.Name, p.Unit)
		case p.IsFixed() != q.IsFixed() || p.IsFixed() && p.Value != q.Value:
			return fmt.Errorf("parameter %q is fixed otherwise than in the first series: %v (%v), and %v (%v) there",
				q.Name, q.Value, transformOf(q), p.Value, transformOf(p))
		}
	}
	return nil
}

func (p *Panel) Params() []Param { return slices.Clone(p.params) }

// Model returns the model of the first series at theta.
func (p *Panel) Model(theta []float64) Model { return p.losses[0].Model(theta) }

func (p *Panel) String() string {
	return fmt.Sprintf("the sum of %d series, the first %v", len(p.losses), p.losses[0])
}

// Report adds up the set-up, fallbacks and error bounds of the series; jitter is the largest.
func (p *Panel) Report() (sum LossReport) {
	var engines []string
	sum.Likelihood = true
	for _, l := range p.losses {
		r := l.Report()
		if r.Engine != "" && !slices.Contains(engines, r.Engine) {
			engines = append(engines, r.Engine)
		}
		sum.Likelihood = sum.Likelihood && r.Likelihood
		sum.Setup += r.Setup
		sum.Jitter, sum.LastJitter = max(sum.Jitter, r.Jitter), max(sum.LastJitter, r.LastJitter)
		sum.Fallbacks += r.Fallbacks
		sum.Inexact, sum.LastBound, sum.LastInexact = sum.Inexact+r.Inexact, sum.LastBound+r.LastBound, sum.LastInexact+r.LastInexact
	}
	sum.Engine = strings.Join(engines, ", ")
	return sum
}

// ValueGrad evaluates several series at a time and adds them up in their order, so that the
// sum does not depend on the number of processors.
func (p *Panel) ValueGrad(ctx context.Context, grad, theta []float64) (value float64, err error) {
	if err := checkEvaluation(p.params, grad, theta); err != nil {
		return 0, err
	}
	n, count := len(p.losses), len(theta)
	s := p.scratch.Get()
	if s.values == nil {
		*s = panelScratch{make([]float64, n), make([]float64, n*count), make([]error, n)}
	}
	parallel.Each(runtime.GOMAXPROCS(0), n, func(i int) {
		var own []float64
		if grad != nil {
			own = s.grads[i*count : (i+1)*count]
		}
		s.values[i], s.errs[i] = p.losses[i].ValueGrad(ctx, own, theta)
	})
	clear(grad)
	for i, v := range s.values {
		if e := s.errs[i]; e != nil && err == nil {
			err = fmt.Errorf("gppl: series %d of the panel: %w", i, e)
		}
		value += v
		floats.Add(grad, s.grads[i*count:][:len(grad)])
	}
	p.scratch.Put(s)
	if err != nil {
		return 0, err
	}
	return value, nil
}

// Cost returns the sum of the losses' estimates, as if they ran one after the other.
func (p *Panel) Cost(theta []float64) (engine string, seconds float64) {
	for _, l := range p.losses {
		seconds += capability.Seconds(l, theta)
	}
	return "", seconds
}

func (p *Panel) withoutEngine() (Loss, string) {
	others := make([]Loss, len(p.losses))
	var engines []string
	for i, l := range p.losses {
		other, engine := withoutEngine(l)
		if others[i] = other; other == nil {
			others[i] = l
		} else if !slices.Contains(engines, engine) {
			engines = append(engines, engine)
		}
	}
	if engines == nil {
		return nil, ""
	}
	return &Panel{losses: others, params: p.params}, strings.Join(engines, ", ")
}
