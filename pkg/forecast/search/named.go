package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

const (
	trainTolerance = 1e-4 // error of an engine while training, in nats per observation; compared values have the default
	// fallbackSeconds is what an evaluation may take if the engine of the start cannot keep the tolerance, unless all take as long.
	fallbackSeconds = 0.2
)

// comparison compares named kernels by BIC.
type comparison struct {
	trainer
	series     *series.Series
	bothScales bool // the best kernel is tried on the logarithm too
	outcome    *Outcome
	models     map[string]trained // by the name of the candidate, with the transforms of training
	failures   []error
}

// searchNamed trains the named kernels, and the best of them with other trends and on the logarithm, and keeps the one with the
// lowest BIC.
func searchNamed(ctx context.Context, s *series.Series, o Options) (*Outcome, error) {
	c, err := newComparison(ctx, s, o)
	if err != nil {
		return nil, err
	}
	for _, k := range c.kernels {
		if err := c.try(ctx, k, nil); err != nil {
			return nil, err
		}
	}
	c.rank()
	if err := c.tryTrends(ctx); err != nil {
		return nil, err
	}
	if err := c.tryLogarithm(ctx); err != nil {
		return nil, err
	}
	return c.finish(ctx)
}

// newComparison reads the kernels, and begins with the first trend and with y, or with log y if only that is allowed.
func newComparison(ctx context.Context, s *series.Series, o Options) (*comparison, error) {
	o.MaxExact = cmp.Or(o.MaxExact, 6000)
	o.RandomStarts = max(0, o.RandomStarts)
	kernels := make([]gppl.Kernel, len(o.Kernels))
	var untrained []gppl.Model
	for i, name := range o.Kernels {
		k, err := ParseKernel(name)
		if err != nil {
			return nil, err
		}
		kernels[i] = k
		untrained = append(untrained, gppl.Model{Kernel: k, Noise: 1}.FixRedundant())
	}
	if err := checkPriors(untrained, o.Priors); err != nil {
		return nil, err
	}
	always := o.alwaysLog(s)
	c := &comparison{
		trainer: trainer{options: o, kernels: kernels, memory: o.EngineMemory(s),
			progress: &progress{to: o.Progress, began: time.Now(), count: len(kernels)}},
		series: s, bothScales: !always && o.mayBeLog(s),
		outcome: &Outcome{Chosen: ByBIC}, models: map[string]trained{},
	}
	c.count += len(c.otherTrends())
	looks := 1
	if c.bothScales {
		c.count++
		looks = 3
	}
	c.beside = float64(looks)*lookSeconds(len(s.X)) + checkSeconds(len(s.X))
	if err := c.look(ctx, s, always); err != nil {
		return nil, err
	}
	if err := c.setTrend(o.Trend); err != nil {
		return nil, err
	}
	if c.omega != nil {
		_, c.outcome.Projections = c.omega.Dims()
	}
	return c, nil
}

// try trains a kernel with the present trend on the present scale. A kernel that cannot be trained is kept with its error; try
// returns one only if ctx ends.
func (c *comparison) try(ctx context.Context, k gppl.Kernel, starts []gppl.Model) error {
	began, before := time.Now(), c.evaluations
	out := Candidate{kind: asked{}, Kernel: KernelName(k), Trend: c.trend, Log: c.log, Scale: c.series.LogName()}
	c.candidate = out.Name()
	r, err := c.train(ctx, k, starts)
	if ctx.Err() != nil {
		return fmt.Errorf("forecast: training %s: %w", out.Name(), ctx.Err())
	}
	if err != nil {
		c.failures = append(c.failures, err)
		out.Error = err.Error()
	} else {
		out.NLL = r.Value + r.LogPrior + c.offset
		out.describe(r.Result, c.data.Len())
		out.setDoubts(r.Result)
		out.Search = r.found.Search.String()
		c.models[out.Name()] = r
	}
	out.Evaluations, out.Seconds = c.evaluations-before, time.Since(began).Seconds()
	c.outcome.Candidates = append(c.outcome.Candidates, out)
	c.index++
	return nil
}

// best returns the best candidate so far, trained; ok is false if it could not be trained.
func (c *comparison) best() (r trained, ok bool) {
	r, ok = c.models[c.outcome.Candidates[0].Name()]
	return r, ok
}

// tryTrends tries the best kernel with the other trends.
func (c *comparison) tryTrends(ctx context.Context) error {
	for _, trend := range c.otherTrends() {
		best, ok := c.best()
		if !ok {
			break
		}
		if err := c.setTrend(trend); err != nil {
			return err
		}
		if err := c.try(ctx, best.Model.Kernel, []gppl.Model{best.Model}); err != nil {
			return err
		}
	}
	c.rank()
	return nil
}

// tryLogarithm tries the best kernel, with its trend, on the logarithm.
func (c *comparison) tryLogarithm(ctx context.Context) error {
	best, ok := c.best()
	if !ok || !c.bothScales {
		return nil
	}
	searched := c.found[KernelName(best.Model.Kernel)]
	if err := c.look(ctx, c.series, true); err != nil {
		return err
	}
	if err := c.setTrend(c.outcome.Candidates[0].Trend); err != nil {
		return err
	}
	c.carry(ctx, best, searched)
	if err := c.try(ctx, best.Model.Kernel, []gppl.Model{best.Model}); err != nil {
		return err
	}
	c.rank()
	return nil
}

// carried is the least number of evaluations that a training must be able to take, where that on the other scale ended, to begin
// there.
const carried = 30

// carry lets training on this scale begin at what the search on the other scale found, in series where a search takes only parts
// of the data. If evaluations take so long where the other training ended that this one would end too early, this scale is
// searched as well.
func (c *comparison) carry(ctx context.Context, on trained, searched []*auto.Starts) {
	if c.data.Len() <= searchedWhole {
		return
	}
	seconds, err := c.cost(on.Model)
	if err != nil {
		return // training reports it
	}
	if n, err := c.afforded(seconds); err != nil || n < carried {
		return
	}
	var found []*auto.Starts
	for _, s := range searched {
		found = append(found, s.On(ctx, c.data))
	}
	c.found[KernelName(on.Model.Kernel)] = found
}

// finish returns the outcome with the best candidate.
func (c *comparison) finish(ctx context.Context) (*Outcome, error) {
	out := c.outcome
	best := &out.Candidates[0]
	if best.Error != "" {
		if limit := firstLimit(c.failures); limit != nil {
			return nil, limit
		}
		return nil, fmt.Errorf("forecast: no candidate could be trained; %s: %s", best.Name(), best.Error)
	}
	if best.Log != c.log {
		if err := c.look(ctx, c.series, best.Log); err != nil {
			return nil, err
		}
	}
	out.Scaling, out.Log, out.Trained = c.scaling, c.log, c.data.Len()
	out.Result = plain(c.models[best.Name()].Result)
	alone := best.Averaged(out.Result.Model, out.Log, 1)
	out.Averaged = []*Averaged{&alone}
	return out, nil
}

// rank sorts the candidates by BIC, failures last.
func (c *comparison) rank() {
	slices.SortStableFunc(c.outcome.Candidates, func(p, q Candidate) int { return p.before(q, p.BIC, q.BIC) })
}

// firstLimit returns the first error about a limit of memory or time; nil if there is none.
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

// trainer trains one candidate after the other on the same data.
type trainer struct {
	options   Options
	kernels   []gppl.Kernel // the candidates
	data      gppl.Data
	log       bool
	scaling   dataset.Scaling   // of y, or of log y
	offset    float64           // added to the NLL of the standardised values to report it for y
	memory    gppl.Option       // what engines may take
	omega     *gppl.Projection  // nil: exact
	engines   map[string]string // of a long series, by the name of the kernel; nil: the cheapest
	trend     string
	mean      gppl.Mean                 // of that trend
	found     map[string][]*auto.Starts // of the searches on the present scale, by the name of the kernel
	reached   map[string]float64        // the lowest loss on the present scale with any trend, by the name of the kernel
	searched  float64                   // predicted seconds of the search for the present candidate
	beside    float64                   // predicted seconds of everything but the training of candidates
	candidate string                    // being trained
	*progress
}

// look sets the scale on which the next candidates are trained, y or log y. The NLL is reported for y.
func (t *trainer) look(ctx context.Context, s *series.Series, log bool) error {
	v, err := NewYScale(s, 0, len(s.X), log)
	if err != nil {
		return err
	}
	t.log, t.scaling = log, v.Scaling
	t.found, t.reached = map[string][]*auto.Starts{}, map[string]float64{}
	if err := t.choose(ctx, v.Data, s.MemoryBytes()); err != nil {
		return err
	}
	t.offset = v.offsetOf(s.Y[len(s.X)-t.data.Len():])
	return nil
}

// loss returns the likelihood of d at m: the projected one if there are projections of it, otherwise the exact one.
func (t *trainer) loss(ctx context.Context, m gppl.Model, d gppl.Data) (gppl.Loss, error) {
	m.Mean = t.mean
	opts := []gppl.Option{t.memory}
	if d.Len() == t.data.Len() {
		if t.omega != nil {
			residual, err := gppl.NewResidual(ctx, m, t.data, t.omega, opts...)
			if err != nil {
				return nil, err
			}
			return auto.Within(residual, m, fallbackSeconds), nil
		}
		if engine, ok := t.engines[KernelName(m.Kernel)]; ok { // forced: the automatic choice may fall back on the dense engine
			opts = append(opts, gppl.WithEngine(engine))
		}
	}
	return auto.Likelihood(ctx, m, d, fallbackSeconds, opts...)
}

// setTrend sets the trend of the next candidates; auto begins with the linear one.
func (t *trainer) setTrend(trend string) (err error) {
	if t.trend = trend; cmp.Or(trend, "auto") == "auto" {
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
