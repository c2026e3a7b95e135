package search

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// Effort is the extent of the automatic search.
type Effort struct {
	Name string
	// searched is the number of latest observations on which structures are compared.
	searched int
	// In a longer series the best finalists candidates are then trained on the latest trained observations, which determine the
	// parameters well, or, if x is not regular, on at least trainedUneven: more if an engine is fast enough.
	finalists, trained, trainedUneven int
	// mostUneven bounds the latter; 0 for no bound. Forecasts of the past learn from no more than the fit did.
	mostUneven int
	// terms bounds the terms of a sum, and evaluations the evaluations to train one candidate.
	terms, evaluations int
	// scouts says that sums are tried with only the scale and trend that suit one sum best, and only the best sum with all.
	scouts bool
	// starts is the predicted time in seconds up to which the start of a named kernel is searched.
	starts float64
}

// Within returns the effort with parameters learnt from no more than n observations of an uneven series.
func (e Effort) Within(n int) Effort {
	e.mostUneven = n
	return e
}

// AsDeepAs returns the effort with all terms of another, and with parameters learnt from as many observations, for one finalist.
func (e Effort) AsDeepAs(of Effort) Effort {
	e.trained, e.trainedUneven, e.terms, e.evaluations, e.scouts, e.finalists =
		of.trained, of.trainedUneven, of.terms, of.evaluations, true, 1
	return e
}

// EffortNamed returns the index of an effort among efforts; -1 if there is none of that name.
func EffortNamed(name string) int {
	return slices.IndexFunc(Efforts, func(e Effort) bool { return e.Name == name })
}

// margin is the distance behind the best, in nats, at which a model is dropped.
func (e Effort) margin() float64 {
	if e.scouts {
		return -math.Log(negligible)
	}
	return hopeless
}

// Efforts are the levels that a budget chooses from, the cheapest first. Each takes three to ten times as long as the one before.
// The values of standard were chosen on the development halves of M3 and M4; more data hardly change forecasts of long series.
var Efforts = []Effort{
	{"quick", 150, 1, 400, 250, 0, 2, 40, true, 0.5},
	{"short", 250, 2, 800, 400, 0, 3, 60, false, 2},
	{"standard", 400, 3, series.DecisiveRows, 700, 0, 4, 60, false, 20},
	{"wide", 800, 4, 3000, 1200, 0, 5, 100, false, 60},
	{"widest", 1500, 5, 6000, 2000, 0, 6, 200, false, 200},
}

const (
	// standard is the index of the effort without a budget; the effort is lower if its predicted time exceeds standardBudget.
	standard       = 2
	standardBudget = time.Minute
)

// Plan says what a fit by the automatic policy will do, and its predicted time.
type Plan struct {
	Effort string // quick, short, standard, wide or widest
	// Searched is the number of observations on which structures are compared. Trained is the least number from which parameters are
	// then learnt: for an uneven series more, if an engine takes more in the same time.
	Searched, Trained int
	// Every is 1 or, where two of the longest season take too many observations, 2 or more: structures are compared on every
	// second of the latest, or on fewer.
	Every int
	// Seconds is the predicted time on one core of 9 Gflop/s, correct to within a factor of about two. It is computed, not measured,
	// so that the same budget means the same search on every machine.
	Seconds float64
	// Tests is the predicted time of the tests of the past (WithTests); 0 for none.
	Tests float64
	// Over says that even the lowest effort exceeds the budget.
	Over bool

	effort Effort
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

// PlanFit chooses the largest effort whose predicted time is within Options.Budget; if that is 0, at most the standard effort.
func PlanFit(s *series.Series, o Options) Plan {
	if o.effort != nil {
		return planOf(s, o, *o.effort)
	}
	budget, most := o.Budget, len(Efforts)-1
	if budget <= 0 {
		budget, most = standardBudget, standard
	}
	for i := most; ; i-- {
		p := planOf(s, o, Efforts[i])
		if p.Seconds <= budget.Seconds() || i == 0 {
			p.Over = p.Seconds > budget.Seconds()
			return p
		}
	}
}

func planOf(s *series.Series, o Options, e Effort) Plan {
	e.scouts = e.scouts || s.NeedsDense()
	p := Plan{Effort: e.Name, effort: e}
	p.Searched, p.Every = e.searchedOn(s, o)
	p.Trained = e.trainedOn(s)
	if !s.NeedsDense() {
		p.Trained = max(p.Every*p.Searched, p.Trained)
	}
	scales, trends, seasons := 1, 1, 1
	if !o.alwaysLog(s) && o.mayBeLog(s) {
		scales = 2
	}
	if o.Trend == "" || o.Trend == "auto" {
		trends = 2
	}
	if o.NoSeason {
		seasons = 0
	} else if len(o.Periods) > 0 {
		seasons = len(o.Periods)
	}
	// The search tries four kernels (five in a series that may wander) with and without a season, then rounds of three kernels and
	// the seasons. A candidate has about six parameters, a finalist nine; the evidence takes a gradient for each.
	even := s.Errors == nil && s.Counting == nil && series.Regular(s.X[len(s.X)-p.Trained:])
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
			p.Seconds += searchSeconds(k, len(s.X))
		}
	}
	typical := 0.6 * float64(e.evaluations) // evaluations of a typical training
	// A Toeplitz factor is solved for each regressor, holiday and change of level, too.
	const column = 0.2 // of an evaluation without them
	evaluation := func(n int) float64 {
		return min(evaluationSeconds(n, false), (1+column*float64(s.EffectCount()))*evaluationSeconds(n, even))
	}
	p.Seconds += float64(first+later) * (typical + evidenceEvaluations) * evaluation(p.Searched)
	training, finalists := (typical+18)*evaluation(p.Trained), 0
	switch {
	case s.Counting != nil:
		training, finalists = newtonEvaluations*training, min(e.finalists, countFinalists)
	case len(s.X) > p.Searched:
		finalists = max(e.finalists, len(o.Kernels))
	}
	p.Seconds += float64(finalists+1) * training // one for standard errors
	return p
}

// evidenceEvaluations is about the number that the evidence of a candidate with six parameters takes.
const evidenceEvaluations = 12

const (
	// twoPeriods is the most observations, with a constant step, on which structures are compared to see two of the longest
	// period: two weeks of ten minutes each have 2016, and a Toeplitz evaluation of as many takes 6 ms.
	twoPeriods = 2100
	// mostThinned is the most of which fewer, at most thinned, are compared to see two: two weeks of five minutes each have 4032.
	// The best structures are then trained on all, which takes 25 ms for each evaluation of as many.
	mostThinned, thinned = 6000, 1500
)

// searchedOn returns the number of observations on which structures are compared, the latest or, with every above 1, one in
// every of them. It takes four periods to tell a season from noise, and two at the least: if x is regular, the observations span
// four of the longest period, up to twice e.searched, or else two, up to twoPeriods, or up to mostThinned of which fewer are
// compared. Of an uneven series, they are one in up to mostEvery (thinnedTo).
func (e Effort) searchedOn(s *series.Series, o Options) (most, every int) {
	most, every = e.searched, 1
	if o.NoSeason || len(s.X) <= most {
		return min(most, len(s.X)), every
	}
	periods := o.Periods
	if len(periods) == 0 {
		periods = s.CalendarPeriods()
	}
	if len(periods) == 0 {
		late := s.Part(max(0, len(s.X)-mostThinned), len(s.X))
		periods, _ = auto.ClearPeriods(context.Background(), gppl.Data{X: gppl.Scalars(late.X), Y: late.Y}, 2)
	}
	if s.NeedsDense() {
		return most, thinnedTo(s, most, periods)
	}
	for _, period := range periods {
		most = max(most, min(2*e.searched, int(math.Round(4*period/s.Step))))
		two := int(math.Round(2 * period / s.Step))
		few := two <= twoPeriods
		fits := few || two <= mostThinned && s.Errors == nil && s.Counting == nil
		if fits && two > most*every && two <= len(s.X) && series.Regular(s.X[len(s.X)-two:]) {
			if most, every = two, 1; !few {
				every = (two + thinned - 1) / thinned
				most = two / every
			}
		}
	}
	return min(most, len(s.X)), every
}

// mostEvery is the most in which one observation of a long uneven series is compared.
const mostEvery = 8

// thinnedTo returns every so that one in every of the latest observations of a long uneven series, most in all, span four of each
// period of which that leaves two to a period.
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

// The core for which times are predicted, the same on every machine: with measured speeds, the same budget would mean different
// searches on different machines.
const (
	coreFlops    = 9e9    // flops of dense algebra per second
	toeplitzPair = 1.5e-9 // seconds per pair of observations for a Toeplitz factor and its gradient
)

// evaluationSeconds predicts the time of a likelihood and its gradient, by a Toeplitz factor or by dense algebra. The constants
// were measured on sums of three terms.
func evaluationSeconds(n int, regular bool) float64 {
	const (
		overhead = 4e-5
		place    = 1e-6
		pair     = 60e-9 // covariances and derivatives of two observations
	)
	size := float64(n)
	dense := 0.5 * (size*size*size*2/coreFlops + size*size*pair)
	if regular {
		dense = math.Min(dense, size*size*toeplitzPair+size*place)
	}
	return overhead + dense
}

// unevenParts are the numbers of observations that are tried one after the other, for the final training of an uneven series,
// while larger ones take too long.
var unevenParts = []int{100000, 50000, 20000, 10000, 5000, 2500, 1200}

// searches reports whether the effort has the time to search n observations for the start of a named kernel.
func (e Effort) searches(k gppl.Kernel, n int) bool { return searchSeconds(k, n) <= e.starts }

// searchSeconds predicts the time of the search for the starts of a kernel (auto.FindStarts): its likelihoods of n observations
// or of three parts of 128 and, with a period, as many by the periodogram of all. Their numbers are those that auto.Search
// reports of draws of each kernel.
func searchSeconds(k gppl.Kernel, n int) float64 {
	const (
		whole, part   = 400, 128 // those of auto.FindStarts
		each, wave    = 60, 200  // likelihoods for each parameter, without a period and with one
		bins, perBin  = 1 << 16, 1e-7
		periodograms  = 1000
		irregularPeak = 0.5 // seconds for periods below the mean spacing
	)
	count, seconds := float64(each*len(k.Params())), 0.0
	if hasPeriod(k) {
		count = float64(wave * len(k.Params()))
		if n > whole {
			seconds = periodograms*perBin*min(4*float64(n), bins) + irregularPeak
		}
	}
	if n > whole {
		return seconds + count*3*evaluationSeconds(part, false)
	}
	return count * evaluationSeconds(n, false)
}

// CheckPeriod returns an error if the automatic search would leave out a season of this period: the compared observations must
// span at least LeastPeriods of it, and the period must be longer than as many steps.
func CheckPeriod(s *series.Series, period float64, o Options) error {
	plan := PlanFit(s, o)
	searched := plan.Every * plan.Searched
	span := s.X[len(s.X)-1] - s.X[len(s.X)-searched]
	switch {
	case period > span/series.LeastPeriods:
		return fmt.Errorf("forecast: the period of %s is too long: "+
			"structures are compared on the latest %d observations, which span %s, and must span one and a half periods",
			s.Axis.Length(period), searched, s.Axis.Length(span))
	case period <= series.LeastPeriods*s.Step:
		return fmt.Errorf("forecast: the period of %s is too short for observations %s apart: "+
			"it must be longer than one and a half of their distances", s.Axis.Length(period), s.Axis.Length(s.Step))
	}
	return nil
}
