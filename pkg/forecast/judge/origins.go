package judge

import (
	"cmp"
	"context"
	"math"
	"sync"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

const (
	// defaultOrigins is the number of origins without BacktestOptions.Origins. A series with fewer observations than
	// search.TellingLength, whose past cannot speak against its forecast, has fewer origins, at least leastOrigins, if a quick
	// search at each takes more than shortShare of the predicted time of the fit: a batch of a thousand series must end.
	defaultOrigins, leastOrigins, shortShare = 5, 2, 0.5
	// leastEffort is the index of the lowest effort in a longer series. The search has all terms there, and learns parameters
	// from as many observations as the fit. On M4's development half, a quick search forecasts weekly series up to 2.5 times
	// worse than a standard one, and this one equally well.
	leastEffort = 1
)

// relearning says how the past is tested: at which origins, and what is learnt there. It is the same on every machine.
type relearning struct {
	plan BacktestPlan
	// options are the options of Fit at each origin. If they are nil, structure and parameters of the whole series are used, and
	// why says why.
	options *forecast.Options
	effort  string // name of the effort of the search at each origin
	why     string
	done    *originsDone
}

// originsDone reports how many origins are done; concurrent origins report one after another.
type originsDone struct {
	mu       sync.Mutex
	to       func(forecast.Progress) // nil for none
	done, of int
}

// add counts n more origins.
func (d *originsDone) add(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done += n; d.to != nil {
		d.to(forecast.Progress{Stage: search.TestOfPast, Index: d.done, Count: d.of, Best: math.Inf(1)})
	}
}

// relearningOf plans origins at which structure and parameters are learnt anew, by the options of the fit. The search at the
// origins is the widest with which all together are predicted to take no longer than the fit. It is at most as wide as the search
// of the fit, and at least as wide as leastEffort, or quick in a short series.
func relearningOf(ctx context.Context, a *forecast.Analysis, o BacktestOptions) (r relearning, err error) {
	n := len(a.Series.X)
	defer func() {
		if err != nil {
			return
		}
		if r.done = (&originsDone{of: len(r.plan.origins(n))}); a.Options != nil {
			r.done.to = a.Options.Progress
		}
		r.done.add(0)
	}()
	if r.plan, err = o.plan(n); err != nil {
		return r, err
	}
	switch {
	case a.Options == nil:
		r.why = "the model was read from a file"
		return r, nil
	case a.Untried > 0:
		r.why = search.BudgetSpent
		return r, nil
	}
	at := a.Options.AtOrigin()
	at.Progress, at.Shifts = nil, a.ShiftMode()
	at.Budget /= time.Duration(cmp.Or(o.Origins, defaultOrigins)) // all origins together may take as long as the fit
	r.options = &at
	past, err := o.pastSearch(ctx, a.Series, at, a.Effort, a.TrainedOn())
	if err != nil {
		return r, err
	}
	e, _ := past.widest()
	r.plan, r.effort, at = past.plan, e.Name, at.WithEffort(e)
	return r, nil
}

// WithTests adds the predicted time of the tests of the past that follow a fit to its plan.
func WithTests(ctx context.Context, p search.Plan, s *series.Series, o forecast.Options, tests BacktestOptions) search.Plan {
	if past, err := tests.complete().pastSearch(ctx, s, o, p.Effort, p.Trained); err == nil {
		_, p.Tests = past.widest()
	}
	return p
}

// pastSearch weighs the search at the origins of a plan against the search of the fit.
type pastSearch struct {
	plan             BacktestPlan
	origins          int             // number of origins that the plan wants, if the series is long enough
	n                int             // number of observations
	last             *search.Planner // plans the fit at the last origin
	fit, most, least int             // indices of efforts: the fit's, and the widest and the least at an origin
	trained          int             // number of observations from which the fit learns parameters
	seconds          float64         // predicted time of the fit
}

// pastSearch plans the origins, fewer in a short series if their number is not given. It takes the options of Fit at an origin,
// the effort of the fit, and the number of observations from which the fit learns parameters.
func (o BacktestOptions) pastSearch(
	ctx context.Context, s *series.Series, at forecast.Options, fit string, trained int,
) (p pastSearch, err error) {
	p = pastSearch{origins: cmp.Or(o.Origins, defaultOrigins), trained: trained, n: len(s.X)}
	n := p.n
	if p.plan, err = o.plan(n); err != nil {
		return p, err
	}
	last := s.Part(0, n-p.plan.Horizon)
	last.Even = s.Even
	if p.last, err = search.NewPlanner(ctx, last, at); err != nil {
		return p, err
	}
	whole, err := search.NewPlanner(ctx, s, at)
	if err != nil {
		return p, err
	}
	p.fit = search.EffortNamed(fit)
	p.seconds = whole.With(search.Efforts[p.fit]).Seconds
	p.most = p.fit
	switch {
	case n >= search.TellingLength:
		p.least = min(p.fit, leastEffort)
	case o.Origins == 0:
		_, quick := p.at(0)
		o.Origins = min(defaultOrigins, max(leastOrigins, int(shortShare*p.seconds/quick)))
		p.most = 0
		p.plan, err = o.plan(n)
	}
	return p, err
}

// at returns the i-th effort as it is at an origin, and its predicted time at the last one, in seconds.
func (p pastSearch) at(i int) (e search.Effort, seconds float64) {
	e = search.Efforts[i].Within(p.trained)
	if i < p.fit && p.least > 0 {
		e = e.AsDeepAs(search.Efforts[p.fit])
	}
	return e, p.last.With(e).Seconds
}

// widest returns the widest search with which all origins together take no longer than the fit, and their predicted time in
// seconds.
func (p pastSearch) widest() (e search.Effort, seconds float64) {
	i := p.most
	e, seconds = p.at(i)
	for ; i > p.least && seconds*float64(p.origins) > p.seconds; i-- {
		e, seconds = p.at(i - 1)
	}
	return e, seconds * float64(len(p.plan.origins(p.n)))
}

// asOf returns the analysis of the observations of train alone, by a fit to them. If structure and parameters of the whole series
// are used instead, reused says why.
func (r relearning) asOf(
	ctx context.Context, a *forecast.Analysis, train Window,
) (past *forecast.Analysis, reused string, err error) {
	defer r.done.add(1)
	if r.options == nil {
		past, err = a.AsOf(ctx, train.From, train.To)
		return past, r.why, err
	}
	s, err := a.Series.KnownIn(train.From, train.To)
	if err != nil {
		return nil, "", err
	}
	past, err = forecast.Fit(ctx, s, *r.options)
	if err != nil {
		return nil, "", err
	}
	return past, "", past.Condition(ctx)
}
