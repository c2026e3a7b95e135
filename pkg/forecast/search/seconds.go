package search

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// The core for which times are predicted, the same on every machine: with measured speeds, the same budget would mean different
// searches on different machines.
const (
	coreFlops    = 9e9    // flops of dense algebra per second
	toeplitzPair = 1.5e-9 // seconds per pair of observations for a Toeplitz factor and its gradient
)

// evaluationSeconds predicts the time of a likelihood and its gradient, by a Toeplitz factor or by dense algebra. The constants
// were measured on sums of three terms.
func evaluationSeconds(n int, regular bool) float64 {
	const (
		overhead = 4e-5
		place    = 1e-6
		pair     = 60e-9 // covariances and derivatives of two observations
	)
	size := float64(n)
	dense := 0.5 * (size*size*size*2/coreFlops + size*size*pair)
	if regular {
		dense = math.Min(dense, size*size*toeplitzPair+size*place)
	}
	return overhead + dense
}

// searchSeconds predicts the time of the search for the starts of a kernel (auto.FindStarts): its likelihoods of n observations
// or of three parts of 128 and, with a period, as many by the periodogram of all. Their numbers are those that auto.Search
// reports of draws of each kernel.
func searchSeconds(k gppl.Kernel, n int) float64 {
	const (
		whole, part   = 400, 128 // those of auto.FindStarts
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
		return seconds + count*3*evaluationSeconds(part, false)
	}
	return count * evaluationSeconds(n, false)
}

// newtonEvaluations is about the number of Gaussian evaluations that one by Laplace's method takes.
const newtonEvaluations = 10

// evidenceEvaluations is about the number that the evidence of a candidate with six parameters takes.
const evidenceEvaluations = 12
