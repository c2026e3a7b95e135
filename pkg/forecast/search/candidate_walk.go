package search

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// randomWalk is the candidate of a random walk with drift and, if the best model has a season, its seasonal terms.
//
// The walk is a Laplace kernel of variance V with a linear trend, whose slope is the drift. Its lengthscale ℓ is fixed far beyond
// the range of x, so that a step Δ has the variance 2VΔ/ℓ.
type randomWalk struct{ laplaceWalk }

var _ walker = randomWalk{}

// walkName begins the name of a random walk in tables and files.
const walkName = "RandomWalk"

const (
	// walkMost is the largest share of a random walk in a forecast, and walkWorth the number of observations that it counts for:
	// its share is walkWorth/n, at most walkMost.
	//
	// Evidence measures predictions one step ahead, and prefers smooth or exponential growth and a quick return to the mean; further
	// ahead, growth stops more often, and levels last longer, than so few observations show. In trials on the development half of M3
	// this share lowered the CRPS of yearly, quarterly and other series, and left fewer forecasts of monthly ones poor, whose CRPS
	// it hardly changed.
	walkMost, walkWorth = 0.5, 40
)

// name returns walkName with the names of the seasonal terms.
func (randomWalk) name(terms []gppl.Kernel) string { return nameBehind(walkName, terms) }

func (randomWalk) named(name string) bool { return strings.HasPrefix(name, walkName) }

// share returns the weight of a random walk in the forecast of a series of n observations. The evidence does not change it.
func (randomWalk) share(n int) (weight float64, fixed bool) {
	if n > brief {
		return 0, true
	}
	return min(walkMost, walkWorth/float64(n)), true
}

// propose returns one model. If the best model has a season, this one has the same seasonal terms and observation noise. It
// returns none for a long series, or if the user chose another mean or priors.
func (randomWalk) propose(in *task) ([]proposal, error) {
	if len(in.series.X) > brief || len(in.options.Priors) > 0 {
		return nil, nil
	}
	at := &place{trend: in.trends[len(in.trends)-1]}
	if at.trend != "linear" && at.trend != "none" {
		return nil, nil
	}
	best := in.trials[0]
	if hasPeriod(best.model.Kernel) {
		at.scale = best.scale
	}
	var err error
	if at.mean, err = meanOf(at.trend, in.scales[at.scale].Data.X); err != nil {
		return nil, err
	}
	q := proposal{only: at, noise: walkNoise, fix: fixWalk}
	reach := walkReach * in.extent.span
	q.terms = []gppl.Kernel{gppl.Laplace{Variance: stepVariance * reach / (2 * in.extent.step), Lengthscale: reach}}
	for _, t := range TermsOf(best.model.Kernel) {
		if hasPeriod(t) {
			q.terms, q.noise = append(q.terms, t), seasonalNoise
		}
	}
	return []proposal{q}, nil
}

// grown is false: its share is trained when the search has ended.
func (randomWalk) grown() bool { return false }

// takesPart is false if noise about a trend of y describes the series better. Noise about a trend of log y does not count:
// exponential growth often stops.
func (randomWalk) takesPart(in *task, t *trial) bool {
	return !slices.ContainsFunc(in.trials, func(o *trial) bool {
		return o.Log == t.Log && o.Error == "" && o.score <= t.score && o.NoSignal()
	})
}

// prior gives the variance of the walk its prior.
func (c randomWalk) prior(m gppl.Model, i int, e extent) (p prior.LogNormal, ok bool) {
	return walkPrior(c, m, i, e, stepVariance)
}

func (randomWalk) slope(n int) float64 { return slopeOf(n) }

func (randomWalk) lasts() bool { return false }

func (randomWalk) odds(gppl.Kernel) float64 { return 0 }

func (randomWalk) says(weight float64) (note, summary string) {
	return fmt.Sprintf("The random walk has a fixed weight of %.0f %%: in short series trends often stop.", 100*weight),
		share(weight) + " of the weight goes to a random walk as a precaution: in short series trends often stop."
}

// share writes a weight of about a third or a half in words.
func share(weight float64) string {
	const close = 0.02
	switch {
	case math.Abs(weight-1./3) < close:
		return "A third"
	case math.Abs(weight-0.5) < close:
		return "Half"
	}
	return fmt.Sprintf("%.0f %%", 100*weight)
}
