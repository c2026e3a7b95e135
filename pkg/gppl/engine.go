package gppl

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// Engines do the arithmetic behind the losses for one set of inputs. A loss asks each
// engine for its cost and error at the present kernel, and takes the cheapest that
// keeps the tolerance; the choice may change during training. This file defines what a
// loss asks of them.

// The names of the engines, for WithEngine. They are untyped constants, equal to
// the strings in LossReport.Engine and in Explain.
const (
	// EngineDense takes any kernel in any dimension: symmetric tiles.
	EngineDense = "dense"
	// EngineSpectral takes smooth kernels on the line: a Fourier series whose
	// terms are projected, or summed over the data, once.
	EngineSpectral = "spectral"
	// EngineBanded takes kernels on the line that decay to zero: a banded matrix.
	EngineBanded = "banded"
	// EngineStateSpace takes linear stochastic differential equations on the line (Markovian, LinearSDE), their sums
	// and products, and their products with Cosine or Periodic: a Kalman filter, linear in n.
	EngineStateSpace = "statespace"
	// EngineGridded, for the exact likelihood, takes SE and its like on the line,
	// in a time that grows with the range over the lengthscale, not with n.
	EngineGridded = "gridded"
	// EngineToeplitz, for the exact likelihood, takes any kernel on a series with a
	// constant step; a few values may be missing.
	EngineToeplitz = "toeplitz"
	// EngineMixed, for the exact likelihood, takes sums on the line with kernels that few
	// waves represent, such as periodic and quasi-periodic ones, however high their
	// frequencies: as many columns, beside what a state space or a band takes.
	EngineMixed = "mixed"
	// EngineInterpolated, for PL only, takes kernels v·φ(r/l) on the line:
	// interpolation in log l between matrices that another engine made.
	EngineInterpolated = "interpolated"
)

// An Option configures how a loss is computed.
type Option func(*options)

type options struct {
	engine    string
	tolerance float64
	memory    float64 // bytes that an evaluation may take
	posterior bool    // one evaluation, for a posterior
	ctx       context.Context
}

// WithEngine forces the named engine; "" is the automatic choice. A name that does not
// exist is an error when the loss is made. If the engine cannot take the kernel,
// ValueGrad returns a Refusal that says why.
func WithEngine(name string) Option { return func(o *options) { o.engine = name } }

// WithTolerance sets the largest allowed error of an engine, in nats per observation
// (per projection for PL). The default is 1e-8. If yᵀA⁻¹y is larger than the number of
// observations, because y is far from the model's scale, the tolerance is relative to
// it.
func WithTolerance(nats float64) Option { return func(o *options) { o.tolerance = nats } }

// WithMemory sets how many bytes an evaluation may take by an engine's own forecast, beside the data. The default is 12 GB. An
// engine that would take more is not chosen, and Explain says so; if none is left, the error wraps a MemoryError, before anything
// is allocated. Engines agree within the tolerance, so a limit changes no answer by more than that.
func WithMemory(bytes float64) Option { return func(o *options) { o.memory = bytes } }

// WithContext has every evaluation end soon after ctx has, with an error that wraps ctx's: of the loss, the posterior,
// what is left out, or the information that it is given to. The default is a context that never ends.
// Predictions of a posterior have contexts of their own (LatentContext). Evaluations look
// at ctx every few milliseconds of work.
func WithContext(ctx context.Context) Option { return func(o *options) { o.ctx = ctx } }

// forPosterior says that the loss is evaluated once, to condition on the data.
func forPosterior(o *options) { o.posterior = true }

// engineNames are all there are, for whatever loss.
var engineNames = []string{EngineDense, EngineSpectral, EngineBanded, EngineStateSpace, EngineGridded, EngineToeplitz, EngineMixed, EngineInterpolated}

// optionsOf applies the options; it is an error if they name an engine that there
// is not, or no tolerance.
func optionsOf(opts []Option) (options, error) {
	o := options{tolerance: defaultTolerance, memory: maxMemory}
	for _, f := range opts {
		f(&o)
	}
	if o.engine != "" && !slices.Contains(engineNames, o.engine) {
		return o, fmt.Errorf("gppl: WithEngine: there is no engine %q: use %s, or \"\" for the automatic choice", o.engine,
			strings.Join(engineNames, ", "))
	}
	if !(o.tolerance > 0) || math.IsInf(o.tolerance, 1) {
		return o, fmt.Errorf("gppl: WithTolerance: %v nats: want a positive number", o.tolerance)
	}
	if !(o.memory > 0) {
		return o, fmt.Errorf("gppl: WithMemory: %v bytes: want a positive number", o.memory)
	}
	return o, nil
}

// defaultTolerance is in nats per observation or projection.
const defaultTolerance = 1e-8

// An exactEngine factorises A = K + σ²I for one set of inputs. It also knows C, n×c, to
// which A⁻¹ is applied: its first column is y, the others are the basis of the mean, if
// there is one. An engine does not change, except for caches, and is safe for
// concurrent use.
type exactEngine interface {
	name() string
	// forecast predicts the cost and error of a value and gradient.
	forecast(m *compiled) forecast
	// factor factorises A. The model must not change before the factor is
	// released.
	factor(m *compiled) (exactFactor, error)
}

// An exactFactor is the factorised A of one model. It belongs to one goroutine, except
// for its posterior.
type exactFactor interface {
	// jitter is what had to be added to the diagonal.
	jitter() float64
	// logDet returns log|A|.
	logDet() float64
	// gram sets g, c×c, to CᵀA⁻¹C.
	gram(g blas64.General)
	// uncertainty bounds what the value errs by beyond the forecast, once gram was
	// asked for, R being that of the gradient.
	uncertainty(r blas64.General) float64
	// gradient sets grad to the derivatives of
	//
	//	½log|A| − ½Σ_j u_jᵀ∂A u_j,  U = A⁻¹CR,
	//
	// that is to ½tr(A⁻¹∂A) − ½⟨UUᵀ, ∂A⟩, in the logs of the kernel's parameters and,
	// last, of σ², for R, c×r. gram was asked for. It is an error if the answer fails
	// its check.
	gradient(grad []float64, r blas64.General) error
	// posterior returns the predictor of each column of C. It takes ownership of the
	// factor, which must then not be released.
	posterior() predictor
	// release gives the factor's memory back.
	release()
}

// A projectedEngine computes S₀ = ΩᵀKΩ for one set of inputs and one Ω. It does
// not change, beyond what it keeps to save time, and is safe for concurrent use.
type projectedEngine interface {
	name() string
	// forecast predicts the cost and error of S₀ and its contraction. It changes
	// nothing.
	forecast(m *compiledTerm) forecast
	// gram computes S₀, and with derivatives what contract needs. The term must not
	// change before the answer is released.
	gram(m *compiledTerm, derivatives bool) (projectedGram, error)
}

// A projectedGram is S₀ of one term. It is for one goroutine.
type projectedGram interface {
	// covariance returns S₀, k×k, row-major, which is not to be changed.
	covariance() []float64
	// contract adds ⟨V, ∂S₀/∂log θ_p⟩ to grad[p] for each parameter of the term, for
	// symmetric V (k×k), which it does not change. It is an error if the answer
	// fails its check.
	contract(grad, v []float64) error
	// leftOut bounds βᵀΔS₀β, where ΔS₀ is the part of S₀ that the engine leaves out.
	leftOut(beta blas64.Vector) float64
	// release gives the memory back.
	release()
}

// triangle is the number of float64 in the tiles of the lower triangle of an n×n matrix.
func triangle(n int) float64 { return 0.5 * float64(n) * float64(n+dense.Tile) }

// maxMemory is the default of WithMemory, in bytes.
const maxMemory = 12 << 30
