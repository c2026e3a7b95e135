package forecast

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// standardised returns the observations as the best model sees them.
func (a *Analysis) standardised(ctx context.Context) (gppl.Data, error) {
	if a.Series.Approximated() { // the best model sees a Gaussian approximation
		if err := a.Condition(ctx); err != nil {
			return gppl.Data{}, err
		}
		return a.members[0].scale.Approximated(ctx, a.Result.Model, a.members[0].Shape, a.conditionsOn())
	}
	v, err := a.scale(a.Log)
	return v.Data, err
}

// Condition conditions the members on the data, once. Before that they have no posteriors. What ctx ends is begun anew by the
// next call.
func (a *Analysis) Condition(ctx context.Context) error {
	_, err := a.conditioned.get(nil, func() (struct{}, error) { return struct{}{}, a.conditionMembers(ctx) })
	return err
}

func (a *Analysis) conditionMembers(ctx context.Context) error {
	scales := map[bool]*search.YScale{}
	for _, m := range a.members {
		if m.posterior != nil {
			continue
		}
		if scales[m.Log] == nil {
			v, err := a.scale(m.Log)
			if err != nil {
				return err
			}
			scales[m.Log] = &v
		}
		v := scales[m.Log]
		observations := v.Gaussian(m.Model, m.Shape)
		var all []conditioned
		for _, model := range append([]gppl.Model{m.Model}, m.Draws...) {
			p, err := a.posteriorOf(ctx, model, v.Data.Len(), observations)
			if err != nil {
				return fmt.Errorf("conditioning on the data: %w", err)
			}
			all = append(all, p)
		}
		m.scale, m.posterior, m.posteriors = v, all[0], all[1:] // all are set or none, so that a later call begins again
	}
	a.remark(a.lostNoise())
	return nil
}

// lostNoise warns if jitter was added to the noise, or if the noise is below rounding: n observations of variance v are
// factorised with an error of about n·v·2⁻⁵². It returns "" if neither holds.
func (a *Analysis) lostNoise() string {
	m := a.Result.Model
	at := []float64{0}
	m.Kernel.Cov(at, at)
	signal, noise := at[0], m.Noise+capability.Nugget(m.Kernel)
	if errors := a.members[0].scale.Data.Errors; errors != nil {
		least := slices.Min(errors)
		noise += least * least
	}
	const eps = 0x1p-52
	switch jitter := a.members[0].posterior.Jitter(); {
	case jitter > 0:
		return fmt.Sprintf("Jitter of %.2g had to be added to a noise variance of %.2g (of the standardised series): "+
			"bands near observations show rounding.", jitter, m.Noise)
	case noise < eps*float64(len(a.Series.X))*signal:
		return fmt.Sprintf("The noise variance is only %.2g times the signal variance and is lost in rounding: "+
			"do not rely on bands near observations. If the observations have errors, the model does not include them: fit again.",
			noise/signal)
	}
	return ""
}

// posteriorOf conditions a model on n observations; latest returns the latest k of them. It adds a note if the posterior uses
// windows.
func (a *Analysis) posteriorOf(
	ctx context.Context, model gppl.Model, n int, latest func(ctx context.Context, k int) (gppl.Data, error),
) (conditioned, error) {
	on := func(ctx context.Context, k int) (p conditioned, failed, err error) {
		data, err := latest(ctx, k)
		if err != nil {
			return nil, nil, err
		}
		return conditionOn(ctx, model, data, search.WindowLength, a.share(), &a.windows)
	}
	k := min(a.conditionsOn(), n)
	p, failed, err := on(ctx, k)
	if err != nil {
		return nil, err
	}
	a.remarkOn(p, failed, k)
	if k == n {
		return p, nil
	}
	whole := new(once[conditioned])
	return latestOrAll{p, a.Series.X[n-k/2], func(ctx context.Context) (conditioned, error) {
		return whole.get(nil, func() (conditioned, error) {
			p, _, err := on(ctx, n)
			return p, err
		})
	}}, nil
}

// conditionsOn returns the number of latest observations that forecasts are conditioned on: the observations that the models were
// learnt from, or four of the longest season if these are more, and all that came later.
func (a *Analysis) conditionsOn() int {
	n := len(a.Series.X)
	const seasons = 4
	k := float64(a.TrainedOn())
	for _, m := range a.members {
		for _, p := range series.PeriodsOf(m.Model.Params()) {
			k = max(k, seasons*p/a.Series.Step)
		}
	}
	return int(min(k+float64(n-a.Series.Learnt()), float64(n)))
}

// remarkOn notes that a posterior uses windows of the n observations, or that an engine failed.
func (a *Analysis) remarkOn(p conditioned, failed error, n int) {
	if w, ok := p.(*windows); ok && w.length < n {
		a.remark(fmt.Sprintf("Predictions are conditioned on the %d observations around them, of %d.", w.length, n))
	}
	const replaced = "An engine for this model failed and was replaced: "
	if failed != nil && !strings.Contains(a.note, replaced) { // one note serves all averaged models
		a.remark(fmt.Sprintf("%s%v.", replaced, failed))
	}
}

// remark adds a sentence to the note on the posterior, unless it is already there.
func (a *Analysis) remark(sentence string) {
	if !strings.Contains(a.note, sentence) {
		a.note = strings.TrimSpace(a.note + " " + sentence)
	}
}

// Note says in which respect the posterior is not exact; "" if it is exact.
func (a *Analysis) Note() string {
	a.conditioned.mu.Lock()
	defer a.conditioned.mu.Unlock()
	return a.note
}

// scale returns all observations as the models of the analysis see them, standardised by the observations from which they were
// learnt.
func (a *Analysis) scale(log bool) (search.YScale, error) {
	n, from, to := len(a.Series.X), 0, a.Series.Learnt()
	if !a.whole {
		from = to - a.TrainedOn()
	}
	v, err := search.NewYScale(a.Series, from, to, log)
	if err != nil || v.Data.Len() == n {
		return v, err
	}
	return v.Over(a.Series, 0, n)
}

func (a *Analysis) engineMemory() gppl.Option {
	return Options{Memory: a.memory}.EngineMemory(a.Series)
}

// share returns the memory for the members and their draws.
func (a *Analysis) share() memoryShare {
	r := memoryShare{bytes: math.Inf(1)}
	if a.memory > 0 {
		r.bytes = max(1, a.memory-a.Series.MemoryBytes())
	}
	for _, m := range a.members {
		r.models += 1 + len(m.Draws)
	}
	r.models = max(1, r.models)
	return r
}
