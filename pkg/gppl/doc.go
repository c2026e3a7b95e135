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
//	y        observations, n values; centred, unless the model has a mean (Data)
//	h(x)ᵀβ   mean function, zero by default (Mean)
//	k(r; θ)  covariance function of the distance r = |x − x'| (Kernel)
//	K        n×n Gram matrix of the kernel, without noise
//	σ²       noise variance; A = K + σ²I (Model = kernel + σ²)
//	Ω        n×k projection, columns orthonormal unless Raw (Projection)
//	z, S     z = Ωᵀy, its covariance S = ΩᵀAΩ
//	Z, m     m inducing inputs of the variational approximation
//
// Logarithms are natural and losses are in nats. The unit of a lengthscale or a
// period is the unit of x, the unit of a variance is the unit of y squared; Param.Unit
// says which. Matrices are row-major.
//
// # Workflow
//
// Data and a Model make a Loss: NewExact, NewVFE, NewWhittle, or NewProjected with a Projection drawn by a Design. Fit minimises
// it over the parameters of the model and returns a Result, with standard errors and warnings. The method Posterior of the loss
// conditions the learned model on the data and predicts: Latent the function f, Noisy a new observation y. Package auto chooses
// loss, projections and start values by itself. The example of the package shows a complete run.
//
// Beyond that: known errors of observations (Data.WithErrors, Data.WithRelativeErrors), priors (NewMAP), tied parameters (Tie),
// forecasts that average over parameters (package draws), leave-one-out (LeaveOut), learning from sums over any amount of data
// (package sums), and observations that are not Gaussian (package observe).
//
// # Names, by purpose
//
//   - data: Data, NewData, SumsData; Inputs, Scalars, Vectors;
//   - kernels: Kernel; Laplace, Matern32, Matern52, SE, RQ, Periodic, LocPer, Cosine, SHO, Rotation, DampedTrend,
//     SpectralMixture, ChangePoint, White; their algebra Add and Mul (Sum, Product); of several axes On and ARD (Axes,
//     Anisotropic); Covariance;
//   - means: Mean, Column; Intercept, Linear, Trend, Fourier, Step, Kink, Regressor, GaussianBeta, AddMeans;
//   - models: Model, PaperModel, Channel; Param, Role (package gppl/transform), Values;
//   - priors: Prior (package prior), ParamPrior;
//   - projections: Design; Sphere, OneHot, Localised, Repulsive, Spectral, Eigen, Mixed, Identity, Raw; Projection,
//     NewProjection, SpectralProjection, ProjectionOf;
//   - losses: Loss; NewExact, NewProjected, NewResidual, NewVFE (VFEOptions), NewWhittle (WhittleOptions), NewMAP, Tie, NewPanel;
//     LossReport; Option, WithEngine, WithTolerance, WithMemory, WithSeconds;
//   - training: Fit, Settings, Result, FittedParam, StartResult, Status, Progress, TracePoint; BFGS, AdamRate, FisherScoring and
//     Informed, StopBelow, RawTransforms;
//   - answers: Posterior, NewPosterior, Coefficient, LeaveOut, Periodogram;
//   - errors: Refusal, MemoryError, FactorError, DependentError;
//   - a kernel of one's own: package capability, MaternProcess.
//
// # Engines
//
// A loss is computed by one of several engines. At every evaluation it asks each what
// the kernel at hand would cost and how exact the answer would be, and takes the
// cheapest that keeps the tolerance (1e-8 nats per observation, WithTolerance). The
// choice can change during training. Explain reports what was considered;
// WithEngine forces one. For n observations, k projections, a kernel with M
// frequencies, b neighbours within its reach, a range of T/l lengthscales, or a
// state of D numbers, value and gradient take about
//
//	             exact NLL   PL                for
//	dense        n³          2n²k              any kernel, any dimension
//	spectral     ⅔(2M)³      8Mk²              smooth kernels on the line
//	gridded      O(T/l)                        SE and its like on the line
//	toeplitz     4n²                           any kernel on a constant step
//	mixed        nc² + c³                      c waves: sums of SE, Periodic, LocPer on the line
//	banded       3nb²        8nbk              kernels that decay to zero, on the line
//	statespace   n·D³        4nk²              Laplace, Matérn, SHO, sums and products; PL: Laplace, Matérn
//	kronecker    nΣm + Σm³                       products over axes (On) on a grid of m points on each
//	interpolated             60k²              one lengthscale, after 30 evaluations
//
// flops. If no engine can keep the tolerance, because the noise is tiny
// compared with the variance, the most exact one is used, and LossReport.Inexact and a
// warning of the Result say so. A kernel of a user's own gets these engines by
// the optional interfaces of package capability.
//
// # Conventions
//
// Functions that compute take a context first. They check it every few milliseconds of work and, once it has ended, return an
// error that wraps the context's. Functions that only describe (kernels, models, data, settings) take none.
//
// Models, kernels and projections are immutable values. Losses and posteriors are
// safe for concurrent use. Misuse of shapes
// panics with the name of the argument; anything that data or rounding can cause is
// an error with the value and its index. Jitter is added to a covariance only
// if it cannot be factorised otherwise, and is reported. All randomness comes
// from seeds. Expensive computations use all processors and give the same
// digits whatever their number.
//
// # References
//
// Rasmussen and Williams (2006), Gaussian Processes for Machine Learning.
// Titsias (2009), Variational Learning of Inducing Variables in Sparse Gaussian
// Processes. Kingma and Ba (2015), Adam. Arthur and Vassilvitskii (2007),
// k-means++.
package gppl
