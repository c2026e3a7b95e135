package search

import (
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// final trains the best candidates on as many observations as the slowest of them can take. It then leaves the slow ones out and
// trains on as many as the best can take.
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
	// Few observations hardly tell y from log y, or a series that wanders from one that returns slowly.
	underrepresented := func(t *trial) bool { // so few candidates of its scale are kept
		same := 0
		for _, o := range kept {
			if o.scale == t.scale {
				same++
			}
		}
		return same < finalists
	}
	grown := p.grown()
	for _, t := range p.trials[len(kept):] {
		near := t.score < kept[0].score+abandonNats &&
			!slices.ContainsFunc(kept, func(o *trial) bool { return o.scale == t.scale && o.candidate == t.candidate })
		if !spent && (near || grown && underrepresented(t)) {
			kept = append(kept, t)
		}
	}
	if len(p.options.Kernels) > 0 && !spent { // the user named these kernels, so all are compared
		kept = bestOfEach(p.trials)
	}
	p.upTo(firstShare+growthShare+finalShare, len(kept))
	if !spent {
		var err error
		if kept, err = p.widen(kept); err != nil {
			return err
		}
	}
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

// grown reports whether y has grown or fallen far more over all observations than over the compared ones, which then do not tell
// y from log y.
func (p *policy) grown() bool {
	const most, more = 100, 2 // the ratio of the largest to the smallest y; the factor between the logarithms of the two ratios
	y := p.series.Y
	if !positive(y) {
		return false
	}
	ratio := func(count int) float64 {
		latest := y[len(y)-min(count, len(y)):]
		return slices.Max(latest) / slices.Min(latest)
	}
	all, compared := ratio(len(y)), ratio(p.plan.Every*p.plan.Searched)
	return all > most && math.Log(all) > more*math.Log(compared)
}

// worthMore is the factor by which the observations must increase for the best to be trained once more, without slower ones.
const worthMore = 2

// LeftOut is the Status of a candidate that is too slow for the number of observations that the best takes.
const LeftOut = "left out"

// leaveOut marks the candidates that cannot take n observations, after all were trained on fewer.
func (p *policy) leaveOut(kept []*trial, learnt, n int) error {
	best := kept[0].score
	for _, t := range kept {
		if all, err := p.allAffordable([]*trial{t}, n); err != nil || all || t.Error != "" {
			if err != nil {
				return err
			}
			continue
		}
		t.Status = LeftOut
		t.Error = fmt.Sprintf("it is too slow for %d observations, and was %.1f nats behind the best on the latest %d",
			n, t.score-best, learnt)
		t.score = math.Inf(1)
	}
	return nil
}

// trainOn trains candidates on the latest n observations and ranks them. If those are at few places (Series.Reaching) it takes n
// of a longer stretch. If the engines take many observations of an uneven series, it also tries the best with the seasons that
// only these show.
func (p *policy) trainOn(n int, kept []*trial) error {
	p.rows = p.series.Reaching(n)
	if err := p.setScales(p.series, len(p.series.X)-p.rows); err != nil {
		return err
	}
	for i := range p.scales {
		var err error
		if p.scales[i], err = p.scales[i].ofSpread(p.series, p.rows, n); err != nil {
			return err
		}
	}
	p.extent = extentOf(p.series, p.rows, p.series.Step)
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
		if t.model.Mean, err = policyMean(t.candidate.slope, t.Trend, p.scales[t.scale].Data.X); err != nil {
			return err
		}
		sound = append(sound, t)
	}
	if err := p.train(sound); err != nil {
		return err
	}
	p.trials = kept
	p.rank()
	if best := p.trials[0]; n > p.plan.Trained && best.Error == "" && len(p.options.Kernels) == 0 {
		if err = p.setSeasons(auto.ClearPeriods); err == nil {
			err = p.addSeasons()
		}
	}
	if err != nil {
		return err
	}
	return p.dropSeasons()
}

// addSeasons tries each further season, the likeliest first, with the best candidate that then stays within the allowed time.
func (p *policy) addSeasons() error {
	for _, s := range p.seasons {
		if slices.ContainsFunc(TermsOf(p.trials[0].model.Kernel), func(t gppl.Kernel) bool { return p.hasSeason(t, s) }) {
			continue
		}
		for _, t := range p.trials {
			q, ok := p.withSeason(t, s)
			if !ok {
				continue
			}
			raises, err := p.raises(t, q)
			if err == nil && raises {
				err = p.try(proposed{t.candidate, q})
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

// raises reports whether the last term of a proposal raises the likelihood of a trial at one of several variances. The check
// saves a training, which takes tens of evaluations. A rhythm that the trial already has in another form hardly raises the
// likelihood. If it cannot be evaluated, the term does not raise it.
func (p *policy) raises(t *trial, q proposal) (bool, error) {
	const much = 3 // nats; the parameters of a season cost more in evidence
	last := len(q.terms) - 1
	more := q.terms[last]
	q.terms = slices.Clone(q.terms)
	for _, share := range []float64{1, 0.1, 0.01} {
		theta := gppl.Values(more.Params())
		for _, i := range (gppl.Model{Kernel: more}).Amplitudes() {
			theta[i] *= share
		}
		q.terms[last] = more.WithParams(theta)
		nll, err := p.untrained(t, q)
		if err != nil || nll < t.NLL-much {
			return err == nil, err
		}
	}
	return false, nil
}

// untrained returns the negative log likelihood of y, in nats, where the training of a proposal begins at the place of a trial;
// +Inf if it cannot be evaluated.
func (p *policy) untrained(t *trial, q proposal) (float64, error) {
	v := p.scales[t.scale]
	mean, err := policyMean(t.candidate.slope, t.Trend, v.Data.X)
	if err != nil {
		return 0, err
	}
	m := p.begin(q, mean)
	loss, err := v.loss(p.ctx, m, t.shape, gppl.WithTolerance(trainTolerance), p.options.EngineMemory(p.series))
	if err != nil {
		return 0, err
	}
	nll, err := loss.ValueGrad(p.ctx, nil, m.Values())
	if p.ctx.Err() != nil {
		return 0, p.ctx.Err()
	}
	if err != nil {
		return math.Inf(1), nil
	}
	return nll + v.offset, nil
}

// withSeason proposes a trial with a season: one of many harmonics or, if these take too long, of two.
func (p *policy) withSeason(t *trial, s season) (q proposal, ok bool) {
	if t.Error != "" || slices.ContainsFunc(TermsOf(t.model.Kernel), func(k gppl.Kernel) bool { return p.hasSeason(k, s) }) {
		return q, false
	}
	// At most two seasons are tried, so an evaluation with two harmonics may take longer than with other candidates.
	const longer = 3 // times as long
	v, m := p.scales[t.scale], t.model
	q = t.with((stationary{}).seasonal(s))
	if m.Kernel = SumOf(q.terms); p.seconds(m, v) <= p.allowed() {
		return q, true
	}
	q = t.with((stationary{}).turning(s))
	m.Kernel = SumOf(q.terms)
	return q, p.seconds(m, v) <= longer*p.allowed()
}

// learnable returns the number of latest observations on which candidates are trained at the end. It is the plan's number or, if
// x is uneven, as many more as the engines take in the time that the plan allows for dense algebra. Censored values keep the
// plan's number: each of their evaluations takes some ten, with variances.
func (p *policy) learnable(kept []*trial) (int, error) {
	n := len(p.series.X)
	if !p.series.NeedsDense() || p.series.Censored() {
		return p.plan.Trained, nil
	}
	if most := p.plan.effort.mostUneven; most > 0 {
		n = min(n, most)
	}
	for _, part := range unevenParts {
		if part = min(part, n); part <= p.plan.Trained {
			break
		}
		if all, err := p.allAffordable(kept, part); all || err != nil {
			return part, err
		}
	}
	return p.plan.Trained, nil
}

// allAffordable reports whether an evaluation of each candidate, on as many observations as trainOn(n), is predicted to stay
// within the time that the plan allows.
func (p *policy) allAffordable(kept []*trial, n int) (bool, error) {
	rows := p.series.Reaching(n)
	for _, t := range kept {
		if t.Error != "" {
			continue
		}
		v, err := NewYScale(p.series, len(p.series.X)-rows, len(p.series.X), p.scales[t.scale].log)
		if err == nil {
			v, err = v.ofSpread(p.series, rows, n)
		}
		if err != nil {
			return false, err
		}
		m := t.model
		if m.Mean, err = policyMean(t.candidate.slope, t.Trend, v.Data.X); err != nil {
			return false, err
		}
		if !p.affordable(m, v) {
			return false, nil
		}
	}
	return true, nil
}

// affordable reports whether an evaluation of m is predicted to stay within the time that the plan allows.
func (p *policy) affordable(m gppl.Model, v YScale) bool { return p.seconds(m, v) <= p.allowed() }

// allowed returns the time in seconds that the plan allows for an evaluation: the time of dense algebra.
func (p *policy) allowed() float64 { return evaluationSeconds(p.plan.Trained, math.Inf(1)) }

// seconds predicts the time of an evaluation of m.
func (p *policy) seconds(m gppl.Model, v YScale) float64 {
	exact, err := gppl.NewExact(p.ctx, m, v.Data, gppl.WithTolerance(trainTolerance))
	if err != nil {
		return math.Inf(1)
	}
	_, seconds := exact.Cost(m.Values())
	if v.counts != nil {
		seconds *= newtonEvaluations
	}
	return seconds
}

// bestOfEach returns the best trial of each candidate, the best first.
func bestOfEach(trials []*trial) (best []*trial) {
	for _, t := range trials {
		if !slices.ContainsFunc(best, func(o *trial) bool { return o.candidate == t.candidate }) {
			best = append(best, t)
		}
	}
	return best
}

// dropSeasons tries the best model without each of its seasons, as long as that has more evidence. A sum grows season by season
// on the latest observations, in the order of the calendar: the week that it takes from 400 days of weather need not be there
// once the year is in the model, too.
func (p *policy) dropSeasons() error {
	for {
		best := p.trials[0]
		without, err := p.withoutSeasons(best)
		if err == nil {
			err = p.try(without...)
		}
		p.rank()
		if err != nil || p.trials[0] == best {
			return err
		}
	}
}

// withoutSeasons proposes a trial without one of its seasons, for each whose removal costs little likelihood before any training.
// A season that forgets its shape within a period is none: signals that it lacks are proposed for each of these.
func (p *policy) withoutSeasons(t *trial) (all []proposed, err error) {
	const little = 20 // nats: a season has three parameters, which cost less in evidence, and training regains some
	terms := TermsOf(t.model.Kernel)
	if t.Error != "" || !t.candidate.grown() || len(terms) < 2 {
		return nil, nil
	}
	propose := func(terms []gppl.Kernel) proposed {
		return proposed{t.candidate, proposal{terms: terms, noise: t.model.Noise,
			only: &place{scale: t.scale, trend: t.Trend}, fix: t.fix}}
	}
	for i, term := range terms {
		if !hasPeriod(term) {
			continue
		}
		q := propose(slices.Delete(slices.Clone(terms), i, i+1))
		nll, err := p.untrained(t, q.proposal)
		if err != nil {
			return nil, err
		}
		if nll < t.NLL+little {
			all = append(all, q)
		}
		variance, lengthscale, ok := lastingOf(term)
		if !ok || lengthscale >= series.PeriodsOf(term.Params())[0] {
			continue
		}
		for _, signal := range []gppl.Kernel{
			gppl.Matern32{Variance: variance, Lengthscale: lengthscale},
			gppl.Laplace{Variance: variance, Lengthscale: lengthscale},
		} {
			name := KernelName(signal)
			if !slices.ContainsFunc(terms, func(k gppl.Kernel) bool { return KernelName(k) == name }) {
				other := slices.Clone(terms)
				other[i] = signal
				all = append(all, propose(other))
			}
		}
	}
	return all, nil
}

// lastingOf returns the variance of a season and the lengthscale over which its shape changes; ok is false for other terms.
func lastingOf(term gppl.Kernel) (variance, lengthscale float64, ok bool) {
	if season, ok := term.(gppl.LocPer); ok {
		return season.Variance, season.Lengthscale, true
	}
	if isWandering(term) {
		change, ok := term.(gppl.Product).Factors()[0].(gppl.Laplace)
		return change.Variance, change.Lengthscale, ok
	}
	return 0, 0, false
}
