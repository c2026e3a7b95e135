package search

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// Plan describes what a fit will do, and its predicted time.
type Plan struct {
	Effort string // quick, short, standard, wide or widest
	// Searched is the number of observations on which structures are compared. Trained is the smallest number from which
	// parameters are then learnt; for an uneven series it is larger if an engine takes more in the same time.
	Searched, Trained int
	// Every is 1 if the compared observations are consecutive. It is k if two of the longest season span too many observations:
	// one in k of the latest is then compared.
	Every int
	// Seconds is the predicted time on one core of 9 Gflop/s, correct to within a factor of about two. It is computed, not measured,
	// so that the same budget means the same search on every machine.
	Seconds float64
	// Tests is the predicted time, in seconds, of the tests of the past (WithTests); 0 if there are none.
	Tests float64
	// Over says that even the lowest effort exceeds the budget.
	Over bool

	effort  Effort
	seasons []season // seasons that structures may have
}

func (p Plan) String() string {
	about := func(seconds float64) string {
		digits := 0
		if seconds < 10 {
			digits = 1
		}
		return fmt.Sprintf("%.*f s", digits, seconds)
	}
	tests := ""
	if p.Tests > 0 {
		tests = fmt.Sprintf(", and %s for the tests of the past", about(p.Tests))
	}
	every := ""
	if p.Every > 1 {
		every = fmt.Sprintf(" (one in %d of the latest %d)", p.Every, p.Every*p.Searched)
	}
	return fmt.Sprintf("%s search: structures are compared on %d observations%s, "+
		"parameters are learnt from %d; about %s on one core%s", p.Effort, p.Searched, every, p.Trained, about(p.Seconds), tests)
}

// Planner plans fits of one series by some options. It looks for the periods of the series once, for all efforts.
type Planner struct {
	series  *series.Series
	options Options
	seasons []season
	uneven  []float64 // clear periods of the latest observations; only for an uneven series without other seasons
}

// NewPlanner looks for the periods of a series, in milliseconds to tenths of a second. It returns an error if ctx ends.
func NewPlanner(ctx context.Context, s *series.Series, o Options) (*Planner, error) {
	p := &Planner{series: s, options: o}
	var err error
	if p.seasons, err = seasonsOf(ctx, s, o); err != nil {
		return nil, err
	}
	if len(p.seasons) == 0 && !s.Even && !o.NoSeason {
		late := s.Part(max(0, len(s.X)-mostThinned), len(s.X))
		p.uneven, _ = auto.ClearPeriods(ctx, gppl.Data{X: gppl.Scalars(late.X), Y: late.Y}, 2) // none if there is no periodogram
	}
	return p, ctx.Err()
}

// Plan chooses the largest effort whose predicted time is within Options.Budget. If that is 0 it chooses within a minute, and at
// most the standard effort unless kernels are named: their training is then the whole search, so they learn from more
// observations.
func (p *Planner) Plan() Plan {
	if e := p.options.effort; e != nil {
		return p.With(*e)
	}
	budget, most := p.options.Budget, len(Efforts)-1
	if budget <= 0 {
		budget = standardBudget
		if len(p.options.Kernels) == 0 {
			most = standard
		}
	}
	for i := most; ; i-- {
		plan := p.With(Efforts[i])
		if plan.Seconds <= budget.Seconds() || i == 0 {
			plan.Over = plan.Seconds > budget.Seconds()
			return plan
		}
	}
}

// With returns the plan of a fit with an effort, whatever its time.
func (p *Planner) With(e Effort) Plan {
	s, o, all := p.series, p.options, p.seasons
	e.scouts = e.scouts || s.NeedsDense()
	plan := Plan{Effort: e.Name, effort: e, seasons: all}
	plan.Searched, plan.Every = p.searchedOn(e)
	plan.Trained = e.trainedOn(s)
	if !s.NeedsDense() {
		plan.Trained = max(plan.Every*plan.Searched, plan.Trained)
	}
	scales, trends, seasons := 1, 1, max(1, len(all))
	if !o.alwaysLog(s) && o.mayBeLog(s) {
		scales = 2
	}
	if o.Trend == "" || o.Trend == "auto" {
		trends = 2
	}
	if o.NoSeason {
		seasons = 0
	}
	// The search tries four kernels (five in a series that may wander) with and without a season, then rounds of three kernels and
	// the seasons. A candidate has about six parameters, a finalist nine; the evidence takes a gradient for each.
	toeplitz := toeplitzPairs(s, plan.Trained)
	const grown = 3
	bases := 4
	if len(s.X) > brief {
		bases++
	}
	first := scales * trends * bases * (1 + min(seasons, 1))
	if e.scouts {
		first = first/(scales*trends) + 2*(scales*trends-1)
	}
	later := scales * (e.terms - 1) * (grown + seasons) / 2 // most sums stop growing half way
	if len(o.Kernels) > 0 {
		first, later = scales*trends*len(o.Kernels)*max(1, len(o.Periods)), 0
	}
	for _, name := range o.Kernels {
		if k, err := ParseKernel(name); err == nil && e.searches(k, len(s.X)) { // Find returns an error
			plan.Seconds += searchSeconds(k, len(s.X))
		}
	}
	typical := 0.6 * float64(e.evaluations) // evaluations of a typical training
	// A Toeplitz factor is solved for each regressor, holiday and change of level, too.
	const column = 0.2 // a column takes this share of an evaluation without columns
	columns := 1 + column*float64(len(s.Effects()))
	evaluation := func(n int) float64 {
		return min(evaluationSeconds(n, math.Inf(1)), columns*evaluationSeconds(n, toeplitz))
	}
	plan.Seconds += float64(first+later) * (typical + evidenceEvaluations) * evaluation(plan.Searched)
	training, finalists := (typical+18)*evaluation(plan.Trained), 0
	switch {
	case s.Counting != nil:
		training, finalists = newtonEvaluations*training, min(e.finalists, countFinalists)
	case len(s.X) > plan.Searched || s.Censored():
		finalists = max(e.finalists, len(o.Kernels))
	}
	plan.Seconds += float64(finalists+1) * training // one for standard errors
	return plan
}

// twoPeriods is the largest number of consecutive observations, with a constant step, on which structures are compared to see two
// of the longest period. Two weeks of ten minutes each have 2016, and a Toeplitz evaluation of as many takes 6 ms.
const twoPeriods = 2100

// If two of the longest period have more than twoPeriods and at most mostThinned observations, such as the 4032 of two weeks in
// steps of five minutes, thinned of them are compared. The best structures are then trained on all, at 25 ms per evaluation of
// mostThinned.
const mostThinned, thinned = 6000, 1500

// searchedOn returns how many observations structures are compared on. They are the latest, or one in every of the latest if
// every is above 1. A season needs four periods to be told from noise, and two at the least. If x is regular the observations
// therefore span four of the longest period, as long as these are at most 2·e.searched; or else two, up to twoPeriods consecutive
// observations or thinned of up to mostThinned. If the series itself shows a longer season they always span four periods of it,
// thinned to 2·e.searched. Observations of an uneven series are thinned by at most mostEvery (thinnedTo).
func (p *Planner) searchedOn(e Effort) (most, every int) {
	s, o, seasons := p.series, p.options, p.seasons
	most, every = e.searched, 1
	if o.NoSeason || len(s.X) <= most {
		return min(most, len(s.X)), every
	}
	var periods []float64
	for _, c := range seasons {
		periods = append(periods, c.period)
	}
	periods = append(periods, p.uneven...)
	if s.NeedsDense() && !cyclic(s) {
		return most, thinnedTo(s, most, periods)
	}
	for _, period := range periods {
		most = max(most, min(2*e.searched, s.Rows(4*period)))
		two := s.Rows(2 * period)
		consecutive := two <= twoPeriods
		fits := consecutive || two <= mostThinned && s.Errors == nil && !s.Approximated()
		if fits && two > most*every && two <= len(s.X) && series.Regular(s.X[len(s.X)-two:]) {
			if most, every = two, 1; !consecutive {
				every = (two + thinned - 1) / thinned
				most = two / every
			}
		}
	}
	for i, c := range seasons {
		four := s.Rows(4 * c.period)
		for _, other := range seasons[:i] { // two that are close are told apart over one and a half of their beats
			if off := math.Abs(1/c.period - 1/other.period); c.shown && other.shown && off > 0 {
				four = max(four, s.Rows(1.5/off))
			}
		}
		four = min(len(s.X), four)
		if !c.shown || four <= most*every || !series.Regular(s.X[len(s.X)-four:]) {
			continue
		}
		// A season that the series shows is known to be worth it: as many observations, over a longer time.
		const left = 2 // observations to a period of the shortest season
		wide := (four + 2*e.searched - 1) / (2 * e.searched)
		if float64(wide) <= slices.Min(periods)/(left*s.Step) {
			most, every = four/wide, wide
		}
	}
	return min(most, len(s.X)), every
}

// cyclic reports whether the same places are closed in every cycle of the latest observations. Thinning would leave some open
// places without observations.
func cyclic(s *series.Series) bool {
	return s.Errors == nil && s.Counting == nil && series.OpenPlaces(s.X[max(0, len(s.X)-series.DecisiveRows):]) > 0
}

// mostEvery is the largest every for a long uneven series: one in eight observations is compared.
const mostEvery = 8

// thinnedTo returns every so that one in every of the latest observations of a long uneven series, most in all, span four of each
// period. It leaves at least two observations to a period.
func thinnedTo(s *series.Series, most int, periods []float64) (every int) {
	const wanted, left = 4, 2
	every = 1
	if s.Counting != nil || len(periods) == 0 {
		return every
	}
	least := int(slices.Min(periods) / (left * s.Step))
	for most*(every+1) <= len(s.X) && every < min(mostEvery, least) &&
		s.X[len(s.X)-1]-s.X[len(s.X)-most*every] < wanted*slices.Max(periods) {
		every++
	}
	return every
}

// trainedOn returns the number of latest observations from which parameters are learnt.
func (e Effort) trainedOn(s *series.Series) int {
	n := len(s.X)
	switch {
	case n <= e.searched:
		return n
	case s.NeedsDense():
		return min(n, e.trainedUneven)
	}
	return min(n, e.trained)
}

// unevenParts are the numbers of observations that are tried one after the other for the final training of an uneven series, the
// largest first, until one is fast enough.
var unevenParts = []int{100000, 50000, 20000, 10000, 5000, 2500, 1200}

// CheckPeriod returns an error if the automatic search would leave out a season of this period. The compared observations must
// span at least LeastPeriods of it, and the period must be longer than as many steps.
func CheckPeriod(ctx context.Context, s *series.Series, period float64, o Options) error {
	planner, err := NewPlanner(ctx, s, o)
	if err != nil {
		return err
	}
	plan := planner.Plan()
	searched := plan.Every * plan.Searched
	span := s.X[len(s.X)-1] - s.X[len(s.X)-searched]
	switch {
	case period > span/series.LeastPeriods:
		return fmt.Errorf("the period of %s is too long: "+
			"structures are compared on the latest %d observations, which span %s, and must span one and a half periods",
			s.Axis.Length(period), searched, s.Axis.Length(span))
	case period <= series.LeastPeriods*s.Step:
		return fmt.Errorf("the period of %s is too short for observations %s apart: "+
			"it must be longer than one and a half of their distances", s.Axis.Length(period), s.Axis.Length(s.Step))
	}
	return nil
}
