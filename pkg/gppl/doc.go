// Package gppl learns the hyperparameters of Gaussian processes for time
// series: by the exact likelihood, by the variational free energy of sparse
// Gaussian processes, and by the projected likelihood of Cazelles and Tobar
// ("Efficient Gaussian Process Learning via Subspace Projections"), which sees
// the n observations through k ≪ n projections.
//
// # Symbols
//
//	n        number of observations
//	x        inputs, n points of R^d; for a time series d = 1 (Inputs)
//	y        observations, n values, centred; the model has mean zero (Data)
//	k(r; θ)  covariance function of the distance r = |x − x'| (Kernel)
//	K        n×n Gram matrix of the kernel, without noise
//	σ²       noise variance; A = K + σ²I (Model = kernel + σ²)
//	Ω        n×k projection, columns orthonormal unless Raw (Projection)
//	z, S     z = Ωᵀy, its covariance S = ΩᵀAΩ
//	Z, m     m inducing inputs of the variational approximation
//
// Logarithms are natural and losses are in nats. The unit of a lengthscale or a
// period is that of x, the unit of a variance that of y squared; Param.Unit
// says which. Matrices are row-major.
//
// # The way through
//
// Data and a Model give a Loss: NewExact, NewVFE, or NewProjected with a
// Projection drawn by a Design. Fit minimises it over the model's parameters
// and returns a Result that tells everything about how it went. NewPosterior or
// NewVFEPosterior conditions the learnt model on the data and predicts: Latent
// for the function f, Noisy for a new observation y. The example of the package
// shows it whole.
//
// # Engines
//
// A loss computes by one of several engines. It asks each what an evaluation
// would cost at the kernel at hand and how exact it would be, and takes the
// cheapest that keeps the tolerance (1e-8 nats per observation, WithTolerance);
// the choice may change as training moves. Explain tells what was considered;
// WithEngine forces one. For n observations, k projections, a kernel with M
// frequencies, b neighbours within its reach, or a state of D numbers, value
// and gradient take about
//
//	             exact NLL   PL                for
//	dense        n³          2n²k              any kernel, any dimension
//	spectral     ⅔(2M)³      8Mk²              smooth kernels on the line
//	banded       3nb²        8nbk              kernels that die out, on the line
//	statespace   n·D³        4nk²              Laplace, Matérn 3/2, 5/2 and sums
//	interpolated             60k²              for one lengthscale, after 30 others
//
// flops. Where no engine can keep the tolerance, because the noise is tiny
// against the variance, the most exact is taken and LossReport.Inexact and a
// warning of the Result say so.
//
// # Conventions
//
// Models, kernels and projections are immutable values. Misuse of shapes
// panics with the name of the argument; whatever data or rounding can cause is
// an error with the value and its index. Jitter is added to a covariance only
// where it cannot be factorised without, and is reported. All randomness comes
// from seeds. Everything heavy runs on all processors, and gives the same
// digits whatever their number.
//
// # References
//
// Rasmussen and Williams (2006), Gaussian Processes for Machine Learning.
// Titsias (2009), Variational Learning of Inducing Variables in Sparse Gaussian
// Processes. Kingma and Ba (2015), Adam. Arthur and Vassilvitskii (2007),
// k-means++.
package gppl
