package search

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Times are predicted for one core of these speeds, the same on every machine: with measured speeds, the same budget would mean
// different searches on different machines.
const (
	coreFlops    = 9e9    // flops of dense algebra per second
	toeplitzPair = 1.5e-9 // seconds per pair of observations for a Toeplitz factor and its gradient
)

// evaluationSeconds predicts the time of a likelihood and its gradient: by dense algebra, or by a Toeplitz factor that takes
// toeplitz seconds for each pair of observations. The constants were measured on sums of three terms.
func evaluationSeconds(n int, toeplitz float64) float64 {
	const (
		overhead = 4e-5
		place    = 1e-6
		pair     = 60e-9 // covariances and derivatives of two observations
	)
	size := float64(n)
	return overhead + min(0.5*(size*size*size*2/coreFlops+size*size*pair), size*size*toeplitz+size*place)
}

// toeplitzPairs returns the seconds for each pair that a Toeplitz factor of the latest n observations takes. It takes longer if
// some places of every cycle are closed (series.OpenPlaces); the result is +Inf if no Toeplitz factor is possible.
func toeplitzPairs(s *series.Series, n int) float64 {
	const one, open = 2, 0.25 // times toeplitzPair with closed places, and in addition for each open place
	x := s.X[len(s.X)-n:]
	if s.Errors != nil || s.Approximated() {
		return math.Inf(1)
	}
	if series.Regular(x) {
		return toeplitzPair
	}
	if b := series.OpenPlaces(x); b > 0 {
		return toeplitzPair * (one + open*float64(b))
	}
	return math.Inf(1)
}

// searchSeconds predicts the time of the search for start values of a kernel (auto.FindStarts): its likelihoods of all n
// observations or of three parts of 128 and, with a period, as many by the periodogram of all. Their numbers are averages that
// auto.Search reports for each kernel.
func searchSeconds(k gppl.Kernel, n int) float64 {
	const (
		whole, part   = 400, 128 // the values of auto.FindStarts
		each, wave    = 60, 200  // likelihoods for each parameter, without a period and with one
		bins, perBin  = 1 << 16, 1e-7
		periodograms  = 1000
		irregularPeak = 0.5 // seconds for periods below the mean spacing
	)
	count, seconds := float64(each*len(k.Params())), 0.0
	if hasPeriod(k) {
		count = float64(wave * len(k.Params()))
		if n > whole {
			seconds = periodograms*perBin*min(4*float64(n), bins) + irregularPeak
		}
	}
	if n > whole {
		return seconds + count*3*evaluationSeconds(part, math.Inf(1))
	}
	return count * evaluationSeconds(n, math.Inf(1))
}

// newtonEvaluations is the typical number of Gaussian evaluations in one by Laplace's method.
const newtonEvaluations = 10

// evidenceEvaluations is the typical number of evaluations for the evidence of a candidate with six parameters.
const evidenceEvaluations = 12
