package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

var (
	_ capability.Reacher     = SHO{}
	_ capability.Bandlimited = SHO{}
	_ capability.Steep       = SHO{}
	_ capability.Markovian   = SHO{}
)

// SHO is the kernel of a damped harmonic oscillator driven by white noise: with ω₀ = 2π/Period, Q the quality and η² = 1 − 1/4Q²,
//
//	v·exp(−ω₀r/2Q)·(cos ηω₀r + sin(ηω₀r)/(2ηQ)),
//
// with cosh and sinh where Q < ½. It is continuous through Q = ½, where it is v·(1 + ω₀r)·exp(−ω₀r) (Foreman-Mackey, Agol,
// Ambikasaran and Angus 2017, eq. 23, whose factor of 2 at Q = ½ is a slip). A high Q is a sharp line at 1/Period that keeps its
// phase for Q/π periods; a low one is noise without a period. Its paths are once differentiable. On the line it is Markov, with a
// state of two numbers.
type SHO struct{ Variance, Period, Quality float64 }

func (k SHO) Params() []Param {
	return []Param{varianceParam(k.Variance), periodParam(k.Period), shapeParam("quality", k.Quality)}
}
func (k SHO) WithParams(theta []float64) Kernel {
	want(theta, 3, "SHO")
	return SHO{theta[0], theta[1], theta[2]}
}
func (k SHO) String() string { return describe("SHO", k.Params()) }

// decay returns the rate at which the kernel decays, per unit of x, and η or κ (η² = −κ²).
func (k SHO) decay() (rate, eta float64) {
	beta, omega := 0.5/k.Quality, 2*math.Pi/k.Period
	eta = math.Sqrt(math.Abs((1 - beta) * (1 + beta)))
	if beta > 1 {
		return omega / (beta + eta), eta
	}
	return omega * beta, eta
}

// Reach follows from |k| ≤ v·(1 + a)·exp(−a), where a is the distance times the rate of decay.
func (k SHO) Reach(eps float64) float64 {
	rate, _ := k.decay()
	return tail(eps, func(a float64) float64 { return 1 + a }) / rate
}

// Bandwidth follows from a density below (2v/ω₀Q)/(x² − 1)², x = f·Period.
func (k SHO) Bandwidth(eps float64) float64 {
	return (1 + math.Cbrt(2/(3*math.Pi*k.Quality*eps))) / k.Period
}

// Steepness follows from r·|k′| = v·u·|s| at u = ω₀r with s = exp(−u/2Q)·sin(ηu)/η, which is at most u, and at most 1/η times the
// decay.
func (k SHO) Steepness(span float64) float64 {
	rate, eta := k.decay()
	a, u := rate*k.Period/(2*math.Pi), 2*math.Pi*span/k.Period
	return min(u*min(u, 1/eta), min(1/(math.E*a*eta), 4/(math.E*math.E*a*a)))
}

// oscillation returns the oscillator with a chain, ∂log(v, period, quality)/∂log of each parameter of the kernel; nil if no
// derivatives in parameters are needed.
func (k SHO) oscillation(chain [][3]float64) oscillation {
	o := oscillation{k.Variance, statespace.NewOscillator(k.Period, k.Quality), chain}
	if h, parted := o.process.Parted(); parted && chain != nil {
		o.chain = make([][3]float64, len(chain))
		for p, c := range chain {
			o.chain[p] = [3]float64{c[0], c[1] - h*c[2], 2 * h * c[2]}
		}
	}
	return o
}

func (k SHO) Cov(dst, r []float64)   { sumOscillations(dst, r, false, k) }
func (k SHO) Slope(dst, r []float64) { sumOscillations(dst, r, true, k) }
func (k SHO) Contract(grad, w, r []float64) {
	o := k.oscillation(ownChain)
	o.contract(grad, w, r)
}

func (k SHO) Processes(dst []capability.Process) []capability.Process {
	o := k.oscillation(ownChain)
	return append(dst, &o)
}

// oscillation is one SHO as a term and as a process.
type oscillation struct {
	variance float64
	process  statespace.Oscillator
	// ∂log(v, first, second)/∂log of each parameter of the kernel, where first and second are the process's
	chain [][3]float64
}

// ownChain is the chain of an SHO.
var ownChain = [][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}

// sumOscillations sets dst to the covariances, or to their slopes, of a sum of one or two oscillators.
func sumOscillations(dst, r []float64, slopes bool, all ...SHO) {
	var of [2]oscillation
	for j, k := range all {
		of[j] = k.oscillation(nil)
	}
	for i, ri := range r {
		var sum float64
		for j := range all {
			v, slope, _, _ := of[j].process.Cov(ri)
			switch {
			case !slopes:
				sum += of[j].variance * v
			case ri > 0:
				sum += of[j].variance * slope
			}
		}
		dst[i] = sum
	}
}

// contract adds Σ w_i·∂k(r_i) to grad, in the logs of the kernel's parameters.
func (o *oscillation) contract(grad, w, r []float64) {
	var g [3]float64 // derivatives in log v and in the logs of the parameters of the process
	for i, ri := range r {
		k, _, first, second := o.process.Cov(ri)
		g[0] += w[i] * k
		g[1] += w[i] * first
		g[2] += w[i] * second
	}
	for i := range g {
		g[i] *= o.variance
	}
	for p, c := range o.chain {
		grad[p] += c[0]*g[0] + c[1]*g[1] + c[2]*g[2]
	}
}

func (o *oscillation) Dim() int { return 2 }

func (o *oscillation) unchained() (float64, statespace.Process, int) {
	return o.variance, &o.process, 2
}

func (o *oscillation) contractChain(grad, w []float64) {
	for p, c := range o.chain {
		grad[p] += c[0]*w[0] + c[1]*w[1] + c[2]*w[2]
	}
}

func (o *oscillation) Transition(phi, noise []float64, gap float64) {
	o.process.Transition(phi, noise, gap)
	for i := range noise[:4] {
		noise[i] *= o.variance
	}
}

func (o *oscillation) Slopes(dPhi, dNoise, phi, noise []float64, gap float64) {
	var inPhi, inNoise [8]float64
	o.process.Slopes(inPhi[:], inNoise[:], phi, nil, gap)
	for p, c := range o.chain {
		for e, q := range noise[:4] {
			dPhi[4*p+e] = c[1]*inPhi[e] + c[2]*inPhi[4+e]
			dNoise[4*p+e] = c[0]*q + o.variance*(c[1]*inNoise[e]+c[2]*inNoise[4+e])
		}
	}
}

var (
	_ capability.Reacher     = Rotation{}
	_ capability.Bandlimited = Rotation{}
	_ capability.Steep       = Rotation{}
	_ capability.Markovian   = Rotation{}
	_ chained                = (*oscillation)(nil)
)

// Rotation is the kernel of a spotted, rotating star (Foreman-Mackey et al. 2017; celerite2, RotationTerm): two SHO with the
// damped periods Period and Period/2, where ω = 2π/period for each,
//
//	Q₁ = ½ + Quality + Difference   ω₁ = 4πQ₁/(Period·√(4Q₁² − 1))   v₁ = v/(1 + Mix)
//	Q₂ = ½ + Quality                ω₂ = 8πQ₂/(Period·√(4Q₂² − 1))   v₂ = v·Mix/(1 + Mix)
//
// On the line it is Markov, with a state of four numbers.
type Rotation struct{ Variance, Period, Quality, Difference, Mix float64 }

func (k Rotation) Params() []Param {
	return []Param{varianceParam(k.Variance), periodParam(k.Period), shapeParam("quality", k.Quality),
		shapeParam("difference", k.Difference), shapeParam("mix", k.Mix)}
}
func (k Rotation) WithParams(theta []float64) Kernel {
	want(theta, 5, "Rotation")
	return Rotation{theta[0], theta[1], theta[2], theta[3], theta[4]}
}
func (k Rotation) String() string { return describe("Rotation", k.Params()) }

// Terms returns the two oscillators whose sum the kernel is.
func (k Rotation) Terms() (whole, half SHO) {
	// √(4Q² − 1)/2Q at Q = ½ + q, whose 4Q² − 1 is 4q(1 + q).
	undamped := func(q float64) float64 { return math.Sqrt(q*(1+q)) / (0.5 + q) }
	q := k.Quality + k.Difference
	return SHO{k.Variance / (1 + k.Mix), k.Period * undamped(q), 0.5 + q},
		SHO{k.Variance * k.Mix / (1 + k.Mix), 0.5 * k.Period * undamped(k.Quality), 0.5 + k.Quality}
}

// chains returns ∂log(v, period, quality) of the two oscillators in the log of each parameter, by ∂log(√(q(1+q))/Q)/∂Q =
// 1/(4Q·q(1+q)).
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
	whole, half := k.chains()
	return [2]oscillation{a.oscillation(whole), b.oscillation(half)}
}

func (k Rotation) Cov(dst, r []float64) {
	a, b := k.Terms()
	sumOscillations(dst, r, false, a, b)
}
func (k Rotation) Slope(dst, r []float64) {
	a, b := k.Terms()
	sumOscillations(dst, r, true, a, b)
}
func (k Rotation) Contract(grad, w, r []float64) {
	o := k.oscillations()
	o[0].contract(grad, w, r)
	o[1].contract(grad, w, r)
}

func (k Rotation) Processes(dst []capability.Process) []capability.Process {
	o := k.oscillations()
	return append(dst, &o[0], &o[1])
}

// Reach returns the longer reach of the two oscillators.
func (k Rotation) Reach(eps float64) float64 {
	a, b := k.Terms()
	return max(a.Reach(eps), b.Reach(eps))
}

// Bandwidth returns the larger bandwidth of the two oscillators.
func (k Rotation) Bandwidth(eps float64) float64 {
	a, b := k.Terms()
	return max(a.Bandwidth(eps), b.Bandwidth(eps))
}

// Steepness returns the mean steepness of the two oscillators, weighted by their variances.
func (k Rotation) Steepness(span float64) float64 {
	a, b := k.Terms()
	return (a.Steepness(span) + k.Mix*b.Steepness(span)) / (1 + k.Mix)
}
