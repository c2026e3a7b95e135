package forecast

import (
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// RandomWalk begins the name of the kernel of a random walk among the candidates; with a season it is "RandomWalk + LocPer".
const RandomWalk = "RandomWalk"

const (
	// walkMost is the largest share of a random walk in a forecast, and walkWorth the number of observations that it counts for:
	// its share is walkWorth/n, at most walkMost.
	//
	// Evidence measures predictions one step ahead, and prefers smooth or exponential growth and a quick return to the mean; further
	// ahead, growth stops more often, and levels last longer, than so few observations show. In trials on the development half of M3 this
	// share lowered the CRPS of yearly, quarterly and other series, and left fewer forecasts of monthly ones poor, whose CRPS it hardly changed.
	walkMost, walkWorth = 0.5, 40
	// brief is the number of observations above which the share, below a tenth, is not worth the time. Every effort trains on as many, so
	// that a walk is always learnt from the whole series, in its unit.
	brief = 400
	// walkReach is the lengthscale over the range of x: over a horizon of a third of the range, the walk returns to its mean by 3 %.
	walkReach = 10
	// walkNoise, of the standardised series, serves the factorisation alone: a random walk without a season has no observation noise.
	// With one, the noise is learnt, beginning at seasonalNoise.
	walkNoise, seasonalNoise = 1e-6, 0.01
)

// walkShare returns the weight of a random walk in the forecast of a series of n observations, whatever its evidence.
func walkShare(n int) float64 {
	if n > brief {
		return 0
	}
	return min(walkMost, walkWorth/float64(n))
}

// walk returns a random walk with drift, trained or with its error. It has the seasonal terms, and observation noise, if the best model
// has a season. It returns nil if the walk has no part in the forecast: if the series is long, if the user gave another form of mean or
// priors, or if noise about a trend of y describes the series better. Noise about a trend of log y does not count:
// exponential growth often stops.
//
// The walk is a Laplace kernel of variance V with a linear trend, whose slope is the drift. Its lengthscale ℓ is fixed far beyond the
// range of x, so that a step Δ has the variance 2VΔ/ℓ.
func (p *policy) walk() (*trial, error) {
	if len(p.series.X) > brief || len(p.options.Priors) > 0 {
		return nil, nil
	}
	trend := p.trends[len(p.trends)-1]
	if trend != "linear" && trend != "none" {
		return nil, nil
	}
	best := p.trials[0]
	v := p.views[0]
	if hasPeriod(best.model.Kernel) {
		v = p.views[best.view]
	}
	mean, err := meanOf(trend, v.data.X)
	if err != nil {
		return nil, err
	}
	reach := walkReach * p.extent.span
	terms := []gppl.Kernel{gppl.Laplace{Variance: stepVariance * reach / (2 * p.extent.step), Lengthscale: reach}}
	name, noise := RandomWalk, float64(walkNoise)
	for _, t := range termsOf(best.model.Kernel) {
		if hasPeriod(t) {
			terms = append(terms, t)
			name, noise = name+" + "+kernelName(t), seasonalNoise
		}
	}
	m := p.hold(gppl.Model{Kernel: sumOf(terms), Noise: noise, Mean: mean})
	m = m.Fix(m.Params()[1].Name)
	if len(terms) == 1 {
		m = m.Fix(gppl.NoiseName)
	}
	t := &trial{Candidate: Candidate{Kernel: name, Trend: trend, Log: v.log}, score: math.Inf(1)}
	if err := p.train(t, v, m); err != nil {
		return nil, err
	}
	if t.Error != "" {
		return t, nil
	}
	for _, o := range p.trials {
		if o.Log == v.log && o.Error == "" && o.score <= t.score && len(termsOf(o.model.Kernel)) == 0 {
			return nil, nil
		}
	}
	return t, nil
}

// addWalk gives a random walk its share of the forecast, and lists it after the other averaged candidates. A walk that could not be
// trained gets no share; the list shows its error.
func (a *Analysis) addWalk(t *trial) {
	if t.Error != "" {
		a.Candidates = slices.Insert(a.Candidates, len(a.members), t.Candidate)
		return
	}
	share := walkShare(len(a.Series.X))
	for i, m := range a.members {
		m.weight *= 1 - share
		a.Candidates[i].Weight = m.weight
	}
	t.Weight = share
	a.Candidates = slices.Insert(a.Candidates, len(a.members), t.Candidate)
	a.members = append(a.members, &member{model: t.model, log: t.Log, weight: share})
}

// Walk returns the weight of the random walk with drift in the forecast; 0 if the forecast has none.
func (a *Analysis) Walk() float64 {
	for _, c := range a.Candidates {
		if c.IsWalk() {
			return c.Weight
		}
	}
	return 0
}

// IsWalk reports whether a candidate is the random walk, whose weight does not depend on its evidence.
func (c Candidate) IsWalk() bool { return strings.HasPrefix(c.Kernel, RandomWalk) }

// isWalk reports whether a model of the policy is a random walk: no other begins with a Laplace kernel whose lengthscale is fixed.
func isWalk(m gppl.Model) bool {
	_, rough := sumTerms(m.Kernel)[0].(gppl.Laplace)
	return rough && m.Params()[1].IsFixed()
}

// stepVariance returns the prior median of the variance of one step of a random walk, on the standardised series.
const stepVariance = 0.1

// walkPrior is the prior of the variance of a random walk.
func walkPrior(m gppl.Model, e extent) logNormal {
	return logNormal{math.Log(stepVariance * sumTerms(m.Kernel)[0].(gppl.Laplace).Lengthscale / (2 * e.step)), 1.5}
}
