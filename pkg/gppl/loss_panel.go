package gppl

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/workers"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

var _ Interruptible = (*Panel)(nil)

// Panel is the likelihood of several independent series that have all parameters in common:
//
//	L(θ) = Σ_s L_s(θ).
//
// Each series has its own inputs, noise and mean, whose coefficients are its own. Where series share their parameters only about,
// LearnPriors learns by how much.
type Panel struct {
	losses  []Loss
	params  []Param
	scratch parallel.Pool[panelScratch]
}

// panelScratch has a value, a gradient and an error for each series.
type panelScratch struct {
	values []float64
	grads  []float64 // series by series
	errs   []error
}

// NewPanel returns the sum of losses, whose parameters must be the same: names, units, which are fixed, and the values of those.
// Training starts from the values of the first. Priors of the shared parameters are given to the sum (NewMAP), which counts them once.
// It is an error if parameters differ, or if there is no loss; it panics if one is nil.
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

// sameParams returns an error unless other parameters are those of the first series.
func sameParams(first, other []Param) error {
	if len(other) != len(first) {
		return fmt.Errorf("it has the parameters %s, and the first series %s", namesOf(other), namesOf(first))
	}
	for i, q := range other {
		switch p := first[i]; {
		case p.Name != q.Name || p.Unit != q.Unit || p.Role != q.Role:
			return fmt.Errorf("parameter %d is %q in %q, and %q in %q in the first series", i, q.Name, q.Unit, p.Name, p.Unit)
		case p.IsFixed() != q.IsFixed() || p.IsFixed() && p.Value != q.Value:
			return fmt.Errorf("parameter %q is fixed otherwise than in the first series: %v (%v), and %v (%v) there", q.Name, q.Value, transformOf(q), p.Value, transformOf(p))
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

// Report adds up those of the series: set-up, fallbacks and error bounds; jitter is the largest.
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

func (p *Panel) ValueGrad(grad, theta []float64) (float64, error) {
	return p.ValueGradContext(context.Background(), grad, theta)
}

// ValueGradContext implements Interruptible. The series are evaluated several at a time and added up in their order, so that the sum
// does not depend on the number of processors.
func (p *Panel) ValueGradContext(ctx context.Context, grad, theta []float64) (value float64, err error) {
	if err := checkEvaluation(p.params, grad, theta); err != nil {
		return 0, err
	}
	n, count := len(p.losses), len(theta)
	s := p.scratch.Get()
	if s.values == nil {
		*s = panelScratch{make([]float64, n), make([]float64, n*count), make([]error, n)}
	}
	workers.Each(runtime.GOMAXPROCS(0), n, func(i int) {
		var own []float64
		if grad != nil {
			own = s.grads[i*count : (i+1)*count]
		}
		s.values[i], s.errs[i] = ValueGradContext(ctx, p.losses[i], own, theta)
	})
	clear(grad)
	for i, v := range s.values {
		if e := s.errs[i]; e != nil && err == nil {
			err = fmt.Errorf("gppl: series %d of the panel: %w", i, e)
		}
		value += v
		for j := range grad {
			grad[j] += s.grads[i*count+j]
		}
	}
	p.scratch.Put(s)
	if err != nil {
		return 0, err
	}
	return value, nil
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
