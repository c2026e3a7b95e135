package forecast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

const (
	// defaultOrigins is the number of origins without BacktestOptions.Origins. In a series of less than telling observations, whose past cannot
	// speak against its forecast, they are fewer, at least fewOrigins, if a quick search at each takes more than shortShare of the predicted
	// time of the fit: a batch of a thousand series must end.
	defaultOrigins, fewOrigins, shortShare = 5, 2, 0.5
	// leastEffort is the least in a longer series, with all terms, and parameters learnt from as many observations as in the fit: on M4's development
	// half a quick search forecasts weekly series up to 2.5 times worse than a standard one, and this one as well.
	leastEffort = 1
	// namedBudget is the predicted time of training named kernels at one origin: above, parameters are those of the whole series.
	namedBudget = time.Second
)

// relearning is how the past is tested: from where, and what is learnt there. It is the same on every machine.
type relearning struct {
	plan BacktestPlan
	// options are those of Fit at each origin; nil: structure and parameters are those of the whole series, for the reason why.
	options *Options
	why     string
	done    *originsDone
}

// originsDone reports how many origins are done; origins at the same time report one after another.
type originsDone struct {
	mu       sync.Mutex
	to       func(Progress) // nil for nobody
	done, of int
}

// add counts n origins more.
func (d *originsDone) add(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done += n; d.to != nil {
		d.to(Progress{Stage: TestOfPast, Index: d.done, Count: d.of, Best: math.Inf(1)})
	}
}

// relearning plans origins at which structure and parameters are learnt anew, by the options of the fit. The search at the origins is the widest
// with which all together take no longer than the fit, by the forecast of both: at most as wide as that of the fit, at least that of leastEffort,
// or quick in a short series.
func (a *Analysis) relearning(o BacktestOptions) (r relearning, err error) {
	asked := o.Origins > 0
	if !asked {
		o.Origins = defaultOrigins
	}
	n := len(a.Series.X)
	defer func() {
		if err != nil {
			return
		}
		if r.done = (&originsDone{of: len(r.plan.origins(n))}); a.options != nil {
			r.done.to = a.options.Progress
		}
		r.done.add(0)
	}()
	if r.plan, err = o.plan(n); err != nil {
		return r, err
	}
	switch {
	case a.options == nil:
		r.why = "the model was read from a file"
		return r, nil
	case a.Projections > 0:
		r.why = "learning by projections takes too long at each origin"
		return r, nil
	case a.Untried > 0:
		r.why = budgetSpent
		return r, nil
	}
	at := *a.options
	at.origin, at.Progress, at.Resume, at.Shifts = true, nil, "", a.shiftMode()
	at.Budget /= time.Duration(max(1, o.Origins)) // all origins together may take as long as the fit
	r.options = &at
	if a.Chosen == ByBIC {
		at.Budget = namedBudget
		return r, nil
	}
	var e effort
	e, r.plan, _, err = searchAt(a.Series, at, r.plan, o, a.Effort, a.trained, asked)
	at.effort = &e
	return r, err
}

// WithTests adds to the plan of a fit the predicted time of the tests of the past that follow it.
func (p Plan) WithTests(s *Series, o Options, tests BacktestOptions) Plan {
	tests = tests.complete()
	asked := tests.Origins > 0
	tests.Origins = cmp.Or(tests.Origins, defaultOrigins)
	if plan, err := tests.plan(len(s.X)); err == nil {
		_, _, p.Tests, _ = searchAt(s, o, plan, tests, p.Effort, p.Trained, asked)
	}
	return p
}

// searchAt returns the search at each origin of a plan, the plan, with fewer origins where they were not asked for and the series is short, and
// the predicted time of all. of is the effort of the fit, and trained the number of observations that parameters are learnt from there.
func searchAt(
	s *Series, at Options, plan BacktestPlan, o BacktestOptions, of string, trained int, asked bool,
) (e effort, _ BacktestPlan, seconds float64, err error) {
	n := len(s.X)
	last := s.part(0, n-plan.Horizon)
	last.Even = s.Even
	whole := slices.IndexFunc(efforts, func(e effort) bool { return e.name == of })
	fit := planOf(s, at, efforts[whole]).Seconds
	search := func(i int) (e effort, seconds float64) {
		e = efforts[i]
		e.mostUneven = trained
		if i < whole && n >= telling {
			of := efforts[whole]
			e.trained, e.trainedUneven, e.terms, e.evaluations, e.scouts, e.finalists = of.trained, of.trainedUneven, of.terms, of.evaluations, true, 1
		}
		return e, planOf(last, at, e).Seconds
	}
	i, least := whole, min(whole, leastEffort)
	if n < telling {
		least = 0
		if _, quick := search(0); !asked {
			o.Origins = min(o.Origins, max(fewOrigins, int(shortShare*fit/quick)))
			if plan, err = o.plan(n); err != nil {
				return e, plan, 0, err
			}
			i = 0
		}
	}
	e, seconds = search(i)
	for ; i > least && seconds*float64(o.Origins) > fit; i-- {
		e, seconds = search(i - 1)
	}
	return e, plan, seconds * float64(len(plan.origins(n))), nil
}

// asOf returns the analysis as it would be after the observations of train: that of a fit to them alone. If structure and parameters are
// those of the whole series, reused says why.
func (r relearning) asOf(ctx context.Context, a *Analysis, train Window) (past *Analysis, reused string, err error) {
	defer r.done.add(1)
	if r.options == nil {
		past, err = a.reusedAt(ctx, train)
		return past, r.why, err
	}
	s, err := a.Series.knownIn(train.From, train.To)
	if err != nil {
		return nil, "", err
	}
	past, err = Fit(ctx, s, *r.options)
	if long := (*BudgetError)(nil); errors.As(err, &long) {
		past, err = a.reusedAt(ctx, train)
		return past, "learning again at each origin takes too long", err
	}
	if err != nil {
		return nil, "", err
	}
	return past, "", past.condition()
}

// knownIn returns the observations from ≤ i < to as if they were all: with their own step, and with regressors and holidays by what they show.
func (s *Series) knownIn(from, to int) (*Series, error) {
	p := s.part(from, to)
	p.whole, p.Source, p.YUnit = nil, s.Source, s.YUnit
	const fewest = 3
	if distinct := distinct(p.X); distinct < fewest {
		return nil, fmt.Errorf("%d observations at %d different x are not a series", to-from, distinct)
	}
	p.spacing()
	if s.Known != nil {
		known := Known{Names: s.Known.Names, X: s.Known.X, Values: s.Known.Values}
		if err := known.standardise(p.X); err != nil {
			return nil, err
		}
		p.Known = &known
	}
	p.Shifts = p.givenShifts(s.Shifts)
	if s.Holidays != nil {
		return p, p.LearnHolidays(s.Holidays.Country)
	}
	return p, nil
}

// reusedAt returns the analysis as of the observations of train, with the structure and the parameters of the whole series.
func (a *Analysis) reusedAt(ctx context.Context, train Window) (past *Analysis, err error) {
	if err := a.condition(); err != nil {
		return nil, err
	}
	from := max(train.From, train.To-a.remembers())
	past = &Analysis{Series: a.Series.part(from, train.To), Result: a.Result, computed: new(computed)}
	for _, m := range a.members {
		v, err := newYScale(past.Series, 0, train.To-from, m.log)
		if err != nil {
			return nil, err
		}
		// The model was trained on values with another standardisation.
		model := rescaled(m.model, math.Pow(m.scale.scaling.Scale/v.scaling.Scale, 2))
		if v, err = v.linearised(ctx, model, m.shape); err != nil {
			return nil, err
		}
		p, _, err := conditionOn(model, v.data, windowLength, a.room(), &past.windows)
		if err != nil {
			return nil, err
		}
		past.members = append(past.members, &member{kind: m.kind, model: model, log: m.log, weight: m.weight, scale: &v, posterior: p, shape: m.shape})
	}
	return past, nil
}

// remembers returns the number of observations before an origin that a model of the whole series is conditioned on.
func (a *Analysis) remembers() int {
	if a.Series.dense() {
		return fewUneven
	}
	return min(remembered, a.conditionsOn())
}

// followed forecasts observations of the whole series by an analysis as of some origin.
func (a *Analysis) followed(ctx context.Context, whole *Series, test Window) (Predictive, error) {
	x := whole.X[test.From:test.To]
	if whole.Errors != nil && whole.Student == nil { // weights are not known before
		a.ahead = whole.Errors[test.From:test.To]
	}
	if c := whole.Counting; c != nil && c.Sizes != nil {
		a.sizes = c.Sizes[test.From:test.To]
	}
	parts, err := a.parts(ctx, x)
	if err != nil {
		return nil, err
	}
	return forecastOf(x, make([]string, len(x)), parts).Predictive(), nil
}
