package gppl

var (
	_ Kernel      = White{}
	_ Reacher     = White{}
	_ Bandlimited = White{}
)

// White is v for an observation with itself and 0 otherwise, even at the same
// x (see Self): noise as part of a sum, beside the model's own.
type White struct{ Variance float64 }

func (k White) Params() []Param {
	return []Param{{Name: "variance", Value: k.Variance, Transform: Log{}, Unit: unitY2, Role: RoleNoise}}
}
func (k White) WithParams(theta []float64) Kernel {
	want(theta, 1, "White")
	return White{theta[0]}
}
func (k White) String() string { return describe("White", k.Params()) }

func (k White) Reach(float64) float64     { return 0 }
func (k White) Bandwidth(float64) float64 { return 0 }
func (k White) steepness(float64) float64 { return 0 }

// amplitudes: the variance scales the covariance of White, which is not a signal.
func (k White) amplitudes(offset int) ([]int, bool) { return []int{offset}, true }

func (k White) Cov(dst, r []float64) {
	for i, ri := range r {
		dst[i] = 0
		if isSelf(ri) {
			dst[i] = k.Variance
		}
	}
}

func (k White) Contract(grad, w, r []float64) {
	for i, ri := range r {
		if isSelf(ri) {
			grad[0] += k.Variance * w[i]
		}
	}
}

func (k White) Slope(dst, r []float64) { clear(dst[:len(r)]) }
