package gppl

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// Engines do the arithmetic behind the losses for one set of inputs. A loss
// asks each engine what it would cost at the kernel at hand and how exact it
// would be, and takes the cheapest that keeps the tolerance; the choice may
// change as training moves. This file is where they are chosen.

// The names of the engines, for WithEngine. They are untyped constants, equal to
// the strings in LossReport.Engine and in Explain.
const (
	// EngineDense takes any kernel in any dimension: symmetric tiles.
	EngineDense = "dense"
	// EngineSpectral takes smooth kernels on the line: a Fourier series whose
	// terms are projected, or summed over the data, once.
	EngineSpectral = "spectral"
	// EngineBanded takes kernels on the line that die out: a banded matrix.
	EngineBanded = "banded"
	// EngineStateSpace takes Laplace, Matérn 3/2 and 5/2 on the line and their
	// sums: a Kalman filter, linear in n.
	EngineStateSpace = "statespace"
	// EngineGridded, for the exact likelihood, takes SE and its like on the line,
	// in a time that grows with the range over the lengthscale, not with n.
	EngineGridded = "gridded"
	// EngineToeplitz, for the exact likelihood, takes any kernel on a series with
	// a constant step, of which a few places may be missing.
	EngineToeplitz = "toeplitz"
	// EngineInterpolated, for PL alone, takes kernels v·φ(r/l) on the line:
	// interpolation in log l between matrices that another engine made.
	EngineInterpolated = "interpolated"
)

// An Option says how a loss is to compute.
type Option func(*options)

type options struct {
	engine    string
	tolerance float64
	posterior bool // one evaluation, for a posterior
}

// WithEngine forces the named engine; "" is the automatic choice. A loss is not
// made with a name that there is not. Where the engine cannot take the kernel,
// ValueGrad returns an error that says why.
func WithEngine(name string) Option { return func(o *options) { o.engine = name } }

// WithTolerance sets the error that an engine may have, in nats per observation
// (per projection for PL). The default is 1e-8. Where yᵀA⁻¹y is larger than the
// number of observations, y being off the model's scale, the tolerance is relative
// to it: digits that far from any optimum are of no use.
func WithTolerance(nats float64) Option { return func(o *options) { o.tolerance = nats } }

// forPosterior says that the loss is evaluated once, to condition on the data.
func forPosterior(o *options) { o.posterior = true }

// engineNames are all there are, for whatever loss.
var engineNames = []string{EngineDense, EngineSpectral, EngineBanded, EngineStateSpace, EngineGridded, EngineToeplitz, EngineInterpolated}

// optionsOf applies the options; it is an error if they name an engine that there
// is not, or no tolerance.
func optionsOf(opts []Option) (options, error) {
	o := options{tolerance: defaultTolerance}
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
	return o, nil
}

// defaultTolerance is in nats per observation or projection.
const defaultTolerance = 1e-8

// exactEngine evaluates the exact NLL of one data set.
type exactEngine interface {
	name() string
	// forecast says what nll would take at these parameters.
	forecast(k Kernel, noise float64) forecast
	// nll returns the value and, unless grad is nil, sets grad to its
	// derivatives in the logs of the kernel's parameters and, last, of σ².
	nll(grad []float64, k Kernel, noise float64) (value, jitter float64, err error)
	// posterior returns the posterior at the parameters that nll was last
	// called with, without a gradient; it takes the engine over.
	posterior() predictor
}

// projectedEngine computes S₀ = ΩᵀKΩ for one set of inputs and one Ω.
type projectedEngine interface {
	name() string
	forecast(k Kernel, noise float64) forecast
	// gram sets s (k×k, row-major) to ΩᵀKΩ, and prepares contract if asked to.
	gram(s []float64, k Kernel, noise float64, derivatives bool) error
	// contract adds ⟨V, Ωᵀ(∂K/∂log θ_p)Ω⟩ to grad[p], for symmetric V (k×k)
	// and the kernel that gram was called with.
	contract(grad, v []float64, k Kernel)
}

// measured is an engine that knows, once it has evaluated, what a forecast cannot:
// the quadratic form yᵀA⁻¹y, and what its value may err by beyond the forecast.
type measured interface {
	measure() (form, extra float64)
}

// forecast is what an engine expects of one evaluation of value and gradient.
type forecast struct {
	reason  reason  // why the engine cannot do it, if it cannot
	seconds float64 // of work, predicted
	setup   float64 // seconds still to be paid once
	err     float64 // bound on the error of the value, in nats
}

// reason says why an engine cannot do something; it is formatted only where it
// is read. The zero value is no reason.
type reason struct {
	format string
	value  float64
}

func (r reason) String() string {
	if strings.Contains(r.format, "%") {
		return fmt.Sprintf(r.format, r.value)
	}
	return r.format
}

// cannot is the forecast of an engine that does not take a kernel.
func cannot(why string) forecast { return forecast{reason: reason{format: why}} }

// tooLarge is the forecast of an engine that would take too much memory.
func tooLarge(bytes float64) forecast {
	return forecast{reason: reason{"it would take %.1f GB", bytes / 1e9}}
}

// flopRate is what a core is reckoned to do in matrix products, in flops a
// second, and pairSeconds what evaluating one covariance and its derivatives
// takes. They only have to be right to a factor: engines differ by powers of n.
const (
	flopRate    = 9e9
	pairSeconds = 12e-9
)

// evaluationsAhead is the number of evaluations over which set-up is spread.
const evaluationsAhead = 30

func (f forecast) cost() float64 { return f.seconds + f.setup/evaluationsAhead }

// rounding is the measured error of factorising A = K + σ²I, per observation:
// the condition v/σ² times the rounding of one operation, with a margin.
func rounding(v, noise float64) float64 { return 16 * 0x1p-53 * (1 + v/noise) }

// gramRounding is the same for S, whose entries are at most s, per projection.
func gramRounding(s, noise float64) float64 { return 2 * 0x1p-53 * (1 + s/noise) }

// choice keeps what was chosen, to explain it.
type choice struct {
	options
	limit      float64 // nats that the error may reach
	names      []string
	candidates []forecast
	chosen     int
	leftOut    uint  // engines whose gradient Fit found wrong
	used       []int // evaluations by each engine
	last       struct {
		nats, limit float64 // what the last value may err by, and was allowed to
	}
	fallbacks int // evaluations where an engine failed, and how many a report has
	noted     int
	lastErr   error
}

func newChoice(o options, limit float64, names []string) choice {
	return choice{options: o, limit: limit, names: names, candidates: make([]forecast, len(names)), used: make([]int, len(names)), chosen: -1}
}

// next returns the cheapest candidate that keeps the tolerance and is not among
// the failed, or, where none does, the cheapest of those that are about as exact
// as can be; −1 if none is left.
func (c *choice) next(failed uint) int {
	usable := func(i int) bool {
		return c.candidates[i].reason == (reason{}) && (failed|c.leftOut)&(1<<i) == 0 && (c.engine == "" || c.engine == c.names[i])
	}
	limit := math.Inf(1)
	for i, f := range c.candidates {
		if usable(i) {
			limit = min(limit, f.err)
		}
	}
	limit = max(c.limit, 8*limit)
	best := -1
	for i, f := range c.candidates {
		if usable(i) && f.err <= limit && (best < 0 || f.cost() < c.candidates[best].cost()) {
			best = i
		}
	}
	return best
}

// Refusal is the error of a loss that has no engine for the kernel, the noise and
// the inputs at hand, or of the engine that was forced.
type Refusal struct {
	Engine string // "" where none was forced
	Reason string
}

func (e *Refusal) Error() string {
	if e.Engine == "" {
		return "gppl: no engine takes this kernel: " + e.Reason
	}
	return fmt.Sprintf("gppl: the %s engine cannot take this kernel: %s", e.Engine, e.Reason)
}

// refused says why no engine is left: a Refusal, or what the last one failed of.
func (c *choice) refused() error {
	if c.lastErr != nil {
		return c.lastErr
	}
	if i := slices.Index(c.names, c.engine); i >= 0 {
		return &Refusal{c.engine, c.why(i)}
	}
	if c.engine != "" {
		return &Refusal{c.engine, "it is not for this loss and these inputs, which have " + strings.Join(c.names, ", ")}
	}
	return &Refusal{Reason: c.why(len(c.candidates) - 1)}
}

// why says why candidate i was not taken.
func (c *choice) why(i int) string {
	f := c.candidates[i]
	if f.reason != (reason{}) {
		return f.reason.String()
	}
	return fmt.Sprintf("it predicts an error of %v nats in %v seconds", f.err, f.cost())
}

// checkVariance is an error unless the kernel has a prior variance: a positive
// finite number.
func checkVariance(k Kernel) error {
	if v := variance(k) + Nugget(k); !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("gppl: the prior variance of %v is %v: a parameter is too small or too large to compute with", k, v)
	}
	return nil
}

// failed notes that engine i could not do what it was chosen for.
func (c *choice) failed(i int, err error) {
	c.lastErr = err
	c.fallbacks++
}

// took notes that engine i did an evaluation.
func (c *choice) took(i int) {
	c.chosen = i
	c.used[i]++
}

// engines names those that were used, the most used first.
func (c *choice) engines() string {
	order := make([]int, len(c.names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return c.used[b] - c.used[a] })
	var used []string
	for _, i := range order {
		if c.used[i] > 0 {
			used = append(used, c.names[i])
		}
	}
	return strings.Join(used, ", ")
}

// bound returns the error promised for the last value, and whether it keeps the
// tolerance.
func (c *choice) bound() (nats float64, kept bool) {
	if c.chosen < 0 {
		return 0, true
	}
	return c.last.nats, c.last.nats <= c.last.limit
}

// promise sets what the last value may err by, given the quadratic form yᵀA⁻¹y
// of it. A forecast is made for a form of one per term, as the model expects; the
// form itself errs in proportion, by a relative perturbation of A. extra is what
// the engine adds to that. The tolerance is per term or, where the form is larger
// than their number, relative to it: y is then off the model's scale.
func (c *choice) promise(form, extra, value, terms float64) {
	c.last.nats = completed(c.candidates[c.chosen].err, form, terms) + extra + summation(value, terms)
	c.last.limit = c.limit * max(1, form/terms)
}

// completed is a forecast's error bound once the quadratic form is known: half of
// it is for log|A|, half for a form of one per term.
func completed(err, form, terms float64) float64 { return 0.5 * err * (1 + max(1, form/terms)) }

// summation is the rounding of a value of so many terms, itself.
func summation(value, terms float64) float64 { return 8 * 0x1p-53 * max(math.Abs(value), terms) }

// better returns the next candidate that promises an eighth of what the last value
// may err by, where that is not allowed; −1 if that is kept or none does.
func (c *choice) better(failed uint, form, terms float64) int {
	if _, kept := c.bound(); kept {
		return -1
	}
	i := c.next(failed)
	if i >= 0 && 8*completed(c.candidates[i].err, form, terms) < c.last.nats {
		return i
	}
	return -1
}

// phases is what the rounding of distances adds to an error bound, per term: the
// phase πr/p of a periodic kernel has the relative error of r, and so the absolute
// one of 2⁻⁵³·πr/p. norm is that of a matrix of such errors, over one of them.
func phases(k Kernel, span, noise, norm float64) float64 {
	s := steepness(k, span)
	if s <= 8 { // within what rounding allows already
		return 0
	}
	return 2 * 0x1p-53 * s * norm * variance(k) / noise
}

// explain says what was considered at the last evaluation and why.
func (c *choice) explain(b *strings.Builder) {
	fmt.Fprintf(b, "tolerance %.2g nats", c.limit)
	if c.engine != "" {
		fmt.Fprintf(b, ", engine %s forced", c.engine)
	}
	b.WriteString("\n")
	for i, f := range c.candidates {
		mark := "  "
		if i == c.chosen {
			mark = "→ "
		}
		fmt.Fprintf(b, "%s%-13s", mark, c.names[i])
		if f.reason != (reason{}) {
			fmt.Fprintf(b, "no: %s\n", f.reason)
			continue
		}
		fmt.Fprintf(b, "%s an evaluation", duration(f.seconds))
		if math.IsInf(f.setup, 1) {
			b.WriteString(" once as many were made nearby as its set-up takes")
		} else if f.setup > 0 {
			fmt.Fprintf(b, " after %s of set-up", duration(f.setup))
		}
		fmt.Fprintf(b, ", error at most %.1g nats", f.err)
		if f.err > c.limit {
			b.WriteString(": not exact enough")
		} else if nats, kept := c.bound(); i == c.chosen && !kept {
			fmt.Fprintf(b, ", with these observations %.1g", nats)
		}
		if c.used[i] > 0 {
			fmt.Fprintf(b, "; did %d evaluations", c.used[i])
		}
		b.WriteString("\n")
	}
}

func duration(s float64) string {
	switch {
	case s < 1e-3:
		return fmt.Sprintf("%.3g µs", 1e6*s)
	case s < 1:
		return fmt.Sprintf("%.3g ms", 1e3*s)
	}
	return fmt.Sprintf("%.3g s", s)
}

// line is a time series in ascending order.
type line struct {
	t, y  []float64
	order []int // t[i] = x[order[i]]; nil if x was sorted
	lo    float64
	span  float64
}

// newLine sorts a one-dimensional data set; y may be nil.
func newLine(x Inputs, y []float64) *line {
	l := &line{t: x.at, y: y}
	if !slices.IsSorted(x.at) {
		l.order = make([]int, len(x.at))
		for i := range l.order {
			l.order[i] = i
		}
		slices.SortStableFunc(l.order, func(a, b int) int {
			switch {
			case x.at[a] < x.at[b]:
				return -1
			case x.at[a] > x.at[b]:
				return 1
			}
			return 0
		})
		l.t = make([]float64, len(x.at))
		for i, o := range l.order {
			l.t[i] = x.at[o]
		}
		if y != nil {
			l.y = make([]float64, len(y))
			for i, o := range l.order {
				l.y[i] = y[o]
			}
		}
	}
	l.lo = l.t[0]
	l.span = l.t[len(l.t)-1] - l.lo
	return l
}

// neighbours estimates the mean number of points within distance r to the right
// of a point, from a sample of points.
func (l *line) neighbours(r float64) float64 {
	n := len(l.t)
	const sample = 64
	step := max(1, n/sample)
	var total, count float64
	for i := 0; i < n; i += step {
		j, _ := slices.BinarySearch(l.t[i:], l.t[i]+r)
		total += float64(j)
		count++
	}
	return total / count
}

// kernelAt remembers a kernel at the parameters it was last asked for.
type kernelAt struct {
	family Kernel
	theta  []float64
	kernel Kernel
}

func (k *kernelAt) at(theta []float64) Kernel {
	if k.kernel == nil || !slices.Equal(theta, k.theta) {
		k.theta = append(k.theta[:0], theta...)
		k.kernel = k.family.WithParams(theta)
	}
	return k.kernel
}

// triangle is the number of float64 in the tiles of the lower triangle of an n×n matrix.
func triangle(n int) float64 { return 0.5 * float64(n) * float64(n+dense.Tile) }

// maxMemory is what an engine may take, in bytes.
const maxMemory = 12 << 30
