package auto

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/capability"
)

// Starts holds the points from which to train a model, and the extent of the search that found them.
type Starts struct {
	// Models are the distinct optima that the search found, best first, followed by start values that it did not start from.
	// They have the transforms of the given model. There is at least one.
	Models []gppl.Model
	// Search describes the search; its Screened is 0 if there was none.
	Search Search
	// Doubts say why the best point that training reaches from here may not be determined by the data: what the search left
	// open, or that there was no search. Train adds the doubts that the trained model shows.
	Doubts []string

	auto *fitting
}

// FindStarts is the search of Fit without its training. It returns points from which to train m on the data by any loss; Train
// does that as Fit does. The settings are Fit's; the search reads only Fit.Seed, Priors and KeepStart.
//
// Up to 400 observations the first of the Models is the optimum of the exact likelihood that the search found, and training
// only polishes it. Beyond that, the search used parts of the data and their periodogram: compare the Models by the loss of
// all data. If m has a mean, the search used the residuals of its least-squares fit.
//
// A kernel that depends on position (gppl.ChangePoint), and data that a mean explains entirely, are not searched: Models are
// then start values from the data (StartFrom), and Doubts says so. FindStarts returns the errors of Fit for a model or data
// that no search can use, and ctx's.
//
// Beyond 400 observations the time hardly depends on their number n: some thousand likelihoods of 128 observations, and O(n log
// n).
func FindStarts(ctx context.Context, m gppl.Model, d gppl.Data, s Settings) (*Starts, error) {
	a, err := newFitting(ctx, m, d, s)
	if err != nil {
		return notSearched(ctx, m, d, s, err)
	}
	if err := a.findStarts(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found := &Starts{Search: a.result.Search, Doubts: slices.Clone(a.unsettled), auto: a}
	for _, start := range append(slices.Clone(a.starts), a.given...) {
		found.Models = append(found.Models, a.own(start))
	}
	if found.Search.Screened == 0 {
		found.Doubts = append(found.Doubts, fromDataAlone)
	}
	return found, nil
}

// fromDataAlone is the doubt about a training without a search.
const fromDataAlone = "not searched: training began at start values from the data alone"

// notSearched returns start values where Fit refuses for the given reason, or Fit's error if there is nothing to train.
func notSearched(ctx context.Context, m gppl.Model, d gppl.Data, s Settings, why error) (*Starts, error) {
	if m.Kernel == nil || m.CheckPlain("", d) != nil || d.Check() != nil || d.CheckUnits() != nil ||
		m.CheckBasis(ctx, d.X) != nil {
		return nil, why
	}
	models, err := startsFrom(ctx, m, d)
	if err != nil {
		return nil, err
	}
	rest := d.Detrend()
	rest.Errors, rest.Relative = d.Errors, d.Relative
	plain, err := StartFrom(ctx, m, rest)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(plain.Values(), models[0].Values()) {
		models = append(models, plain) // one maximum explains only the trend, another explains more
	}
	for _, start := range models {
		if err := start.Check(); err != nil {
			return nil, err
		}
	}
	doubt := fromDataAlone
	if !m.IsPlaced() {
		doubt = "not searched: " + strings.TrimPrefix(why.Error(), "gppl: ")
	}
	a := &fitting{settings: s, data: d, rest: rest, family: m, starts: models, result: &Result{}, refused: true}
	a.priors, err = a.priorsByName()
	return &Starts{Models: models, Doubts: []string{doubt}, auto: a}, err
}

// On returns the starts for other values at the same inputs, such as logarithms of the values that were searched. It does not
// search again, since both have the same periods and scales. Models, Search and Doubts are copied from s.
func (s *Starts) On(ctx context.Context, d gppl.Data) *Starts {
	a, out := *s.auto, *s
	a.ctx, a.data = ctx, inOrder(d)
	a.rest, _ = a.family.SubtractMean(a.ctx, a.data)
	a.guide, a.spare = nil, nil // guides were made for the values of s
	if a.spread != nil {
		model := a.starts[0]
		model.Mean, a.spread = nil, nil
		if loss, err := gppl.NewExact(a.ctx, model, spreadOver(a.rest)); err == nil {
			if posterior, err := a.posterior(loss); err == nil {
				a.spread = posterior
			}
		}
	}
	out.auto = &a
	return &out
}

// own returns a model of the family at the values of m, with the family's transforms.
func (a *fitting) own(m gppl.Model) gppl.Model { return a.family.WithParams(m.Values()) }

// Train trains a likelihood of all data from further starts and the Models, by the steps of Fit: a few evaluations from each, the
// best two to the end, with periods in cycles over the range; then from t.Starts−1 random starts around the best, and from the
// aliases of its period. It reports what Fit would: a warning for each of the Doubts and of those that the result shows itself.
// Any of them makes a success Doubtful.
//
// likelihood returns the likelihood, at a model, of the data or of 500 of them, without the priors of the settings, which
// Train adds. Its mean may differ from the mean in the search.
//
// With further starts, such as where another mean ended, only the best of all starts is trained.
//
// t.MaxEvaluations bounds the evaluations of all starts but aliases, in units of one evaluation of all data; 0 means no limit.
// If the limit is small, only the best start is trained on all data; the starts then include the result of training the Models
// on 500 observations spread over all. If ctx ends, Train returns the best result so far with ctx's error.
func (s *Starts) Train(
	ctx context.Context, likelihood func(context.Context, gppl.Model, gppl.Data) (gppl.Loss, error), t gppl.Settings,
	further ...gppl.Model,
) (*gppl.Result, error) {
	begin := s.auto.starts[0]
	loss, err := likelihood(ctx, begin, s.auto.data)
	if err != nil {
		return nil, err
	}
	a := *s.auto
	_, exact := loss.(*gppl.Exact)
	a.ctx, a.loss, a.at, a.result = ctx, loss, begin, &Result{Exact: exact, Search: s.Search}
	a.family.Mean = loss.Model(begin.Values()).Mean
	if a.rest, err = a.family.SubtractMean(ctx, a.data); err != nil {
		return nil, err
	}
	a.settings.Fit, a.evaluations, a.trained = t, 0, 0
	a.next, a.sure = nil, a.given
	for _, m := range further {
		a.next = append(a.next, begin.WithParams(m.Values()))
	}
	first, ends := firstSteps*len(a.starts), fullTrainings+len(a.given)+max(0, t.Starts-1)
	switch limit := t.MaxEvaluations; {
	case further != nil || limit > 0 && limit < first+usualEvaluations*ends:
		if err := a.shortlist(likelihood); err != nil {
			return nil, err
		}
	default:
		a.next = a.starts
		a.settings.Fit.MaxEvaluations = max(0, limit-first) / ends
		if posterior, err := a.posterior(loss); err == nil && len(a.next) > fullTrainings {
			a.next = a.halve(posterior, a.next)
		}
	}
	r, _, err := a.train(loss)
	if r == nil {
		return nil, err
	}
	if t.Starts > 1 && err == nil {
		posterior, _ := a.posterior(loss) // train evaluated it without an error
		if other, _ := a.trainBy(posterior, r.Model, a.settings.Fit); other != nil && other.Value < r.Value {
			r = other
		}
	}
	a.at, a.result.Result = r.Model, r
	a.unsettled = append(slices.Clip(s.Doubts), a.aliasDoubts()...)
	doubted(a.result.Result, a.doubts(), a.straight())
	a.finish()
	return a.result.Result, ctx.Err()
}

// usualEvaluations is the number of evaluations within which most trainings end.
const usualEvaluations = 80

// shortlist keeps one start: the best of a.next and all others, or the first if the limit is too small to compare them.
// Without a.next, it also compares the result of training the starts on a part of the data, and subtracts the cost from the
// limit of the settings.
func (a *fitting) shortlist(likelihood func(context.Context, gppl.Model, gppl.Data) (gppl.Loss, error)) error {
	whole := a.settings.Fit
	unit := whole.EvaluationSeconds
	left := float64(whole.MaxEvaluations)
	if left <= 0 {
		left = math.Inf(1)
	}
	models := append(slices.Clone(a.next), append(slices.Clone(a.starts), a.given...)...)
	if unit <= 0 {
		unit = capability.Seconds(a.loss, models[0].Values())
	}
	if subset := partOf(a.data); subset.Len() < a.data.Len() && len(a.next) == 0 {
		part, err := likelihood(a.ctx, models[0], subset)
		if err != nil {
			return err
		}
		takes := float64(firstSteps*len(models)+secondSteps*fullTrainings) * capability.Seconds(part, models[0].Values()) / unit
		if takes < 0.5*left {
			a.next, a.settings.Fit.MaxEvaluations, a.settings.Fit.NoStandardErrors, a.sure = models, secondSteps, true, nil
			a.settings.Fit.EvaluationSeconds = 0
			if r, _, _ := a.train(part); r != nil { // r is nil if the likelihood cannot be evaluated on the part
				models = append([]gppl.Model{models[0].WithParams(r.Model.Values())}, models...)
			}
			left -= takes
		}
	}
	a.next, a.sure = models[:1], nil
	count := 0.
	for _, m := range models {
		count += max(1, capability.Seconds(a.loss, m.Values())/unit)
	}
	if left > 2*count {
		a.next = []gppl.Model{models[a.lowest(models)]}
		left -= count
	}
	if whole.MaxEvaluations > 0 {
		trainings := 1.0
		if whole.Starts > 1 { // the best is trained once more, beside random starts
			trainings += float64(whole.Starts)
		}
		whole.MaxEvaluations = max(1, int(left/trainings))
	}
	a.settings.Fit = whole
	return a.ctx.Err()
}

// lowest returns the index of the model with the lowest loss, 0 if none can be evaluated.
func (a *fitting) lowest(models []gppl.Model) (at int) {
	loss, err := a.posterior(a.loss)
	best := math.Inf(1)
	for i, m := range models {
		if err != nil || a.ctx.Err() != nil {
			break
		}
		a.evaluations++
		if v, err := loss.ValueGrad(a.ctx, nil, m.Values()); err == nil && v < best {
			best, at = v, i
		}
	}
	return at
}

// doubted adds the doubts to the warnings of a result, and makes a success Doubtful. If straight, a straight line explains the
// data, and an Unconfirmed result becomes Doubtful too.
func doubted(r *gppl.Result, doubts []string, straight bool) {
	if doubts == nil {
		return
	}
	switch r.Status {
	case gppl.Converged, gppl.Stopped, gppl.Stalled:
		r.Status, r.Reason = gppl.Doubtful, doubts[0]
	case gppl.Unconfirmed:
		if straight {
			r.Status, r.Reason = gppl.Doubtful, doubts[0]
		}
	}
	for _, d := range doubts {
		if !slices.Contains(r.Warnings, d) { // training may have added the same warning
			r.Warnings = append(r.Warnings, d)
		}
	}
}

// partOf returns d, or spreadSize observations of it if there are more.
func partOf(d gppl.Data) gppl.Data {
	if d.Len() <= spreadSize {
		return d
	}
	return spreadOver(d)
}
