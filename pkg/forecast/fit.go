package forecast

import (
	"cmp"
	"context"
	"fmt"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Options say how models are searched and trained. The zero value is recommended.
type Options = search.Options

// Progress reports how far a search, or a test of the past, has come.
type Progress = search.Progress

// Analysis is a series with the model that was learnt from it. Its methods, except Calibrate and LimitMemory, are safe for
// concurrent use, and their answers do not depend on earlier calls. Its fields, except Widen, must not be changed.
type Analysis struct {
	Series     *series.Series
	Scaling    dataset.Scaling    // between y and what the model sees
	Candidates []search.Candidate // the best first, failures last; a random walk follows the others that the forecast averages
	Result     *gppl.Result       // of the best
	Log        bool               // the best is a model of log y
	Widen      float64            // factor on standard deviations beyond the last observation (short series, Calibrate); 0 means 1
	Chosen     search.Criterion   // how the best was chosen
	// Effort is the effort of the automatic policy (Plan); "" if kernels were named.
	Effort string
	// Untried is the number of models that the automatic policy did not try, because evaluations cost more than planned and used up
	// the budget. Above 0, nothing is learnt anew for forecasts of the past, and shifts are only looked for if Options.Shifts
	// requests it.
	Untried int
	// Projections is the number of projections of the likelihood, or 0 if it is exact.
	Projections int

	given   []gppl.ParamPrior // Options.Priors, if Chosen is ByEvidence
	Periods []float64         // Options.Periods
	Options *Options          // of Fit; nil if the analysis was read from a file
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
	return []*member{{Averaged: a.Candidates[0].Averaged(a.Result.Model, a.Log, 1)}}
}

// analysisOf returns the analysis of a series with what a search by some options found.
func analysisOf(s *series.Series, o Options, found *search.Outcome) *Analysis {
	a := &Analysis{
		Series: s, Scaling: found.Scaling, Candidates: found.Candidates, Result: found.Result, Log: found.Log,
		Chosen: found.Chosen, Effort: found.Effort, Untried: found.Untried, Projections: found.Projections,
		Periods: o.Periods, Options: &o, memory: o.Memory, trained: found.Trained, computed: new(computed),
	}
	if a.Chosen == search.ByEvidence {
		a.given, a.Widen = o.Priors, a.ShortBands()
	}
	for _, m := range found.Averaged {
		a.members = append(a.members, &member{Averaged: *m})
	}
	return a
}

// Name returns the name of the best model: its kernel, trend and scale.
func (a *Analysis) Name() string { return a.Candidates[0].Name() }

// TrainedOn returns the number of observations, the latest before those of Series.Added, from which parameters were learnt.
func (a *Analysis) TrainedOn() int {
	return min(a.Series.Learnt(), cmp.Or(a.trained, search.MostTrained))
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
func Fit(ctx context.Context, s *series.Series, o Options) (*Analysis, error) {
	if err := series.WithinMemory(fmt.Sprintf("a fit of %d observations", len(s.X)), o.FitBytes(s), o.Memory); err != nil {
		return nil, err
	}
	s, err := o.Weigh(ctx, s)
	if err != nil {
		return nil, err
	}
	found, err := search.Find(ctx, s, o)
	if err != nil {
		return nil, err
	}
	a := analysisOf(s, o, found)
	if a.ShiftMode() == ShiftsUsed {
		return a.withFound(ctx)
	}
	return a, nil
}

// ShortBands returns the factor on standard deviations beyond the last observation in the automatic search, √(1 + (11/n)²) for
// a series of n observations, up to 400: 1.27 for 14, 1.04 for 40 and 1.01 for 100.
//
// A short series shows little of what will happen to it, and the model that fits it best errs more than it predicts. The 11 was
// chosen on the yearly and quarterly series of M3's development half. Without the factor, the 95 % bands of those with fewer than
// 20 observations hold 88 and 91 % of what comes; with it they hold 91 and 95 %, and have a lower CRPS.
func (a *Analysis) ShortBands() float64 {
	return search.ShortBands(a.Chosen, len(a.Series.X))
}
