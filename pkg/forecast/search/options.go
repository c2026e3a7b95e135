package search

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Options say how candidates are trained. The zero value is recommended.
type Options struct {
	Kernels []string // in the form that ParseKernel reads; nil: detected automatically
	Log     string   // one of Logs; "" means auto
	Trend   string   // one of Trends; "" means auto
	// Shifts, one of ShiftModes, says what happens to changes of level and slope that the observations show. "" means auto: they
	// are modelled, but only reported if kernels are named, since the user then named the whole model. Changes of Series.Shifted
	// are always in the mean.
	Shifts   string
	Periods  []float64 // fixed periods of seasons, in the unit of the axis; nil: from the calendar or detected
	NoSeason bool      // no seasons
	// Priors of parameters are in the units of the file (see ParsePrior). Each replaces the weak prior of the parameters with its
	// name or role.
	Priors   []gppl.ParamPrior
	Seed     uint64
	Progress func(Progress)
	// Budget bounds the predicted time of the search; 0 means a minute and at most the standard effort (Planner).
	Budget time.Duration
	// Memory bounds, in bytes, the predicted memory of Fit and of predictions. Engines that would take more are not chosen; if
	// none is left the error is a *gppl.MemoryError. 0 means the default limit of gppl.WithMemory.
	Memory float64

	// origin says that the fit is a test of the past, which needs no standard errors.
	origin bool
	// effort, if it is set, replaces the effort that the budget would choose for a test of the past, and parameters are not
	// averaged over.
	effort *Effort
}

// AtOrigin returns the options of a fit to the observations before an origin, in a test of the past.
func (o Options) AtOrigin() Options {
	o.origin = true
	return o
}

// WithEffort returns the options of a fit with a given effort, whatever time it takes.
func (o Options) WithEffort(e Effort) Options {
	o.effort = &e
	return o
}

// Progress reports how far a comparison has come.
type Progress struct {
	Candidate    string
	Index, Count int     // index of the candidate, from 0; about Index of Count parts are done
	Evaluations  int     // evaluations of the likelihood so far, by all candidates together
	Best         float64 // the lowest NLL of this candidate in the present stage; +Inf if there is none yet
	Stage        string  // for TestOfPast, Index of Count origins are done
}

// TestOfPast is the stage of Progress in which judge.TestPast learns anew at each origin.
const TestOfPast = "test of the past"

// progress reports how far a comparison has come. Several trainings may report at once.
type progress struct {
	to func(Progress) // nil for none; calls do not overlap

	mu sync.Mutex // guards the fields below
	// index is the number of hundredths of the work that are done, and count is 100 (both are 0 before upTo). evaluations is the
	// total of all candidates.
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
			Evaluations: p.evaluations, Best: best})
	}
}

// mayBeLog reports whether models of log y are tried: if Options.Log requires them or, by default, if all y are positive and
// their range is wide enough for log y to differ from y. Censored amounts take a root instead. A prior of a variance has the unit
// y², so y is then modelled.
func (o Options) mayBeLog(s *series.Series) bool {
	if o.alwaysLog(s) {
		return true
	}
	switch strings.ToLower(o.Log) {
	case "", "auto":
		if s.Censored() {
			return s.Bounds.Root > 0 && !slices.ContainsFunc(o.Priors, ofVariance)
		}
		return s.Counting == nil && positive(s.Y) && slices.Max(s.Y) > straight*slices.Min(s.Y) &&
			!slices.ContainsFunc(o.Priors, ofVariance)
	}
	return false
}

// alwaysLog reports whether no models of y are tried: only log y is requested, or y has bounds and is not censored at them.
func (o Options) alwaysLog(s *series.Series) bool {
	return s.Bounds != nil && !s.Censored() || strings.EqualFold(o.Log, "always")
}

// straight is the ratio of the largest to the least y up to which log y deviates from a line in y by at most 1.2 % of its range,
// so that models of both agree.
const straight = 1.1

// positive reports whether all y have a logarithm.
func positive(y []float64) bool {
	return !slices.ContainsFunc(y, func(v float64) bool { return !(v > 0) })
}
