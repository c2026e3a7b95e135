package search

import (
	"context"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// FindLike is a small Find, on all scales and with all trends, of three structures: the best one that a search found at the given
// effort, its seasons alone, and noise alone. It tells at a fraction of the cost whether a search with other columns in the mean
// may find a better model.
func FindLike(ctx context.Context, s *series.Series, o Options, best Averaged, effort string) (*Outcome, error) {
	proposals := []proposed{{noiseAlone{}, proposal{terms: []gppl.Kernel{WhiteTerm}, noise: startNoise}}}
	terms := SumTerms(best.Model.Kernel)
	if best.candidate != (noiseAlone{}) {
		same := proposal{terms: terms, noise: max(seasonalNoise, best.Model.Noise), fix: best.fix}
		proposals = append(proposals, proposed{best.candidate, same})
	}
	seasons := slices.DeleteFunc(slices.Clone(terms), func(t gppl.Kernel) bool { return !hasPeriod(t) })
	if len(seasons) > 0 && len(seasons) < len(terms) {
		proposals = append(proposals, proposed{stationary{}, proposal{terms: seasons, noise: startNoise}})
	}
	e := Efforts[EffortNamed(effort)]
	if o.effort != nil {
		e = *o.effort
	}
	e.terms, e.scouts = 1, false // sums are not grown, and tried at every place
	o.effort, o.origin = &e, true
	p, err := searchPolicy(ctx, s, o, proposals)
	if err != nil {
		return nil, err
	}
	return p.outcome()
}
