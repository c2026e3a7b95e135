package forecast

import (
	"context"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// retraining trains models like the best one of a search again, on observations with other columns in the mean.
type retraining struct {
	best   Candidate
	chosen Criterion
	given  []gppl.ParamPrior // of a model by evidence in the units of the file, of a named kernel those of training
	extent extent
}

// newRetraining returns the retraining on the latest n observations of a series.
func newRetraining(s *series.Series, n int, best Candidate, chosen Criterion, given []gppl.ParamPrior) retraining {
	return retraining{best: best, chosen: chosen, given: given, extent: extentOf(s, n, s.Step)}
}

// train trains a model of observations with shifts and a trend, and returns it with its negative log evidence, which is not
// computed if it is surely above enough.
func (r retraining) train(
	ctx context.Context, v yScale, m gppl.Model, trend string, enough float64,
) (trained gppl.Model, nats float64, err error) {
	mean, scale := policyMean, v.scaling.Scale
	if r.chosen == ByBIC {
		mean = func(_ candidate, trend string, x gppl.Inputs) (gppl.Mean, error) { return meanOf(trend, x) }
		scale = 1
	}
	if m.Mean, err = mean(r.best.kind, trend, v.data.X); err != nil {
		return m, 0, err
	}
	priors := beliefsOf(r.best.kind, m, r.extent, r.given, scale)
	if r.chosen == ByBIC {
		clear(priors.weak)
		priors.chosen = 0
	}
	const evaluations = 60
	result, _, err := trainWithPriors(ctx, v, m, priors, r.extent.span,
		gppl.Settings{GradientTolerance: searchGradient, MaxEvaluations: evaluations, NoStandardErrors: true})
	if err != nil {
		return m, 0, err
	}
	loss, err := gppl.NewExact(ctx, result.Model, v.data, gppl.WithTolerance(trainTolerance))
	if err != nil {
		return m, 0, err
	}
	found, err := evidenceOf(ctx, loss, result.Model.Values(), priors, v.data.Len(), enough)
	return result.Model, found.nats, err
}

// simpler returns models with one term less (noise if there is no other), and with a smoother term in its place.
func (r retraining) simpler(m gppl.Model) (all []gppl.Model) {
	terms := termsOf(m.Kernel)
	first := 0 // of the removable terms
	if of, ok := r.best.kind.(walker); ok && of.lasts() {
		first = 1
	}
	for i := first; i < len(terms); i++ {
		others := slices.Delete(slices.Clone(terms), i, i+1)
		sums := [][]gppl.Kernel{others}
		for _, smoother := range []string{"Matern32", "SE"} {
			if !hasPeriod(terms[i]) && kernelName(terms[i]) != smoother {
				sums = append(sums, append(slices.Clone(others), (stationary{}).signal(smoother, r.extent, false)))
			}
		}
		for _, sum := range sums {
			all = append(all, modelOfTerms(sum, m))
		}
	}
	return all
}

// modelOfTerms returns a model of terms, or of noise alone if there are none, with the fixed periods of another model.
func modelOfTerms(terms []gppl.Kernel, other gppl.Model) gppl.Model {
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

// seasonsAlone returns the model of the terms with periods and noise; ok is false if there are no other terms.
func seasonsAlone(m gppl.Model) (seasons gppl.Model, ok bool) {
	terms := slices.DeleteFunc(termsOf(m.Kernel), func(t gppl.Kernel) bool { return !hasPeriod(t) })
	return modelOfTerms(terms, m), len(terms) < len(termsOf(m.Kernel)) && m.Kernel != gppl.Kernel(whiteTerm)
}
