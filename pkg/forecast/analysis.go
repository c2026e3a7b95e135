package forecast

import (
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Analysis is a series with the model that was learnt from it. Its methods, except LimitMemory and Following, are safe for
// concurrent use, and their answers do not depend on earlier calls. Its fields, except Widen, must not be changed.
type Analysis struct {
	Series     *series.Series
	Scaling    dataset.Scaling    // maps y, or log y, to what the best model sees
	Candidates []search.Candidate // the best first, failures last; a random walk follows the others that the forecast averages
	Result     *gppl.Result       // training of the best model
	Log        bool               // the best is a model of log y
	Widen      float64            // factor on standard deviations beyond the last observation (short series, Calibrate); 0 means 1
	Effort     string             // name of the effort of the search (search.Efforts)
	Noise      *NoiseSeason       // calendar of the noise of predictions; nil if its variance is the same at all times
	// Untried is the number of models that the search did not try, because evaluations cost more than planned and used up the
	// budget. Above 0, nothing is learnt anew for forecasts of the past, and shifts are only looked for if Options.Shifts
	// requests it.
	Untried int

	given    []gppl.ParamPrior // Options.Priors
	Periods  []float64         // Options.Periods
	Options  *Options          // given to Fit; nil if the analysis was read from a file
	members  []*member         // the models that forecasts average
	memory   float64           // Options.Memory
	trained  int               // number of latest observations on which the models were trained and by which they are standardised
	whole    bool              // models are standardised by all observations, as in older files with named kernels
	ahead    []float64         // known errors of the predicted observations; nil: the median of the known ones
	sizes    []float64         // known sizes of the predicted counts; nil: the sizes of the observations before them
	unsought error             // error of the search for changes; nil if it succeeded or was not asked for

	*computed
}

// alone returns the best model as the only member of the forecast.
func (a *Analysis) alone() []*member {
	return []*member{{Averaged: a.Candidates[0].Averaged(a.Result.Model, a.Log, 1)}}
}

// analysisOf returns the analysis of a series with the outcome of a search by some options.
func analysisOf(s *series.Series, o Options, found *search.Outcome) *Analysis {
	a := &Analysis{
		Series: s, Scaling: found.Scaling, Candidates: found.Candidates, Result: found.Result, Log: found.Log,
		Effort: found.Effort, Untried: found.Untried, given: o.Priors,
		Periods: o.Periods, Options: &o, memory: o.Memory, trained: found.Trained, computed: new(computed),
	}
	a.Widen = a.ShortBands()
	for _, m := range found.Averaged {
		a.members = append(a.members, &member{Averaged: *m})
	}
	return a
}

// Name returns the name of the best model: its kernel, trend and scale.
func (a *Analysis) Name() string { return a.Candidates[0].Name() }

// TrainedOn returns the number of observations from which parameters were learnt, the latest before Series.Added.
func (a *Analysis) TrainedOn() int {
	return min(a.Series.Learnt(), a.trained)
}

// Kernel returns the name of the best kernel.
func (a *Analysis) Kernel() string { return a.Candidates[0].Kernel }

// NLL returns the negative log likelihood of y under the best model, in nats, without priors.
func (a *Analysis) NLL() float64 { return a.Candidates[0].NLL }

// ShortBands returns the factor on standard deviations beyond the last observation, √(1 + (11/n)²) for a series of n
// observations, up to 400: 1.27 for 14, 1.04 for 40 and 1.01 for 100.
//
// A short series shows little of what will happen to it, and the model that fits it best errs more than it predicts. The 11 was
// chosen on the yearly and quarterly series of M3's development half. Without the factor, 95 % bands of series with fewer than 20
// observations hold 88 % (yearly) and 91 % (quarterly) of what comes; with it they hold 91 and 95 %, and have a lower CRPS.
func (a *Analysis) ShortBands() float64 {
	const short, most = 11, 400
	n := len(a.Series.X)
	if n > most {
		return 1
	}
	return math.Sqrt(1 + short*short/(float64(n)*float64(n)))
}

// LimitMemory bounds the memory of predictions, in bytes; 0 means no limit. Fit sets it by Options.Memory. It is an error, a
// *gppl.MemoryError, if the series itself takes more.
func (a *Analysis) LimitMemory(bytes float64) error {
	a.memory = bytes
	return series.WithinMemory(fmt.Sprintf("predicting from %d observations", len(a.Series.X)), a.Series.MemoryBytes(), bytes)
}

// AtOnce returns how many models of n observations may be learnt at the same time.
func (a *Analysis) AtOnce(n int) int { return Options{Memory: a.memory}.AtOnce(a.Series, n) }

// ShiftMode returns the mode of the analysis, with auto resolved; never if it was read from a file.
func (a *Analysis) ShiftMode() string {
	switch {
	case a.Options == nil:
		return "never"
	case a.Options.Shifts != "" && a.Options.Shifts != shiftsAuto:
		return a.Options.Shifts
	case len(a.Options.Kernels) > 0 || len(a.Series.X) > cheapShifts:
		return shiftsReported
	}
	return ShiftsUsed
}

// ShiftModes are the values of Options.Shifts: use puts shifts that are found into the mean of the forecast, report leaves them
// to Analysis.Shifts, and never does not look for any. auto is use for a series of up to 400 observations without named kernels,
// and report otherwise.
var ShiftModes = []string{shiftsAuto, ShiftsUsed, shiftsReported, "never"}

// With ShiftsUsed a forecast includes the shifts that are found, with shiftsReported it does not; shiftsAuto chooses.
const shiftsAuto, ShiftsUsed, shiftsReported = "auto", "use", "report"

// cheapShifts is the number of observations up to which learning anew with shifts is cheap (BenchmarkFitShifts): auto then
// includes shifts in the forecast, and the search for them trains more models.
const cheapShifts = 400
