package forecast

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Options say how candidates are trained. The zero value is recommended.
//
// If kernels are named, the likelihood is exact up to MaxExact observations. Beyond, it stays exact if a state space or a Toeplitz
// factor evaluates every candidate in about a second, on the latest 200 000 observations at most; or of the latest 10 000 or more if one
// does it in a fifth of a second. Otherwise all candidates are trained and compared by one projected likelihood of the latest 10 000,
// 5000 or 2500, with the residual energy (gppl.NewResidual) and the same Spectral projections. Its values are comparable with one another,
// but not with an exact NLL; Analysis.Projections is then above 0. NLL and BIC are those of the observations that were used
// (Analysis.TrainedOn), and predictions are conditioned as those of any series.
type Options struct {
	Kernels  []string  // in the form that ParseKernel reads; nil: found automatically
	Log      string    // one of Logs; "" means auto
	Trend    string    // one of Trends; "" means auto
	Periods  []float64 // fixed periods of seasons, in the unit of the axis; nil: from the calendar or detected
	NoSeason bool      // no seasons
	// Priors of parameters, in the units of the file (see ParsePrior). Training then maximises the posterior. If Kernels is nil, each
	// replaces the weak prior of the parameters with its name or role.
	Priors       []gppl.ParamPrior
	RandomStarts int // number of random starts of a named kernel around the best of the search, beside those of the search
	Seed         uint64
	MaxExact     int // 0 means 6000
	Projections  int // 0 means 400
	Progress     func(Progress)
	// Budget bounds the predicted time of the search. If Kernels is nil, 0 means a minute and at most the standard effort (PlanFit). For
	// named kernels it is divided among the candidates: each takes fewer random starts and evaluations, or is refused (BudgetError);
	// 0 means as many as it takes, up to a day.
	Budget time.Duration
	// Memory bounds, in bytes, what Fit and the predictions take by their forecast: engines that would take more are not chosen, and
	// where there is no other way the error is a *gppl.MemoryError. 0 is no limit but that of gppl.WithMemory.
	Memory float64
	// Resume is a file for finished candidates: after an interrupt, Fit with the same series and options continues from it. "" keeps
	// none. The file may be removed once Fit has returned.
	Resume string
}

// Progress reports how far a comparison has come.
type Progress struct {
	Candidate    string
	Index, Count int     // of the candidate, from 0
	Evaluations  int     // of the likelihood, so far, of all candidates
	Best         float64 // the lowest NLL of this candidate in its present stage; +Inf if there is none yet
	Stage        string
	Elapsed      time.Duration
}

// Candidate is a kernel that was tried.
type Candidate struct {
	Kernel     string  `json:"kernel"`
	Trend      string  `json:"trend"`            // linear, quadratic or none
	Log        bool    `json:"log,omitempty"`    // of log y
	NLL        float64 `json:"nll"`              // nats, of the standardised observations; of y if y and log y are compared
	Score      float64 `json:"score,omitempty"`  // nats: the negative log evidence, parameters integrated out; only if Options.Kernels is nil
	Rough      bool    `json:"rough,omitempty"`  // the penalty in Score is BIC's: the curvature at the optimum is not positive definite
	Weight     float64 `json:"weight,omitempty"` // of the candidate in the average of forecasts
	BIC        float64 `json:"bic"`
	Parameters int     `json:"parameters"` // trained, noise included
	Model      string  `json:"model"`
	Status     string  `json:"status"` // of training (gppl.Status); of a named kernel "doubtful" where Doubts says why
	// Search is what was searched before the optimum of a named kernel was called one, and Doubts why it may not be one.
	Search      string   `json:"search,omitempty"`
	Doubts      []string `json:"doubts,omitempty"`
	Engine      string   `json:"engine"`
	Evaluations int      `json:"evaluations"`
	Seconds     float64  `json:"seconds"`
	// Error says why the candidate could not be trained; its NLL and BIC are then 0.
	Error string `json:"error,omitempty"`
}

// Analysis is a series with the model that was learnt from it.
type Analysis struct {
	Series     *Series
	Scaling    dataset.Scaling // between y and what the model sees
	Candidates []Candidate     // the best first, failures last; a random walk comes after the others that the forecast averages
	Result     *gppl.Result    // of the best
	Log        bool            // the best is a model of log y
	Widen      float64         // factor on standard deviations beyond the last observation, set by Calibrate; 0 means 1
	Weak       bool            // parameters have the policy's weak priors
	// Effort is the effort of the automatic policy (Plan); "" if kernels were named.
	Effort string
	// Projections is the number of projections of the likelihood, or 0 if it is exact.
	Projections int

	given   []gppl.ParamPrior // Options.Priors, if Weak
	members []*member         // the models that forecasts average; none: Result alone
	memory  float64           // Options.Memory
	trained int               // observations, the latest, if kernels were named
	note    string            // why the posterior is not exact; "" if it is
	ahead   []float64         // known errors of the predicted observations; nil: the median of the known ones
	factor  *factor
	windows *windowCache // of the members
}

// Name returns the kernel of the candidate with its trend and scale.
func (c Candidate) Name() string {
	name := c.Kernel
	if c.Trend != "" && c.Trend != "none" {
		name += ", " + c.Trend + " trend"
	}
	if c.Log {
		name += ", of the logarithm"
	}
	return name
}

// Name returns the name of the best model: its kernel, trend and scale.
func (a *Analysis) Name() string { return a.Candidates[0].Name() }

// TrainedOn returns the number of observations, the latest, from which parameters were learnt.
func (a *Analysis) TrainedOn() int {
	for _, e := range efforts {
		if a.Weak && e.name == a.Effort {
			return e.trainedOn(a.Series)
		}
	}
	return min(len(a.Series.X), cmp.Or(a.trained, mostTrained)) // older files do not say
}

// Kernel returns the name of the best kernel.
func (a *Analysis) Kernel() string { return a.Candidates[0].Kernel }

const (
	trainTolerance = 1e-4 // error of an engine while training, in nats per observation; compared values have the default
	// gradientTolerance is in units of standard errors: the NLL is then within some thousandths of a nat of its minimum.
	gradientTolerance = 0.05
)

// Fit learns a model of the series.
//
// If Options.Kernels is nil, it finds the structure too. It compares noise alone and a smooth, a less smooth and a rough term, each with
// and without a season and a linear trend, for y and, if all y are positive, for log y. The best grows by one term at a time. Parameters
// have weak priors, so that five observations are enough. Candidates are ranked by their evidence, the marginal likelihood with the
// parameters integrated out. Forecasts average the candidates with enough weight and, for short series, their parameters. In a long
// series structures are compared on the latest 400 observations, and the best three are then trained on the latest 1500 (700 if x is
// not regular); Options.Budget changes these numbers. Forecasts are conditioned on all observations or, if neither a state space nor a
// constant step makes that cheap, on the 2000 around each x.
//
// If kernels are named, Fit trains each and keeps the one with the lowest BIC, with standard errors of its parameters. All have a linear
// trend, or the one of Options.Trend; with auto the best kernel is then tried without a trend and with a quadratic one. The coefficients
// of a trend have priors and are integrated out, so they do not count as parameters. If all y are positive and Options.Log is auto, the
// best is also tried on the logarithm, and NLL and BIC are those of y. The criterion is BIC since evidence needs a proper prior of every
// parameter. A named kernel is trained by its likelihood, with no priors but Options.Priors, so that the values can be compared with
// those of other programs.
//
// A named kernel is trained from what the library's search finds (gppl.FindStarts), on each scale of y once, and anew for a trend that ends
// far above the others. Where an evaluation of all
// observations takes more than some hundredths of a second, 500 of them find the best start, and few evaluations of all follow. What the
// search says of the optimum goes into the candidate's Status, Search and Doubts. A candidate that cannot be trained is kept with its
// error. Fit returns an error if none can be trained, if a kernel's name is unknown, or if ctx ends.
func Fit(ctx context.Context, s *Series, o Options) (*Analysis, error) {
	if err := refuse(fmt.Sprintf("a fit of %d observations", len(s.X)), o.fitBytes(s), o.Memory); err != nil {
		return nil, err
	}
	if len(o.Kernels) == 0 {
		return fitPolicy(ctx, s, o)
	}
	o.MaxExact, o.Projections = orDefault(o.MaxExact, 6000), orDefault(o.Projections, 400)
	o.RandomStarts = max(0, o.RandomStarts)
	kernels := make([]gppl.Kernel, len(o.Kernels))
	for i, name := range o.Kernels {
		k, err := ParseKernel(name)
		if err != nil {
			return nil, err
		}
		kernels[i] = k
	}
	var untrained []gppl.Model
	for _, k := range kernels {
		untrained = append(untrained, gppl.Model{Kernel: k, Noise: 1}.FixRedundant())
	}
	if err := checkPriors(untrained, o.Priors); err != nil {
		return nil, err
	}
	t := trainer{options: o, kernels: kernels, memory: o.engineMemory(s), step: s.Step, began: time.Now(), count: len(kernels)}
	if cmp.Or(o.Trend, "auto") == "auto" {
		t.count += 2
	}
	bothScales := !strings.EqualFold(o.Log, "always") && o.mayBeLog(s)
	if bothScales {
		t.count++
	}
	looks := 1
	if bothScales {
		looks = 3
	}
	t.beside = float64(looks)*lookSeconds(len(s.X)) + checkSeconds(len(s.X))
	if err := t.look(s, strings.EqualFold(o.Log, "always"), bothScales); err != nil {
		return nil, err
	}
	if err := t.setTrend(cmp.Or(o.Trend, "auto")); err != nil {
		return nil, err
	}

	a := &Analysis{Series: s, memory: o.Memory}
	if t.omega != nil {
		_, a.Projections = t.omega.Dims()
	}
	models := map[string]trained{} // by the name of the candidate, with the transforms of training
	var failures []error
	try := func(k gppl.Kernel, starts []gppl.Model) error {
		began, before := time.Now(), t.evaluations
		c := Candidate{Kernel: kernelName(k), Trend: t.trend, Log: t.log}
		t.candidate = c.Name()
		r, err := t.train(ctx, k, starts)
		if ctx.Err() != nil {
			return fmt.Errorf("forecast: training %s: %w", c.Name(), ctx.Err())
		}
		if err != nil {
			failures = append(failures, err)
		}
		if err == nil {
			c.NLL, err = t.value(r.Model)
			c.NLL += t.offset
		}
		if err != nil {
			c.Error = err.Error()
		} else {
			c.describe(r.Result, t.data.Len())
			c.doubt(r.Result)
			c.Search = r.found.Search.String()
			models[c.Name()] = r
		}
		c.Evaluations, c.Seconds = t.evaluations-before, time.Since(began).Seconds()
		a.Candidates = append(a.Candidates, c)
		t.index++
		return nil
	}
	for _, k := range kernels {
		if err := try(k, nil); err != nil {
			return nil, err
		}
	}
	a.rank()
	for _, trend := range t.otherTrends() {
		best, ok := models[a.Candidates[0].Name()]
		if !ok {
			break
		}
		if err := t.setTrend(trend); err != nil {
			return nil, err
		}
		if err := try(best.Model.Kernel, []gppl.Model{best.Model}); err != nil {
			return nil, err
		}
	}
	a.rank()
	if best, ok := models[a.Candidates[0].Name()]; ok && bothScales {
		if err := t.look(s, true, true); err != nil {
			return nil, err
		}
		if err := t.setTrend(a.Candidates[0].Trend); err != nil {
			return nil, err
		}
		if err := try(best.Model.Kernel, []gppl.Model{best.Model}); err != nil {
			return nil, err
		}
		a.rank()
	}
	best := &a.Candidates[0]
	if best.Error != "" {
		if limit := firstLimit(failures); limit != nil {
			return nil, limit
		}
		return nil, fmt.Errorf("forecast: no candidate could be trained; %s: %s", best.Name(), best.Error)
	}
	if best.Log != t.log {
		if err := t.look(s, best.Log, bothScales); err != nil {
			return nil, err
		}
	}
	a.Scaling, a.Log, a.trained = t.scaling, t.log, t.data.Len()
	if err := t.setTrend(best.Trend); err != nil {
		return nil, err
	}
	t.candidate, t.stage = best.Name(), "standard errors"
	chosen := models[best.Name()]
	loss, err := t.posterior(chosen.Model, t.data)
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	evaluations, err := t.lastEvaluations(chosen.Model)
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	seconds, err := t.cost(chosen.Model, t.data)
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	last := gppl.Settings{GradientTolerance: 0.1 * gradientTolerance, MaxEvaluations: evaluations} // the curvature is positive at the optimum, not beside it
	if seconds > quickSeconds {
		last.GradientTolerance, last.MaxEvaluations = looseGradient, min(evaluations, leastSteps)
	}
	r, err := gppl.Fit(ctx, loss, nil, t.settings(last))
	if err != nil {
		return nil, fmt.Errorf("forecast: training %s: %w", best.Name(), err)
	}
	likelihood, err := t.loss(chosen.Model, t.data)
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	chosen.Result = r
	chosen.judge(likelihood)
	a.Result = plain(chosen.Result)
	best.NLL = a.NLL() + t.offset
	best.describe(a.Result, t.data.Len())
	best.doubt(a.Result)
	a.rank()
	return a, nil
}

// firstLimit returns the first of the errors that says that a limit of memory or time was in the way; nil if none does.
func firstLimit(failures []error) error {
	for _, err := range failures {
		memory, budget := (*gppl.MemoryError)(nil), (*BudgetError)(nil)
		if errors.As(err, &budget) {
			return budget
		}
		if errors.As(err, &memory) {
			return memory
		}
	}
	return nil
}

// projections returns count Spectral projections for the projected likelihood of a part of a long series.
func projections(d gppl.Data, count int) (*gppl.Projection, error) {
	omega, err := gppl.SpectralProjection(d.X, count)
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	return omega, nil
}

// describe sets the fields that follow from a result and c.NLL.
func (c *Candidate) describe(r *gppl.Result, n int) {
	c.Parameters = 0
	for _, p := range r.Params {
		if !p.Param.IsFixed() {
			c.Parameters++
		}
	}
	c.BIC = 2*c.NLL + float64(c.Parameters)*math.Log(float64(n))
	c.Model, c.Status, c.Engine = r.Model.String(), string(r.Status), r.Engine
}

// doubt sets what is doubted of a named kernel: the reason why training was no success, and the warnings.
func (c *Candidate) doubt(r *gppl.Result) {
	c.Doubts = nil
	if r.Status == gppl.Converged || r.Status == gppl.Stopped {
		return
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, r.Reason) }) {
		c.Doubts = append(c.Doubts, r.Reason)
	}
	c.Doubts = append(c.Doubts, r.Warnings...)
}

func (a *Analysis) rank() {
	slices.SortStableFunc(a.Candidates, func(p, q Candidate) int {
		if (p.Error == "") != (q.Error == "") {
			if p.Error == "" {
				return -1
			}
			return 1
		}
		return cmp.Compare(p.BIC, q.BIC)
	})
}

func orDefault(v, otherwise int) int {
	if v == 0 {
		return otherwise
	}
	return v
}

// trainer trains one candidate after the other on the same data.
type trainer struct {
	options  Options
	kernels  []gppl.Kernel // the candidates
	data     gppl.Data
	log      bool
	scaling  dataset.Scaling // of y, or of log y
	offset   float64         // added to the NLL of the standardised values to report it for y
	memory   gppl.Option     // what engines may take
	step     float64
	omega    *gppl.Projection  // nil: exact
	engines  map[string]string // of a long series, by the name of the kernel; nil: the cheapest
	trend    string
	mean     gppl.Mean               // of that trend
	found    map[string]*gppl.Starts // of the searches on the present scale, by the name of the kernel
	reached  map[string]float64      // the lowest loss on the present scale, with any trend, likewise
	searched float64                 // predicted seconds of the search for the present candidate
	random   int                     // starts of the present candidate around the best: more than none where nothing was searched

	index       int
	count       int     // of candidates
	beside      float64 // predicted seconds of all that is not the training of a candidate
	candidate   string
	stage       string
	evaluations int
	began       time.Time
}

// look sets the scale on which the next candidates are trained, y or log y. If both scales are compared, the NLL is reported for y.
func (t *trainer) look(s *Series, log, compared bool) error {
	v, err := newView(s, 0, len(s.X), log)
	if err != nil {
		return err
	}
	t.log, t.scaling, t.offset = log, v.scaling, 0
	if err := t.choose(v.data, s.bytes()); err != nil {
		return err
	}
	t.found, t.reached = map[string]*gppl.Starts{}, map[string]float64{}
	if compared {
		t.offset = v.offsetOf(s.Y[len(s.X)-t.data.Len():])
	}
	return nil
}

// loss returns the likelihood of d at m: the projected one if there are projections of it, else the exact one.
func (t *trainer) loss(m gppl.Model, d gppl.Data, opts ...gppl.Option) (gppl.Loss, error) {
	m.Mean = t.mean
	opts = append(opts, t.memory)
	if d.Len() == t.data.Len() {
		if t.omega != nil {
			return gppl.NewResidual(m, t.data, t.omega, opts...)
		}
		if engine, ok := t.engines[kernelName(m.Kernel)]; ok { // forced: the automatic choice may fall back on the dense engine
			opts = append(opts, gppl.WithEngine(engine))
		}
	}
	return gppl.NewExact(m, d, opts...)
}

// posterior returns the likelihood of d at m with the given priors.
func (t *trainer) posterior(m gppl.Model, d gppl.Data, opts ...gppl.Option) (gppl.Loss, error) {
	loss, err := t.loss(m, d, opts...)
	priors := priorsOf(m, t.options.Priors, t.scaling.Scale)
	if err != nil || len(priors) == 0 {
		return loss, err
	}
	return gppl.NewMAP(loss, priors...)
}

// value returns the likelihood of all data at m, to the default tolerance.
func (t *trainer) value(m gppl.Model) (float64, error) {
	loss, err := t.loss(m, t.data)
	if err != nil {
		return 0, err
	}
	t.evaluations++
	return loss.ValueGrad(nil, m.Values())
}

// settings returns s with reports of progress.
func (t *trainer) settings(s gppl.Settings) gppl.Settings {
	before := t.evaluations
	s.Progress = func(p gppl.Progress) {
		t.evaluations = before + p.Evaluations
		t.report(p.Best)
	}
	return s
}

// report says how far the comparison has come.
func (t *trainer) report(best float64) {
	if t.options.Progress != nil {
		t.options.Progress(Progress{
			Candidate: t.candidate, Index: t.index, Count: t.count, Stage: t.stage,
			Evaluations: t.evaluations, Best: best, Elapsed: time.Since(t.began),
		})
	}
}

// setTrend sets the trend of the next candidates; auto begins with the linear one.
func (t *trainer) setTrend(trend string) (err error) {
	if t.trend = trend; trend == "auto" {
		t.trend = "linear"
	}
	t.mean, err = meanOf(t.trend, t.data.X)
	return err
}

// otherTrends returns the further trends with which the best kernel is tried.
func (t *trainer) otherTrends() []string {
	if cmp.Or(t.options.Trend, "auto") != "auto" {
		return nil
	}
	return []string{"none", "quadratic"}
}

func (t *trainer) run(ctx context.Context, m gppl.Model, d gppl.Data, s gppl.Settings) (*gppl.Result, error) {
	loss, err := t.posterior(m, d, gppl.WithTolerance(trainTolerance))
	if err != nil {
		return nil, err
	}
	return gppl.Fit(ctx, loss, nil, t.settings(s))
}

// lowest returns the index of the model with the lowest loss on all data; 0 if none can be computed.
func (t *trainer) lowest(models []gppl.Model) int {
	best, at := math.Inf(1), 0
	for i, m := range models {
		if v, err := t.value(m); err == nil && v < best {
			best, at = v, i
		}
	}
	return at
}
