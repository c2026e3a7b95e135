package gppl

import "math"

var (
	_ Kernel      = Rotation{}
	_ Reacher     = Rotation{}
	_ Bandlimited = Rotation{}
	_ Steep       = Rotation{}
	_ LinearSDE   = Rotation{}
)

// Rotation is the kernel of a spotted star that turns (Foreman-Mackey et al. 2017; celerite2, RotationTerm): two SHO whose
// damped periods are Period and half of it, with ω = 2π/period of each,
//
//	Q₁ = ½ + Quality + Difference   ω₁ = 4πQ₁/(Period·√(4Q₁² − 1))   v₁ = v/(1 + Mix)
//	Q₂ = ½ + Quality                ω₂ = 8πQ₂/(Period·√(4Q₂² − 1))   v₂ = v·Mix/(1 + Mix)
//
// On the line it is Markov, with a state of four numbers.
type Rotation struct{ Variance, Period, Quality, Difference, Mix float64 }

func (k Rotation) Params() []Param {
	return []Param{
		{Name: "variance", Value: k.Variance, Transform: Log{}, Unit: UnitY2, Role: RoleVariance},
		{Name: "period", Value: k.Period, Transform: Log{}, Unit: UnitX, Role: RolePeriod},
		{Name: "quality", Value: k.Quality, Transform: Log{}, Role: RoleShape},
		{Name: "difference", Value: k.Difference, Transform: Log{}, Role: RoleShape},
		{Name: "mix", Value: k.Mix, Transform: Log{}, Role: RoleShape},
	}
}
func (k Rotation) WithParams(theta []float64) Kernel {
	want(theta, 5, "Rotation")
	return Rotation{theta[0], theta[1], theta[2], theta[3], theta[4]}
}
func (k Rotation) String() string { return describe("Rotation", k.Params()) }

// Terms returns the two oscillators, whose sum it is.
func (k Rotation) Terms() (whole, half SHO) {
	// √(4Q² − 1)/2Q at Q = ½ + q, whose 4Q² − 1 is 4q(1 + q).
	undamped := func(q float64) float64 { return math.Sqrt(q*(1+q)) / (0.5 + q) }
	q := k.Quality + k.Difference
	return SHO{k.Variance / (1 + k.Mix), k.Period * undamped(q), 0.5 + q},
		SHO{k.Variance * k.Mix / (1 + k.Mix), 0.5 * k.Period * undamped(k.Quality), 0.5 + k.Quality}
}

// chains are ∂log(v, period, quality) of the two in the log of each parameter: ∂log(√(q(1+q))/Q)/∂Q = 1/(4Q·q(1+q)).
func (k Rotation) chains() (whole, half [][3]float64) {
	of := func(q, own float64) (slope, quality float64) {
		return own / (4 * (0.5 + q) * q * (1 + q)), own / (0.5 + q)
	}
	f := k.Mix / (1 + k.Mix)
	q := k.Quality + k.Difference
	p1, q1 := of(q, k.Quality)
	pd, qd := of(q, k.Difference)
	p2, q2 := of(k.Quality, k.Quality)
	return [][3]float64{{1, 0, 0}, {0, 1, 0}, {0, p1, q1}, {0, pd, qd}, {-f, 0, 0}},
		[][3]float64{{1, 0, 0}, {0, 1, 0}, {0, p2, q2}, {0, 0, 0}, {1 / (1 + k.Mix), 0, 0}}
}

func (k Rotation) oscillations() [2]oscillation {
	a, b := k.Terms()
	return [2]oscillation{newOscillation(a.Variance, a.Period, a.Quality), newOscillation(b.Variance, b.Period, b.Quality)}
}

func (k Rotation) Cov(dst, r []float64) {
	o := k.oscillations()
	covOscillations(dst, r, o[:])
}
func (k Rotation) Slope(dst, r []float64) {
	o := k.oscillations()
	slopeOscillations(dst, r, o[:])
}
func (k Rotation) Contract(grad, w, r []float64) {
	o := k.oscillations()
	whole, half := k.chains()
	for i, chain := range [...][][3]float64{whole, half} {
		g := contractOscillation(&o[i], w, r)
		for p, c := range chain {
			grad[p] += c[0]*g[0] + c[1]*g[1] + c[2]*g[2]
		}
	}
}

// Blocks implements LinearSDE.
func (k Rotation) Blocks(dst []StateBlock) []StateBlock {
	o := k.oscillations()
	o[0].chain, o[1].chain = k.chains()
	return append(dst, &o[0], &o[1])
}

// Reach is the longer of the two.
func (k Rotation) Reach(eps float64) float64 {
	a, b := k.Terms()
	return max(a.Reach(eps), b.Reach(eps))
}

// Bandwidth is the larger of the two.
func (k Rotation) Bandwidth(eps float64) float64 {
	a, b := k.Terms()
	return max(a.Bandwidth(eps), b.Bandwidth(eps))
}

// Steepness is the mean of the two, by their variances.
func (k Rotation) Steepness(span float64) float64 {
	a, b := k.Terms()
	return (a.Steepness(span) + k.Mix*b.Steepness(span)) / (1 + k.Mix)
}
