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
	Kernels []string // in the form that ParseKernel reads; nil: found automatically
	Log     string   // one of Logs; "" means auto
	Trend   string   // one of Trends; "" means auto
	// Shifts, one of ShiftModes, says what happens to changes of level and slope that the observations show. "" means auto, which
	// only reports them for named kernels, since the user named the whole model. Changes of Series.Shifted are always in the mean.
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
	// Memory bounds, in bytes, the predicted memory of Fit and of predictions: engines that would take more are not chosen, and if
	// no other way is left the error is a *gppl.MemoryError. 0 means no limit but that of gppl.WithMemory.
	Memory float64

	// origin says that the fit is of what was known at an origin, so that nobody needs its standard errors.
	origin bool
	// effort is that of the search at an origin, whatever time it takes, without averaging over parameters; nil: by the
	// budget.
	effort *Effort
}

// AtOrigin returns the options of a fit to what was known at an origin.
func (o Options) AtOrigin() Options {
	o.origin = true
	return o
}

// WithEffort returns the options of a fit with an effort, whatever time it takes.
func (o Options) WithEffort(e Effort) Options {
	o.effort = &e
	return o
}

// Progress reports how far a comparison has come.
type Progress struct {
	Candidate    string
	Index, Count int     // of the candidate, from 0; about how much of Count is done
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
	// hundredths of the work done, of count = 100 (both 0 before upTo), and evaluations over all candidates
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

// mayBeLog reports whether models of log y are tried: if Options.Log requires them or, by default, if all y are positive and
// their range tells log y from y. Censored amounts take a root instead. A prior of a variance is in the unit of y², so it implies
// that y is modelled.
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

// straight is the ratio of the largest to the least y up to which log y is a straight line in y, to 1.2 % of its range: models
// agree.
const straight = 1.1

// positive reports whether all y have a logarithm.
func positive(y []float64) bool {
	return !slices.ContainsFunc(y, func(v float64) bool { return !(v > 0) })
}
