package search

import "github.com/projected-likelihood/gppl/pkg/gppl"

// leastNoise is the least noise variance that is learnt, of the standardised series. If a model explains all observations, such
// as an exact straight line, the likelihood grows without bound as the noise vanishes, until only rounding is left.
const leastNoise = 1e-12

// noiseFloor keeps the noise variance of a named kernel above leastNoise, for a series whose standard deviation is size. In the
// automatic search scaledLog does this.
func noiseFloor(size float64) gppl.Softplus { return gppl.Softplus{Floor: leastNoise * size * size} }
