package search

import "math"

// Criterion is what ranks the candidates.
type Criterion int

const (
	ByBIC      Criterion = iota // of kernels that were named, trained by their likelihood
	ByEvidence                  // of the structures of the automatic search, whose parameters have weak priors
)

// bic returns the Bayesian information criterion of n observations, 2·nll + parameters·log n (Schwarz 1978, Ann. Stat. 6).
func bic(nll float64, parameters, n int) float64 {
	return 2*nll + float64(parameters)*math.Log(float64(n))
}
