package gppl

import (
	"context"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
)

// Engines do the arithmetic behind the losses for one set of inputs. A loss asks each engine for its cost and error at the
// present kernel, and takes the cheapest that keeps the tolerance; the choice may change during training. This file defines what
// a loss asks of them.

// An exactEngine factorises A = K + σ²I for one set of inputs. It also knows C, n×c, to which A⁻¹ is applied: its first column is
// y, the others are the basis of the mean, if there is one. An engine does not change, except for caches, and is safe for
// concurrent use.
type exactEngine interface {
	name() string
	// estimate predicts the cost and error of a value and gradient.
	estimate(m *compiled) choice.Estimate
	// factor factorises A. The model must not change before the factor is released.
	factor(m *compiled) (exactFactor, error)
}

// engineNamesOf returns the names of the engines of a loss.
func engineNamesOf[E interface{ name() string }](engines []E) (names []string) {
	for _, e := range engines {
		names = append(names, e.name())
	}
	return names
}

// An exactFactor is the factorised A of one model. It belongs to one goroutine, except for its posterior.
type exactFactor interface {
	// jitter returns the number that had to be added to the diagonal.
	jitter() float64
	// logDet returns log|A|.
	logDet() float64
	// gram sets g, c×c, to CᵀA⁻¹C.
	gram(g blas64.General)
	// uncertainty bounds the error of the value beyond the estimate, after gram, where r is the R of the gradient.
	uncertainty(r blas64.General) float64
	// gradient sets grad to the derivatives of
	//
	//	½log|A| − ½Σ_j u_jᵀ∂A u_j,  U = A⁻¹CR,
	//
	// that is to ½tr(A⁻¹∂A) − ½⟨UUᵀ, ∂A⟩, in the logs of the kernel's parameters and, last, of σ², for R, c×r. It comes after
	// gram. It is an error if the answer fails its check.
	gradient(grad []float64, r blas64.General) error
	// posterior returns the predictor of each column of C. It takes ownership of the factor, which must then not be released.
	posterior() predictor
	// release gives the factor's memory back.
	release()
}

// A residualFactor gives residuals without a posterior. It sets alpha to the first column of U (see gradient) and precisions,
// unless nil, to the diagonal of A⁻¹ − UUᵀ with the squares of alpha added; precisions require that gradient was called before.
// It reports whether it could.
type residualFactor interface {
	residuals(alpha, precisions []float64, r blas64.General) bool
}

// A projectedEngine computes S₀ = ΩᵀKΩ for one set of inputs and one Ω. It does
// not change, beyond what it keeps to save time, and is safe for concurrent use.
type projectedEngine interface {
	name() string
	// estimate predicts the cost and error of S₀ and its contraction. It changes nothing.
	estimate(m *compiledTerm) choice.Estimate
	// gram computes S₀, and with derivatives what contract needs. The term must not change before the answer is released.
	gram(m *compiledTerm, derivatives bool) (projectedGram, error)
}

// A projectedGram is S₀ of one term. It is for one goroutine.
type projectedGram interface {
	// covariance returns S₀, k×k, row-major, which is not to be changed.
	covariance() []float64
	// contract adds ⟨V, ∂S₀/∂log θ_p⟩ to grad[p] for each parameter of the term, for symmetric V (k×k), which it does not
	// change. It is an error if the answer fails its check.
	contract(grad, v []float64) error
	// derivative sets s (k×k) to Ωᵀ(∂K/∂log θ_p)Ω, where p is a parameter of its term, for an S₀ that was computed with
	// derivatives. After it, only derivative and release may be called.
	derivative(s []float64, p int)
	// leftOut bounds βᵀΔS₀β, where ΔS₀ is the part of S₀ that the engine leaves out.
	leftOut(beta blas64.Vector) float64
	// release gives the memory back.
	release()
}

// triangle is the number of float64 in the tiles of the lower triangle of an n×n matrix.
func triangle(n int) float64 { return 0.5 * float64(n) * float64(n+dense.Tile) }

// rounding is the measured error of factorising A = K + σ²I, per observation:
// the condition v/σ² times the rounding of one operation, with a margin.
func rounding(v, noise float64) float64 { return 16 * 0x1p-53 * (1 + v/noise) }

// gramRounding is the same for S, whose entries are at most s, per projection.
func gramRounding(s, noise float64) float64 { return 2 * 0x1p-53 * (1 + s/noise) }

// phases is the contribution of rounded distances to an error bound, per term: the phase πr/p of a periodic kernel has the
// relative error of r, and so the absolute one of 2⁻⁵³·πr/p. norm is the norm of a matrix of such errors, over one of them. 6 is
// measured: errors add up to 2.4 in the value, and to 4 in the derivative in the period, where they hardly vary from one distance
// to the next.
func phases(k Kernel, span, noise, norm float64) float64 {
	s := steepness(k, span)
	if s <= 8 { // within what rounding allows already
		return 0
	}
	return 6 * 0x1p-53 * s * norm * variance(k) / noise
}

// takesPlaced is an engine that hands inputs to the kernel, not distances alone.
type takesPlaced interface{ takesPlaced() }

// predictor is the engine-specific part of a posterior: the posterior of the continuous
// part of f, without the nugget. It does not change, and is safe for concurrent use.
type predictor interface {
	// latent sets row i of means, len(x)×c, to k(x_i, ·)A⁻¹C, the posterior means
	// that each column of C gives, and variances[i] to the posterior variance.
	latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error
	// joint sets the means at x, and cov, a symmetric len(x)×len(x) matrix, to the covariance.
	joint(ctx context.Context, means blas64.General, cov *dense.Lower, x Inputs) error
	// given sets row i of means to κ_iᵀA⁻¹C for functionals of f with the covariances κ with the observations, and subtracts
	// κᵀA⁻¹κ from cov, which has their prior covariance.
	given(ctx context.Context, means blas64.General, cov *dense.Lower, of functionals) error
}

// A functional is a linear function of f, by its covariances: f(x), a term of it, a derivative. functionals returns the values
// of f at the inputs of with the functionals from … to−1, of.Len() by to−from, which the caller may change.
type functionals func(of Inputs, from, to int) blas64.General

// farError is the error of a predictor at the first input where it has no answer. Variances at such inputs are NaN; the other
// answers are correct.
type farError struct {
	index int
	err   error
}

func (e *farError) Error() string { return e.err.Error() }

// compiledTerm is a term of a kernel, or the whole of it, in the form that
// projected engines know. It serves one family of kernels.
type compiledTerm struct {
	ctx         context.Context // context of the evaluation
	kernel      Kernel
	series      decay   // the same
	offset, end int     // range of its parameters among all of the kernel's
	noise       float64 // the least eigenvalue of σ²ΩᵀΩ, by which S is better conditioned than S₀
	cond        float64 // condition number of σ²ΩᵀΩ, which S has even without a signal
	variance    float64 // k(0)
	state       stateSpace
	isMatern    bool // it is a sum of Matérn processes: state has them
}

func (m *compiledTerm) set(k Kernel, offset, end int, noise, cond float64) {
	m.kernel, m.series.Kernel, m.offset, m.end, m.noise, m.cond = k, k, offset, end, noise, cond
	m.variance = variance(k)
	m.state.calm = true
	m.isMatern = m.state.expand(k, 0) && m.state.summable()
}

// own returns the part of a gradient that belongs to the term.
func (m *compiledTerm) own(grad []float64) []float64 { return grad[m.offset:m.end] }
