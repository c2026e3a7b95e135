package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
)

const (
	// minGain is the evidence, in nats, that a further term must bring for the sum to grow further.
	minGain = 0.5

	// searchGradient is the largest derivative at which the training of a candidate ends, in nats for a step of scaledLog, 0.3 in
	// log θ: within some hundredths of a nat of the optimum.
	searchGradient = 0.05
	// lostNats is the error of a likelihood, in nats for each observation, above which it is useless: models differ by less.
	lostNats = 10

	// mostMembers is the largest number of models that are averaged.
	mostMembers = 5
)

// policy is the search that Fit runs.
type policy struct {
	task
	rows       int        // number of latest observations that the compared ones are taken from
	where      []place    // scales and trends with which proposals are tried
	scoreLimit float64    // a trial with a higher score on these scales is not examined further
	spent      float64    // predicted seconds of the trainings so far, at the cost of an evaluation where each ended
	untried    int        // proposals left out because the budget was spent
	some       []proposed // the only proposals; nil: the candidates make them
	*progress
}

// Find finds a model of the series: of any structure or, if kernels are named, with one of these.
func Find(ctx context.Context, s *series.Series, o Options) (*Outcome, error) {
	for _, name := range o.Kernels {
		if _, err := ParseKernel(name); err != nil {
			return nil, err
		}
	}
	p, err := searchPolicy(ctx, s, o, nil)
	if err != nil {
		return nil, err
	}
	return p.outcome()
}

// searchPolicy returns a finished search, with its trials ranked. If some is nil the candidates make the proposals.
func searchPolicy(ctx context.Context, s *series.Series, o Options, some []proposed) (*policy, error) {
	planner, err := NewPlanner(ctx, s, o)
	if err != nil {
		return nil, err
	}
	p := &policy{task: task{ctx: ctx, options: o, plan: planner.Plan(), series: s},
		some: some, progress: &progress{to: o.Progress}}
	p.rows = s.Reaching(p.plan.Every * p.plan.Searched)
	compared, from := s, len(s.X)-p.rows
	switch {
	case p.rows > p.plan.Every*p.plan.Searched:
		compared, from = s.Spread(from, p.plan.Searched), 0
	case p.plan.Every > 1:
		compared, from = s.Thinned(from, p.plan.Every), 0
	}
	p.extent = extentOf(compared, len(compared.X)-from, compared.Step)
	if err := p.setScales(compared, from); err != nil {
		return nil, err
	}
	if err := p.setSeasons(auto.LikelyPeriods); err != nil {
		return nil, err
	}
	if p.trends = []string{"none", "linear"}; cmp.Or(o.Trend, "auto") != "auto" {
		p.trends = []string{strings.ToLower(o.Trend)}
	}
	if len(o.Priors) > 0 && some == nil {
		models, err := p.reachable()
		if err == nil {
			err = checkPriors(models, o.Priors)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := p.search(); err != nil {
		return nil, err
	}
	if from > 0 || compared != s || s.Approximated() {
		if err := p.final(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// setScales sets the scales that the options allow, for the observations of a series from an index on.
func (p *policy) setScales(s *series.Series, from int) error {
	if y := s.Y[from:]; s.Counting == nil && slices.Min(y) == slices.Max(y) { // the latest are constant, so take all
		s, from = p.series, 0
	}
	p.scales, p.scoreLimit = nil, math.Inf(1)
	for _, log := range []bool{false, true} {
		if log && !p.options.mayBeLog(p.series) || !log && p.options.alwaysLog(p.series) {
			continue
		}
		v, err := NewYScale(s, from, len(s.X), log)
		switch {
		case err != nil:
		case v.counts != nil:
			v, err = p.piloted(v)
		case v.ends != nil:
			v, err = p.pilotedEnds(v, len(p.scales))
		}
		if err != nil {
			return err
		}
		p.scales = append(p.scales, v)
	}
	return nil
}

// setSeasons takes the seasons of the plan that the compared observations can show. If there are none, an uneven series gets the
// two highest peaks of its periodogram, and the evidence decides.
func (p *policy) setSeasons(find func(ctx context.Context, d gppl.Data, count int) ([]float64, error)) error {
	p.seasons = nil
	for _, s := range p.plan.seasons {
		if s.period > series.LeastPeriods*p.extent.step && s.period <= p.extent.span/series.LeastPeriods {
			p.seasons = append(p.seasons, s)
		}
	}
	if p.series.Even || len(p.plan.seasons) > 0 || len(p.series.X) < detectable || p.options.NoSeason {
		return nil
	}
	found, err := find(p.ctx, p.scales[0].Data, 2)
	for _, period := range found {
		if period > 2.5*p.extent.step {
			p.seasons = append(p.seasons, season{period: period})
		}
	}
	return err
}

// These are shares of the work in hundredths, as measured on series whose final training takes 0 to 60 %: the first candidates,
// those with one more term (about growthSteps on each scale), and the final training. Standard errors and draws take the rest.
const firstShare, growthShare, finalShare, growthSteps = 45, 15, 30, 4

// search compares structures on the latest observations.
func (p *policy) search() error {
	p.where = p.everywhere()
	if p.plan.effort.scouts && len(p.options.Kernels) == 0 && p.some == nil {
		if err := p.scout(); err != nil {
			return err
		}
	}
	first, err := p.proposals(false)
	if err != nil {
		return err
	}
	places := 0
	for _, q := range first {
		places += len(p.places(q.proposal))
	}
	p.upTo(firstShare, places)
	if err := p.try(first...); err != nil {
		return err
	}
	p.rank()
	if best := p.trials[0]; len(p.where) == 1 && best.Error == "" && len(p.options.Kernels) == 0 {
		p.where = p.everywhere()
		again := proposal{terms: slices.Clone(SumTerms(best.model.Kernel)), noise: best.model.Noise, fix: best.fix}
		if err := p.try(proposed{best.candidate, again}); err != nil {
			return err
		}
		p.rank()
	}
	p.upTo(firstShare+growthShare, len(p.scales)*growthSteps)
	for v := range p.scales { // only promising scales grow
		best := p.best(v)
		if best == nil || best.score > p.trials[0].score+p.plan.effort.margin() {
			continue
		}
		if err := p.grow(best); err != nil {
			return err
		}
	}
	p.rank()
	return nil
}

// proposals returns the proposals of the candidates with a fixed share or, if fixed is false, of those weighed by their evidence.
func (p *policy) proposals(fixed bool) (all []proposed, err error) {
	if p.some != nil {
		if fixed {
			return nil, nil
		}
		return p.some, nil
	}
	for _, c := range p.options.candidates() {
		if _, own := c.share(len(p.series.X)); own != fixed {
			continue
		}
		if named, ok := c.(asked); ok {
			p.report(named.kernel, "searching for starts", math.Inf(1))
		}
		proposals, err := c.propose(&p.task)
		if err != nil {
			return nil, err
		}
		for _, q := range proposals {
			all = append(all, proposed{c, q})
		}
	}
	return all, nil
}

// grow repeatedly adds the term that improves the evidence most, until none improves it by minGain nats.
func (p *policy) grow(best *trial) error {
	for terms := TermsOf(best.model.Kernel); len(terms) < p.plan.effort.terms; terms = TermsOf(best.model.Kernel) {
		from := len(p.trials)
		var longer []proposed
		for _, more := range (stationary{}).additions(&p.task, terms) {
			longer = append(longer, proposed{best.candidate, best.with(more)})
		}
		if err := p.try(longer...); err != nil {
			return err
		}
		var next *trial
		for _, t := range p.trials[from:] {
			if t.score < best.score-minGain && (next == nil || t.score < next.score) {
				next = t
			}
		}
		if next == nil {
			return nil
		}
		best = next
	}
	return nil
}

// with proposes a model of the same candidate and place with one more term.
func (t *trial) with(more gppl.Kernel) proposal {
	q := proposal{terms: append(TermsOf(t.model.Kernel), more), noise: t.model.Noise,
		only: &place{scale: t.scale, trend: t.Trend}, fix: t.fix}
	if t.fix != nil { // a walk alone has no noise; beside more terms the noise is learnt
		q.noise = max(seasonalNoise, q.noise)
	}
	return q
}

// reachable returns a model of each structure that the search may try.
func (p *policy) reachable() ([]gppl.Model, error) {
	var models []gppl.Model
	for _, name := range p.options.Kernels {
		models = append(models, askedModel(name))
	}
	if models != nil {
		return models, nil
	}
	var names []string
	var visit func(terms []gppl.Kernel)
	visit = func(terms []gppl.Kernel) {
		k := SumOf(terms)
		name := KernelName(k)
		if slices.Contains(names, name) {
			return
		}
		names = append(names, name)
		models = append(models, p.hold(gppl.Model{Kernel: k, Noise: 1}))
		if terms = TermsOf(k); len(terms) < p.plan.effort.terms {
			for _, more := range (stationary{}).additions(&p.task, terms) {
				visit(append(slices.Clone(terms), more))
			}
		}
	}
	first, err := p.proposals(false)
	for _, q := range first {
		visit(q.terms)
	}
	return models, err
}

// best returns the best trial of a scale so far whose sum may grow; nil if none could be trained.
func (p *policy) best(v int) *trial {
	var best *trial
	for _, t := range p.trials {
		if t.scale == v && t.Error == "" && t.candidate.grown() && (best == nil || t.score < best.score) {
			best = t
		}
	}
	return best
}

// everywhere returns all scales with all trends.
func (p *policy) everywhere() (all []place) {
	for v := range p.scales {
		for _, trend := range p.trends {
			all = append(all, place{scale: v, trend: trend})
		}
	}
	return all
}

// scout finds the scale and the trend that suit one sum best; the search begins with these. The sum has a season unless that is
// expensive.
func (p *policy) scout() error {
	terms := []gppl.Kernel{(stationary{}).signal("Matern32", p.extent, false)}
	if len(p.seasons) > 0 && !p.series.NeedsDense() {
		terms = append(terms, p.firstSeasons()...)
	}
	if err := p.try(proposed{stationary{}, proposal{terms: terms, noise: startNoise}}); err != nil {
		return err
	}
	p.rank()
	p.where = []place{{scale: p.trials[0].scale, trend: p.trials[0].Trend}}
	return nil
}

func (p *policy) rank() {
	slices.SortStableFunc(p.trials, func(a, b *trial) int { return a.before(b.Candidate, a.score, b.score) })
}

// outcome returns the best model with standard errors, and the models that forecasts average.
func (p *policy) outcome() (*Outcome, error) {
	best := p.trials[0]
	if best.Error != "" {
		return nil, fmt.Errorf("no candidate could be trained; %s: %w", best.Name(), errors.New(best.Error))
	}
	v := p.scales[best.scale]
	out := &Outcome{
		Scaling: v.Scaling, Trained: p.rows, Log: v.log, Effort: p.plan.Effort, Untried: p.untried,
	}
	for _, t := range p.trials {
		out.Candidates = append(out.Candidates, t.Candidate)
	}
	v, err := v.Linearised(p.ctx, best.model, best.shape) // the pseudo-observations at the best model are used from here on
	if err != nil {
		return nil, err
	}
	p.scales[best.scale] = v
	gradient := searchGradient
	if v.counts != nil { // the first evaluation ends the training, at the best parameters
		gradient = math.MaxFloat64
	}
	priors := p.beliefs(best.candidate, best.model, v)
	r, _, err := trainWithPriors(p.ctx, v, best.model, priors, p.extent.span, p.settings(best, v.Data.Len(), gppl.Settings{
		GradientTolerance: gradient, MaxEvaluations: p.plan.effort.evaluations, NoStandardErrors: p.options.origin,
	}))
	if err != nil {
		return nil, fmt.Errorf("training %s: %w", best.Name(), err)
	}
	if v.counts != nil {
		r.Value, r.Reason = best.NLL-r.LogPrior, "by Laplace's method"
	}
	out.Result = r
	var total float64
	for i, t := range p.trials {
		w := math.Exp(best.score - t.score)
		if t.Error != "" || i >= mostMembers || w < negligible {
			continue
		}
		model := t.model
		if i == 0 {
			model = r.Model
		}
		out.Averaged = append(out.Averaged,
			&Averaged{candidate: t.candidate, fix: t.fix, Model: model, Log: p.scales[t.scale].log, Weight: w, Shape: t.shape})
		total += w
	}
	for i, m := range out.Averaged {
		m.Weight /= total
		out.Candidates[i].Weight = m.Weight
	}
	if len(p.series.X) <= drawn && p.options.effort == nil {
		for i, m := range out.Averaged {
			if m.Weight < worthDrawing {
				continue
			}
			if err := p.draw(m, p.trials[i]); err != nil {
				return nil, err
			}
		}
	}
	return out, p.tryFixed(func(t *trial) { out.addFixed(t, len(p.series.X)) })
}

// tryFixed trains the candidates with a fixed share, and calls visit for those that take part in the forecast or could not be
// trained.
func (p *policy) tryFixed(visit func(*trial)) error {
	all, err := p.proposals(true)
	if err != nil {
		return err
	}
	for _, q := range all {
		t, err := p.trial(q.of, q.proposal, *q.only)
		if err == nil {
			err = p.train([]*trial{t})
		}
		if err != nil {
			return err
		}
		if t.Error != "" || q.of.takesPart(&p.task, t) {
			visit(t)
		}
	}
	return nil
}

// addFixed gives a candidate its fixed share of the forecast of n observations, and lists it after the other averaged candidates.
// If it could not be trained it gets no share, and the list shows its error.
func (out *Outcome) addFixed(t *trial, n int) {
	at := len(out.Averaged)
	if t.Error == "" {
		share, _ := t.candidate.share(n)
		for i, m := range out.Averaged {
			m.Weight *= 1 - share
			out.Candidates[i].Weight = m.Weight
		}
		t.Weight = share
		out.Averaged = append(out.Averaged,
			&Averaged{candidate: t.candidate, Model: t.model, Log: t.Log, Weight: share, Shape: t.shape})
	}
	out.Candidates = slices.Insert(out.Candidates, at, t.Candidate)
}

const (
	// drawn is the largest number of observations for which forecasts also average over the parameters.
	drawn = 300
	// drawCount is the number of importance-weighted draws of the parameters of one model; drawnModels of them are kept.
	drawCount, drawnModels = 40, 10
	// worthDrawing is the least weight in the average for which the parameters of a model are drawn.
	worthDrawing = 0.2
)

// draw samples the parameters of an averaged model: a short series does not determine them well, and bands with known parameters
// are too narrow. If its draws are unreliable the model keeps the learnt values.
func (p *policy) draw(m *Averaged, t *trial) error {
	v, err := p.scales[t.scale].Linearised(p.ctx, m.Model, m.Shape)
	if err != nil {
		return err
	}
	exact, err := gppl.NewExact(p.ctx, m.Model, v.Data, gppl.WithTolerance(trainTolerance), p.options.EngineMemory(p.series))
	if err != nil {
		return err
	}
	loss, err := gppl.NewMAP(exact, p.beliefs(m.candidate, m.Model, v).list(exact.Params(), false)...)
	if err != nil {
		return err
	}
	r := &gppl.Result{Model: m.Model, Starts: []gppl.StartResult{{Theta: m.Model.Values()}}}
	u, err := draws.NewUncertain(p.ctx, loss, r,
		draws.UncertainSettings{Draws: drawCount, Models: drawnModels, Seed: p.options.Seed + 1})
	if err != nil {
		return err
	}
	if u.Fallback == "" {
		m.Draws = u.Models
	}
	return nil
}

// piloted linearises the observations at a rough signal learnt from them, so that all structures are compared with one Gaussian
// approximation.
func (p *policy) piloted(v YScale) (YScale, error) {
	c := v.counts
	mean, err := policyMean(slopeOf, "linear", c.raw.X)
	if err != nil {
		return v, err
	}
	m := gppl.Model{Kernel: (stationary{}).signal("Laplace", p.extent, false), Noise: startNoise, Mean: mean}
	if !c.of.Varies() {
		m.Noise = NoVariation
		m = m.Fix(gppl.NoiseName)
	}
	loss, err := c.loss(p.ctx, scaled(m, p.extent.span, leastNoise), c.likelihood)
	if err != nil {
		return v, err
	}
	prior, err := withBeliefs(loss, withShape(beliefsOf(stationary{}.prior, m, p.extent, nil, 1), c.likelihood))
	if err != nil {
		return v, err
	}
	r, err := gppl.Fit(p.ctx, prior, nil,
		gppl.Settings{GradientTolerance: pilotGradient, MaxEvaluations: pilotEvaluations, NoStandardErrors: true})
	if err != nil {
		return v, fmt.Errorf("a first model of the counts: %w", err)
	}
	return v.Linearised(p.ctx, plain(r).Model, shapeIn(r))
}

// pilotedEnds returns censored values as Gaussian ones, at the best model of a scale so far. Before any, it trains a rough signal
// with the calendar's first season on them.
func (p *policy) pilotedEnds(v YScale, scale int) (YScale, error) {
	for _, t := range p.trials {
		if t.scale == scale && t.Error == "" {
			m := t.model
			var err error
			if m.Mean, err = policyMean(t.candidate.slope, t.Trend, v.Data.X); err != nil {
				return v, err
			}
			return v.propagated(p.ctx, m)
		}
	}
	mean, err := policyMean(slopeOf, "linear", v.Data.X)
	if err != nil {
		return v, err
	}
	terms := []gppl.Kernel{(stationary{}).signal("Laplace", p.extent, false)}
	for _, s := range p.plan.seasons {
		if s.period > series.LeastPeriods*p.extent.step && s.period <= p.extent.span/series.LeastPeriods {
			terms = append(terms, (stationary{}).seasonal(s))
			break
		}
	}
	m := gppl.Model{Kernel: SumOf(terms), Noise: startNoise, Mean: mean}.FixRedundant()
	const rounds = 2 // rounds of propagation and training
	for range rounds {
		if v, err = v.propagated(p.ctx, m); err != nil {
			return v, fmt.Errorf("a first model of censored values: %w", err)
		}
		r, _, err := trainWithPriors(p.ctx, v, m, beliefsOf(stationary{}.prior, m, p.extent, nil, 1), p.extent.span,
			gppl.Settings{GradientTolerance: pilotGradient, MaxEvaluations: pilotEvaluations, NoStandardErrors: true})
		if err != nil {
			return v, fmt.Errorf("a first model of censored values: %w", err)
		}
		m = r.Model
	}
	return v.propagated(p.ctx, m)
}

// The pilot need not reach its optimum.
const (
	pilotGradient    = 0.5
	pilotEvaluations = 15
)
