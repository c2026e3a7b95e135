// Package capability has the optional interfaces of a gppl.Kernel, by which a kernel of your own declares properties beyond its
// covariance. A kernel that has the methods gets the engines that use them, and the losses check the declarations. gppl.Sum
// and gppl.Product combine the properties of their parts. A kernel without any is computed densely, or by the Toeplitz engine on
// a regular series. gppltest.CheckKernel compares the declared properties with the covariance.
package capability

// A Reacher is a Kernel that decays to zero. It gets the banded engine, and the spectral one with positive weights.
type Reacher interface {
	// Reach returns a distance ρ, in the unit of x, with
	//
	//	|k(r)| ≤ eps·k(0)  for all r ≥ ρ,  0 < eps < 1,
	//
	// +Inf if there is none; 0 says that k is zero everywhere. Engines ask for eps down to 1e-250, and treat covariances beyond
	// ρ as zero. Too small a ρ makes likelihoods and predictions wrong without an error; too large a ρ costs time.
	Reach(eps float64) float64
}

// A Bandlimited kernel has a spectrum that falls. It gets the spectral engine.
type Bandlimited interface {
	// Bandwidth estimates the frequency, in cycles per unit of x, beyond which less than eps·k(0) of the kernel's spectrum is
	// left; +Inf if it does not fall. Costs are predicted from it, and k is sampled at least three times as finely as it
	// requires: the truncation error is then measured on the coefficients. An estimate that is off by a factor makes the choice
	// of engine worse. An estimate that misses a part of the spectrum, such as a modulation, aliases that part, and likelihoods
	// are wrong without an error.
	Bandwidth(eps float64) float64
}

// A Scaled kernel has the form k(r) = v·φ(r/l), where φ has no parameters: v and l are the only two of the kernel, with the roles
// gppl.RoleVariance and gppl.RoleLengthscale, in either order. It gets the interpolated engine for PL, which uses polynomials in
// log l: φ must be analytic and bounded for |arg r| < π/4. Otherwise the engine detects that its interpolation is inaccurate, and
// another takes over.
type Scaled interface {
	// Scale returns v in the unit of y² and l in the unit of x. If k does not have the
	// form above, likelihoods are wrong without an error.
	Scale() (variance, lengthscale float64)
}

// A Steep kernel knows how steep it is. Error bounds follow from it; for any other
// kernel, 512 slopes are sampled at every evaluation.
type Steep interface {
	// Steepness bounds r·|k′(r)| for 0 ≤ r ≤ span, relative to k(0): what a relative error of the distance, or of a period,
	// does to the covariance. Too small a value makes error bounds too small.
	Steepness(span float64) float64
}

// An Amplified kernel says which of its parameters scale it as a whole. For any other
// kernel these are the parameters of gppl.RoleVariance.
type Amplified interface {
	// Amplitudes returns the indices, among the kernel's parameters, of those v with Σ ∂k/∂log v = k, and whether they are known.
	// Gradients are checked by them at every evaluation, and start values scale them.
	Amplitudes() (at []int, known bool)
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

// Nugget returns the nugget of a kernel, 0 if it has none: Var f(x) = k(0) + nugget.
func Nugget(kernel any) float64 {
	if k, ok := kernel.(Nuggeter); ok {
		return k.Nugget()
	}
	return 0
}

// A Spectrum is a Kernel whose spectral density is known by a formula,
//
//	S(f) = ∫ k(τ)·cos 2πfτ dτ,  f in cycles per unit of x,
//
// to full relative accuracy, however small it is. The kernel gets the gridded engine if S falls as fast as a Gaussian, if the
// Fourier transform of its square root does too, and if it is a Reacher and Bandlimited. If S is not the density of k,
// likelihoods are wrong without an error.
type Spectrum interface {
	// Density sets dst[i] = S(f[i]). dst and f have one length and may be the same slice.
	Density(dst, f []float64)
	// ContractDensity adds Σ_i w[i]·∂S(f[i])/∂log θ_p to grad[p], for each p.
	ContractDensity(grad, w, f []float64)
}

// A Waver is a Kernel that few cosines represent at distances up to the range of a series, span:
//
//	k(r) = Σ_m c_m·cos(2πmr/P),  0 ≤ r ≤ span,  c_m ≥ 0.
//
// A periodic kernel has the multiples of 1/p alone, a quasi-periodic one those near them. It gets the mixed engine, whose
// time grows with the number of these frequencies, however high they are. If the sum is not k, the engine's checks fail
// and another takes over.
type Waver interface {
	// Bands appends the ranges of the m, ascending and apart, outside which Σ c_m is at most eps·k(0), to dst. It returns
	// none if there are too many to count.
	Bands(dst []Band, span, eps float64) (period float64, bands []Band)
	// Coefficients sets dst to c_m for the m of all bands, in order.
	Coefficients(dst []float64, period float64, bands []Band)
	// ContractCoefficients adds Σ_m w_m·∂c_m/∂log θ_p to grad[p], for each p, at constant P. It leaves out what the
	// representation does not depend on: where P is no parameter, any P that is long enough gives the same k.
	ContractCoefficients(grad, w []float64, period float64, bands []Band)
	// PeriodParam returns the index of the parameter whose value is P, −1 if there is none.
	PeriodParam() int
}

// A Band is a range of frequencies, From and To included, in multiples of 1/P.
type Band struct{ From, To int }

// A Process is a stationary Markov process of d numbers that solves a linear stochastic differential equation. Its first number
// is a part of f. Over a gap Δ ≥ 0, in the unit of x,
//
//	x(t+Δ) = Φ(Δ)·x(t) + noise of covariance Q(Δ),  Q = P∞ − ΦP∞Φᵀ,  k(Δ) = (ΦP∞)₁₁,
//
// at one θ. Matrices are d×d, by rows; P∞ contains the variance. ΦP∞ need not be symmetric: a process may differ when run
// backwards in time, as a response to a driver does. Methods must be safe for concurrent use. gppl.MaternProcess is one.
type Process interface {
	// Dim returns d, which does not depend on θ.
	Dim() int
	// Transition sets phi to Φ and noise to Q. Over an infinite gap they are 0 and P∞. A relative error of Q over a short gap is
	// amplified in the likelihood by v/σ²: compute Q without differences.
	Transition(phi, noise []float64, gap float64)
	// Slopes sets the d×d numbers from p·d² on of dPhi and of dNoise to ∂Φ/∂log θ_p and ∂Q/∂log θ_p, for each parameter p of
	// the kernel. Over an infinite gap they are 0 and ∂P∞. It is given what Transition sets.
	Slopes(dPhi, dNoise, phi, noise []float64, gap float64)
}

// A Markovian kernel is the covariance of a sum of independent Processes (Hartikainen and Särkkä 2010). It gets the state-space
// engine, in O(n·D³) for a state of D numbers in all; so do sums of such kernels, their products with each other and with one
// Waver whose period is a parameter: Cosine, Periodic. Sums of gppl.MaternProcess alone are fastest, and are the ones that PL's
// state-space engine takes.
type Markovian interface {
	// Processes appends the processes, whose number does not depend on θ, to dst. If the sum of their covariances is not k,
	// likelihoods are wrong without an error.
	Processes(dst []Process) []Process
}

// A Placed kernel depends on the points themselves, not only on their distance: such as a kernel of some axes, a linear kernel or
// a change point. Points are slices of d coordinates. Whether its variance is constant or not, it gets posteriors and the dense
// engine of the exact likelihood, of PL and of VFE, and on the line the banded engine if it is a Reacher. Sums over the data and
// the other engines work on distances alone and refuse it. Its Cov, Contract and Slope describe a bound: Cov at 0 is at least the
// variance at the inputs, and may hold for any distance. Bounds on rounding, jitter and checks are relative to them.
type Placed interface {
	// At returns k(x, y), which is k(y, x).
	At(x, y []float64) float64
	// ContractAt adds w·∂k(x, y)/∂log θ_p to grad[p], for each p. For a parameter of gppl.RoleLocation the derivative is in the
	// parameter itself, not in its log.
	ContractAt(grad []float64, w float64, x, y []float64)
	// SlopeAt sets dst[a] to ∂k(x, y)/∂y_a. Where there is none, at x = y, it is the mean of those on either side.
	SlopeAt(dst, x, y []float64)
}

// Seconds returns the seconds of a value and gradient at theta that a loss predicts by its method
//
//	Cost(theta []float64) (engine string, seconds float64)
//
// and 0 if it has none.
func Seconds(loss any, theta []float64) (seconds float64) {
	if l, ok := loss.(interface {
		Cost(theta []float64) (engine string, seconds float64)
	}); ok {
		_, seconds = l.Cost(theta)
	}
	return seconds
}
