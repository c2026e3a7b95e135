package search

import "github.com/projected-likelihood/gppl/pkg/gppl"

// startNoise is the noise variance of the standardised series at which training begins.
const startNoise = 0.05

// WhiteTerm stands for no signal in a list of terms. Its variance is held near zero, since the model's noise has its role.
var WhiteTerm = gppl.White{Variance: 1e-9}

// NoVariation is the noise variance that stands for no variation.
const NoVariation = 1e-6

// walkNoise, of the standardised series, serves the factorisation alone: a random walk without a season has no observation
// noise. With one, the noise is learnt, beginning at seasonalNoise.
const walkNoise, seasonalNoise = 1e-6, 0.01

// leastNoise is the least noise variance that is learnt, of the standardised series. If a model explains all observations, such
// as an exact straight line, the likelihood grows without bound as the noise vanishes, until only rounding is left.
const leastNoise = 1e-12
