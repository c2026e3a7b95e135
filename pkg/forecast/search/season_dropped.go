package search

import (
	"slices"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

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
