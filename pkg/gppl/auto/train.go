package auto

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
	"github.com/projected-likelihood/gppl/pkg/gppl/prior"
	"github.com/projected-likelihood/gppl/pkg/gppl/transform"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// patience is how long, in seconds, an evaluation of the exact likelihood may take to settle doubts.
const patience = 10

// train trains from the present point and from any further starts. It returns the best
// result, and the nats by which it improves on the present point.
func (a *fitting) train(likelihood gppl.Loss) (best *gppl.Result, gain float64, err error) {
	loss, err := a.posterior(likelihood)
	if err != nil {
		return nil, 0, err
	}
	starts := a.next
	if len(a.result.Steps) > 0 {
		starts = append([]gppl.Model{a.at}, starts...)
	}
	a.next = nil
	stood := math.NaN()
	switch {
	case a.ctx.Err() != nil:
	case a.guide != nil && len(starts) > 1:
		starts = a.nearest(loss, starts)
	case len(starts) > fullTrainings:
		if v, err := loss.ValueGrad(a.ctx, nil, starts[0].Values()); err == nil {
			stood = v
		}
		starts = a.halve(loss, starts)
	}
	starts, a.sure = append(starts, a.sure...), nil
	var first error
	for _, start := range starts {
		// Starts are sorted: a later one must promise more than best.
		if a.guide != nil && best != nil && !(a.ranksWith(start, best) && a.promises(likelihood, start, best)) {
			continue
		}
		s := a.settings.Fit
		if a.guide == nil { // with a guide, the first of the starts is nearly always the only one that is trained
			s.NoStandardErrors = s.NoStandardErrors || len(starts) > 1
		}
		r, err := a.trainFor(loss, start, s.MaxEvaluations, s)
		if r != nil && math.IsNaN(stood) {
			stood = r.Trace[0].Value
		}
		if r != nil && (best == nil || r.Value < best.Value && a.periodsAllowed(r.Model)) {
			best = r
		}
		if a.ctx.Err() != nil {
			break
		}
		if err != nil && first == nil {
			first = err
		}
	}
	switch {
	case best == nil:
		return nil, 0, first
	case a.ctx.Err() != nil:
		return best, stood - best.Value, a.ctx.Err()
	case len(starts) > 1 && a.guide == nil:
		a.curve(loss, best)
	}
	return best, stood - best.Value, nil
}

// curve adds standard errors to a result without them, if training reached the optimum. They take two evaluations for each
// parameter, so only the best of several trainings has them.
func (a *fitting) curve(loss gppl.Loss, r *gppl.Result) {
	s := a.settings.Fit
	if _, projected := loss.(*gppl.Projected); projected || s.NoStandardErrors {
		return
	}
	if r.Status == gppl.Limited {
		r.Warnings = append(r.Warnings, "no standard errors: training ended before the optimum")
		return
	}
	if r.Status == gppl.Stalled { // the curvature may show that it did reach the optimum
		if again, _ := a.trainBy(loss, r.Model, s); again != nil && again.Value <= r.Value {
			*r = *again
		}
		return
	}
	at := make([]gppl.Param, len(r.Params))
	for i, p := range r.Params {
		at[i] = p.Param
		if at[i].Value = p.Value; p.AtBound {
			at[i].Transform = transform.Fixed{}
		}
	}
	s.Starts, s.MaxEvaluations = 1, 1 // training begins at the optimum
	there, err := gppl.Fit(a.ctx, loss, at, s)
	if err != nil {
		r.Warnings = append(r.Warnings, fmt.Sprintf("no standard errors: %v", err))
		return
	}
	for i, p := range there.Params {
		r.Params[i].StdErrLog, r.Params[i].StdErrPlace = p.StdErrLog, p.StdErrPlace
	}
	for _, w := range there.Warnings {
		if strings.HasPrefix(w, "no standard errors") {
			r.Warnings = append(r.Warnings, w)
		}
	}
}

// posterior returns a likelihood with the priors, or the likelihood itself if there are none.
func (a *fitting) posterior(likelihood gppl.Loss) (gppl.Loss, error) {
	if len(a.priors) == 0 {
		return likelihood, nil
	}
	return gppl.NewMAP(likelihood, a.priors...)
}

// priorsByName returns the priors of the settings for each parameter that has one. It returns an error that says what is wrong
// with them.
func (a *fitting) priorsByName() ([]gppl.ParamPrior, error) {
	if len(a.settings.Priors) == 0 {
		return nil, nil
	}
	exact, err := gppl.NewExact(a.ctx, a.starts[0], a.data)
	if err != nil {
		return nil, err
	}
	posterior, err := gppl.NewMAP(exact, a.settings.Priors...)
	if err != nil {
		return nil, err
	}
	return posterior.Priors(), nil
}

// InSupport returns m with each parameter outside the support of its prior, a gppl.Uniform of its name, moved to the middle of
// the support.
func InSupport(m gppl.Model, priors []gppl.ParamPrior) gppl.Model {
	if len(priors) == 0 {
		return m
	}
	params, theta := m.Params(), m.Values()
	for i, p := range params {
		for _, q := range priors {
			if u, ok := q.Prior.(prior.Uniform); ok && q.Name == p.Name && !(theta[i] > u.Lo && theta[i] < u.Hi) {
				theta[i] = 0.5 * (u.Lo + u.Hi)
			}
		}
	}
	return m.WithParams(theta)
}

// periodsAllowed reports whether every trained period lies in the range of the search.
func (a *fitting) periodsAllowed(m gppl.Model) bool {
	return a.longest == 0 || !slices.ContainsFunc(m.Params(), func(p gppl.Param) bool {
		return isPeriod(p) && !p.IsFixed() && !(p.Value >= a.shortest && p.Value <= a.longest)
	})
}

// halve trains each of several starts for a few evaluations and returns the points that the best of them reached, preceded by
// the earlier point.
func (a *fitting) halve(loss gppl.Loss, starts []gppl.Model) []gppl.Model {
	var tried []*gppl.Result
	for _, start := range starts {
		if r, _ := a.tryFrom(loss, start, firstSteps); r != nil {
			tried = append(tried, r)
		}
		if a.ctx.Err() != nil {
			break
		}
	}
	slices.SortStableFunc(tried, func(p, q *gppl.Result) int { return cmp.Compare(p.Value, q.Value) })
	var best []gppl.Model
	for i, r := range tried {
		// A start on its way to the point of another is no further start.
		if len(best) < fullTrainings && (i == 0 || r.Value-tried[i-1].Value > 1e-3) {
			best = append(best, r.Model)
		}
	}
	if len(best) == 0 {
		return starts[:1]
	}
	return best
}

// far is the number of nats per observation by which a start may exceed the best and still be trained.
const far = 0.05

// nearest returns the starts of a guided training by rising value, without those close to an earlier one or far above the first.
func (a *fitting) nearest(loss gppl.Loss, starts []gppl.Model) (kept []gppl.Model) {
	values, order := make([]float64, len(starts)), timeline.Range(0, len(starts))
	near := a.inReach(starts)
	for i, m := range starts {
		if !near[i] {
			values[i] = math.Inf(1)
			continue
		}
		var err error
		if values[i], err = loss.ValueGrad(a.ctx, nil, m.Values()); err != nil {
			values[i] = math.Inf(1)
		}
		a.evaluations++
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	for j, i := range order {
		if j > 0 && values[i] > values[order[0]]+far*float64(a.data.Len()) {
			break
		}
		if !slices.ContainsFunc(kept, func(m gppl.Model) bool { return a.apart(m, starts[i]) < same }) {
			kept = append(kept, starts[i])
		}
	}
	return kept
}

// ranksWith reports whether the guide does not rank m below the best: trained from both, it does not end much higher from m.
func (a *fitting) ranksWith(m gppl.Model, best *gppl.Result) bool {
	led := a.guided(best.Model, 1, func(int) gppl.Model { return m })
	return led[0] == nil || led[1] == nil || led[1].Value <= led[0].Value+ranked
}

// inReach reports for each of the starts whether all data may rank it near the best: whether it is not far above the best of them
// on some data that are spread over all, if there are such. Far from the best, an evaluation of all data may take many harmonics.
func (a *fitting) inReach(starts []gppl.Model) []bool {
	values, near := make([]float64, len(starts)), make([]bool, len(starts))
	if a.spare != nil {
		for i, m := range starts {
			var err error
			if values[i], err = a.spare.ValueGrad(a.ctx, nil, m.Values()); err != nil {
				values[i] = math.Inf(1)
			}
			a.evaluations++
		}
	}
	for i, v := range values {
		near[i] = v <= slices.Min(values)+far*float64(a.data.Len())
	}
	return near
}

// promises reports whether a few evaluations from m lead below the best. It does not try where m is close to the best, or far
// above it on all data or on some that are spread over all, or where an evaluation takes far longer.
func (a *fitting) promises(likelihood gppl.Loss, m gppl.Model, best *gppl.Result) bool {
	const slower = 10 // ratio of seconds per evaluation
	most := far * float64(a.data.Len())
	loss, err := a.posterior(likelihood)
	if err != nil || a.apart(m, best.Model) < same {
		return false
	}
	if capability.Seconds(likelihood, m.Values()) > slower*capability.Seconds(likelihood, best.Model.Values()) {
		return false
	}
	if a.spare != nil { // far from the best, an evaluation of all may take many harmonics
		a.evaluations += 2
		v, err := a.spare.ValueGrad(a.ctx, nil, m.Values())
		if stands, wrong := a.spare.ValueGrad(a.ctx, nil, best.Model.Values()); err == nil && wrong == nil &&
			v > stands+far*spreadSize {
			return false
		}
	}
	a.evaluations++
	if v, err := loss.ValueGrad(a.ctx, nil, m.Values()); err != nil || v > best.Value+most {
		return false
	}
	r, _ := a.tryFrom(loss, m, firstSteps)
	return r != nil && r.Value < best.Value
}

// same is the distance of scales, in logs, below which parts of the data or a periodogram do not distinguish starts.
const same = 0.7

// apart returns the distance of the scales of two models in logs and, for periods, in quarters of a cycle over the range.
func (a *fitting) apart(m, other gppl.Model) (d float64) {
	q := other.Params()
	for i, p := range m.Params() {
		switch {
		case p.IsFixed() || p.Unit == gppl.UnitY2:
		case isPeriod(p):
			d = max(d, 4*a.longest*math.Abs(1/p.Value-1/q[i].Value))
		default:
			d = max(d, math.Abs(math.Log(p.Value/q[i].Value)))
		}
	}
	return d
}

// fullTrainings is the number of starts that are trained to the end on one loss.
const fullTrainings = 2

// projectedGradient is the gradient at which training on projections ends. On the likelihood, it ends by standard errors
// (gppl.Settings).
const projectedGradient = 1e-3

// trainFrom runs one training with at most the given number of evaluations; 0 means the default. Periods move by cycles over the
// range, unless that leads out of the range of periods.
func (a *fitting) trainFrom(loss gppl.Loss, start gppl.Model, evaluations int) (*gppl.Result, error) {
	return a.trainFor(loss, start, evaluations, a.settings.Fit)
}

// tryFrom does as trainFrom, and leaves out the standard errors: the caller compares only where trainings end.
func (a *fitting) tryFrom(loss gppl.Loss, start gppl.Model, evaluations int) (*gppl.Result, error) {
	s := a.settings.Fit
	s.NoStandardErrors = true
	return a.trainFor(loss, start, evaluations, s)
}

// trainFor is trainFrom with the given settings, except for their starts.
func (a *fitting) trainFor(loss gppl.Loss, start gppl.Model, evaluations int, s gppl.Settings) (*gppl.Result, error) {
	s.Starts, s.MaxEvaluations = 1, evaluations
	// projections know less than the metric
	if _, projected := loss.(*gppl.Projected); a.metric != nil && s.Guide == nil && !projected {
		s.Guide = a.metric
	}
	return a.trainBy(loss, start, s)
}

// trainBy is trainFrom with settings.
func (a *fitting) trainBy(loss gppl.Loss, start gppl.Model, s gppl.Settings) (*gppl.Result, error) {
	_, projected := loss.(*gppl.Projected)
	s.NoStandardErrors = s.NoStandardErrors || projected // the standard errors of the information follow
	if projected {
		s.GradientTolerance = cmp.Or(s.GradientTolerance, projectedGradient)
	}
	fit := func(params []gppl.Param) (*gppl.Result, error) {
		r, err := gppl.Fit(a.ctx, loss, params, s)
		if r != nil {
			a.evaluations += r.Evaluations
			a.trained += r.FitTime
		}
		return r, err
	}
	params, changed := inCycles(start.Params())
	r, err := fit(params)
	if changed && r != nil && a.ctx.Err() == nil && !a.periodsAllowed(r.Model) {
		return fit(start.Params())
	}
	return r, err
}

// Likelihood returns the exact likelihood to train from m, limited to seconds as by [Within]. It returns the errors of
// gppl.NewExact.
func Likelihood(ctx context.Context, m gppl.Model, d gppl.Data, seconds float64, opts ...gppl.Option) (*gppl.Exact, error) {
	exact, err := gppl.NewExact(ctx, m, d, opts...)
	if err != nil {
		return nil, err
	}
	return Within(exact, m, seconds), nil
}

// Within returns a likelihood to train from m. It cannot be evaluated where an evaluation is predicted to take more than the
// given seconds and more than ten times as long as at m. The limit also holds for an engine that takes over where another fails
// (gppl.WithSeconds).
func Within[L limited[L]](likelihood L, m gppl.Model, seconds float64) L {
	const slower = 10
	return likelihood.WithinSeconds(max(seconds, slower*capability.Seconds(likelihood, m.Values())))
}

// limited is gppl.Exact or gppl.Projected.
type limited[L any] interface {
	gppl.Loss
	WithinSeconds(most float64) L
}

// trainExact trains the exact likelihood.
func (a *fitting) trainExact(why string) error {
	began := time.Now()
	exact, err := Likelihood(a.ctx, a.at, a.data, patience)
	if err != nil {
		return err
	}
	if len(a.starts)+len(a.given) > 1 { // a kernel of several scales may do better elsewhere
		a.next, a.sure = a.starts, a.given
	}
	r, gain, err := a.train(exact)
	if r == nil {
		return err
	}
	a.at, a.result.Result, a.loss = r.Model, r, exact
	a.result.Exact, a.result.Why = true, why
	step := Step{Gain: gain, Seconds: time.Since(began).Seconds()}
	for _, p := range r.Params {
		step.StdErrLog = append(step.StdErrLog, p.StdErrLog)
		step.Kept = append(step.Kept, 1)
	}
	step.Needed, _ = a.needed(a.at)
	a.record(step, "exact: "+why)
	if err != nil {
		return err
	}
	return a.settle(nil)
}

// settle resolves doubts about the result by the exact likelihood, unless that was used, and by further starts.
func (a *fitting) settle(exact *gppl.Exact) error {
	a.unsettled = append(a.unsettled, a.aliasDoubts()...)
	doubts := a.doubts()
	if doubts == nil {
		return nil
	}
	if exact != nil && !a.settings.Projected {
		if _, seconds := exact.Cost(a.at.Values()); seconds < patience {
			return a.trainExact("the projections left doubts: " + strings.Join(doubts, "; "))
		}
	}
	began := time.Now()
	best, stood := a.result.Result, a.result.Value
	rnd := rand.New(rand.NewPCG(a.settings.Fit.Seed, 2))
	loss, err := a.posterior(a.loss)
	if err != nil {
		return err
	}
	width := cmp.Or(a.settings.Fit.Spread, 1)
	further := func(i int) gppl.Model {
		around := a.starts[i%len(a.starts)]
		if i%2 == 1 {
			around = best.Model
		}
		return InSupport(startAround(around, width, rnd), a.priors)
	}
	var led []*gppl.Result // points reached from the best and from each further start
	if a.guide != nil {
		led = a.guided(best.Model, a.further(), further)
	}
	tried := 0
	for i := range a.further() {
		var start gppl.Model
		if led == nil {
			start = further(i)
		} else {
			stands, led := led[0], led[i+1]
			if led == nil || stands == nil || led.Value > stands.Value-guidedGain || !a.promises(a.loss, led.Model, best) {
				tried++
				continue
			}
			start = led.Model
		}
		r, err := a.trainFrom(loss, start, a.settings.Fit.MaxEvaluations)
		if r != nil && r.Value < best.Value {
			best = r
			a.at, a.result.Result = best.Model, best
		}
		if a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		if err == nil { // err is not nil if the loss cannot be evaluated at the start
			tried++
		}
	}
	step := Step{K: a.result.Steps[len(a.result.Steps)-1].K, Gain: stood - best.Value, Seconds: time.Since(began).Seconds()}
	if l, ok := a.loss.(*gppl.Projected); ok && !a.settings.Fit.NoStandardErrors {
		step.StdErrLog, step.Kept = a.efficiency(l)
	}
	a.record(step, fmt.Sprintf("best of %d further starts, since %s", tried, strings.Join(doubts, "; ")))
	doubted(best, a.doubts(), a.straight())
	return nil
}

// guidedGain is by how many nats the guide must be lower elsewhere for training to begin there.
const guidedGain = 1

// guided returns the points that the guide reaches from m and from each of some further starts, nil where it cannot be
// evaluated.
func (a *fitting) guided(m gppl.Model, further int, start func(i int) gppl.Model) []*gppl.Result {
	from := []gppl.Model{m}
	for i := range further {
		from = append(from, start(i))
	}
	s := gppl.Settings{NoStandardErrors: true, GradientTolerance: 1e-2, MaxEvaluations: secondSteps}
	led := make([]*gppl.Result, len(from))
	parallel.For(len(from), func(i int) {
		if r, err := gppl.Fit(a.ctx, a.guide, from[i].Params(), s); err == nil {
			led[i] = r
		}
	})
	for _, r := range led {
		if r != nil {
			a.evaluations += r.Evaluations
		}
	}
	return led
}

// further returns the number of random starts that are tried if doubts remain. It is none if a straight line explains the
// data, for there is no optimum to find, and, unless the settings give it, if the search used all data and ended at an optimum.
func (a *fitting) further() int {
	if a.straight() {
		return 0
	}
	ended := a.result.Status == gppl.Stalled || a.result.Status == gppl.Limited
	if a.settings.Fit.Starts == 0 && a.result.Exact && a.result.Search.Screened > 0 && !ended &&
		(a.data.Len() <= trainWhole || a.spread != nil) {
		return 0
	}
	return cmp.Or(a.settings.Fit.Starts, 6)
}

// startAround returns m with its trained parameters moved at random in their raw values.
func startAround(m gppl.Model, by float64, rnd *rand.Rand) gppl.Model {
	params, theta := m.Params(), m.Values()
	for i, p := range params {
		if !p.IsFixed() {
			t := cmp.Or[transform.Transform](p.Transform, transform.Log{})
			theta[i] = t.Natural(t.Raw(p.Value) + by*rnd.NormFloat64())
		}
	}
	return m.WithParams(theta)
}

// shorten returns m with its lengthscales, but not its periods, divided by c.
func shorten(m gppl.Model, c float64) gppl.Model {
	params, theta := m.Params(), m.Values()
	for i, p := range params {
		if isTrainedLength(p) {
			theta[i] /= c
		}
	}
	return m.WithParams(theta)
}
