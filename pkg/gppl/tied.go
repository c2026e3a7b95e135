package gppl

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
)

var _ Loss = (*Tied)(nil)

// Tied is a loss in which some parameters share one value: the first of each group is
// trained, and the others take its value. They stay among the parameters, as Fixed, and
// their own values do not matter.
type Tied struct {
	loss    Loss
	params  []Param
	leader  []int // of each parameter: its own index, or that of the one it follows
	scratch sync.Pool
}

// Tie returns loss with each group of parameters, by their names, tied to the first of
// the group. It is an error if a group has fewer than two, if a name is unknown or in
// two groups, if a parameter is fixed, or if units differ. It panics if loss is nil.
func Tie(loss Loss, groups ...[]string) (*Tied, error) {
	notNil("Tie", "the loss", loss)
	params := loss.Params()
	t := &Tied{loss: loss, params: slices.Clone(params)}
	for i := range params {
		t.leader = append(t.leader, i)
	}
	t.scratch.New = func() any { return &[2][]float64{make([]float64, len(params)), make([]float64, len(params))} }
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
			t.params[i].Transform = Fixed{}
			t.params[i].Value = params[first].Value
		}
	}
	return t, nil
}

func (t *Tied) Params() []Param    { return slices.Clone(t.params) }
func (t *Tied) Report() LossReport { return t.loss.Report() }
func (t *Tied) String() string     { return fmt.Sprintf("%v, tied", t.loss) }

// Model returns the model at theta, with tied parameters set to the value of the first
// of their group.
func (t *Tied) Model(theta []float64) Model {
	theta = slices.Clone(theta)
	t.complete(theta)
	return t.loss.Model(theta)
}

// complete sets the tied parameters.
func (t *Tied) complete(theta []float64) {
	for i, leader := range t.leader {
		theta[i] = theta[leader]
	}
}

func (t *Tied) ValueGrad(grad, theta []float64) (float64, error) {
	return t.evaluate(t.loss.ValueGrad, grad, theta)
}

// ValueGradContext implements Interruptible.
func (t *Tied) ValueGradContext(ctx context.Context, grad, theta []float64) (float64, error) {
	return t.evaluate(func(grad, theta []float64) (float64, error) { return ValueGradContext(ctx, t.loss, grad, theta) }, grad, theta)
}

func (t *Tied) evaluate(loss func(grad, theta []float64) (float64, error), grad, theta []float64) (float64, error) {
	if err := checkEvaluation(t.params, grad, theta); err != nil {
		return 0, err
	}
	s := t.scratch.Get().(*[2][]float64)
	defer t.scratch.Put(s) // a panic too leaves nothing in it that is read again
	full, all := s[0], s[1]
	copy(full, theta)
	t.complete(full)
	if grad == nil {
		return loss(nil, full)
	}
	value, err := loss(all, full)
	if err != nil {
		return math.NaN(), err
	}
	clear(grad)
	for i, leader := range t.leader {
		grad[leader] += all[i]
	}
	return value, nil
}

func (t *Tied) withoutEngine() (Loss, string) {
	other, engine := withoutEngine(t.loss)
	if other == nil {
		return nil, ""
	}
	u := &Tied{loss: other, params: t.params, leader: t.leader}
	u.scratch.New = t.scratch.New
	return u, engine
}

func (t *Tied) priorsAt(theta []float64) (log float64, priors []ParamPrior) {
	theta = slices.Clone(theta)
	t.complete(theta)
	return priorsAt(t.loss, theta)
}

// leaders returns, for each parameter of a loss, the index of the one whose value it
// takes, mostly its own; nil where none is tied.
func leaders(l Loss) []int {
	switch l := l.(type) {
	case *Tied:
		return l.leader
	case *MAP:
		return leaders(l.loss)
	}
	return nil
}
