package search

import (
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/prior"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// wiener is the candidate of series that wander: a Wiener process, with or without drift, alone and with seasons, in series that
// are too long for the fixed share of randomWalk. The best of it grows by stationary terms like any sum.
//
// A Wiener process with a diffuse level is the limit of a Laplace kernel of variance V whose lengthscale ℓ, and V with it,
// grow: a step Δ has the variance 2VΔ/ℓ. ℓ is fixed far beyond the observations that parameters are learnt from. Stationary
// candidates learn ℓ, and underestimate it for a process that never returns: the forecast then leaves the last value for a
// level that does not exist.
type wiener struct {
	byEvidence
	laplaceWalk
}

var _ walker = wiener{}

// wienerName begins the name of a Wiener process in tables and files.
const wienerName = "Wiener"

// odds favours a walk without seasons. Series with a season, such as loads and temperatures, return as often as not.
func (wiener) odds(k gppl.Kernel) float64 {
	if hasPeriod(k) {
		return 0
	}
	return neverReturns
}

const (
	// neverReturns is the advantage, in nats, of a series that wanders over one that returns to a level or a line. Even if the
	// series is a walk, the likelihood of a process that returns is higher by 2 nats on average, and by 5.8 in one of twenty
	// series (Dickey and Fuller 1981). Forecasts are better if the walk is kept until the data reject it than if the return is
	// estimated (Diebold and Kilian 2000).
	neverReturns = 4
	// driftVariance is the prior variance of the drift, in place of slopeVariance in other models. Only the first and last value
	// of a walk determine its drift, with a standard error of √½ in this unit, so that most of the apparent drift is chance.
	driftVariance = 0.1
)

// name appends the further terms to wienerName.
func (wiener) name(terms []gppl.Kernel) string { return nameBehind(wienerName, terms) }

func (wiener) named(name string) bool { return strings.HasPrefix(name, wienerName) }

// propose returns the process alone and with the first season. It returns none for short series, or if priors were given.
func (c wiener) propose(in *task) ([]proposal, error) {
	if len(in.series.X) <= brief || len(in.options.Priors) > 0 {
		return nil, nil
	}
	reach := walkReach * in.extent.step * float64(in.plan.Trained)
	steps := in.extent.span / in.extent.step
	walk := gppl.Laplace{Variance: wanders / steps * reach / (2 * in.extent.step), Lengthscale: reach}
	all := []proposal{{terms: []gppl.Kernel{walk}, noise: walkNoise, fix: fixWalk}}
	if first := in.firstSeasons(); len(first) > 0 {
		all = append(all, proposal{terms: append([]gppl.Kernel{walk}, first...), noise: seasonalNoise, fix: fixWalk})
	}
	return all, nil
}

// wanders converts the sample variance of a standardised random walk to the variance of a step times the number of steps: a walk
// of N steps of variance s² has the sample variance Ns²/6 on average.
const wanders = 6

// prior gives the variance of the process its prior.
func (c wiener) prior(m gppl.Model, i int, e extent) (p prior.LogNormal, ok bool) {
	return walkPrior(c, m, i, e, wanders*e.step/e.span)
}

// slope returns the prior variance of the drift.
func (wiener) slope(int) float64 { return driftVariance }

// lasts is true: without its walk the model would belong to another candidate, with a wider prior of the slope.
func (wiener) lasts() bool { return true }
