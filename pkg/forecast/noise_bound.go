package forecast

import "github.com/projected-likelihood/gppl/pkg/gppl"

// leastNoise is the least noise variance that is learnt, of the standardised series. If a model explains all observations, such
// as an exact straight line, the likelihood grows without bound as the noise vanishes, until only rounding is left.
const leastNoise = 1e-12

// noiseFloor keeps the noise variance of a named kernel above leastNoise, for a series whose standard deviation is size. In the
// automatic search scaledLog does this.
func noiseFloor(size float64) gppl.Softplus { return gppl.Softplus{Floor: leastNoise * size * size} }

// withFloors keeps the noise of each channel above leastNoise of its variance.
func (t *channelTrainer) withFloors(params []gppl.Param) []gppl.Param {
	c := 0
	for i := range params {
		if params[i].Role == gppl.RoleNoise {
			floor := noiseFloor(t.size[c])
			params[i].Transform, params[i].Value = floor, max(params[i].Value, 2*floor.Floor)
			c++
		}
	}
	return params
}
