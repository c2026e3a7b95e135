package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
)

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
	if p.options.Budget > 0 { // the cost of each determines whether the next is tried
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

// same reports whether another trial has the same structure and place.
func (t *trial) same(o *trial) bool {
	return o.scale == t.scale && o.Trend == t.Trend && o.structure == t.structure
}

// BudgetSpent explains why an analysis with untried models does no optional work.
const BudgetSpent = "the budget was used up by the fit"

// overspent reports whether the trainings have used up the budget and at least one has succeeded. Evaluations can cost far more
// than planned, for example by dense algebra where the noise vanishes. Costs are predicted, so the clock determines nothing.
func (p *policy) overspent() bool {
	budget := p.options.Budget.Seconds()
	return budget > 0 && p.spent > budget && slices.ContainsFunc(p.trials, func(t *trial) bool { return t.Error == "" })
}

// places returns the places where a proposal is to be tried.
func (p *policy) places(q proposal) (all []place) {
	if q.only != nil {
		return []place{*q.only}
	}
	return p.where
}

// trial returns a proposal to train at one place, with the mean of the policy if the place has none.
func (p *policy) trial(of candidate, q proposal, at place) (t *trial, err error) {
	v := p.scales[at.scale]
	if at.mean == nil {
		if at.mean, err = policyMean(of.slope, at.trend, v.Data.X); err != nil {
			return nil, err
		}
	}
	return &trial{
		Candidate: Candidate{
			candidate: of, Kernel: of.name(q.terms), Seasons: p.series.SeasonsOf(q.terms),
			Trend: at.trend, Log: v.log, Scale: p.series.LogName(),
		},
		scale: at.scale, structure: structure(of, q.terms), fix: q.fix, model: p.begin(q, at.mean), score: math.Inf(1),
	}, nil
}

// begin returns the model with which the training of a proposal begins.
func (p *policy) begin(q proposal, mean gppl.Mean) gppl.Model {
	m := p.hold(gppl.Model{Kernel: SumOf(q.terms), Noise: q.noise, Mean: mean})
	if q.fix != nil {
		m = q.fix(m)
	}
	return m
}

// structure names a sum of a candidate by its sorted terms and their periods; periods within 1 % count as equal.
func structure(of candidate, terms []gppl.Kernel) string {
	names := make([]string, len(terms))
	for i, t := range terms {
		names[i] = KernelName(t)
		for _, period := range series.PeriodsOf(t.Params()) {
			names[i] += fmt.Sprintf(" %.0f", 80*math.Log(period))
		}
	}
	slices.Sort(names)
	return fmt.Sprintf("%T ", of) + strings.Join(names, " + ")
}

// hold fixes the given periods, the variance of a white term (the noise replaces it), and all but one variance of a product.
func (p *policy) hold(m gppl.Model) gppl.Model {
	m = m.FixRedundant()
	at := 0
	params := m.Params()
	for _, term := range SumTerms(m.Kernel) {
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
	if c := p.series.Counting; c != nil && !c.Varies() {
		m.Noise = NoVariation
		m = m.Fix(gppl.NoiseName)
	}
	return m
}

// train trains trials on their scales, several at once, or takes their stored outcomes. The result is the same as if they were
// trained one after the other, since the evidence of each waits for those before it. If a model cannot be trained its trial says
// why. train returns an error only if ctx ends, or if a trial cannot be stored.
func (p *policy) train(all []*trial) error {
	errs := make([]error, len(all))
	weighed := make([]chan struct{}, len(all)+1) // the i-th is closed when the evidence of all trials before i is known
	for i := range weighed {
		weighed[i] = make(chan struct{})
	}
	close(weighed[0])
	parallel.Each(p.options.AtOnce(p.series, p.scales[0].Data.Len()), len(all), func(i int) {
		defer close(weighed[i+1])
		errs[i] = p.trainOne(all[i], weighed[i])
		<-weighed[i]
		p.spent += all[i].cost
		p.scoreLimit = min(p.scoreLimit, all[i].score+p.plan.effort.margin())
	})
	return cmp.Or(errs...)
}

// trainOne trains a trial. It computes the evidence when the channel turn is closed.
func (p *policy) trainOne(t *trial, turn <-chan struct{}) error {
	v := p.scales[t.scale]
	t.cost = 0
	defer func() { t.learnt = v.Data.Len(); p.advance() }()
	return p.learn(t, turn)
}

// learn trains a trial; if that fails, the trial says why. It returns an error only if ctx ends.
func (p *policy) learn(t *trial, turn <-chan struct{}) error {
	err := p.fill(t, turn)
	if p.ctx.Err() != nil {
		return fmt.Errorf("training %s: %w", t.Name(), p.ctx.Err())
	}
	if err != nil {
		t.Error, t.score = err.Error(), math.Inf(1)
	}
	return nil
}

// fill trains the model of a trial and fills in the trial.
func (p *policy) fill(t *trial, turn <-chan struct{}) error {
	began, v := time.Now(), p.scales[t.scale]
	m := auto.InSupport(t.model, PriorsOf(t.model, p.options.Priors, v.Scaling.Scale))
	priors := p.beliefs(t.candidate, m, v)
	priors.information = t.information(priors, m.Values(), v.Data.Len())
	var r *gppl.Result
	var shape float64
	var loss gppl.Loss
	for priors.leastNoise = leastNoise; ; priors.leastNoise *= moreNoise {
		var err error
		if r, shape, err = trainWithPriors(p.ctx, v, m, priors, p.extent.span, p.settings(t, v.Data.Len(), gppl.Settings{
			GradientTolerance: searchGradient, MaxEvaluations: p.plan.effort.evaluations, NoStandardErrors: true,
		})); err != nil {
			return err
		}
		loss, err = v.loss(p.ctx, r.Model, shape, gppl.WithTolerance(trainTolerance), p.options.EngineMemory(p.series))
		if err != nil {
			return err
		}
		if _, err = loss.ValueGrad(p.ctx, nil, r.Model.Values()); err != nil {
			return err
		}
		off := max(loss.Report().LastBound, loss.Report().LastInexact)
		if off <= lostNats*float64(v.Data.Len()) {
			break
		}
		if r.Model.Noise > 2*priors.leastNoise || priors.leastNoise > mostLeastNoise {
			return fmt.Errorf("the likelihood at the optimum is lost in rounding, by up to %.2g nats", off)
		}
	}
	odds := t.candidate.odds(m.Kernel)
	<-turn
	found, err := evidenceOf(p.ctx, loss, r.Model.Values(), priors, v.Data.Len(), p.scoreLimit-v.offset+odds)
	if err != nil {
		return err
	}
	nll := r.Value + r.LogPrior
	t.model, t.shape, t.score, t.curvature = r.Model, shape, found.nats+v.offset-odds, found.curvature
	t.Candidate.NLL, t.Candidate.Score, t.Candidate.Rough = nll+v.offset, t.score, !found.laplace
	t.describe(r, v.Data.Len())
	t.Evaluations += r.Evaluations
	t.cost = float64(r.Evaluations+evidenceEvaluations) * capability.Seconds(loss, r.Model.Values())
	t.Seconds += time.Since(began).Seconds()
	return nil
}

// trainWithPriors trains m, from its values, with priors. It returns a result whose model has the transforms of m, and the shape
// of the likelihood of counts; 0 if it has none.
func trainWithPriors(
	ctx context.Context, v YScale, m gppl.Model, priors beliefs, span float64, s gppl.Settings,
) (r *gppl.Result, shape float64, err error) {
	likelihood, err := v.trained(ctx, scaled(m, span, cmp.Or(priors.leastNoise, leastNoise)))
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
func (p *policy) beliefs(of candidate, m gppl.Model, v YScale) beliefs {
	b := beliefsOf(of.prior, m, p.extent, p.options.Priors, v.Scaling.Scale)
	for _, q := range m.Params() {
		if q.Role != gppl.RolePeriod || !q.IsFixed() {
			continue
		}
		switch i := slices.IndexFunc(p.seasons, func(s season) bool { return s.fixed && s.period == q.Value }); {
		case i >= 0 && p.seasons[i].shown: // the data chose the period, although it is held at a whole number of steps
			b.chosen += math.Log(max(1, p.extent.span/(2*p.extent.step)))
		case i >= 0 && p.seasons[i].faint:
			b.chosen += faintOdds
		}
	}
	if v.counts != nil && v.counts.trained {
		b = withShape(b, v.counts.likelihood)
	}
	return b
}

// settings returns the settings of a training on n observations. With a budget, an evaluation that takes much longer than planned
// counts as several. This happens where the noise vanishes and only dense algebra is left.
func (p *policy) settings(t *trial, n int, s gppl.Settings) gppl.Settings {
	if p.options.Budget > 0 {
		const longer = 8 // times as long
		s.EvaluationSeconds = longer * evaluationSeconds(n, toeplitzPairs(p.series, n))
	}
	return p.progress.settings(t.Name(), "training", s)
}

// information approximates the information of n observations at theta, in the log of all parameters, plus the information of
// their priors. Earlier training on other observations gave it for the parameters with priors; it is scaled to n, and 0 for
// other parameters. It is nil before any training.
func (t *trial) information(priors beliefs, theta []float64, n int) *mat.SymDense {
	free := priors.places()
	if t.curvature == nil || len(free) == 0 || t.curvature.SymmetricDim() != len(free) || len(priors.weak) != len(theta) {
		return nil
	}
	h := mat.NewSymDense(len(theta), nil)
	for a, i := range free {
		for b, j := range free[:a+1] {
			h.SetSym(i, j, float64(n)*(t.curvature.At(a, b)/float64(t.learnt)))
		}
		_, curvature, _ := priors.cost(i, theta[i])
		h.SetSym(i, i, h.At(i, i)+curvature)
	}
	return h
}
