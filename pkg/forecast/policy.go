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

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/workers"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/draws"
	"github.com/projected-likelihood/gppl/pkg/gppl/population"
)

const (
	// worthwhile is the evidence, in nats, that a further term must bring for the sum to go on growing.
	worthwhile = 0.5
	// hopeless: models of a scale, y or log y, or of a kind are given up if their best is this many nats behind the best of all.
	hopeless = 6
	// searchGradient ends the training of a candidate within some hundredths of a nat of the optimum, for steps of 0.3 in log θ.
	searchGradient = 0.05
	// lostNats is the error of a likelihood, for each observation, from which it tells nothing: models differ by less.
	lostNats = 10
	// negligible is the weight below which a candidate has no part in the forecast.
	negligible = 0.03
	// mostMembers is the largest number of models that are averaged.
	mostMembers = 5
)

// season is a period that terms may have.
type season struct {
	period float64
	fixed  bool // given, or the calendar's
}

// policy is the search that Fit runs if no kernels are named.
type policy struct {
	ctx        context.Context
	options    Options
	plan       Plan
	checkpoint *checkpoint // nil: candidates are not kept
	series     *Series
	scales     []yScale // the scales, y and log y, of the observations on which structures are compared
	extent     extent
	seasons    []season
	trends     []string
	where      []place // the scales and trends that a proposal is tried with
	trials     []*trial
	enough     float64 // the score from which a trial of these scales needs no further look
	spent      float64 // predicted seconds of the trainings so far, each at what an evaluation takes where it ended
	untried    int     // proposals that came once the budget was spent
	*progress
}

// trial is a candidate that was trained.
type trial struct {
	Candidate
	scale     int
	structure string                      // of its kind and terms
	fix       func(gppl.Model) gppl.Model // of its proposal
	model     gppl.Model                  // before training what it begins at
	shape     float64                     // of the likelihood of counts; 0 for none
	score     float64                     // negative log evidence of y, in nats; +Inf if it failed
	cost      float64                     // predicted seconds of the training, at what an evaluation takes where it ended
	told      *population.LogQuadratic    // what the likelihood tells of the parameters with priors; nil if that is not known
	shown     *mat.SymDense               // of that, second derivatives for each observation (eachShows)
}

// fitPolicy finds structure and parameters as Fit says.
func fitPolicy(ctx context.Context, s *Series, o Options) (*Analysis, error) {
	p, err := searchPolicy(ctx, s, o)
	if err != nil {
		return nil, err
	}
	return p.analysis()
}

// searchPolicy returns the trials of a search, the best first.
func searchPolicy(ctx context.Context, s *Series, o Options) (*policy, error) {
	p := &policy{ctx: ctx, options: o, plan: PlanFit(s, o), series: s, progress: &progress{to: o.Progress, began: time.Now()}}
	if o.Resume != "" {
		var err error
		if p.checkpoint, err = openCheckpoint(o.Resume, s); err != nil {
			return nil, err
		}
	}
	from := len(s.X) - p.plan.Searched
	p.extent = extent{s.Step, s.X[len(s.X)-1] - s.X[from]}
	if err := p.setScales(from); err != nil {
		return nil, err
	}
	p.setSeasons(auto.LikelyPeriods)
	if p.trends = []string{"none", "linear"}; cmp.Or(o.Trend, "auto") != "auto" {
		p.trends = []string{strings.ToLower(o.Trend)}
	}
	if len(o.Priors) > 0 {
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
	if from > 0 || s.Counting != nil {
		if err := p.final(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// setScales makes the scales that the options allow, for the observations from an index on.
func (p *policy) setScales(from int) error {
	if y := p.series.Y[from:]; p.series.Counting == nil && slices.Min(y) == slices.Max(y) { // the latest are constant: take all
		from = 0
	}
	p.scales, p.enough = nil, math.Inf(1)
	for _, log := range []bool{false, true} {
		if log && !p.options.mayBeLog(p.series) || !log && p.options.alwaysLog(p.series) {
			continue
		}
		v, err := newYScale(p.series, from, len(p.series.X), log)
		if err == nil && v.counts != nil {
			v, err = p.piloted(v)
		}
		if err != nil {
			return err
		}
		p.scales = append(p.scales, v)
	}
	return nil
}

// mayBeLog reports whether models of log y are tried: if --log asks for them, or leaves it open and all y are positive and tell log y from y.
// A prior of a variance is in the unit of y², so it implies that y is modelled.
func (o Options) mayBeLog(s *Series) bool {
	if o.alwaysLog(s) {
		return true
	}
	switch strings.ToLower(o.Log) {
	case "", "auto":
		return s.Counting == nil && positive(s.Y) && slices.Max(s.Y) > straight*slices.Min(s.Y) && !slices.ContainsFunc(o.Priors, ofVariance)
	}
	return false
}

// straight is the ratio of the largest to the least y up to which log y is a straight line in y, to 1.2 % of its range: models of either tell
// the same.
const straight = 1.1

// alwaysLog reports whether no models of y are tried: those of log y are asked for, or y has bounds.
func (o Options) alwaysLog(s *Series) bool {
	return s.Bounds != nil || strings.EqualFold(o.Log, "always")
}

// dense reports whether a series is long and its latest x are not regular, or its observations have errors of their own, so that most
// kernels take n³.
func (s *Series) dense() bool {
	n := len(s.X)
	return n > fewUneven && (s.Errors != nil || s.Counting != nil || !regular(s.X[max(0, n-efforts[standard].trained):]))
}

// setSeasons takes the periods asked for, or those of the calendar, or else the first two that are found in the data.
func (p *policy) setSeasons(find func(d gppl.Data, count int) []float64) {
	periods := p.options.Periods
	if len(periods) == 0 && !p.options.NoSeason {
		periods = p.series.calendarPeriods()
	}
	for _, period := range periods {
		if period > leastPeriods*p.extent.step && period <= p.extent.span/leastPeriods {
			p.seasons = append(p.seasons, season{period, true})
		}
	}
	const detectable = 24 // observations from which a period is looked for
	if len(periods) > 0 || len(p.series.X) < detectable || p.options.NoSeason {
		return
	}
	for _, period := range find(p.scales[0].data, 2) {
		if period > 2.5*p.extent.step {
			p.seasons = append(p.seasons, season{period, false})
		}
	}
}

// Shares of the work in hundredths, as measured on series of which the final training takes 0 to 60 %: the first candidates, those with a
// term more, of which growthSteps are expected on each scale, and the final training. The rest is for standard errors and draws.
const firstShare, growthShare, finalShare, growthSteps = 45, 15, 30, 4

// search compares structures on the latest observations.
func (p *policy) search() error {
	p.where = p.everywhere()
	if p.plan.effort.scouts && len(p.options.Kernels) == 0 {
		if err := p.scout(); err != nil {
			return err
		}
	}
	first, places := []proposed(nil), 0
	err := p.ofCandidates(false, func(of candidate, q proposal) error {
		first, places = append(first, proposed{of, q}), places+len(p.places(q))
		return nil
	})
	if err != nil {
		return err
	}
	p.upTo(firstShare, places)
	if err := p.try(first...); err != nil {
		return err
	}
	p.rank()
	if len(p.options.Kernels) > 0 { // of counts: they are as they were named
		return nil
	}
	if best := p.trials[0]; len(p.where) == 1 && best.Error == "" {
		p.where = p.everywhere()
		if err := p.try(proposed{best.kind, proposal{terms: slices.Clone(sumTerms(best.model.Kernel)), noise: best.model.Noise, fix: best.fix}}); err != nil {
			return err
		}
		p.rank()
	}
	p.upTo(firstShare+growthShare, len(p.scales)*growthSteps)
	for v := range p.scales { // only the scales that are of interest grow
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

// ofCandidates visits the proposals of the candidates whose share is fixed, or of those that the evidence weighs.
func (p *policy) ofCandidates(fixed bool, visit func(of candidate, q proposal) error) error {
	if len(p.options.Kernels) > 0 {
		return p.ofNamed(fixed, visit)
	}
	for _, c := range candidates {
		if _, own := c.share(len(p.series.X)); own != fixed {
			continue
		}
		proposals, err := c.propose(p)
		if err != nil {
			return err
		}
		for _, q := range proposals {
			if err := visit(c, q); err != nil {
				return err
			}
		}
	}
	return nil
}

// grow repeatedly adds the term that improves the evidence most, until none improves it by worthwhile nats.
func (p *policy) grow(best *trial) error {
	for terms := termsOf(best.model.Kernel); len(terms) < p.plan.effort.terms; terms = termsOf(best.model.Kernel) {
		from := len(p.trials)
		var longer []proposed
		for _, more := range (stationary{}).additions(p, terms) {
			longer = append(longer, proposed{best.kind, best.with(more)})
		}
		if err := p.try(longer...); err != nil {
			return err
		}
		var next *trial
		for _, t := range p.trials[from:] {
			if t.score < best.score-worthwhile && (next == nil || t.score < next.score) {
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

// with proposes a model of the same candidate and place, with a term more.
func (t *trial) with(more gppl.Kernel) proposal {
	q := proposal{terms: append(termsOf(t.model.Kernel), more), noise: t.model.Noise, only: &place{scale: t.scale, trend: t.Trend}, fix: t.fix}
	if t.fix != nil { // noise, which a walk alone has not, may be learnt from here
		q.noise = max(seasonalNoise, q.noise)
	}
	return q
}

// reachable returns a model of each structure that the search may try.
func (p *policy) reachable() ([]gppl.Model, error) {
	var models []gppl.Model
	var names []string
	var visit func(terms []gppl.Kernel)
	visit = func(terms []gppl.Kernel) {
		k := sumOf(terms)
		name := kernelName(k)
		if slices.Contains(names, name) {
			return
		}
		names = append(names, name)
		models = append(models, p.hold(gppl.Model{Kernel: k, Noise: 1}))
		if terms = termsOf(k); len(terms) < p.plan.effort.terms {
			for _, more := range (stationary{}).additions(p, terms) {
				visit(append(slices.Clone(terms), more))
			}
		}
	}
	err := p.ofCandidates(false, func(_ candidate, q proposal) error {
		visit(q.terms)
		return nil
	})
	return models, err
}

// best returns the best candidate of a scale so far that may grow; nil if none could be trained.
func (p *policy) best(v int) *trial {
	var best *trial
	for _, t := range p.trials {
		if t.scale == v && t.Error == "" && t.kind.grown() && (best == nil || t.score < best.score) {
			best = t
		}
	}
	return best
}

// proposed is a proposal of a candidate.
type proposed struct {
	of candidate
	proposal
}

// try trains proposals wherever they are to be tried, unless that was done before. It returns the errors of train.
func (p *policy) try(all ...proposed) error {
	var batch []*trial
	for _, q := range all {
		for _, at := range p.places(q.proposal) {
			t, err := p.trial(q.of, q.proposal, at)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(p.trials, t.same) || slices.ContainsFunc(batch, t.same) {
				continue
			}
			batch = append(batch, t)
		}
	}
	each := len(batch)
	if p.options.Budget > 0 { // what one has cost decides whether the next is tried
		each = 1
	}
	for some := range slices.Chunk(batch, max(1, each)) {
		if p.overspent() {
			p.untried += len(some)
			continue
		}
		if err := p.train(some); err != nil {
			return err
		}
		p.trials = append(p.trials, some...)
	}
	return nil
}

// same reports whether another trial is of the same structure, at the same place.
func (t *trial) same(o *trial) bool {
	return o.scale == t.scale && o.Trend == t.Trend && o.structure == t.structure
}

// budgetSpent is why an analysis with models that were not tried does no more than it must.
const budgetSpent = "the budget was used up by the fit"

// overspent reports whether the trainings have used up the budget, and at least one has succeeded. Evaluations can cost far more than planned:
// where the noise vanishes, only dense algebra is left. Costs are predicted, so that the clock decides nothing.
func (p *policy) overspent() bool {
	budget := p.options.Budget.Seconds()
	return budget > 0 && p.spent > budget && slices.ContainsFunc(p.trials, func(t *trial) bool { return t.Error == "" })
}

// places returns where a proposal is to be tried.
func (p *policy) places(q proposal) (all []place) {
	if q.only != nil {
		return []place{*q.only}
	}
	return p.where
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

// scout finds the scale and the trend with which the search begins: the best of one sum, which has a season if there is one to try that
// costs little.
func (p *policy) scout() error {
	terms := []gppl.Kernel{(stationary{}).signal("Matern32", p.extent, false)}
	if len(p.seasons) > 0 && !p.series.dense() {
		terms = append(terms, (stationary{}).seasonal(p.seasons[0]))
	}
	if err := p.try(proposed{stationary{}, proposal{terms: terms, noise: startNoise}}); err != nil {
		return err
	}
	p.rank()
	p.where = []place{{scale: p.trials[0].scale, trend: p.trials[0].Trend}}
	return nil
}

// trial returns a proposal to train at one place, with the mean of the policy if the place has none.
func (p *policy) trial(of candidate, q proposal, at place) (t *trial, err error) {
	v := p.scales[at.scale]
	if at.mean == nil {
		if at.mean, err = policyMean(of, at.trend, v.data.X); err != nil {
			return nil, err
		}
	}
	return &trial{
		Candidate: Candidate{kind: of, Kernel: of.name(q.terms), Seasons: p.series.seasonsOf(q.terms), Trend: at.trend, Log: v.log, Scale: p.series.logName()},
		scale:     at.scale, structure: structure(of, q.terms), fix: q.fix, model: p.begin(q, at.mean), score: math.Inf(1),
	}, nil
}

// begin returns the model that the training of a proposal begins at.
func (p *policy) begin(q proposal, mean gppl.Mean) gppl.Model {
	m := p.hold(gppl.Model{Kernel: sumOf(q.terms), Noise: q.noise, Mean: mean})
	if q.fix != nil {
		m = q.fix(m)
	}
	return m
}

// structure names a sum of a candidate by its terms and their periods, independent of the order of terms; periods within 5 % count as equal.
func structure(of candidate, terms []gppl.Kernel) string {
	names := make([]string, len(terms))
	for i, t := range terms {
		names[i] = kernelName(t)
		for _, period := range periodsOf(t.Params()) {
			names[i] += fmt.Sprintf(" %.0f", 20*math.Log(period))
		}
	}
	slices.Sort(names)
	return fmt.Sprintf("%T ", of) + strings.Join(names, " + ")
}

// hold fixes the given periods, the variance of a white term (the noise of the model replaces it), and all but one variance of a
// product.
func (p *policy) hold(m gppl.Model) gppl.Model {
	m = m.FixRedundant()
	at := 0
	params := m.Params()
	for _, term := range sumTerms(m.Kernel) {
		_, white := term.(gppl.White)
		for range term.Params() {
			q := params[at]
			given := slices.ContainsFunc(p.seasons, func(s season) bool { return s.fixed && s.period == q.Value })
			if white || q.Role == gppl.RolePeriod && given {
				m = m.Fix(q.Name)
			}
			at++
		}
	}
	if c := p.series.Counting; c != nil && !c.varies() {
		m.Noise = noVariation
		m = m.Fix(gppl.NoiseName)
	}
	return m
}

// train trains trials on their scales, as many at once as there are processors, or takes those that were kept. What comes out is what training one
// after the other would give: the evidence of each waits for those before it. A model that cannot be trained is not an error: the trial says why.
// train returns an error if ctx ends, or if a trial cannot be kept.
func (p *policy) train(all []*trial) error {
	errs := make([]error, len(all))
	weighed := make([]chan struct{}, len(all)+1) // the evidence of those before an index is known
	for i := range weighed {
		weighed[i] = make(chan struct{})
	}
	close(weighed[0])
	workers.Each(atOnce(p.scales[0].data.Len()), len(all), func(i int) {
		defer close(weighed[i+1])
		errs[i] = p.trainOne(all[i], weighed[i])
		<-weighed[i]
		p.spent += all[i].cost
		p.enough = min(p.enough, all[i].score+p.plan.effort.margin())
	})
	return cmp.Or(errs...)
}

// trainOne trains a trial, whose turn it is to be weighed once a channel is closed.
func (p *policy) trainOne(t *trial, turn <-chan struct{}) error {
	v := p.scales[t.scale]
	t.cost = 0
	defer func() {
		t.shown = eachShows(t.told, p.beliefs(t.kind, t.Trend, t.model, v), v.data.Len())
		p.advance()
	}()
	if p.checkpoint == nil {
		return p.learn(t, turn)
	}
	parts := []any{v.log, v.data.Len(), p.extent.span, p.plan.effort.evaluations, t.Name(), t.Evaluations, t.model, p.options.Priors}
	if v.counts != nil {
		parts = append(parts, v.counts.compared, v.counts.trained, v.data.Y)
	}
	if p.options.Shared != nil {
		parts = append(parts, p.options.Shared)
	}
	if p.series.Shifts != nil {
		parts = append(parts, p.series.Shifts)
	}
	key := checksum(parts...)
	if k, ok := p.checkpoint.kept(key); ok {
		k.Candidate.kind = t.kind
		t.Candidate, t.model, t.score, t.shape, t.cost, t.told = k.Candidate, k.Model, k.Score, k.Shape, k.Cost, k.Told.quadratic()
		return nil
	}
	if err := p.learn(t, turn); err != nil || t.Error != "" {
		return err
	}
	return p.checkpoint.keep(key, finishedTrial{t.Candidate, t.model, t.score, t.shape, t.cost, keptTold(t.told)})
}

// learn trains a trial; where it cannot be trained, the trial says why. It returns an error if ctx ends.
func (p *policy) learn(t *trial, turn <-chan struct{}) error {
	err := p.fill(t, turn)
	if p.ctx.Err() != nil {
		return fmt.Errorf("forecast: training %s: %w", t.Name(), p.ctx.Err())
	}
	if err != nil {
		t.Error, t.score = err.Error(), math.Inf(1)
	}
	return nil
}

// fill trains the model of a trial and fills in the trial.
func (p *policy) fill(t *trial, turn <-chan struct{}) error {
	began, v := time.Now(), p.scales[t.scale]
	m := auto.InSupport(t.model, priorsOf(t.model, p.options.Priors, v.scaling.Scale))
	priors := p.beliefs(t.kind, t.Trend, m, v)
	priors.information = priors.informationOf(t.shown, m.Values(), v.data.Len())
	r, shape, err := trainWithPriors(p.ctx, v, m, priors, p.extent.span, p.settings(t, v.data.Len(), gppl.Settings{
		GradientTolerance: searchGradient, MaxEvaluations: p.plan.effort.evaluations, NoStandardErrors: true,
	}))
	if err != nil {
		return err
	}
	loss, err := v.loss(p.ctx, r.Model, shape, gppl.WithTolerance(trainTolerance), p.options.engineMemory(p.series))
	if err != nil {
		return err
	}
	if _, err := loss.ValueGrad(nil, r.Model.Values()); err != nil {
		return err
	}
	if off := max(loss.Report().LastBound, loss.Report().LastInexact); off > lostNats*float64(v.data.Len()) {
		return fmt.Errorf("forecast: the likelihood at the optimum is lost in rounding, by up to %.2g nats", off)
	}
	odds := t.kind.odds(m.Kernel) + priors.odds
	<-turn
	score, laplace, told, err := evidence(loss, r.Model.Values(), priors, v.data.Len(), p.enough-v.offset+odds)
	if err != nil {
		return err
	}
	nll := r.Value + r.LogPrior
	t.model, t.shape, t.score, t.told = r.Model, shape, score+v.offset-odds, told
	t.Candidate.NLL, t.Candidate.Score, t.Candidate.Rough = nll+v.offset, t.score, !laplace
	t.describe(r, v.data.Len())
	t.Evaluations += r.Evaluations
	t.cost = float64(r.Evaluations+evidenceEvaluations) * gppl.Seconds(loss, r.Model.Values())
	t.Seconds += time.Since(began).Seconds()
	return nil
}

// slowest is the number of seconds that an evaluation may take whatever it takes at the start.
const slowest = 1

// trainWithPriors trains m, from its values, with priors, and returns a result whose model has the transforms of m, and the shape of the
// likelihood of counts; 0 if it has none.
func trainWithPriors(ctx context.Context, v yScale, m gppl.Model, priors beliefs, span float64, s gppl.Settings) (r *gppl.Result, shape float64, err error) {
	likelihood, err := v.trained(ctx, scaled(m, span))
	if err != nil {
		return nil, 0, err
	}
	loss, err := withBeliefs(likelihood, priors)
	if err != nil {
		return nil, 0, err
	}
	if priors.information != nil {
		s.Guide = guide{loss, priors.information}
	}
	if r, err = gppl.Fit(ctx, loss, nil, s); err != nil {
		return nil, 0, err
	}
	if v.counts != nil {
		if shape = shapeIn(r); shape == 0 {
			shape = shapeOf(v.counts.likelihood)
		}
	}
	return plain(r), shape, nil
}

// beliefs returns the priors of a model m of a candidate, on a scale.
func (p *policy) beliefs(of candidate, trend string, m gppl.Model, v yScale) beliefs {
	b := p.weakBeliefs(of, m, v)
	p.share(of, trend, v.log, m, &b)
	return b
}

// weakBeliefs returns them without what the series of a panel share.
func (p *policy) weakBeliefs(of candidate, m gppl.Model, v yScale) beliefs {
	b := beliefsOf(of, m, p.extent, p.options.Priors, v.scaling.Scale)
	if v.counts != nil && v.counts.trained {
		b = withShape(b, v.counts.likelihood)
	}
	return b
}

// settings are those of a training on n observations. Within a budget an evaluation that is much dearer than planned, as by dense algebra where
// the noise has vanished, counts as several.
func (p *policy) settings(t *trial, n int, s gppl.Settings) gppl.Settings {
	if x := p.series.X; p.options.Budget > 0 {
		const dearer = 8
		s.EvaluationSeconds = dearer * evaluationSeconds(n, p.series.Errors == nil && regular(x[len(x)-n:]))
	}
	return p.progress.settings(t.Name(), "training", s)
}

func (p *policy) rank() {
	slices.SortStableFunc(p.trials, func(a, b *trial) int { return a.before(b.Candidate, a.score, b.score) })
}

// final trains the best candidates on more observations: on those that all of them take, and then, without the dear ones, on as many as
// the best takes.
func (p *policy) final() error {
	finalists := p.plan.effort.finalists
	if p.series.Counting != nil {
		finalists = min(finalists, countFinalists)
	}
	spent := p.overspent()
	if spent {
		finalists = 1
	}
	kept := slices.Clone(p.trials[:min(finalists, len(p.trials))])
	for _, t := range p.trials[len(kept):] { // few observations hardly tell y from log y, or what wanders from what returns slowly
		if !spent && t.score < kept[0].score+hopeless && !slices.ContainsFunc(kept, func(o *trial) bool { return o.scale == t.scale && o.kind == t.kind }) {
			kept = append(kept, t)
		}
	}
	p.upTo(firstShare+growthShare+finalShare, len(kept))
	n, err := p.learnable(kept)
	for {
		if err == nil {
			err = p.trainOn(n, kept)
		}
		best := p.trials[0]
		if err != nil || best.Error != "" {
			return err
		}
		learnt := n
		if n, err = p.learnable(p.trials[:1]); n < worthMore*learnt && err == nil {
			return nil
		}
		kept = p.trials
		if err == nil {
			err = p.leaveOut(kept, learnt, n)
		}
	}
}

// worthMore is how many times as many observations the best candidate must take for it to be trained once more, without those that do not.
const worthMore = 2

// LeftOut is the Status of a candidate that is too slow for as many observations as the best takes.
const LeftOut = "left out"

// leaveOut marks the candidates that do not take n observations, after all were trained on fewer.
func (p *policy) leaveOut(kept []*trial, learnt, n int) error {
	best := kept[0].score
	for _, t := range kept {
		if all, err := p.allAffordable([]*trial{t}, len(p.series.X)-n); err != nil || all || t.Error != "" {
			if err != nil {
				return err
			}
			continue
		}
		t.Status = LeftOut
		t.Error = fmt.Sprintf("it is too slow for %d observations, and was %.1f nats behind the best on the latest %d", n, t.score-best, learnt)
		t.score = math.Inf(1)
	}
	return nil
}

// trainOn trains candidates on the latest n observations and ranks them. Where the engines take many of an uneven series, the best is also
// tried with the seasons that only these show.
func (p *policy) trainOn(n int, kept []*trial) error {
	from := len(p.series.X) - n
	if err := p.setScales(from); err != nil {
		return err
	}
	p.extent.span = p.series.X[len(p.series.X)-1] - p.series.X[from]
	for i := range p.scales {
		if c := p.scales[i].counts; c != nil {
			c.compared, c.trained = true, true
		}
	}
	var sound []*trial
	var err error
	for _, t := range kept {
		if t.Error != "" {
			continue
		}
		if t.model.Mean, err = policyMean(t.kind, t.Trend, p.scales[t.scale].data.X); err != nil {
			return err
		}
		sound = append(sound, t)
	}
	if err := p.train(sound); err != nil {
		return err
	}
	p.trials = kept
	p.rank()
	if best := p.trials[0]; n > p.plan.Trained && best.Error == "" {
		p.seasons = nil
		p.setSeasons(auto.ClearPeriods)
		err = p.addSeasons()
	}
	return err
}

// addSeasons tries each further season, the likeliest first, beside the best candidate with which an evaluation takes no longer than it may.
func (p *policy) addSeasons() error {
	for _, s := range p.seasons {
		if slices.ContainsFunc(termsOf(p.trials[0].model.Kernel), func(t gppl.Kernel) bool { return hasSeason(t, s) }) {
			continue
		}
		for _, t := range p.trials {
			q, ok := p.withSeason(t, s)
			if !ok {
				continue
			}
			raises, err := p.raises(t, q)
			if err == nil && raises {
				err = p.try(proposed{t.kind, q})
			}
			if err != nil {
				return err
			}
			break
		}
		p.rank()
	}
	p.trials = p.trials[:min(p.plan.effort.finalists, len(p.trials))]
	return nil
}

// raises reports whether the last term of a proposal raises the likelihood of a trial at one of several variances before any training, which
// takes tens of evaluations. A rhythm that the trial has in other words hardly does, and where the likelihood cannot be evaluated none does.
func (p *policy) raises(t *trial, q proposal) (bool, error) {
	const much = 3 // nats: less than the parameters of a season cost in evidence
	v, last := p.scales[t.scale], len(q.terms)-1
	mean, err := policyMean(t.kind, t.Trend, v.data.X)
	if err != nil {
		return false, err
	}
	more := q.terms[last]
	q.terms = slices.Clone(q.terms)
	for _, share := range []float64{1, 0.1, 0.01} {
		theta := gppl.Values(more.Params())
		for _, i := range gppl.Amplitudes(more) {
			theta[i] *= share
		}
		q.terms[last] = more.WithParams(theta)
		m := p.begin(q, mean)
		loss, err := v.loss(p.ctx, m, t.shape, gppl.WithTolerance(trainTolerance), p.options.engineMemory(p.series))
		if err != nil {
			return false, err
		}
		nll, err := loss.ValueGrad(nil, m.Values())
		if p.ctx.Err() != nil {
			return false, p.ctx.Err()
		}
		if err == nil && nll < t.NLL-v.offset-much {
			return true, nil
		}
	}
	return false, nil
}

// withSeason proposes a trial with a season: of many harmonics or, where these take too long, of two.
func (p *policy) withSeason(t *trial, s season) (q proposal, ok bool) {
	if t.Error != "" || slices.ContainsFunc(termsOf(t.model.Kernel), func(k gppl.Kernel) bool { return hasSeason(k, s) }) {
		return q, false
	}
	// An evaluation with two harmonics may take dearer times what those of other candidates may: at most two seasons are tried.
	const dearer = 3
	v, m := p.scales[t.scale], t.model
	q = t.with((stationary{}).seasonal(s))
	if m.Kernel = sumOf(q.terms); p.seconds(m, v) <= p.allowed() {
		return q, true
	}
	q = t.with((stationary{}).turning(s))
	m.Kernel = sumOf(q.terms)
	return q, p.seconds(m, v) <= dearer*p.allowed()
}

// learnable returns the number of observations, the latest, on which candidates are trained at the end: those of the plan or, where x is
// uneven, as many more as the engines take in the time that the plan allows for dense algebra.
func (p *policy) learnable(kept []*trial) (int, error) {
	n := len(p.series.X)
	if !p.series.dense() {
		return p.plan.Trained, nil
	}
	if most := p.plan.effort.mostUneven; most > 0 {
		n = min(n, most)
	}
	for _, part := range unevenParts {
		if part = min(part, n); part <= p.plan.Trained {
			break
		}
		if all, err := p.allAffordable(kept, len(p.series.X)-part); all || err != nil {
			return part, err
		}
	}
	return p.plan.Trained, nil
}

// allAffordable reports whether an evaluation of each candidate, on the observations from an index on, is predicted to take no longer than
// the plan allows for.
func (p *policy) allAffordable(kept []*trial, from int) (bool, error) {
	for _, t := range kept {
		if t.Error != "" {
			continue
		}
		v, err := newYScale(p.series, from, len(p.series.X), p.scales[t.scale].log)
		if err != nil {
			return false, err
		}
		m := t.model
		if m.Mean, err = policyMean(t.kind, t.Trend, v.data.X); err != nil {
			return false, err
		}
		if !p.affordable(m, v) {
			return false, nil
		}
	}
	return true, nil
}

// affordable reports whether an evaluation of m is predicted to take no longer than the plan allows for.
func (p *policy) affordable(m gppl.Model, v yScale) bool { return p.seconds(m, v) <= p.allowed() }

// allowed is the time of an evaluation that the plan allows for, that of dense algebra.
func (p *policy) allowed() float64 { return evaluationSeconds(p.plan.Trained, false) }

// seconds predicts the time of an evaluation of m.
func (p *policy) seconds(m gppl.Model, v yScale) float64 {
	exact, err := gppl.NewExact(m, v.data, gppl.WithTolerance(trainTolerance))
	if err != nil {
		return math.Inf(1)
	}
	_, seconds := exact.Cost(m)
	if v.counts != nil {
		seconds *= newtonEvaluations
	}
	return seconds
}

// newtonEvaluations is about how many evaluations of a Gaussian likelihood one by Laplace's method takes.
const newtonEvaluations = 10

// analysis returns the best with standard errors, and the members of the average.
func (p *policy) analysis() (*Analysis, error) {
	best := p.trials[0]
	if best.Error != "" {
		return nil, fmt.Errorf("forecast: no candidate could be trained; %s: %w", best.Name(), errors.New(best.Error))
	}
	v := p.scales[best.scale]
	a := &Analysis{Series: p.series, Scaling: v.scaling, trained: v.data.Len(), Log: v.log, Chosen: ByEvidence, memory: p.options.Memory, Effort: p.plan.Effort, given: p.options.Priors, shared: p.options.Shared}
	a.Widen, a.Untried = a.ShortBands(), p.untried
	for _, t := range p.trials {
		a.Candidates = append(a.Candidates, t.Candidate)
	}
	v, err := v.linearised(p.ctx, best.model, best.shape) // from here on
	if err != nil {
		return nil, err
	}
	p.scales[best.scale] = v
	gradient := searchGradient
	if v.counts != nil { // at the best, where it stays
		gradient = math.MaxFloat64
	}
	r, _, err := trainWithPriors(p.ctx, v, best.model, p.beliefs(best.kind, best.Trend, best.model, v), p.extent.span, p.settings(best, v.data.Len(), gppl.Settings{
		GradientTolerance: gradient, MaxEvaluations: p.plan.effort.evaluations, NoStandardErrors: p.options.origin,
	}))
	if err != nil {
		return nil, fmt.Errorf("forecast: training %s: %w", best.Name(), err)
	}
	if v.counts != nil {
		r.Value, r.Reason = best.NLL-r.LogPrior, "by Laplace's method"
	}
	a.Result = r
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
		a.members = append(a.members, &member{kind: t.kind, model: model, log: p.scales[t.scale].log, weight: w, shape: t.shape})
		total += w
	}
	for i, m := range a.members {
		m.weight /= total
		a.Candidates[i].Weight = m.weight
	}
	if len(p.series.X) <= drawn && p.options.effort == nil {
		for i, m := range a.members {
			if m.weight < worthDrawing {
				continue
			}
			if err := p.draw(m, p.trials[i]); err != nil {
				return nil, err
			}
		}
	}
	return a, p.tryFixed(a.addFixed)
}

// tryFixed trains the candidates whose share is fixed, and visits those that have a part in the forecast or could not be trained.
func (p *policy) tryFixed(visit func(*trial)) error {
	return p.ofCandidates(true, func(of candidate, q proposal) error {
		t, err := p.trial(of, q, *q.only)
		if err == nil {
			err = p.train([]*trial{t})
		}
		if err == nil && (t.Error != "" || of.takesPart(p, t)) {
			visit(t)
		}
		return err
	})
}

// addFixed gives a candidate its fixed share of the forecast, and lists it after the other averaged candidates. One that could not be
// trained gets no share; the list shows its error.
func (a *Analysis) addFixed(t *trial) {
	at := len(a.members)
	if t.Error == "" {
		share, _ := t.kind.share(len(a.Series.X))
		for i, m := range a.members {
			m.weight *= 1 - share
			a.Candidates[i].Weight = m.weight
		}
		t.Weight = share
		a.members = append(a.members, &member{kind: t.kind, model: t.model, log: t.Log, weight: share, shape: t.shape})
	}
	a.Candidates = slices.Insert(a.Candidates, at, t.Candidate)
}

const (
	// drawn is the number of observations up to which forecasts average over the parameters too.
	drawn = 300
	// drawCount is the number of importance-weighted draws of the parameters of one model; drawnModels of them are kept.
	drawCount, drawnModels = 40, 10
	// worthDrawing is the weight in the average from which a model's parameters are drawn.
	worthDrawing = 0.2
)

// draw samples the parameters of a member: a short series does not determine them well, and a band that treats them as known is too
// narrow. A member whose draws cannot be trusted keeps the learnt values.
func (p *policy) draw(m *member, t *trial) error {
	v, err := p.scales[t.scale].linearised(p.ctx, m.model, m.shape)
	if err != nil {
		return err
	}
	exact, err := gppl.NewExact(m.model, v.data, gppl.WithTolerance(trainTolerance), p.options.engineMemory(p.series))
	if err != nil {
		return fmt.Errorf("forecast: %w", err)
	}
	loss, err := gppl.NewMAP(exact, p.beliefs(m.kind, t.Trend, m.model, v).list(exact.Params(), false)...)
	if err != nil {
		return fmt.Errorf("forecast: %w", err)
	}
	r := &gppl.Result{Model: m.model, Starts: []gppl.StartResult{{Theta: m.model.Values()}}}
	u, err := draws.NewUncertain(p.ctx, loss, r, draws.UncertainSettings{Draws: drawCount, Models: drawnModels, Seed: p.options.Seed + 1})
	if err != nil {
		return fmt.Errorf("forecast: %w", err)
	}
	if u.Fallback == "" {
		m.draws = u.Models
	}
	return nil
}
