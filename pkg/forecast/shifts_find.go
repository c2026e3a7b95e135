package forecast

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

const (
	// leastScanned and mostScanned bound the number of latest observations in which shifts are looked for: fewer cannot tell a
	// shift from a walk, and more take seconds.
	leastScanned, mostScanned = 30, 1000

	// mostShifts is the largest number of shifts that are looked for.
	mostShifts = 6
	// shiftChance is the probability of a shift as clear somewhere in a series without shifts, below which one is accepted.
	shiftChance = 0.005
)

// shiftSearch looks for changes of the mean among the latest observations that the best model of an analysis was learnt from.
type shiftSearch struct {
	ctx  context.Context
	a    *Analysis // has all observations, or all but the outliers, which may hide shifts
	n    int       // number of observations
	tail []float64 // innovations with the outliers, if these are left out
}

// shifted is a model with shifts, and its negative log evidence.
type shifted struct {
	shifts []series.Shift
	model  gppl.Model
	value  float64 // nats; NaN before the model is trained on the scanned observations
}

// findShifts looks for changes of level and of slope of the mean among the latest observations that the best model was learnt
// from, at most 1000. With A the covariance of the observations under the model and c a step or a kink at one of them, the score
// of a shift there is
//
//	(cᵀPz)²/cᵀPc,   P = A⁻¹ without what a change of single observations at that place explains,
//
// the improvement of −2 log likelihood by it (de Jong and Penzer 1998, Diagnosing shocks in time series). The model is trained
// anew with the best shift, which is accepted if the chance of one as clear is below 0.5 %, both by the improvement of the
// trained likelihood and by its score: the sum, over all places and both kinds of shift, of the chance that white innovations
// give such a score. The innovations have Student's t distribution with the degrees of freedom that they show, so that a single
// large one of many is no shift. Then the search continues with the next shift. Each takes ⅔n³ flops. There are none if the model
// has no dense factor, for fewer than 30 observations, and for counts. Shifts that are already in the mean of the model are among
// them, with Used set. If none is found, outliers are left out, unless they are more than 5 %, but still count for the tails. The
// repeats of a stuck sensor (Series.Stuck) are left out: a run is no level, though a level before it and another after it are.
func (a *Analysis) findShifts(ctx context.Context) ([]ShiftSize, error) {
	scan, best, err := a.searchShifts(ctx)
	if err != nil || len(best.shifts) == 0 {
		return nil, err
	}
	sizes, err := scan.sizes(best)
	return withoutSpikes(sizes, a.Series.X), err
}

// withoutSpikes drops pairs of opposite changes of level with a single observation between them, which is an outlier.
func withoutSpikes(all []ShiftSize, x []float64) (left []ShiftSize) {
	for _, s := range all {
		if k := len(left) - 1; k >= 0 && s.Kind == "level" && left[k].Kind == "level" && s.Size*left[k].Size < 0 {
			from, _ := slices.BinarySearch(x, left[k].X)
			if to, _ := slices.BinarySearch(x, s.X); to-from == 1 {
				left = left[:k]
				continue
			}
		}
		left = append(left, s)
	}
	return left
}

// searchShifts returns the best model with the shifts found among all observations or, if there are none, without the outliers.
func (a *Analysis) searchShifts(ctx context.Context) (scan shiftSearch, best shifted, err error) {
	scan = shiftSearch{ctx: ctx, a: a, n: min(len(a.Series.X), a.TrainedOn(), mostScanned)}
	if first, last, ok := a.Series.Stuck(); ok {
		scan.leave(func(i int) bool { return i > first && i <= last })
	}
	if scan.n < leastScanned || a.Series.Approximated() {
		return scan, best, nil
	}
	if best, err = scan.all(); err != nil || len(best.shifts) > len(a.Series.Shifts) {
		return scan, best, err
	}
	without := scan
	if some, err := without.leaveOutliers(); err != nil || !some {
		return scan, best, err
	}
	more, err := without.all()
	if err != nil || len(more.shifts) == len(best.shifts) {
		return scan, best, err
	}
	return without, more, nil
}

// all returns the model with the shifts that are found one after the other. With many observations it starts from the model of
// the whole series, and trains it on the scanned observations only if a shift is found.
func (scan shiftSearch) all() (best shifted, err error) {
	best = shifted{scan.a.Series.Shifts, scan.a.Result.Model, math.NaN()}
	if scan.n <= cheapShifts {
		if best, err = scan.trained(best.shifts, best.model, false); err != nil {
			return best, err
		}
	}
	for len(best.shifts) < mostShifts {
		next, err := scan.next(best)
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

// leaveOutliers drops the outliers among the scanned observations, unless they are many or the observations have weights.
func (scan *shiftSearch) leaveOutliers() (some bool, err error) {
	const most = 0.05 // share of outliers in the observations
	a := scan.a
	outliers, err := a.Outliers(scan.ctx)
	if err != nil {
		return false, err
	}
	from := len(a.Series.X) - scan.n
	list := slices.DeleteFunc(slices.Clone(outliers.List), func(o Outlier) bool { return o.Index < from })
	if len(list) == 0 || a.Series.Student != nil || float64(len(list)) > most*float64(scan.n) {
		return false, nil
	}
	data, err := a.standardised(scan.ctx)
	if err != nil {
		return false, err
	}
	f, err := a.newFactor(scan.ctx, a.Result.Model, data, scan.n)
	if err != nil {
		return false, err
	}
	scan.tail = f.innovations()
	scan.leave(func(i int) bool { return slices.ContainsFunc(list, func(o Outlier) bool { return o.Index == i }) })
	return true, nil
}

// leave drops the observations whose index drop reports.
func (scan *shiftSearch) leave(drop func(i int) bool) {
	a := scan.a
	from := len(a.Series.X) - scan.n
	b, s := *a, *a.Series
	s.X, s.Y, s.Errors = nil, nil, nil
	for i := range a.Series.X {
		if drop(i) {
			if i >= from {
				scan.n--
			}
			continue
		}
		s.X, s.Y = append(s.X, a.Series.X[i]), append(s.Y, a.Series.Y[i])
		if a.Series.Errors != nil {
			s.Errors = append(s.Errors, a.Series.Errors[i])
		}
	}
	b.Series, b.trained, b.computed, scan.a = &s, scan.n, new(computed), &b
}

// retraining trains the models of the search.
func (scan shiftSearch) retraining() search.Retraining {
	a := scan.a
	return search.NewRetraining(a.Series, scan.n, a.Candidates[0], a.given)
}

// withFound returns the analysis learnt anew with the found shifts in its mean, or itself if there are none. If the search fails
// it returns itself with the error as unsought.
func (a *Analysis) withFound(ctx context.Context) (*Analysis, error) {
	a, err := a.withJumps(ctx)
	if err != nil {
		return nil, err
	}
	_, best, err := a.searchShifts(ctx)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("looking for changes: %w", ctx.Err())
	}
	if a.unsought = err; err != nil || len(best.shifts) <= len(a.Series.Shifts) {
		return a, nil
	}
	s := a.Series.WithShifts(best.shifts)
	found, err := search.Find(ctx, s, *a.Options)
	if err != nil {
		return nil, err
	}
	return analysisOf(s, *a.Options, found), nil
}

// with returns the analysis of the series with some shifts, and its observations on the scale of the best model.
func (scan shiftSearch) with(shifts []series.Shift) (*Analysis, search.YScale, error) {
	b := *scan.a
	b.Series, b.computed = scan.a.Series.WithShifts(shifts), new(computed)
	v, err := b.scale(b.Log)
	return &b, v, err
}

// trained returns the likeliest model with shifts, by its evidence. Training begins at the parameters of another model and keeps
// its terms. If fewer is set, it also tries one term less and no trend in a short series, since these may have described the
// shift.
func (scan shiftSearch) trained(shifts []series.Shift, from gppl.Model, fewer bool) (best shifted, err error) {
	_, v, err := scan.with(shifts)
	if err != nil {
		return best, err
	}
	v.Data = search.Latest(v.Data, scan.n)
	models, trends := []gppl.Model{from}, []string{scan.a.Candidates[0].Trend}
	if fewer && scan.n <= cheapShifts {
		models = append(models, scan.retraining().Simpler(from)...)
		if trends[0] != "none" {
			trends = append(trends, "none")
		}
	}
	best.value = math.Inf(1)
	for _, trend := range trends {
		for _, m := range models {
			model, value, err := scan.retraining().Train(scan.ctx, v, m, trend, best.value)
			if err != nil {
				return best, err
			}
			if value < best.value {
				best = shifted{model: model, value: value}
			}
		}
	}
	best.shifts = shifts
	return best, nil
}

// factor returns the factor of the model with some shifts in its mean.
func (scan shiftSearch) factor(shifts []series.Shift, m gppl.Model) (*factor, error) {
	b, v, err := scan.with(shifts)
	if err != nil {
		return nil, err
	}
	m.Mean = withoutShifts(m.Mean, shifts)
	return b.newFactor(scan.ctx, m, v.Data, scan.n)
}

// withoutShifts returns a mean without columns of shifts, except the given ones.
func withoutShifts(m gppl.Mean, but []series.Shift) gppl.Mean {
	of, ok := m.(gppl.GaussianBeta)
	if !ok {
		return m
	}
	var parts []gppl.Mean
	var variances []float64
	left := len(but)
	for _, p := range of.Of.(gppl.MeanSum).Parts() {
		if r, ok := p.(gppl.Regressor); ok && series.IsShift(r.Name) {
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

// next returns the model with one more shift; nil if there is none. With few observations it tries two shifts: the clearest under
// the model, and the clearest under a model of seasons and noise alone, since a model that was learnt without the shift may
// describe it.
func (scan shiftSearch) next(from shifted) (best *shifted, err error) {
	nulls := []gppl.Model{from.model}
	if scan.n <= cheapShifts {
		if m, ok := search.SeasonsAlone(from.model); ok {
			plain, err := scan.trained(from.shifts, m, false)
			if err != nil {
				return nil, err
			}
			nulls = append(nulls, plain.model)
		}
	}
	least := shiftChance
	for _, null := range nulls {
		f, err := scan.factor(from.shifts, null)
		if err != nil {
			return nil, err
		}
		there := f.clearest(from.shifts)
		if there.score < scan.promising() {
			continue
		}
		if math.IsNaN(from.value) {
			if from, err = scan.trained(from.shifts, from.model, false); err != nil {
				return nil, err
			}
		}
		to, chance, err := scan.judge(from, scan.shift(f, there))
		if err != nil {
			return nil, err
		}
		if chance < least {
			least, best = chance, to
		}
	}
	if best != nil {
		best.shifts[len(best.shifts)-1].Chance = max(least, math.SmallestNonzeroFloat64)
	}
	return best, nil
}

// judge trains the model with one more shift, moves the shift to the place where the trained model finds it, and returns the
// chance of one as clear.
func (scan shiftSearch) judge(from shifted, c series.Shift) (to *shifted, chance float64, err error) {
	const rounds = 2
	for range rounds {
		with, err := scan.trained(append(slices.Clone(from.shifts), c), from.model, true)
		if err != nil {
			return nil, 1, err
		}
		f, err := scan.factor(from.shifts, with.model)
		if err != nil {
			return nil, 1, err
		}
		here := f.clearest(from.shifts)
		if again := scan.shift(f, here); again != c {
			c = again
			continue
		}
		all, err := scan.factor(with.shifts, with.model)
		if err != nil {
			return nil, 1, err
		}
		gain := 2*(from.value-with.value) + math.Log1p(c.Scale*c.Scale*here.norm)
		return &with, f.chanceOf(here, math.Sqrt(max(0, min(gain, here.score))), all.innovations(), scan.tail), nil
	}
	return nil, 1, nil
}

// promising returns the least score at which a model with the shift is trained. For few observations, where training is cheap, it
// is half of the score that is finally required, since a model learnt without the shift may describe the shift so well that the
// score is low. For more observations it is a share of the score that a shift needs: the chance of a normal score above z
// somewhere among n places of two kinds is at most 2n·exp(−z²/2).
func (scan shiftSearch) promising() float64 {
	if scan.n <= cheapShifts {
		return 9
	}
	const part = 0.6
	return part * 2 * math.Log(2*float64(scan.n)/shiftChance)
}

// shift returns the shift at a place of the scanned observations.
func (scan shiftSearch) shift(f *factor, p possibleShift) series.Shift {
	c := series.Shift{At: f.x[p.at], Slope: p.slope, Scale: series.ShiftScale}
	if p.slope {
		c.Scale = 2 * series.ShiftScale / (f.x[len(f.x)-1] - f.x[0])
	}
	return c
}

// sizes returns the changes of a model with their sizes, by time.
func (scan shiftSearch) sizes(c shifted) ([]ShiftSize, error) {
	f, err := scan.factor(c.shifts, c.model)
	if err != nil {
		return nil, err
	}
	scale := scan.a.Scaling.Scale
	var out []ShiftSize
	for _, shift := range c.shifts {
		column := shift.Column(f.x)
		white := f.whiten(column)
		unit := scale * shift.Scale
		s := unsized(shift, scan.a)
		s.Size, s.StdErr = unit*floats.Dot(column, f.alpha), unit*math.Sqrt(max(0, 1-floats.Dot(white, white)))
		s.Used = slices.Contains(scan.a.Series.Shifts, shift)
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b ShiftSize) int { return cmp.Compare(a.X, b.X) })
	return out, nil
}

// unsized returns a shift without its size.
func unsized(c series.Shift, a *Analysis) ShiftSize {
	s := ShiftSize{Kind: "level", X: c.At, When: a.Series.Axis.TableText(c.At), Log: a.Log, Chance: c.Chance}
	if c.Slope {
		s.Kind = "slope"
	}
	return s
}
