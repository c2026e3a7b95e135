package forecast

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

const (
	// fewestScanned and mostScanned bound the observations, the latest, in which changes are looked for: fewer do not tell a change from a walk,
	// and more take seconds.
	fewestScanned, mostScanned = 30, 1000
	// fewScanned is the number of observations up to which training is cheap.
	fewScanned = 400
	// beside is the number of observations at either end within which nothing is a change: a few that are far off may also be outliers.
	beside = 6
	// mostChanges is the largest number of changes that are looked for.
	mostChanges = 6
	// shiftChance is the chance of a change as clear somewhere in a series that has none, below which it is one.
	shiftChance = 0.005
)

// shiftSearch looks for changes of the mean among the latest observations that the best model of an analysis was learnt from.
type shiftSearch struct {
	ctx  context.Context
	a    *Analysis // of all observations, or without outliers, which may hide changes
	n    int       // the observations
	tail []float64 // the innovations with the outliers, if there are any
}

// changed is a model with changes, and its negative log evidence.
type changed struct {
	changes []Change
	model   gppl.Model
	value   float64
}

// FindShifts looks for changes of level and of slope of the mean among the latest observations that the best model was learnt from, 1000 at
// most. With A the covariance of the observations under the model and c a step or a kink at one of them, the score of a change there is
//
//	(cᵀPz)²/cᵀPc,   P = A⁻¹ without what a change of single observations at that place explains,
//
// the improvement of −2 log likelihood by it (de Jong and Penzer 1998, Diagnosing shocks in time series). The model is trained anew with the
// best, and it is a change if the chance of one as clear, by the improvement of the trained likelihood and by its score, is below 0.5 %: the
// sum over all places and both kinds of the chance that white innovations make such a score. These have Student's t distribution with the
// degrees of freedom that the innovations show, so that a single large one of many is no change. Then the next is looked for. It takes n³
// flops for each, and returns none where the model has no dense factor, of fewer than 30 observations, and of counts. Shifts in the mean of
// the model are among them, with Used set. Where none is found, outliers are left out, unless they are more than 5 %, and count in the tails.
func (a *Analysis) FindShifts(ctx context.Context) ([]Shift, error) {
	search, best, err := a.searchShifts(ctx)
	if err != nil || len(best.changes) == 0 {
		return nil, err
	}
	return search.sizes(best)
}

// searchShifts returns the best model with the changes that are found: among all observations or, where there are none, without the outliers.
func (a *Analysis) searchShifts(ctx context.Context) (search shiftSearch, best changed, err error) {
	n := min(len(a.Series.X), a.TrainedOn(), mostScanned)
	search = shiftSearch{ctx: ctx, a: a, n: n}
	if n < fewestScanned || a.Series.Counting != nil || a.Chosen == ByBIC && a.Projections > 0 {
		return search, best, nil
	}
	if best, err = search.all(); err != nil || len(best.changes) > len(a.Series.Changes) {
		return search, best, err
	}
	without := search
	if some, err := without.leaveOutliers(); err != nil || !some {
		return search, best, err
	}
	more, err := without.all()
	if err != nil || len(more.changes) == len(best.changes) {
		return search, best, err
	}
	return without, more, nil
}

// all returns the model with the changes that are found, one after the other.
func (search shiftSearch) all() (best changed, err error) {
	if best, err = search.trained(search.a.Series.Changes, search.a.Result.Model, false); err != nil {
		return best, err
	}
	for len(best.changes) < mostChanges {
		next, err := search.next(best)
		if err != nil {
			return best, err
		}
		if next == nil {
			break
		}
		best = *next
	}
	return best, nil
}

// leaveOutliers leaves out the outliers among the scanned observations, if there are some, unless they are many or have weights.
func (search *shiftSearch) leaveOutliers() (some bool, err error) {
	const few = 0.05 // of the observations
	a := search.a
	outliers, err := a.Outliers(search.ctx)
	if err != nil {
		return false, err
	}
	from := len(a.Series.X) - search.n
	list := slices.DeleteFunc(outliers.List, func(o Outlier) bool { return o.Index < from })
	if len(list) == 0 || a.Series.Student != nil || float64(len(list)) > few*float64(search.n) {
		return false, nil
	}
	data, err := a.standardised()
	if err != nil {
		return false, err
	}
	f, err := a.newFactor(a.Result.Model, data, search.n)
	if err != nil {
		return false, err
	}
	if search.tail, err = f.innovations(); err != nil {
		return false, err
	}
	b, s := *a, *a.Series
	s.X, s.Y = nil, nil
	for i := range a.Series.X {
		if !slices.ContainsFunc(list, func(o Outlier) bool { return o.Index == i }) {
			s.X, s.Y = append(s.X, a.Series.X[i]), append(s.Y, a.Series.Y[i])
		}
	}
	search.n -= len(list)
	b.Series, b.trained, b.factor, search.a = &s, search.n, nil, &b
	return true, nil
}

// extent is that of the scanned observations.
func (search shiftSearch) extent() extent {
	x := search.a.Series.X
	return extent{search.a.Series.Step, x[len(x)-1] - x[len(x)-search.n]}
}

// withFound returns the analysis with the changes that it shows, learnt anew with these in the mean; itself if there are none, or where they
// cannot be looked for, which it keeps as missed.
func (a *Analysis) withFound(ctx context.Context, fit func(context.Context, *Series, Options) (*Analysis, error)) (*Analysis, error) {
	_, best, err := a.searchShifts(ctx)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("forecast: looking for changes: %w", ctx.Err())
	}
	if a.missed = err; err != nil || len(best.changes) == len(a.Series.Changes) {
		return a, nil
	}
	o := *a.options
	with, err := fit(ctx, a.Series.withChanges(best.changes), o)
	if err != nil {
		return nil, err
	}
	with.seasons, with.options = a.seasons, a.options
	return with, nil
}

// with returns the analysis of the series with some changes, and its observations on the scale of the best model.
func (search shiftSearch) with(changes []Change) (*Analysis, yScale, error) {
	b := *search.a
	b.Series = search.a.Series.withChanges(changes)
	v, err := b.scale(b.Log)
	return &b, v, err
}

// trained returns the likeliest model with changes, by its evidence: with the terms of another, from whose parameters training begins, and,
// if fewer is set, in a short series with one less, for a change may be what that one described.
func (search shiftSearch) trained(changes []Change, from gppl.Model, fewer bool) (best changed, err error) {
	_, v, err := search.with(changes)
	if err != nil {
		return best, err
	}
	v.data = latest(v.data, search.n)
	models := []gppl.Model{from}
	if fewer && search.n <= fewScanned && search.a.Chosen == ByEvidence {
		models = append(models, search.simpler(from, search.extent())...)
	}
	best.value = math.Inf(1)
	for _, m := range models {
		to, err := search.trainOne(v, m)
		if err != nil {
			return best, err
		}
		if to.value < best.value {
			best = to
		}
	}
	best.changes = changes
	return best, nil
}

// simpler returns models with one term less, noise if there is no other, and with a smoother one in its place.
func (search shiftSearch) simpler(m gppl.Model, e extent) (all []gppl.Model) {
	terms := termsOf(m.Kernel)
	for i := range terms {
		if _, walks := search.a.Candidates[0].kind.(wiener); walks && i == 0 { // without it, it is another candidate
			continue
		}
		others := slices.Delete(slices.Clone(terms), i, i+1)
		sums := [][]gppl.Kernel{others}
		for _, smoother := range []string{"Matern32", "SE"} {
			if !hasPeriod(terms[i]) && kernelName(terms[i]) != smoother {
				sums = append(sums, append(slices.Clone(others), (stationary{}).signal(smoother, e, false)))
			}
		}
		for _, sum := range sums {
			all = append(all, of(sum, m))
		}
	}
	return all
}

// of returns a model of terms, noise alone without any, with the fixed periods of another.
func of(terms []gppl.Kernel, other gppl.Model) gppl.Model {
	if len(terms) == 0 {
		terms = []gppl.Kernel{whiteTerm}
	}
	m := gppl.Model{Kernel: sumOf(terms), Noise: max(other.Noise, startNoise)}.FixRedundant()
	if terms[0] == gppl.Kernel(whiteTerm) {
		m = m.Fix(m.Params()[0].Name)
	}
	for _, p := range m.Params() {
		for _, q := range other.Params() {
			if p.Role == gppl.RolePeriod && q.Role == gppl.RolePeriod && q.IsFixed() && q.Value == p.Value {
				m = m.Fix(p.Name)
			}
		}
	}
	return m
}

// trainOne trains a model of observations with changes.
func (search shiftSearch) trainOne(v yScale, m gppl.Model) (c changed, err error) {
	best := search.a.Candidates[0]
	mean, given, scale := policyMean, search.a.given, v.scaling.Scale
	if search.a.Chosen == ByBIC {
		mean = func(_ candidate, trend string, x gppl.Inputs) (gppl.Mean, error) { return meanOf(trend, x) }
		given, scale = search.a.Result.Priors, 1
	}
	if m.Mean, err = mean(best.kind, best.Trend, v.data.X); err != nil {
		return c, err
	}
	e := search.extent()
	priors := beliefsOf(best.kind, m, e, given, scale)
	if search.a.Chosen == ByBIC {
		clear(priors.weak)
		priors.chosen = 0
	}
	const evaluations = 60
	r, _, err := trainWithPriors(search.ctx, v, m, priors, e.span, gppl.Settings{GradientTolerance: searchGradient, MaxEvaluations: evaluations, NoStandardErrors: true})
	if err != nil {
		return c, err
	}
	loss, err := gppl.NewExact(r.Model, v.data, gppl.WithTolerance(trainTolerance))
	if err != nil {
		return c, err
	}
	value, _, _, err := evidence(loss, r.Model.Values(), priors, v.data.Len(), math.Inf(1))
	return changed{model: r.Model, value: value}, err
}

// factor returns that of the model with some changes in its mean.
func (search shiftSearch) factor(changes []Change, m gppl.Model) (*factor, error) {
	b, v, err := search.with(changes)
	if err != nil {
		return nil, err
	}
	m.Mean = withoutChanges(m.Mean, changes)
	return b.newFactor(m, v.data, search.n)
}

// withoutChanges returns a mean whose columns of changes are those given alone.
func withoutChanges(m gppl.Mean, but []Change) gppl.Mean {
	of, ok := m.(gppl.GaussianBeta)
	if !ok {
		return m
	}
	var parts []gppl.Mean
	var variances []float64
	left := len(but)
	for _, p := range of.Of.(gppl.MeanSum).Parts() {
		if r, ok := p.(gppl.Regressor); ok && isChange(r.Name) {
			if left--; left < 0 {
				continue
			}
		}
		parts = append(parts, p)
		at := len(variances)
		variances = append(variances, of.Variances[at:at+len(p.Columns())]...)
	}
	if len(parts) == 0 {
		return nil
	}
	return gppl.GaussianBeta{Of: gppl.AddMeans(parts...), Variances: variances}
}

// next returns the model with one change more; nil if there is none. Of few observations it tries two: the clearest to the model, and to one of
// seasons and noise alone, for a model that was learnt without the change may describe it.
func (search shiftSearch) next(from changed) (best *changed, err error) {
	nulls := []gppl.Model{from.model}
	if search.n <= fewScanned && search.a.Chosen == ByEvidence {
		if m, ok := search.seasonsAlone(from.model); ok {
			plain, err := search.trained(from.changes, m, false)
			if err != nil {
				return nil, err
			}
			nulls = append(nulls, plain.model)
		}
	}
	least := shiftChance
	for _, null := range nulls {
		f, err := search.factor(from.changes, null)
		if err != nil {
			return nil, err
		}
		there, err := f.clearest(from.changes)
		if err != nil {
			return nil, err
		}
		if there.score < search.promising() {
			continue
		}
		to, chance, err := search.judge(from, search.change(f, there))
		if err != nil {
			return nil, err
		}
		if chance < least {
			least, best = chance, to
		}
	}
	if best != nil {
		best.changes[len(best.changes)-1].Chance = max(least, math.SmallestNonzeroFloat64)
	}
	return best, nil
}

// seasonsAlone returns the model of the terms with periods and noise; ok is false where it has no other.
func (search shiftSearch) seasonsAlone(m gppl.Model) (seasons gppl.Model, ok bool) {
	terms := slices.DeleteFunc(termsOf(m.Kernel), func(t gppl.Kernel) bool { return !hasPeriod(t) })
	return of(terms, m), len(terms) < len(termsOf(m.Kernel)) && m.Kernel != gppl.Kernel(whiteTerm)
}

// judge trains the model with a change more, at the place where the model with it sees it, and returns the chance that it is none.
func (search shiftSearch) judge(from changed, c Change) (to *changed, chance float64, err error) {
	const rounds = 2
	for range rounds {
		with, err := search.trained(append(slices.Clone(from.changes), c), from.model, true)
		if err != nil {
			return nil, 1, err
		}
		f, err := search.factor(from.changes, with.model)
		if err != nil {
			return nil, 1, err
		}
		here, err := f.clearest(from.changes)
		if err != nil {
			return nil, 1, err
		}
		if again := search.change(f, here); again != c {
			c = again
			continue
		}
		all, err := search.factor(with.changes, with.model)
		if err != nil {
			return nil, 1, err
		}
		e, err := all.innovations()
		if err != nil {
			return nil, 1, err
		}
		gain := 2*(from.value-with.value) + math.Log1p(c.Scale*c.Scale*here.norm)
		return &with, f.chanceOf(here, math.Sqrt(max(0, min(gain, here.score))), e, search.tail), nil
	}
	return nil, 1, nil
}

// promising is the score from which a model with the change is trained. A model that was learnt without it may have described it so well that
// the score is low, and training is cheap for few observations. For more it is part of the score that a change needs: a normal score above z
// somewhere among n places of two kinds has a chance of at most 2n·exp(−z²/2).
func (search shiftSearch) promising() float64 {
	if search.n <= fewScanned {
		return 5
	}
	const part = 0.6
	return part * 2 * math.Log(2*float64(search.n)/shiftChance)
}

// change is the change at a place of the scanned observations.
func (search shiftSearch) change(f *factor, p possibleChange) Change {
	c := Change{At: f.x[p.at], Slope: p.slope, Scale: changeScale}
	if p.slope {
		c.Scale = 2 * changeScale / (f.x[len(f.x)-1] - f.x[0])
	}
	return c
}

// sizes returns the changes of a model with their sizes, by time.
func (search shiftSearch) sizes(c changed) ([]Shift, error) {
	f, err := search.factor(c.changes, c.model)
	if err != nil {
		return nil, err
	}
	scale := search.a.Scaling.Scale
	var out []Shift
	for _, change := range c.changes {
		column := mat.NewVecDense(len(f.x), change.column(f.x))
		var solved mat.VecDense
		if err := f.solve(&solved, column); err != nil {
			return nil, err
		}
		unit := scale * change.Scale
		s := change.shift(search.a)
		s.Size, s.StdErr = unit*mat.Dot(column, f.alpha), unit*math.Sqrt(max(0, 1-mat.Dot(column, &solved)))
		s.Used = slices.Contains(search.a.Series.Changes, change)
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Shift) int { return cmp.Compare(a.X, b.X) })
	return out, nil
}
