package auto

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/timeline"
)

// search replaces the starts by the optima of the exact likelihood of the data or parts of them. If the model has a mean, starts
// are compared on the least-squares residuals of y, as if their mean were zero, and parts of the data are trained on in the same
// way. All data are trained on with their mean: a slow term that is nearly a trend would vanish from the residuals, and not come
// back.
func (a *fitting) search() error {
	mean := a.family.Mean
	setMean := func(mean gppl.Mean) {
		for _, models := range [][]gppl.Model{a.starts, a.given} {
			for i := range models {
				models[i].Mean = mean
			}
		}
	}
	setMean(nil)
	err := a.searchRest(a.rest)
	setMean(mean)
	if a.ctx.Err() != nil {
		return nil // training says so, from what starts there are
	}
	return err
}

// searchRest is search of d with models of a zero mean.
func (a *fitting) searchRest(d gppl.Data) (err error) {
	defer parallel.Stopped(&err)
	began := time.Now()
	family := a.family
	family.Mean = nil
	var scales scales
	var atPeriods []gppl.Model
	var both parallel.Group
	both.Go(func() { scales = newScales(a.ctx, d, slices.ContainsFunc(family.Params(), isPeriod)) })
	both.Go(func() { atPeriods = startsAtPeriods(a.ctx, family, d) })
	both.Wait()
	if scales.lengthscales == nil || d.Len() < 4 ||
		!slices.ContainsFunc(a.starts[0].Params(), func(p gppl.Param) bool { return !p.IsFixed() }) {
		return nil
	}
	given := slices.Clone(a.starts) // their transforms are kept: a bounded period is trained in another way
	a.starts = append(a.starts, atPeriods...)
	if scales.shortest < scales.longest {
		a.shortest, a.longest = scales.shortest, scales.longest
		for i, m := range a.starts {
			a.starts[i] = scales.inside(scales.limit(m))
		}
	}
	loss, err := a.searchLoss(d)
	if err != nil {
		return err
	}
	s, err := a.newSearcher(d, loss, scales)
	if err != nil {
		return err
	}
	a.irregular = scales.irregular
	if d.Errors == nil && d.Relative == nil {
		a.metric = metricOf(a.ctx, s.model, d)
	}
	s.run(a.starts)
	a.startFromOptima(s, loss, given)
	switch {
	case loss.whole():
	case scales.irregular != nil:
		a.fastStarts(s, d)
	case scales.periods == nil:
		a.shapedStarts(s, d)
	default:
		a.spectralStarts(s, d, given)
	}
	a.doubt(s, family, d)
	search := &a.result.Search
	search.Lengthscales, search.Periods, search.Shortest = scales.lengthscales, scales.periods, scales.searched
	if !loss.whole() {
		search.Subset = loss.n
	} else if len(s.optima) > 1 {
		search.Next = s.optima[1].value - s.optima[0].value
	}
	search.Evaluations += s.compared.Evaluations()
	a.evaluations += search.Evaluations
	a.trained += time.Since(began)
	return nil
}

// searchLoss returns the exact likelihood in which optima are searched: of all data with their mean if they are few, otherwise of
// a part of d.
func (a *fitting) searchLoss(d gppl.Data) (*blocks, error) {
	m := a.starts[0]
	if d.Len() <= trainWhole {
		m.Mean, d = a.family.Mean, a.data
	}
	return newBlocks(a.ctx, m, d, trainWhole, trainSize)
}

// newSearcher returns a search for the optima of loss, with the priors, which compares starts on a smaller part of d.
func (a *fitting) newSearcher(d gppl.Data, loss *blocks, scales scales) (*searcher, error) {
	compared, err := newBlocks(a.ctx, a.starts[0], d, screenWhole, screenSize)
	if err != nil {
		return nil, err
	}
	posterior, err := a.posterior(loss)
	if err != nil {
		return nil, err
	}
	s := &searcher{
		ctx: a.ctx, model: a.starts[0], params: a.starts[0].Params(), loss: posterior,
		priors: a.priors, compared: &profile{parts: compared.parts, n: float64(compared.n)}, scales: scales, search: &a.result.Search,
		ratios:  axisRatios(a.starts[0], d.X),
		inputs:  several(d.X),
		power:   blas64.Dot(dense.Vec(d.Y), dense.Vec(d.Y)) / float64(d.Len()),
		methods: gppl.Settings{NoStandardErrors: true, GradientTolerance: 1e-2},
	}
	s.anew = func() (gppl.Loss, error) {
		other, err := loss.anew(a.ctx)
		if err != nil {
			return nil, err
		}
		return a.posterior(other)
	}
	if d.Errors == nil { // known errors do not scale with the variances
		s.findLinear()
	}
	return s, nil
}

// startFromOptima replaces the starts by the best optima of a search. A part of the data may not tell what all of them would: the
// given starts that are no such optimum are then kept apart.
func (a *fitting) startFromOptima(s *searcher, loss *blocks, given []gppl.Model) {
	within := 2.0 // nats
	if !loss.whole() {
		within = 10
	}
	if len(s.optima) > 0 {
		a.starts = nil
		for _, p := range s.distinct(s.optima, 3, 0.2) {
			if p.value < s.optima[0].value+within {
				a.starts = append(a.starts, s.scales.inside(s.model.WithParams(p.u)))
			}
		}
	}
	if loss.whole() {
		return
	}
	for _, m := range given {
		theta := m.Values()
		if !slices.ContainsFunc(a.starts, func(o gppl.Model) bool { return s.distance(theta, o.Values()) < 0.2 }) {
			a.given = append(a.given, m)
		}
	}
}

// doubt notes why the search may not have found the best optimum.
func (a *fitting) doubt(s *searcher, family gppl.Model, d gppl.Data) {
	if better, nats := s.beyond(family); nats > 1 {
		a.unsettled = append(a.unsettled, fmt.Sprintf("a period longer than the range of x would fit %.3g nats better, but acts as a"+
			" lengthscale: %v", nats, a.family.WithParams(better.u).Kernel))
	}
	a.unsettled = append(a.unsettled, s.rivals()...)
	if share := outliers(d.Y); s.scales.periods != nil && share > 0.5 {
		a.unsettled = append(a.unsettled, fmt.Sprintf("2 %% of the observations make up %.0f %% of the mean of y²: these outliers"+
			" determine the period, and the search may miss the best one", 100*share))
	}
	if s.open {
		a.unsettled = append(a.unsettled, "the search was still finding better optima when it ended")
	}
}

// startsAtPeriods returns, for a kernel with one trained period, the start values from the data with the period held at each of
// the two likeliest: the likelihood has a maximum at every multiple of a period, and StartFrom takes one by the autocovariance
// alone.
func startsAtPeriods(ctx context.Context, m gppl.Model, d gppl.Data) (starts []gppl.Model) {
	at := slices.IndexFunc(m.Params(), isTrainedPeriod)
	if at < 0 || slices.ContainsFunc(m.Params()[at+1:], isTrainedPeriod) {
		return nil
	}
	for _, period := range newPowerGrid(ctx, d).likely(2) {
		theta := m.Values()
		theta[at] = period
		held := startWithin(ctx, m.WithParams(theta).Fix(m.Params()[at].Name), d)
		starts = append(starts, m.WithParams(held.Values()))
	}
	return starts
}

// spectralStarts adds the optima of a search by the periodogram of all data. s searched only a part of the data, which may not
// show a faint periodicity. The optima go first if their periodogram likelihood is much better, otherwise to the end of the given
// starts. If the series is so long that the search compares spectra of less resolution, they and the best of the part are the
// only starts, and the spectra guide training.
func (a *fitting) spectralStarts(s *searcher, d gppl.Data, given []gppl.Model) {
	const close, much = ranked, ranked
	// The periodogram does not take known errors. Without a period a part of the data suffices, and starts in the tails of a
	// spectrum cost more training than they are worth.
	if d.Errors != nil || d.Relative != nil || s.scales.periods == nil || a.ctx.Err() != nil {
		return
	}
	full := newWhittle(s.model, d)
	if full == nil {
		return
	}
	loss := newSegments(s.model, d, searchBins)
	posterior, err := a.posterior(loss)
	if err != nil {
		return // the part of the data gave the same error, and reported it
	}
	all := *s
	all.loss, all.compared, all.optima, all.search = posterior, loss, nil, &Search{}
	all.anew = func() (gppl.Loss, error) { return posterior, nil }
	from := slices.Clone(a.starts)
	// First those that the best start leaves in the data.
	periods := full.excess(a.starts[0], likeliest/4)
	periods = slices.DeleteFunc(periods, func(p float64) bool { return !s.scales.allow(p) })
	for _, p := range periods {
		from = append(from, all.withPeriod(a.starts[0], p))
	}
	periods = append(periods, s.scales.periods...)
	all.scales.periods = periods[:min(likeliest, len(periods))]
	for _, m := range given {
		from = append(from, s.model.WithParams(m.Values()))
	}
	all.run(from)
	a.result.Search.Spectral = all.search.Screened + all.search.Moved
	a.result.Search.Evaluations += all.search.Evaluations + loss.Evaluations()
	known := math.Inf(1) // the best of the starts that there are, by the periodogram
	for _, m := range a.starts {
		if v, err := posterior.ValueGrad(a.ctx, nil, m.Values()); err == nil {
			known = min(known, v)
		}
	}
	distinct := all.distinct(all.optima, 2, 0.2)
	distinct = slices.DeleteFunc(distinct, func(p point) bool { return p.value > all.optima[0].value+close })
	if loss.span() < full.span() && len(distinct) > 0 {
		a.guide, a.given = posterior, nil
		if a.spare, err = gppl.NewExact(a.ctx, s.model, spreadOver(d)); err != nil {
			a.spare = nil
		}
		best := a.starts[0]
		var better, faint []gppl.Model
		var both parallel.Group
		both.Go(func() { faint = a.faint(s, best, d) })
		both.Go(func() {
			better = all.slow(best, periods, full, loss.span())
			for _, p := range distinct {
				better = append(better, all.sharpened(p.u, full, loss.span()))
			}
		})
		both.Wait()
		a.starts = append([]gppl.Model{best}, faint...)
		for _, m := range better {
			a.starts = append(a.starts, m)
			if theta := m.Values(); !s.params[len(theta)-1].IsFixed() {
				theta[len(theta)-1] = best.Noise // at irregular times, the periodogram takes leakage for noise
				a.starts = append(a.starts, s.model.WithParams(theta))
			}
		}
		return
	}
	var first []gppl.Model
	for _, p := range distinct {
		near := func(o gppl.Model) bool { return s.distance(p.u, o.Values()) < 0.2 }
		switch m := s.scales.inside(s.model.WithParams(p.u)); {
		case slices.ContainsFunc(a.starts, near) || slices.ContainsFunc(a.given, near):
		case p.value < known-much:
			first = append(first, m)
		default:
			a.given = append(a.given, m)
		}
	}
	a.starts = append(first, a.starts...)
}

// ranked is by how many nats two models must differ for the periodogram to rank them.
const ranked = 10

// faint returns m with each of the strongest periods in what it leaves of the data, y less the posterior mean: at irregular
// times, what m explains would leak over a faint rhythm.
func (a *fitting) faint(s *searcher, m gppl.Model, d gppl.Data) (all []gppl.Model) {
	const stretch, count = 20_000, 2
	at := slices.IndexFunc(s.params, isTrainedPeriod)
	if n := d.Len(); n > stretch {
		order := timeline.Ascending(d.X.Coordinate(0))
		d = d.Pick(order[(n-stretch)/2:][:stretch])
	}
	p, err := gppl.NewPosterior(a.ctx, m, d, gppl.WithSeconds(patience))
	if err != nil || at < 0 {
		return nil
	}
	mean, err := p.Mean(a.ctx, d.X)
	if err != nil {
		return nil
	}
	rest := d
	rest.Y = slices.Clone(d.Y)
	floats.Sub(rest.Y, mean)
	power := floats.Dot(rest.Y, rest.Y) / float64(d.Len())
	for _, period := range newPowerGrid(a.ctx, rest).likely(count) {
		if !s.scales.allow(period) {
			continue
		}
		theta := m.Values()
		theta[at] = period
		if j := shapeOf(s.params, at); j >= 0 {
			theta[j] = 1
		}
		for _, i := range m.Amplitudes() {
			if i < at && !s.params[i].IsFixed() &&
				!slices.ContainsFunc(s.params[i+1:at], func(p gppl.Param) bool { return p.Unit == gppl.UnitY2 }) {
				theta[i] = revived * power // variance of the term with the period
			}
		}
		all = append(all, s.inside(theta))
	}
	return all
}

// slow returns m with the best of the periods that are too long to show in a segment, if it is better than m by the periodogram
// of the whole series.
func (s *searcher) slow(m gppl.Model, periods []float64, full *whittle, segment float64) (better []gppl.Model) {
	const shows, much = 0.25, 10 // shows is a share of a segment, much is in nats
	fine := *s
	fine.compared = full
	models := []gppl.Model{m}
	for _, period := range periods {
		if period >= shows*segment {
			models = append(models, fine.withPeriod(m, period))
		}
	}
	var starts [][]float64
	for _, m := range models {
		starts = append(starts, m.Values())
	}
	points := fine.screenAll(starts, []float64{1})
	stands := points[0].value - much
	for i, p := range points {
		if p.value < stands {
			stands, better = p.value, models[i:i+1]
		}
	}
	return better
}

// sharpened returns the model at theta with the periods that spectra of more resolution support best: each as it is, at a likely
// period that a segment does not distinguish from it, or at a neighbouring lobe.
func (s *searcher) sharpened(theta []float64, full *whittle, segment float64) gppl.Model {
	fine := *s
	fine.compared = full
	best := fine.screen(theta, []float64{1})[0]
	for i, p := range s.params {
		if !isTrainedPeriod(p) {
			continue
		}
		var thetas [][]float64
		for _, period := range s.scales.periods {
			if math.Abs(1/period-1/best.u[i])*segment < 1 {
				at := slices.Clone(best.u)
				at[i] = period
				thetas = append(thetas, at)
			}
		}
		found := append(fine.lobes(best.u, i, math.Inf(1)), fine.screenAll(thetas, []float64{1})...)
		best = lowest(append([]point{best}, found...))
	}
	return s.scales.inside(s.model.WithParams(best.u))
}

// fastStarts puts the best by the exact likelihood of all data first: of the starts and of further ones with the strongest
// periods of the periodogram of irregular times. A part of the data may not show a period that all of them do.
func (a *fitting) fastStarts(s *searcher, d gppl.Data) {
	const most = 8
	all, err := gppl.NewExact(a.ctx, s.model, d)
	if err != nil {
		return
	}
	if _, seconds := all.Cost(a.starts[0].Values()); !(seconds < patience/2) {
		return
	}
	if d.Len() > spreadSize {
		if all, err = gppl.NewExact(a.ctx, s.model, spreadOver(d)); err != nil {
			return
		}
	}
	posterior, err := a.posterior(all)
	if err != nil {
		return // the part of the data gave the same error, and reported it
	}
	if d.Len() > spreadSize {
		a.spread = posterior
	}
	models := slices.Clone(a.starts)
	for _, p := range s.scales.periods[:min(most, len(s.scales.periods))] {
		models = append(models, s.withPeriod(a.starts[0], p))
	}
	type ranked struct {
		m     gppl.Model
		value float64
	}
	var order []ranked
	for _, m := range models {
		if v, err := posterior.ValueGrad(a.ctx, nil, m.Values()); err == nil && a.ctx.Err() == nil {
			order = append(order, ranked{m, v})
		}
		a.evaluations++
	}
	slices.SortStableFunc(order, func(p, q ranked) int { return cmp.Compare(p.value, q.value) })
	const kept = 3
	order = order[:min(kept, len(order))]
	if len(order) == 0 {
		return
	}
	a.starts = nil
	if a.spread == nil {
		for _, r := range order {
			a.starts = append(a.starts, r.m)
		}
		return
	}
	// An evaluation of all data costs as much as tens of the part: they are trained on from the best alone.
	var best *gppl.Result
	for _, r := range order {
		if r, _ := a.tryFrom(a.spread, r.m, secondSteps); r != nil && (best == nil || r.Value < best.Value) {
			best = r
		}
	}
	if best != nil {
		a.starts, a.given = []gppl.Model{best.Model}, nil
	} else {
		a.starts = []gppl.Model{order[0].m}
	}
}

// spreadSize is the number of observations, spread over the whole range of x, that short periods are searched on: as many
// as leave a period its phase and a part of ten the cost of an evaluation.
const spreadSize = 500

// spreadOver returns spreadSize of the observations, drawn without regard to x: a draw keeps the range and the distances of
// irregular times, where every m-th of them would make aliases of its own.
func spreadOver(d gppl.Data) gppl.Data {
	at := rand.New(rand.NewPCG(uint64(d.Len()), 5)).Perm(d.Len())[:spreadSize]
	slices.Sort(at)
	return d.Pick(at)
}

// aliasDoubts says which other periods the times may take for the one that was found: at which the loss, trained from
// there, comes close to its value. One that is better replaces it.
func (a *fitting) aliasDoubts() (doubts []string) {
	const most = 4
	const hopeful = 60 // nats that training may gain
	const close = 7    // nats: the odds are a hundred to one against ten aliases that all fit worse by more
	params := a.at.Params()
	i := slices.IndexFunc(params, isTrainedPeriod)
	all, err := a.posterior(a.loss)
	if a.irregular == nil || i < 0 || err != nil {
		return nil
	}
	loss := all // the loss that aliases are compared by
	if a.spread != nil {
		loss = a.spread
	}
	for range 3 {
		best := a.result.Result
		found := best.Model.Params()[i].Value
		if each := a.settings.Fit.EvaluationSeconds; each > 0 && capability.Seconds(all, best.Model.Values()) > firstSteps*each {
			return append(doubts, fmt.Sprintf("whether another period explains the times as well as %s was not checked: evaluations"+
				" there would exceed the time limit", params[i].Name))
		}
		stands := best.Value
		if a.spread != nil {
			if stands, err = loss.ValueGrad(a.ctx, nil, best.Model.Values()); err != nil {
				return doubts
			}
			a.evaluations++
		}
		doubts = nil
		for _, p := range a.irregular.aliases(found, most) {
			theta := best.Model.Values()
			theta[i] = p
			v, err := loss.ValueGrad(a.ctx, nil, theta)
			a.evaluations++
			if err != nil || v > stands+hopeful {
				continue
			}
			r, err := a.trainFrom(loss, a.at.WithParams(theta), secondSteps)
			if err == nil && loss != all && r.Value < stands+nearby {
				r, err = a.trainFrom(all, r.Model, firstSteps)
			} else if loss != all {
				continue
			}
			if err != nil || a.ctx.Err() != nil || !a.periodsAllowed(r.Model) {
				continue
			}
			other := r.Model.Params()[i].Value
			if math.Abs(a.irregular.span/other-a.irregular.span/found) < 0.5 {
				continue
			}
			if r.Value < a.result.Value {
				a.at, a.result.Result = r.Model, r
			}
			if math.Abs(r.Value-best.Value) < close {
				doubts = append(doubts, fmt.Sprintf("%s is not determined: by these times %.6g fits within %.2g nats of %.6g",
					params[i].Name, other, math.Abs(r.Value-best.Value), found))
			}
		}
		if a.result.Result == best || doubts != nil {
			return doubts
		}
	}
	return append(doubts, fmt.Sprintf("%s is not determined: the search was still finding better ones", params[i].Name))
}

// outliers returns the share of the sum of y² that the largest fiftieth of y holds: 0.13 for normal noise.
func outliers(y []float64) float64 {
	squares := make([]float64, len(y))
	for i, v := range y {
		squares[i] = v * v
	}
	slices.Sort(squares)
	var top, all float64
	for i, v := range squares {
		if all += v; i >= len(y)-max(1, len(y)/50) {
			top += v
		}
	}
	return top / all
}
