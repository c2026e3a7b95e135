package search

import (
	"sync"
	"time"

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
	effort *Effort
}

// AtOrigin returns the options of a fit to what was known at an origin.
func (o Options) AtOrigin() Options {
	o.origin = true
	return o
}

// WithEffort returns the options of a fit by the automatic policy with an effort, whatever time it takes.
func (o Options) WithEffort(e Effort) Options {
	o.effort = &e
	return o
}

// Progress reports how far a comparison has come.
type Progress struct {
	Candidate    string
	Index, Count int     // of the candidate, from 0; in the automatic search, about how much of Count is done
	Evaluations  int     // of the likelihood so far, over all candidates
	Best         float64 // the lowest NLL of this candidate in its present stage; +Inf if there is none yet
	Stage        string  // TestOfPast: Index of Count origins of judge.TestPast are done
	Elapsed      time.Duration
}

// TestOfPast is the stage of Progress in which judge.TestPast learns anew at each origin.
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
