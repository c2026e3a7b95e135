package gppl

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
)

// The names of the engines, for WithEngine: untyped constants, equal to the strings in LossReport.Engine and in Explain. A loss
// refuses an engine that it does not have, as it refuses kernels: skip each Refusal when you compare engines.
const (
	// EngineDense takes any kernel in any dimension: it factorises matrices in tiles.
	EngineDense = "dense"
	// EngineSpectral takes smooth kernels on the line: a Fourier series whose terms are projected, or summed over the data, once.
	EngineSpectral = "spectral"
	// EngineBanded takes kernels on the line that decay to zero: a banded matrix.
	EngineBanded = "banded"
	// EngineStateSpace takes linear stochastic differential equations on the line (Markovian), their sums
	// and products, and their products with Cosine or Periodic: a Kalman filter, linear in n.
	EngineStateSpace = "statespace"
	// EngineGridded, for the exact likelihood, takes SE and its like on the line,
	// in a time that grows with the range over the lengthscale, not with n.
	EngineGridded = "gridded"
	// EngineToeplitz, for the exact likelihood, takes any kernel on a series with a constant step; a few values may be missing,
	// or many if they are missing at the same places of every cycle, like nights and weekends.
	EngineToeplitz = "toeplitz"
	// EngineMixed, for the exact likelihood, takes sums on the line of kernels that few waves represent, such as periodic and
	// quasi-periodic ones, however high their frequencies, and kernels that a state space or a band takes. Each wave is a column.
	EngineMixed = "mixed"
	// EngineKronecker, for the exact likelihood, takes products of kernels on different axes (On; SE and its ARD are such
	// products) if the inputs are a full grid of these axes, by the eigenvectors of each factor.
	EngineKronecker = "kronecker"
	// EngineInterpolated, for PL only, takes kernels v·φ(r/l) on the line. It
	// interpolates in log l between matrices that another engine made.
	EngineInterpolated = "interpolated"
)

// An Option configures how a loss is computed.
type Option func(*options)

type options struct {
	choice.Limits
	tolerance float64
	posterior bool // one evaluation, for a posterior
}

// WithEngine forces the named engine; "" is the automatic choice. A name that does not exist is an error when the loss is made.
// If the engine cannot take the kernel, ValueGrad returns a Refusal that says why.
func WithEngine(name string) Option { return func(o *options) { o.Engine = name } }

// WithTolerance sets the largest allowed error of an engine, in nats per observation (per projection for PL). The default is
// 1e-8. If yᵀA⁻¹y is larger than the number of observations, because y is far from the model's scale, the tolerance is relative
// to it.
func WithTolerance(nats float64) Option { return func(o *options) { o.tolerance = nats } }

// WithMemory sets how many bytes an evaluation may take by an engine's own estimate, beside the data. The default is 12 GB. An
// engine that would take more is not chosen, and Explain says so; if none is left, the error wraps a MemoryError, before anything
// is allocated. Engines agree within the tolerance, so a limit changes no answer by more than that.
func WithMemory(bytes float64) Option { return func(o *options) { o.Memory = bytes } }

// WithSeconds sets how many seconds an evaluation may take, as Cost predicts them. The default is no limit. An engine that would
// take more is not chosen; if none is left, the error is a Refusal. Training then avoids parameters at which only dense algebra
// is left, which takes 450 s for 20 000 observations. Nothing is measured: the same limit means the same on every machine.
func WithSeconds(most float64) Option { return func(o *options) { o.Seconds = most } }

// forPosterior says that the loss is evaluated once, to condition on the data.
func forPosterior(o *options) { o.posterior = true }

// engineNames are all engines, of any loss, the dense one first.
var engineNames = []string{EngineDense, EngineSpectral, EngineBanded, EngineStateSpace, EngineGridded, EngineToeplitz,
	EngineMixed, EngineKronecker, EngineInterpolated}

// optionsOf applies the options; it is an error if they name an engine that does not exist, or no tolerance.
func optionsOf(opts []Option) (options, error) {
	o := options{tolerance: defaultTolerance, Limits: choice.Limits{Memory: choice.DefaultMemory, Seconds: math.Inf(1)}}
	for _, f := range opts {
		f(&o)
	}
	if o.Engine != "" && !slices.Contains(engineNames, o.Engine) {
		return o, fmt.Errorf("gppl: WithEngine: there is no engine %q: use %s, or \"\" for the automatic choice", o.Engine,
			strings.Join(engineNames, ", "))
	}
	if !(o.tolerance > 0) || math.IsInf(o.tolerance, 1) {
		return o, fmt.Errorf("gppl: WithTolerance: %v nats: want a positive number", o.tolerance)
	}
	if !(o.Memory > 0) {
		return o, fmt.Errorf("gppl: WithMemory: %v bytes: want a positive number", o.Memory)
	}
	if !(o.Seconds > 0) {
		return o, fmt.Errorf("gppl: WithSeconds: %v: want a positive number", o.Seconds)
	}
	return o, nil
}

// defaultTolerance is in nats per observation or projection.
const defaultTolerance = 1e-8

// MemoryError is the error of work that was refused before it began, since its estimate of memory is above a limit.
type MemoryError struct {
	What          string  // names the work that would take the memory: "the dense engine"
	Needed, Limit float64 // bytes
}

func (e *MemoryError) Error() string {
	needed, limit := text.Bytes(e.Needed), text.Bytes(e.Limit)
	if needed == limit { // the excess is below the printed digits, or unknown
		needed = "more than " + needed
	}
	return fmt.Sprintf("gppl: %s would take %s of memory, and the limit is %s", e.What, needed, limit)
}

// Refusal is the error of a loss if no engine, or not the forced one, takes its kernel, noise and inputs.
type Refusal struct {
	Engine string // "" where none was forced
	Reason string
	Memory *MemoryError // needs of the engine that takes the least memory, if the limit excludes it; else nil
}

// Unwrap returns the MemoryError, if there is one.
func (e *Refusal) Unwrap() error {
	if e.Memory == nil {
		return nil
	}
	return e.Memory
}

// asRefusal returns err as a Refusal if it is the chooser's.
func asRefusal(err error) error {
	r, ok := err.(*choice.Refused)
	if !ok {
		return err
	}
	of := &Refusal{Engine: r.Engine, Reason: r.Why}
	if m := r.Memory; m != nil {
		of.Memory = &MemoryError{What: "the " + m.Engine + " engine", Needed: m.Needed, Limit: m.Limit}
	}
	return of
}

func (e *Refusal) Error() string {
	if e.Engine == "" {
		return "gppl: no engine takes this kernel: " + e.Reason
	}
	return fmt.Sprintf("gppl: the %s engine cannot take this kernel: %s", e.Engine, e.Reason)
}

// pairSeconds is the time assumed for one covariance and its derivatives. Like choice.FlopRate it only has to be correct to a
// factor: engines differ by powers of n.
const pairSeconds = 12e-9
