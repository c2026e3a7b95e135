package forecast

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Options say how candidates are trained. The zero value is recommended.
//
// If kernels are named, the likelihood is exact up to MaxExact observations. Beyond, it stays exact if every candidate can be
// evaluated fast enough: by a state space or a Toeplitz factor in about a second on at most the latest 200 000 observations, or
// in a fifth of a second on the latest 10 000 or more; or by any engine but the dense one in a quarter of a second, where
// training begins, on the latest 5000 or more. Otherwise one projected likelihood trains and compares all candidates, on the
// latest 10 000, 5000 or 2500, with the residual energy (gppl.NewResidual) and the same Spectral projections. Its values are
// comparable with one another, but not with an exact NLL; Analysis.Projections is then above 0. NLL and BIC are those of the
// observations that were used (Analysis.TrainedOn). Predictions are conditioned as those of any series.
type Options struct {
	Kernels []string // in the form that ParseKernel reads; nil: found automatically
	Log     string   // one of Logs; "" means auto
	Trend   string   // one of Trends; "" means auto
	// Shifts, one of ShiftModes, says what happens to changes of level and slope that the observations show. "" means auto, which
	// only reports them for named kernels, whose likelihoods are compared with those of other programs. Changes of Series.Shifted
	// are always in the mean.
	Shifts   string
	Periods  []float64 // fixed periods of seasons, in the unit of the axis; nil: from the calendar or detected
	NoSeason bool      // no seasons
	// Priors of parameters are in the units of the file (see ParsePrior). Training then maximises the posterior. If Kernels is nil,
	// each replaces the weak prior of the parameters with its name or role.
	Priors       []gppl.ParamPrior
	RandomStarts int // extra random starts of a named kernel, around the best of the search
	Seed         uint64
	MaxExact     int // 0 means 6000
	Progress     func(Progress)
	// Budget bounds the predicted time of the search. If Kernels is nil, 0 means a minute and at most the standard effort (PlanFit).
	// For named kernels it is divided among the candidates, each of which takes fewer random starts and evaluations, or is refused
	// (BudgetError); 0 means no limit up to a day.
	Budget time.Duration
	// Memory bounds, in bytes, the predicted memory of Fit and of predictions: engines that would take more are not chosen, and if
	// no other way is left the error is a *gppl.MemoryError. 0 means no limit but that of gppl.WithMemory.
	Memory float64

	// origin says that the fit is of what was known at an origin, so that nobody needs its standard errors.
	origin bool
	// effort is that of the automatic policy at an origin, whatever time it takes, without averaging over parameters; nil: by the
	// budget.
	effort *effort
}

// Progress reports how far a comparison has come.
type Progress struct {
	Candidate    string
	Index, Count int     // of the candidate, from 0; in the automatic search, about how much of Count is done
	Evaluations  int     // of the likelihood so far, over all candidates
	Best         float64 // the lowest NLL of this candidate in its present stage; +Inf if there is none yet
	Stage        string  // TestOfPast: Index of Count origins of Analysis.Backtest are done
	Elapsed      time.Duration
}

// TestOfPast is the stage of Progress in which Analysis.Backtest learns anew at each origin.
const TestOfPast = "test of the past"

// progress reports how far a comparison has come. Several trainings may report at once.
type progress struct {
	to    func(Progress) // nil for none; calls do not overlap
	began time.Time

	mu sync.Mutex // guards the fields below
	// candidates tried and their expected number, or hundredths of the work, and evaluations over all candidates
	index, count, evaluations int
	done, end, each           float64 // see upTo
}

// upTo begins a stage that ends at a hundredth of the work and takes equal steps.
func (p *progress) upTo(hundredth, steps int) {
	p.count, p.done, p.end = 100, max(p.done, p.end), float64(hundredth)
	p.each = (p.end - p.done) / float64(max(1, steps))
	p.index = int(p.done)
}

// advance moves one step within the stage. Additional steps do not move beyond its end.
func (p *progress) advance() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = min(p.done+p.each, p.end)
	p.index = int(p.done)
}

// settings returns s with reports of the progress of a training.
func (p *progress) settings(candidate, stage string, s gppl.Settings) gppl.Settings {
	last := 0
	s.Progress = func(g gppl.Progress) {
		if g.Evaluations < last { // a further training
			last = 0
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.evaluations += g.Evaluations - last
		last = g.Evaluations
		p.report(candidate, stage, g.Best)
	}
	return s
}

func (p *progress) report(candidate, stage string, best float64) {
	if p.to != nil {
		p.to(Progress{Candidate: candidate, Index: p.index, Count: p.count, Stage: stage,
			Evaluations: p.evaluations, Best: best, Elapsed: time.Since(p.began)})
	}
}

// Analysis is a series with the model that was learnt from it. Its methods, except Calibrate and LimitMemory, are safe for
// concurrent use, and their answers do not depend on earlier calls. Its fields, except Widen, must not be changed.
type Analysis struct {
	Series     *Series
	Scaling    dataset.Scaling // between y and what the model sees
	Candidates []Candidate     // the best first, failures last; a random walk follows the others that the forecast averages
	Result     *gppl.Result    // of the best
	Log        bool            // the best is a model of log y
	Widen      float64         // factor on standard deviations beyond the last observation (short series, Calibrate); 0 means 1
	Chosen     Criterion       // how the best was chosen
	// Effort is the effort of the automatic policy (Plan); "" if kernels were named.
	Effort string
	// Untried is the number of models that the automatic policy did not try, because evaluations cost more than planned and used up
	// the budget. Above 0, nothing is learnt anew for forecasts of the past, and shifts are only looked for if Options.Shifts
	// requests it.
	Untried int
	// Projections is the number of projections of the likelihood, or 0 if it is exact.
	Projections int

	given   []gppl.ParamPrior // Options.Priors, if Chosen is ByEvidence
	seasons []float64         // Options.Periods
	options *Options          // of Fit; nil if the analysis was read from a file
	members []*member         // the models that forecasts average
	memory  float64           // Options.Memory
	trained int               // number of latest observations trained on; with ByEvidence, models have their standardisation
	ahead   []float64         // known errors of the predicted observations; nil: the median of the known ones
	sizes   []float64         // known sizes of the predicted counts; nil: those of the observations before them
	missed  error             // why Fit could not look for changes; nil if it did, or was not asked to

	*computed
}

// alone returns the best model as the only member of the forecast.
func (a *Analysis) alone() []*member {
	return []*member{{kind: a.Candidates[0].kind, model: a.Result.Model, log: a.Log, weight: 1}}
}

// Name returns the name of the best model: its kernel, trend and scale.
func (a *Analysis) Name() string { return a.Candidates[0].Name() }

// TrainedOn returns the number of observations, the latest before those of Series.Added, from which parameters were learnt.
func (a *Analysis) TrainedOn() int {
	return min(a.Series.learnt(), cmp.Or(a.trained, mostTrained))
}

// Kernel returns the name of the best kernel.
func (a *Analysis) Kernel() string { return a.Candidates[0].Kernel }

// Fit learns a model of the series.
//
// If Options.Kernels is nil, it also finds the structure. It compares noise alone and a smooth, a less smooth and a rough term,
// each with and without a season and a linear trend, for y and, if all y are positive, for log y. The best grows by one term at a
// time. Parameters have weak priors, so that five observations are enough. Candidates are ranked by their evidence, the marginal
// likelihood with the parameters integrated out. Forecasts average the candidates with enough weight and, for short series, over
// their parameters. More than 400 observations may also be a Wiener process, alone or with other terms.
//
// In a long series, structures are compared on the latest 400 observations, and the best three are then trained on the latest
// 1500. If x is not regular, these are 700 or as many more as an engine takes in the same time, and the best is tried with the
// seasons that they show. A candidate that can take fewer observations than the best is then left out, with an error that says
// how far behind it was. Options.Budget changes these numbers. Forecasts are conditioned on the observations that parameters were
// learnt from, or on four of the longest season. Predictions before these are conditioned on all observations or, if neither a
// state space, a constant step nor waves make that cheap, on the 2000 around each x.
//
// If kernels are named, Fit trains each and keeps the one with the lowest BIC, with standard errors of its parameters. All have
// the trend of Options.Trend, or with auto a linear one; the best kernel is then tried without a trend and with a quadratic one.
// The coefficients of a trend have priors and are integrated out, so they do not count as parameters. If all y are positive and
// Options.Log is auto, the best is also tried on the logarithm; NLL and BIC are those of y. The criterion is BIC because evidence
// needs a proper prior of every parameter. A named kernel is trained by its likelihood, with no priors but Options.Priors, so
// that the values can be compared with those of other programs.
//
// The library searches and trains a named kernel (auto.FindStarts, auto.Starts.Train), on each scale of y once, and anew for a
// trend that ends far above the others. With more than 400 observations only y is searched, and training on log y begins at what
// that found, unless evaluations there take long. If an evaluation of all observations takes more than some hundredths of a
// second, 500 of them find the best start, and few evaluations of all follow. What the library says of the optimum goes into the
// candidate's Status, Search and Doubts. A candidate that cannot be trained is kept with its error. Fit returns an error if none
// can be trained, if a kernel's name is unknown, or if ctx ends.
func Fit(ctx context.Context, s *Series, o Options) (*Analysis, error) {
	if err := refuse(fmt.Sprintf("a fit of %d observations", len(s.X)), o.fitBytes(s), o.Memory); err != nil {
		return nil, err
	}
	s, err := o.weigh(ctx, s)
	if err != nil {
		return nil, err
	}
	fit := fitNamed
	if len(o.Kernels) == 0 || s.Counting != nil {
		fit = fitPolicy
	}
	a, err := fit(ctx, s, o)
	if err != nil || a == nil {
		return a, err
	}
	a.seasons, a.options = o.Periods, &o
	if a.shiftMode() == ShiftsUsed {
		return a.withFound(ctx, fit)
	}
	return a, nil
}
