package search

import (
	"math"
	"slices"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Effort is the extent of a search.
type Effort struct {
	Name string
	// searched is the number of latest observations on which structures are compared.
	searched int
	// In a longer series, the best finalists candidates are trained on the latest trained observations, which determine the
	// parameters well. If x is not regular they are trained on at least trainedUneven, and on more if an engine is fast enough.
	finalists, trained, trainedUneven int
	// mostUneven bounds the observations of an uneven series; 0 for no bound. Tests of the past learn from no more than the fit
	// did.
	mostUneven int
	// terms is the largest number of terms of a sum, and evaluations the largest number of evaluations to train one candidate.
	terms, evaluations int
	// scouts says that sums are tried only with the scale and trend that suit one sum best; the best sum is then tried with all.
	scouts bool
	// starts is the predicted time, in seconds, up to which start values of a named kernel are searched for.
	starts float64
}

// Within returns the effort with parameters learnt from no more than n observations of an uneven series.
func (e Effort) Within(n int) Effort {
	e.mostUneven = n
	return e
}

// AsDeepAs returns the effort with the terms and the number of training observations of another, for one finalist.
func (e Effort) AsDeepAs(of Effort) Effort {
	e.trained, e.trainedUneven, e.terms, e.evaluations, e.scouts, e.finalists =
		of.trained, of.trainedUneven, of.terms, of.evaluations, true, 1
	return e
}

// EffortNamed returns the index of an effort in Efforts, or −1 if there is none of that name.
func EffortNamed(name string) int {
	return slices.IndexFunc(Efforts, func(e Effort) bool { return e.Name == name })
}

// margin returns how far behind the best, in nats, a model is dropped.
func (e Effort) margin() float64 {
	if e.scouts {
		return -math.Log(negligible)
	}
	return abandonNats
}

// Efforts are the levels that a budget chooses from, the cheapest first. Each takes three to ten times as long as the one before.
// The values of standard were chosen on the development halves of M3 and M4; more data hardly change forecasts of long series.
var Efforts = []Effort{
	{"quick", 150, 1, 400, 250, 0, 2, 40, true, 0.5},
	{"short", 250, 2, 800, 400, 0, 3, 60, false, 2},
	{"standard", 400, 3, series.DecisiveRows, 700, 0, 4, 60, false, 20},
	{"wide", 800, 4, 3000, 1200, 0, 5, 100, false, 60},
	{"widest", 1500, 5, 6000, 2000, 0, 6, 200, false, 200},
}

const (
	// standard is the index of the effort without a budget. A lower one is taken if the predicted time exceeds standardBudget.
	standard       = 2
	standardBudget = time.Minute
)

// searches reports whether the effort has the time to search n observations for the start of a named kernel.
func (e Effort) searches(k gppl.Kernel, n int) bool { return searchSeconds(k, n) <= e.starts }

// abandonNats is how far behind the best, in nats, the best model of a scale or of a kind is given up.
const abandonNats = 6

// negligible is the weight below which a candidate takes no part in the forecast.
const negligible = 0.03

// brief is the number of observations above which the share of a random walk falls below a tenth and is not worth the time. Every
// effort trains on at least as many, so that a walk is always learnt from the whole series.
const brief = 400

// countFinalists is the number of candidates that are trained by Laplace's method itself.
const countFinalists = 2
