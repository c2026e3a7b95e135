package forecast

import (
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
	Effort     string             // of the search (Plan)
	// Untried is the number of models that the search did not try, because evaluations cost more than planned and used up the
	// budget. Above 0, nothing is learnt anew for forecasts of the past, and shifts are only looked for if Options.Shifts requests
	// it.
	Untried int

	given   []gppl.ParamPrior // Options.Priors
	Periods []float64         // Options.Periods
	Options *Options          // of Fit; nil if the analysis was read from a file
	members []*member         // the models that forecasts average
	memory  float64           // Options.Memory
	trained int               // number of latest observations trained on, by which the models are standardised
	whole   bool              // models are standardised by all observations, as named kernels in files of before 2026-11-29 are
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
		Effort: found.Effort, Untried: found.Untried, given: o.Priors, Widen: search.ShortBands(len(s.X)),
		Periods: o.Periods, Options: &o, memory: o.Memory, trained: found.Trained, computed: new(computed),
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
	return min(a.Series.Learnt(), a.trained)
}

// Kernel returns the name of the best kernel.
func (a *Analysis) Kernel() string { return a.Candidates[0].Kernel }

// Fit learns a model of the series.
//
// It finds the structure and the parameters. It compares noise alone and a smooth, a less smooth and a rough term,
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
// If kernels are named (Options.Kernels), they are the candidates of the search, in place of the sums that it would try and
// grow. A named kernel begins where a search of all observations by the library ends (auto.FindStarts), since its scales and
// periods may be any. All else is the same: scales, trends, weak priors, evidence, averages, budget and status. Every candidate
// has its BIC as well, to compare with other programs.
//
// A candidate that cannot be trained is kept with its error. Fit returns an error if none can be trained, if a kernel's name is
// unknown, or if ctx ends.
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

// ShortBands returns the factor on standard deviations beyond the last observation, √(1 + (11/n)²) for
// a series of n observations, up to 400: 1.27 for 14, 1.04 for 40 and 1.01 for 100.
//
// A short series shows little of what will happen to it, and the model that fits it best errs more than it predicts. The 11 was
// chosen on the yearly and quarterly series of M3's development half. Without the factor, the 95 % bands of those with fewer than
// 20 observations hold 88 and 91 % of what comes; with it they hold 91 and 95 %, and have a lower CRPS.
func (a *Analysis) ShortBands() float64 {
	return search.ShortBands(len(a.Series.X))
}
