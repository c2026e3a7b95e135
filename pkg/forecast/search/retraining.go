package search

import (
	"context"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Retraining trains models like the best one of a search anew, on observations with other columns in the mean.
type Retraining struct {
	best   Candidate
	given  []gppl.ParamPrior // in the units of the file
	extent extent
}

// NewRetraining returns the retraining on the latest n observations of a series.
func NewRetraining(s *series.Series, n int, best Candidate, given []gppl.ParamPrior) Retraining {
	return Retraining{best: best, given: given, extent: extentOf(s, n, s.Step)}
}

// Train trains a model of observations with shifts and a trend. It returns the model and its negative log evidence, whose
// curvature term is left out if the evidence is certainly above enough.
func (r Retraining) Train(
	ctx context.Context, v YScale, m gppl.Model, trend string, scoreLimit float64,
) (trained gppl.Model, nats float64, err error) {
	if m.Mean, err = policyMean(r.best.candidate.slope, trend, v.Data.X); err != nil {
		return m, 0, err
	}
	priors := beliefsOf(r.best.candidate.prior, m, r.extent, r.given, v.Scaling.Scale)
	const evaluations = 60
	result, _, err := trainWithPriors(ctx, v, m, priors, r.extent.span,
		gppl.Settings{GradientTolerance: searchGradient, MaxEvaluations: evaluations, NoStandardErrors: true})
	if err != nil {
		return m, 0, err
	}
	loss, err := gppl.NewExact(ctx, result.Model, v.Data, gppl.WithTolerance(trainTolerance))
	if err != nil {
		return m, 0, err
	}
	found, err := evidenceOf(ctx, loss, result.Model.Values(), priors, v.Data.Len(), scoreLimit)
	return result.Model, found.nats, err
}

// Simpler returns the models with one term less (noise if none is left) and the models with a smoother term in place of another.
func (r Retraining) Simpler(m gppl.Model) (all []gppl.Model) {
	terms := TermsOf(m.Kernel)
	first := 0 // removable term
	if of, ok := r.best.candidate.(walker); ok && of.lasts() {
		first = 1
	}
	for i := first; i < len(terms); i++ {
		others := slices.Delete(slices.Clone(terms), i, i+1)
		sums := [][]gppl.Kernel{others}
		for _, smoother := range []string{"Matern32", "SE"} {
			if !hasPeriod(terms[i]) && KernelName(terms[i]) != smoother {
				sums = append(sums, append(slices.Clone(others), (stationary{}).signal(smoother, r.extent, false)))
			}
		}
		for _, sum := range sums {
			all = append(all, modelOfTerms(sum, m))
		}
	}
	return all
}

// modelOfTerms returns a model of some terms, or of noise if there are none, with the fixed periods of another model.
func modelOfTerms(terms []gppl.Kernel, other gppl.Model) gppl.Model {
	if len(terms) == 0 {
		terms = []gppl.Kernel{WhiteTerm}
	}
	m := gppl.Model{Kernel: SumOf(terms), Noise: max(other.Noise, startNoise)}.FixRedundant()
	if terms[0] == gppl.Kernel(WhiteTerm) {
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

// SeasonsAlone returns a model of the periodic terms and noise; ok is false if there are no other terms.
func SeasonsAlone(m gppl.Model) (seasons gppl.Model, ok bool) {
	terms := slices.DeleteFunc(TermsOf(m.Kernel), func(t gppl.Kernel) bool { return !hasPeriod(t) })
	return modelOfTerms(terms, m), len(terms) < len(TermsOf(m.Kernel)) && m.Kernel != gppl.Kernel(WhiteTerm)
}
