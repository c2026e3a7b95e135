package search

import "github.com/projected-likelihood/gppl/pkg/gppl"

// startNoise is the noise variance of the standardised series at which training begins.
const startNoise = 0.05

// WhiteTerm stands for no signal in a list of terms. Its variance is held near zero, since the model's noise has its role.
var WhiteTerm = gppl.White{Variance: 1e-9}

// NoVariation is the noise variance of a series without variation.
const NoVariation = 1e-6

// walkNoise is the noise variance, of the standardised series, of a random walk without a season, which has no observation noise:
// it only keeps the factorisation stable. With a season the noise is learnt, beginning at seasonalNoise.
const walkNoise, seasonalNoise = 1e-6, 0.01

// leastNoise is the smallest noise variance that is learnt, of the standardised series. If a model explains all observations, as
// a line explains points on it, the likelihood grows without bound as the noise vanishes, until only rounding errors are left.
const leastNoise = 1e-12

// Where a likelihood at leastNoise is lost in rounding, as beside the effect of an event, a candidate is trained again with a
// least noise moreNoise times as large, until that exceeds mostLeastNoise: then it is 1e-3 of the standard deviation of y.
const moreNoise, mostLeastNoise = 100, 1e-7
