package gppl

var (
	_ Kernel      = White{}
	_ Reacher     = White{}
	_ Bandlimited = White{}
	_ Nuggeter    = White{}
	_ Steep       = White{}
	_ Amplified   = White{}
)

// White is v for an observation with itself and 0 otherwise, even at the same
// x: noise as part of a sum, beside the model's own. Its covariance is 0 at
// every distance, and v is its nugget, which losses add to the noise variance.
type White struct{ Variance float64 }

func (k White) Params() []Param {
	return []Param{{Name: "variance", Value: k.Variance, Transform: Log{}, Unit: UnitY2, Role: RoleNoise}}
}
func (k White) WithParams(theta []float64) Kernel {
	want(theta, 1, "White")
	return White{theta[0]}
}
func (k White) String() string { return describe("White", k.Params()) }

func (k White) Reach(float64) float64     { return 0 }
func (k White) Bandwidth(float64) float64 { return 0 }
func (k White) Steepness(float64) float64 { return 0 }

// Nugget returns v.
func (k White) Nugget() float64                          { return k.Variance }
func (k White) ContractNugget(grad []float64, w float64) { grad[0] += w * k.Variance }
func (k White) Amplitudes() (at []int, known bool)       { return nil, true } // of no signal

func (k White) Cov(dst, r []float64)       { clear(dst[:len(r)]) }
func (k White) Contract(_, _, _ []float64) {}
func (k White) Slope(dst, r []float64)     { clear(dst[:len(r)]) }
