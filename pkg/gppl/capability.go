package gppl

import (
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// A kernel declares its properties beyond the covariance through optional interfaces: Reacher, Bandlimited, Scaled, Markovian,
// Spectrum, Waver, Nuggeter, Steep, Amplified. A kernel without them is computed densely, or by the Toeplitz engine on
// a regular series. Sum and Product combine the properties of their parts. Engines ask through the functions of this file and
// compiled.go, and do not know the types. gppltest.CheckKernel compares the declared properties with the covariance.

// A Reacher is a Kernel that decays to zero. It gets the banded engine, and the spectral one with positive weights.
type Reacher interface {
	// Reach returns a distance ρ, in the unit of x, with
	//
	//	|k(r)| ≤ eps·k(0)  for all r ≥ ρ,  0 < eps < 1,
	//
	// +Inf if there is none; 0 says that k is zero everywhere. Engines ask for eps down to 1e-250, and treat covariances beyond ρ as
	// zero. Too small a ρ makes likelihoods and predictions wrong without an error; too large a ρ costs time.
	Reach(eps float64) float64
}

// A Bandlimited kernel has a spectrum that falls. It gets the spectral engine.
type Bandlimited interface {
	// Bandwidth estimates the frequency, in cycles per unit of x, beyond which less than eps·k(0) of the kernel's spectrum is left;
	// +Inf if it does not fall. Costs are predicted from it, and k is sampled at least three times as finely as it requires: the
	// truncation error is then measured on the coefficients. An estimate that is off by a factor makes the choice of engine worse.
	// An estimate that misses a part of the spectrum, such as a modulation, aliases that part, and likelihoods are wrong without an
	// error.
	Bandwidth(eps float64) float64
}

// A Scaled kernel has the form k(r) = v·φ(r/l), where φ has no parameters: v and l are the only two of the kernel, with the roles
// RoleVariance and RoleLengthscale, in either order. It gets the interpolated engine for PL, which uses polynomials in log l: φ
// must be analytic and bounded for |arg r| < π/4. Otherwise the engine detects that its interpolation is inaccurate, and another
// takes over.
type Scaled interface {
	// Scale returns v in the unit of y² and l in the unit of x. If k does not have the
	// form above, likelihoods are wrong without an error.
	Scale() (variance, lengthscale float64)
}

// A Process is a stationary Markov process of d numbers, the solution of a linear stochastic differential equation, of which
// the first is a part of f: over a gap Δ ≥ 0, in the unit of x,
//
//	x(t+Δ) = Φ(Δ)·x(t) + noise of covariance Q(Δ),  Q = P∞ − ΦP∞Φᵀ,  k(Δ) = (ΦP∞)₁₁,
//
// at one θ. Matrices are d×d, by rows; P∞ contains the variance. ΦP∞ need not be symmetric: a process may differ when run
// backwards in time, as a response to a driver does. Methods must be safe for concurrent use. MaternProcess is one.
type Process interface {
	// Dim returns d, which does not depend on θ.
	Dim() int
	// Transition sets phi to Φ and noise to Q. Over an infinite gap they are 0 and P∞. Digits that Q loses, relative to itself over
	// a short gap, cost the likelihood digits in proportion to v/σ²: it is best written without differences.
	Transition(phi, noise []float64, gap float64)
	// Slopes sets the d×d numbers from p·d² on of dPhi and of dNoise to ∂Φ/∂log θ_p and ∂Q/∂log θ_p, for each parameter p of
	// the kernel. Over an infinite gap they are 0 and ∂P∞. It is given what Transition sets.
	Slopes(dPhi, dNoise, phi, noise []float64, gap float64)
}

// A Markovian kernel is the covariance of a sum of independent Processes (Hartikainen and Särkkä 2010). It gets the state-space
// engine, in O(n·D³) for a state of D numbers in all; so do sums of such kernels, their products with each other and with one
// Waver whose period is a parameter: Cosine, Periodic. Sums of MaternProcesses alone are fastest, and are the ones that PL's
// state-space engine takes.
type Markovian interface {
	Kernel
	// Processes appends the processes, whose number does not depend on θ, to dst. If the sum of their covariances is not k,
	// likelihoods are wrong without an error.
	Processes(dst []Process) []Process
}

// chained is a Process of a variance and a process of few parameters, functions of the kernel's parameters: derivatives are taken
// in these, and the chain rule follows once, not at every observation.
type chained interface {
	// unchained returns both, and the number of parameters.
	unchained() (variance float64, process statespace.Process, params int)
	// contractChain adds what derivatives in the logs of the variance and of the parameters, w, come to in those of the kernel's.
	contractChain(grad, w []float64)
}

// A Spectrum is a Kernel whose spectral density is known by a formula,
//
//	S(f) = ∫ k(τ)·cos 2πfτ dτ,  f in cycles per unit of x,
//
// to full relative accuracy, however small it is. The kernel gets the gridded engine if S falls as fast as a Gaussian, if the
// Fourier transform of its square root does too, and if it is a Reacher and Bandlimited. If S is not the density of k,
// likelihoods are wrong without an error.
type Spectrum interface {
	Kernel
	// Density sets dst[i] = S(f[i]). dst and f have one length and may be the same slice.
	Density(dst, f []float64)
	// ContractDensity adds Σ_i w[i]·∂S(f[i])/∂log θ_p to grad[p], for each p.
	ContractDensity(grad, w, f []float64)
}

// A Nuggeter contains white noise: a variance that two observations never share, even at the same x, in any number of dimensions.
// Cov leaves it out. Losses, whatever their engine, add it to the noise variance. It is part of the latent f, so a posterior
// includes it at every new x.
type Nuggeter interface {
	// Nugget returns its variance, in the unit of y², at least 0.
	Nugget() float64
	// ContractNugget adds w·∂nugget/∂log θ_p to grad[p], for each p.
	ContractNugget(grad []float64, w float64)
}

// A Steep kernel knows how steep it is. Error bounds follow from it; for any other
// kernel, 512 slopes are sampled at every evaluation.
type Steep interface {
	// Steepness bounds r·|k′(r)| for 0 ≤ r ≤ span, relative to k(0): what a relative error of the distance, or of a period, does to
	// the covariance. Too small a value makes error bounds too small.
	Steepness(span float64) float64
}

// An Amplified kernel says which of its parameters scale it as a whole. For any other
// kernel these are the parameters of RoleVariance.
type Amplified interface {
	// Amplitudes returns the indices, among the kernel's parameters, of those v with Σ ∂k/∂log v = k, and whether they are known.
	// Gradients are checked by them at every evaluation, and start values scale them.
	Amplitudes() (at []int, known bool)
}

// A Placed kernel depends on the positions of its scalar inputs, not only on their distance, as a change point does. Only the
// dense engine takes it, and the banded one if it is a Reacher; PL, VFE, sums and the other engines work on distances alone and
// refuse it. Its Cov, Contract and Slope are those of a stationary bound: Cov at 0 is at least the variance anywhere.
type Placed interface {
	Kernel
	// CovAt sets dst[i] to k(a[i], b[i]), given the distances r[i] = |a[i] − b[i]|. dst must not be one of the others.
	CovAt(dst, a, b, r []float64)
	// ContractAt adds Σ_i w[i]·∂k(a[i], b[i])/∂log θ_p to grad[p], for each p. For a parameter of RoleLocation the derivative is in
	// the parameter itself, not in its log.
	ContractAt(grad, w, a, b, r []float64)
}

// Nugget returns the nugget of k, 0 if it has none: Var f(x) = k(0) + nugget.
func Nugget(k Kernel) float64 {
	if k, ok := k.(Nuggeter); ok {
		return k.Nugget()
	}
	return 0
}

// contractNugget adds w times the derivatives of the nugget in the logs.
func contractNugget(grad []float64, k Kernel, w float64) {
	if k, ok := k.(Nuggeter); ok {
		k.ContractNugget(grad, w)
	}
}

// contractVariance adds w times the derivatives of k(0) in the logs.
func contractVariance(grad []float64, k Kernel, w float64) {
	buf := scratchPool.Get().(*scratch)
	defer scratchPool.Put(buf)
	weight, r := buf[0][:1], buf[1][:1]
	weight[0], r[0] = w, 0
	k.Contract(grad, weight, r)
}

// reach returns a distance beyond which |k| stays below eps times its variance, +Inf if there is none that is known.
func reach(k Kernel, eps float64) float64 {
	if k, ok := k.(Reacher); ok {
		return k.Reach(eps)
	}
	return math.Inf(1)
}

// bandwidth returns the frequency beyond which the remaining spectrum of the kernel is
// below eps times its variance; +Inf if it is not known.
func bandwidth(k Kernel, eps float64) float64 {
	if k, ok := k.(Bandlimited); ok {
		return k.Bandwidth(eps)
	}
	return math.Inf(1)
}

// decay is a kernel as series and circles see it (spectral.Kernel). Its address costs no memory at every evaluation.
type decay struct{ Kernel }

func (k decay) Reach(eps float64) float64     { return reach(k.Kernel, eps) }
func (k decay) Bandwidth(eps float64) float64 { return bandwidth(k.Kernel, eps) }

// scaledAt returns the indices of the variance and the lengthscale of a Scaled kernel; ok is false for any other.
func scaledAt(k Kernel) (variance, lengthscale int, ok bool) {
	params := k.Params()
	if _, is := k.(Scaled); !is || len(params) != 2 {
		return 0, 0, false
	}
	switch {
	case params[0].Role == RoleVariance && params[1].Role == RoleLengthscale:
		return 0, 1, true
	case params[0].Role == RoleLengthscale && params[1].Role == RoleVariance:
		return 1, 0, true
	}
	return 0, 0, false
}

// steepness returns what the kernel says of it (see Steep), or samples it.
func steepness(k Kernel, span float64) float64 {
	if k, ok := k.(Steep); ok {
		return k.Steepness(span)
	}
	return sampledSteepness(k, span)
}

// sampledSteepness is twice the largest r·|k′(r)| at 512 distances: some at equal ratios, for kernels that fall, and some spread
// over the farther half, where oscillating kernels are steepest. The factor of two allows for distances in between.
func sampledSteepness(k Kernel, span float64) float64 {
	const (
		golden  = 0.6180339887498949
		octaves = 30 // distances below 1e-9 of the span are too short to matter
	)
	v := variance(k)
	if !(span > 0) || v == 0 {
		return 0
	}
	buf := scratchPool.Get().(*scratch)
	defer scratchPool.Put(buf)
	r, slope := buf[0][:], buf[1][:]
	for i := range r {
		if u := float64(i) / chunk; i%2 == 0 {
			r[i] = span * math.Exp2(-octaves*u)
		} else {
			_, u = math.Modf(golden * float64(i))
			r[i] = span * (1 - 0.5*u)
		}
	}
	k.Slope(slope, r)
	var most float64
	for i, s := range slope {
		if s := math.Abs(r[i] * s); !(s <= most) { // NaN too
			most = s
		}
	}
	return 2 * most / v
}

// scaling is which parameters scale a kernel as a whole: those v with Σ ∂k/∂log v = k. It serves one family of kernels.
type scaling struct {
	at           []int
	known, ready bool
}

func scalingOf(k Kernel) scaling {
	at, known := amplitudesOf(k, 0)
	return scaling{at, known, true}
}

// derivative returns the sum of those derivatives, in logs, that scale the kernel
// as a whole; ok is false if it is not known which they are.
func (s *scaling) derivative(grad []float64, k Kernel) (sum float64, ok bool) {
	if !s.ready {
		*s = scalingOf(k)
	}
	for _, i := range s.at {
		sum += grad[i]
	}
	return sum, s.known
}

// amplitudesOf returns the indices, from offset on, of the parameters that scale k as a whole, and whether they are known: the
// variances of every term of a sum, those of one factor of a product, none of White.
func amplitudesOf(k Kernel, offset int) (at []int, known bool) {
	if k, ok := k.(Amplified); ok {
		at, known = k.Amplitudes()
		for i := range at {
			at[i] += offset
		}
		return at, known
	}
	for i, p := range k.Params() {
		if p.Role == RoleVariance {
			at = append(at, offset+i)
		}
	}
	return at, at != nil
}

// Amplitudes returns the indices of the parameters that scale k as a whole, as far as they are known (see Amplified): the
// variances of every term of a sum, those of one factor of a product, none of White.
func Amplitudes(k Kernel) []int {
	at, _ := amplitudesOf(k, 0)
	return at
}

// NoiseTerms returns the indices of the variances of white noise in k or in the terms of a sum: the parameters of RoleNoise,
// which act as the noise variance of a model does. White as a factor, or on one side of a change, is no noise of its own.
func NoiseTerms(k Kernel) (at []int) {
	if sum, ok := k.(Sum); ok {
		for i, p := range sum.parts {
			for _, j := range NoiseTerms(p) {
				at = append(at, sum.offset[i]+j)
			}
		}
		return at
	}
	if _, ok := k.(Product); ok || IsPlaced(k) {
		return nil
	}
	for i, p := range k.Params() {
		if p.Role == RoleNoise {
			at = append(at, i)
		}
	}
	return at
}
