package analysis

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

// Options say how candidates are trained. The zero value is what is recommended.
//
// Where kernels are named, the likelihood is the exact one up to MaxExact observations, and beyond where an engine whose cost does not
// depend on the parameters takes every candidate in exactSeconds: a state space, or a Toeplitz factor. Otherwise all candidates are
// trained and compared by one projected likelihood, with the residual energy (gppl.NewResidual) and the same Spectral projections, so
// that their values can be compared with one another; they are not the exact NLL, and Analysis.Projections says so.
type Options struct {
	Kernels  []string  // as ParseKernel reads them; nil: found automatically
	Log      string    // one of Logs
	Trend    string    // one of Trends; "" means auto: the best kernel with each of them
	Periods  []float64 // periods of the season on the axis of the series, kept as they are; nil: the calendar's and those detected
	NoSeason bool      // no periods are looked for
	// Priors are of parameters, in the units of the file (see ParsePrior): training maximises the posterior then. Where Kernels is nil
	// each applies to the candidates that have such a parameter, in the place of the weak prior there.
	Priors       []gppl.ParamPrior
	RandomStarts int // starting points at random around those taken from the data; 0 means 1, below 0 none
	Seed         uint64
	MaxExact     int // 0 means 6000
	Projections  int // 0 means 400
	Progress     func(Progress)
	// Budget bounds the predicted time of the search where Kernels is nil (PlanFit); 0 means a minute, and no more than is standard.
	Budget time.Duration
	// Resume is a file for the candidates that have finished, so that a later Fit with the same series and options goes on after an
	// interrupt; "" keeps none. The file may be removed once Fit has returned.
	Resume string
}

// Progress is where a comparison stands.
type Progress struct {
	Candidate    string
	Index, Count int     // of the candidate, from 0
	Evaluations  int     // of the likelihood, so far, of all candidates
	Best         float64 // the lowest NLL of this candidate in its present stage
	Stage        string
	Elapsed      time.Duration
}

// Candidate is a kernel that was tried.
type Candidate struct {
	Kernel      string  `json:"kernel"`
	Trend       string  `json:"trend"`            // linear, quadratic or none
	Log         bool    `json:"log,omitempty"`    // of log y
	NLL         float64 `json:"nll"`              // nats, of the standardised observations; of y where Log is compared
	Score       float64 `json:"score,omitempty"`  // nats: the evidence, parameters integrated out; only where Options.Kernels is nil
	Rough       bool    `json:"rough,omitempty"`  // the penalty in Score is BIC's: the curvature at the optimum is not positive definite
	Weight      float64 `json:"weight,omitempty"` // in the average that forecasts are of
	BIC         float64 `json:"bic"`
	Parameters  int     `json:"parameters"` // trained, noise included
	Model       string  `json:"model"`
	Status      string  `json:"status"`
	Engine      string  `json:"engine"`
	Evaluations int     `json:"evaluations"`
	Seconds     float64 `json:"seconds"`
	// Error says why the candidate could not be trained; its NLL and BIC are then 0.
	Error string `json:"error,omitempty"`
}

// Analysis is a series with the model that was learnt from it.
type Analysis struct {
	Series     *Series
	Scaling    dataset.Scaling // between y and what the model sees
	Candidates []Candidate     // the best first, failures last; a random walk after those that have a part in the forecast too
	Result     *gppl.Result    // of the best
	Log        bool            // the best is a model of log y
	Widen      float64         // what standard deviations beyond the last observation are multiplied by, as a backtest asks (Calibrate); 0 for 1
	Weak       bool            // parameters have the policy's weak priors
	// Effort is how far the automatic policy went (Plan); "" where kernels were named.
	Effort string
	// Projections is 0 if the likelihood is exact, else how many projections it saw.
	Projections int

	given   []gppl.ParamPrior // Options.Priors, where Weak
	members []*member         // what forecasts average over; none: Result alone
	note    string            // on the posterior, where it is not exact
	ahead   []float64         // known errors of the observations predicted; nil for the median of those there are
	factor  *factor
}

// Name names the candidate: its kernel and its trend.
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

// Name names the model that was kept: its kernel and its trend.
func (a *Analysis) Name() string { return a.Candidates[0].Name() }

// TrainedOn returns the number of the latest observations that parameters were learnt from.
func (a *Analysis) TrainedOn() int {
	for _, e := range efforts {
		if a.Weak && e.name == a.Effort {
			return e.trainedOn(a.Series)
		}
	}
	return len(a.Series.X)
}

// Kernel returns the name of the kernel that was kept.
func (a *Analysis) Kernel() string { return a.Candidates[0].Kernel }

const (
	trainTolerance = 1e-4 // nats per observation that an engine may err by while training; values compared have the default
	fewer          = 300  // observations above which training begins on that many
	// gradientTolerance is of parameters in their standard errors: the NLL is within some thousandths of a nat.
	gradientTolerance = 0.05
	// exactSeconds is what one evaluation of the exact likelihood may take above Options.MaxExact, as forecast: training takes some
	// hundreds of them.
	exactSeconds = 1
)

// Fit finds structure and parameters by itself where Options.Kernels is nil: for y and, if all are
// positive, log y, it compares noise alone and a smooth, a less smooth and a rough term, each with and without a season and a linear
// trend, and lets the best grow by one term after the other. Parameters have weak priors, so that five observations are enough;
// candidates are ranked by their evidence, the marginal likelihood with the parameters integrated out, and forecasts average those
// that count, and of short series their parameters too. Of long series structures are compared on the latest
// observations, 400 unless Options.Budget says otherwise, and the best three are then trained on the latest 1500 (700 where x is not regular). Forecasts are conditioned on all observations, or
// where neither a state space nor a constant step makes that cheap, on the 2000 around them.
//
// Where kernels are named, Fit trains every candidate and keeps the one with the lowest BIC, with standard errors of its parameters. All have a linear
// trend, or what Options.Trend says; with auto the best is then tried without and with a quadratic one. The coefficients of a
// trend have priors and are integrated out, so that they do not count as parameters. Where all y are positive and Options.Log is auto,
// the best is tried on the logarithm too, and NLL and BIC are those of y.
//
// It is BIC there, not the evidence, because that needs a proper prior of every parameter. A kernel that is named is learnt by its
// likelihood, with no priors but Options.Priors, so that the values can be compared with those of other programs.
//
// Kernels with a period are trained from gppl.StartFrom's values at each of the two likeliest periods, others from its values
// for the series with and without its trend, and at random around them. Of more than 300 observations
// all this is done on 300, and the best is then trained on all. A candidate that cannot be trained is kept with the reason; it is
// an error if none can, if a kernel's name is unknown, or if ctx ends.
func Fit(ctx context.Context, s *Series, o Options) (*Analysis, error) {
	if len(o.Kernels) == 0 {
		return fitPolicy(ctx, s, o)
	}
	o.MaxExact, o.Projections = orDefault(o.MaxExact, 6000), orDefault(o.Projections, 400)
	o.RandomStarts = max(0, orDefault(o.RandomStarts, 1))
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
	t := trainer{options: o, kernels: kernels, step: s.Step, began: time.Now(), count: len(kernels)}
	if cmp.Or(o.Trend, "auto") == "auto" {
		t.count += 2
	}
	bothScales := !strings.EqualFold(o.Log, "always") && o.mayBeLog(s)
	if bothScales {
		t.count++
	}
	if err := t.look(s, strings.EqualFold(o.Log, "always"), bothScales); err != nil {
		return nil, err
	}
	if err := t.setTrend(cmp.Or(o.Trend, "auto")); err != nil {
		return nil, err
	}

	a := &Analysis{Series: s}
	if t.omega != nil {
		_, a.Projections = t.omega.Dims()
	}
	models := map[string]gppl.Model{} // by the name of the candidate, with the scales that they were trained in
	try := func(k gppl.Kernel, starts []gppl.Model) error {
		began, before := time.Now(), t.evaluations
		c := Candidate{Kernel: kernelName(k), Trend: t.trend, Log: t.log}
		t.candidate = c.Name()
		r, err := t.train(ctx, k, starts)
		if ctx.Err() != nil {
			return fmt.Errorf("analysis: training %s: %w", c.Name(), ctx.Err())
		}
		if err == nil {
			c.NLL, err = t.value(r.Model)
			c.NLL += t.offset
		}
		if err != nil {
			c.Error = err.Error()
		} else {
			c.describe(r, len(s.X))
			models[c.Name()] = r.Model
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
		if err := try(best.Kernel, []gppl.Model{best}); err != nil {
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
		if err := try(best.Kernel, []gppl.Model{best}); err != nil {
			return nil, err
		}
		a.rank()
	}
	best := &a.Candidates[0]
	if best.Error != "" {
		return nil, fmt.Errorf("analysis: no candidate could be trained; %s: %s", best.Name(), best.Error)
	}
	if best.Log != t.log {
		if err := t.look(s, best.Log, bothScales); err != nil {
			return nil, err
		}
	}
	a.Scaling, a.Log = t.scaling, t.log
	if err := t.setTrend(best.Trend); err != nil {
		return nil, err
	}
	t.candidate, t.stage = best.Name(), "standard errors"
	loss, err := t.posterior(models[best.Name()], t.data)
	if err != nil {
		return nil, fmt.Errorf("analysis: %w", err)
	}
	r, err := gppl.Fit(ctx, loss, nil, t.settings(gppl.Settings{GradientTolerance: gradientTolerance, MaxEvaluations: 40}))
	if err != nil {
		return nil, fmt.Errorf("analysis: training %s: %w", best.Name(), err)
	}
	a.Result = plain(r)
	best.NLL = a.NLL() + t.offset
	best.describe(a.Result, len(s.X))
	a.rank()
	return a, nil
}

// projections returns those that a long series is seen through.
func projections(d gppl.Data, count int) (*gppl.Projection, error) {
	omega, err := gppl.SpectralProjection(d.X, count)
	if err != nil {
		return nil, fmt.Errorf("analysis: %w", err)
	}
	return omega, nil
}

// describe fills in what a result tells of a candidate whose NLL is known.
func (c *Candidate) describe(r *gppl.Result, n int) {
	c.Parameters = 0
	for _, p := range r.Params {
		if !isFixed(p.Param) {
			c.Parameters++
		}
	}
	c.BIC = 2*c.NLL + float64(c.Parameters)*math.Log(float64(n))
	c.Model, c.Status, c.Engine = r.Model.String(), string(r.Status), r.Engine
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
	options   Options
	kernels   []gppl.Kernel // the candidates
	data      gppl.Data
	log       bool
	scaling   dataset.Scaling // of y, or of log y
	offset    float64         // between the NLL of the standardised values and that which is reported
	step      float64
	detrended gppl.Data
	periods   []float64
	omega     *gppl.Projection  // nil: exact
	engines   map[string]string // of a long series, by the name of the kernel; nil: the cheapest
	trend     string
	mean      gppl.Mean // of that trend

	index       int
	count       int // of candidates
	candidate   string
	stage       string
	evaluations int
	began       time.Time
}

// look has the next candidates trained on the series, or on its logarithm. Where both are compared, values are reported of y.
func (t *trainer) look(s *Series, log, compared bool) error {
	v, err := newView(s, 0, len(s.X), log)
	if err != nil {
		return err
	}
	t.data, t.log, t.scaling, t.offset = v.data, log, v.scaling, 0
	if compared {
		t.offset = v.offset
	}
	t.omega, t.engines = nil, nil
	if n := t.data.Len(); n > t.options.MaxExact && !t.cheap() {
		if t.omega, err = projections(t.data, min(t.options.Projections, n/2)); err != nil {
			return err
		}
	}
	t.detrended = gppl.Detrend(t.data)
	if t.periods = t.options.Periods; len(t.periods) == 0 {
		t.periods = gppl.LikelyPeriods(t.data, 2)
	}
	return nil
}

// cheap finds the engine of each candidate that computes the exact likelihood of all data in exactSeconds, wherever training goes, and
// reports whether all have one.
func (t *trainer) cheap() bool {
	t.engines = map[string]string{}
	for _, k := range t.kernels {
		engine, ok := t.cheapEngine(startsFor(k, t.data, t.data, nil)[0])
		if !ok {
			return false
		}
		t.engines[kernelName(k)] = engine
	}
	return true
}

func (t *trainer) cheapEngine(m gppl.Model) (engine string, ok bool) {
	for _, engine := range []string{gppl.EngineStateSpace, gppl.EngineToeplitz} {
		loss, err := gppl.NewExact(m, t.data, gppl.WithEngine(engine))
		if err != nil {
			continue
		}
		if _, seconds := loss.Cost(m); seconds <= exactSeconds {
			return engine, true
		}
	}
	return "", false
}

// loss returns the likelihood of d at m: the projected one if there are projections of it, else the exact one.
func (t *trainer) loss(m gppl.Model, d gppl.Data, opts ...gppl.Option) (gppl.Loss, error) {
	m.Mean = t.mean
	if d.Len() == t.data.Len() {
		if t.omega != nil {
			return gppl.NewResidual(m, d, t.omega, opts...)
		}
		if engine, ok := t.engines[kernelName(m.Kernel)]; ok { // never the dense one, which others may end at
			opts = append(opts, gppl.WithEngine(engine))
		}
	}
	return gppl.NewExact(m, d, opts...)
}

// posterior returns the likelihood of d at m with the priors that were given.
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
	return loss.ValueGrad(nil, naturals(m))
}

// settings adds to s what reports progress.
func (t *trainer) settings(s gppl.Settings) gppl.Settings {
	before := t.evaluations
	s.Progress = func(p gppl.Progress) {
		t.evaluations = before + p.Evaluations
		if t.options.Progress != nil {
			t.options.Progress(Progress{
				Candidate: t.candidate, Index: t.index, Count: t.count, Stage: t.stage,
				Evaluations: t.evaluations, Best: p.Best, Elapsed: time.Since(t.began),
			})
		}
	}
	return s
}

// setTrend has the next candidates trained with a trend; auto begins with the linear one, in which the others are found.
func (t *trainer) setTrend(trend string) (err error) {
	if t.trend = trend; trend == "auto" {
		t.trend = "linear"
	}
	t.mean, err = meanOf(t.trend, t.data.X)
	return err
}

// otherTrends returns those that the best kernel is tried with as well.
func (t *trainer) otherTrends() []string {
	if cmp.Or(t.options.Trend, "auto") != "auto" {
		return nil
	}
	return []string{"none", "quadratic"}
}

// train learns the parameters of k, from the given starts if there are any.
func (t *trainer) train(ctx context.Context, k gppl.Kernel, starts []gppl.Model) (*gppl.Result, error) {
	if starts == nil {
		starts = startsFor(k, t.data, t.detrended, t.periods)
	}
	if len(t.options.Periods) > 0 && periodsOf(k) == 1 { // given: kept as it is
		for i, m := range starts {
			for _, p := range m.Params() {
				if p.Role == gppl.RolePeriod {
					starts[i] = m.Fix(p.Name)
				}
			}
		}
	}
	t.stage = "training"
	span := t.data.X.At(t.data.Len() - 1)[0] - t.data.X.At(0)[0]
	for i, m := range starts {
		starts[i] = scaled(supported(m, priorsOf(m, t.options.Priors, t.scaling.Scale)), nil, span)
	}
	settings := gppl.Settings{GradientTolerance: gradientTolerance, MaxEvaluations: 200}
	if t.data.Len() <= fewer {
		settings.NoStandardErrors = true
		return t.best(ctx, starts, t.data, settings)
	}
	t.stage = fmt.Sprintf("first steps, on %d observations", fewer)
	r, err := t.best(ctx, starts, t.few(k), settings)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	t.stage = fmt.Sprintf("training on all %d", t.data.Len())
	if err == nil {
		starts = append(starts, scaled(r.Model, r, span))
	}
	settings.NoStandardErrors = true
	settings.Stop = gppl.StopBelow(0.005) // nats: BIC is read to tenths
	var failures []error
	for len(starts) > 0 { // from the best that can be trained from
		at := t.lowest(starts)
		r, err := t.run(ctx, starts[at], t.data, settings)
		if err == nil || ctx.Err() != nil {
			return r, err
		}
		failures = append(failures, err)
		starts = slices.Delete(starts, at, at+1)
	}
	return nil, errors.Join(failures...)
}

// few picks every so many of the latest observations for the first steps: as widely as still resolves a period, if the kernel
// has one, else over the whole range.
func (t *trainer) few(k gppl.Kernel) gppl.Data {
	n := t.data.Len()
	stride := (n - 1) / (fewer - 1)
	if hasPeriod(k) && len(t.periods) > 0 {
		const perPeriod = 6
		stride = max(1, min(stride, int(slices.Min(t.periods)/(perPeriod*t.step))))
	}
	pick := make([]int, fewer)
	for i := range pick {
		pick[i] = n - 1 - (fewer-1-i)*stride
	}
	return t.data.Pick(pick)
}

// best trains on d from every start, and at random around each, and returns the best.
func (t *trainer) best(ctx context.Context, starts []gppl.Model, d gppl.Data, s gppl.Settings) (best *gppl.Result, err error) {
	var failures []error
	random := t.options.RandomStarts
	if hasPeriod(starts[0].Kernel) {
		random = 0 // a period at random is as good as none
	}
	s.Starts, s.Spread, s.Seed = 1+random, 2, t.options.Seed+1
	for _, m := range starts {
		r, err := t.run(ctx, m, d, s)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			failures = append(failures, err)
			continue
		}
		if best == nil || r.Value < best.Value {
			best = r
		}
	}
	if best == nil {
		return nil, errors.Join(failures...)
	}
	return best, nil
}

func (t *trainer) run(ctx context.Context, m gppl.Model, d gppl.Data, s gppl.Settings) (*gppl.Result, error) {
	loss, err := t.posterior(m, d, gppl.WithTolerance(trainTolerance))
	if err != nil {
		return nil, err
	}
	return gppl.Fit(ctx, loss, nil, t.settings(s))
}

// lowest returns the index of the model with the lowest value on all data, 0 if none has one.
func (t *trainer) lowest(models []gppl.Model) int {
	best, at := math.Inf(1), 0
	for i, m := range models {
		if v, err := t.value(m); err == nil && v < best {
			best, at = v, i
		}
	}
	return at
}
