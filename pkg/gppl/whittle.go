package gppl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/periodogram"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

var (
	_ Loss       = (*Whittle)(nil)
	_ costing    = (*Whittle)(nil)
	_ regressing = (*Whittle)(nil)
)

// Whittle is the debiased Whittle likelihood of a series with a constant step Δ (Sykulski, Olhede, Guillaumin, Lilly and Early
// 2019; with missing values Guillaumin, Sykulski, Olhede and Simons 2022). On N places, n of them with an observation, it
// compares the periodogram with its expectation under the model,
//
//	W    = (n/N)·½Σ_j [log S̄_j + I_j/S̄_j + log 2π],  I_j = |Σ_t h_t·y_t·exp(−2πi·jt/N)|²,
//	S̄_j = Σ_d (Σ_t h_t·h_{t+d})·A(dΔ)·cos(2πjd/N),  A(r) = k(r) + σ²·[r = 0],
//
// over the N Fourier frequencies j/(NΔ) of both signs and the lags d of both signs. The weights h, Σ h² = 1, are 0 where a value
// is missing, and the others are equal or follow a taper. Leakage, aliasing and gaps are thus part of S̄, and estimates are
// consistent. W is on the scale of Exact, which it approaches for long series without gaps. It takes any stationary kernel, in
// O(N log N) for value and gradient, in memory for O(N) numbers.
//
// With a mean (Model.Mean), I is the periodogram of the residuals My of least squares, and S̄ has M(K + σ²I)M in place of the
// covariance, so the mean causes no bias either. Frequencies that the mean removes are left out. Coefficients with Gaussian
// priors add their covariance to A.
//
// The ordinates are correlated, and W is not a likelihood: standard errors come from the sandwich H⁻¹JH⁻¹, with the curvature H
// and the variance J of the gradient (ScoreCovariance), in which Fit includes these correlations exactly, for Gaussian data.
// Estimates are less precise than those of the likelihood; the loss of efficiency is largest for steep spectra without a taper
// (see WhittleOptions), and for many gaps.
//
// It is safe for concurrent use; each evaluation under way has its own working memory.
type Whittle struct {
	model   Model
	data    Data
	options WhittleOptions
	params  []Param
	scale   scaling
	span    float64
	even    *periodogram.Even
	weights []float64 // weight of each frequency, j ≥ 0
	terms   float64   // twice their sum
	lags    []float64 // dΔ, d = 0 … N−1
	calls   *parallel.Pool[whittleCall]
	tally   *tally
}

// WhittleOptions selects the taper and the expectation of a Whittle loss. The zero value is the debiased likelihood without a
// taper.
type WhittleOptions struct {
	// Taper is NW, the half-bandwidth of a Slepian taper (DPSS) in cycles over the range; 0 means none. A taper of 4 keeps the
	// leakage of strong frequencies from covering weak ones: it suits spectra that span many decades, such as SE's and RQ's
	// with little noise. It costs information where a spectrum is flat, since the ends of the series then count little.
	Taper float64
	// Density replaces the expected periodogram by the spectral density of the sampled process, Σ_d A(dΔ)·cos(2πjd/N) over all
	// lags, as Whittle (1953) did. Estimates are biased by leakage, the more so the shorter the series or the steeper the spectrum,
	// and by gaps: with a fifth of the places missing, noise of a tenth of the variance is estimated as three times as much.
	// The kernel must decay to zero within 64 ranges.
	Density bool
}

// mostMissing is the largest number of missing places per observation: with more, frequencies are hardly distinguishable.
const mostMissing = 3

// mostOff is the largest distance of an observation from its place, in steps: the first days of months are up to 0.06 steps
// off, and their middles, as for the sunspots, 0.05.
const mostOff = 0.1

// densityRanges is the number of ranges within which a kernel must decay for its spectral density.
const densityRanges = 64

// leastWhite is the power of white noise, relative to that without a mean, below which a frequency counts as removed by the mean.
const leastWhite = 1e-6

// NewWhittle returns the Whittle likelihood of the data, to be trained from the parameters of m. Inputs may be in any order
// and up to a tenth of a step off their places, like calendar months; they count as if they were there. NewWhittle returns an
// error, which names an alternative, if they have no constant step, coincide, or leave three places empty for each
// observation; if the kernel depends on position; and for known errors, channels, exposures and sums. It panics if the taper
// is negative or not finite.
func NewWhittle(ctx context.Context, m Model, d Data, opt WhittleOptions) (l *Whittle, err error) {
	defer parallel.Stopped(&err)
	start := time.Now()
	if !(opt.Taper >= 0) || math.IsInf(opt.Taper, 1) {
		panic(fmt.Sprintf("gppl: NewWhittle: WhittleOptions.Taper = %v, want NW ≥ 0", opt.Taper))
	}
	if err := cmp.Or(m.CheckPlain("NewWhittle", d), d.Check(), m.Check(), needsDistances("NewWhittle", m.Kernel)); err != nil {
		return nil, err
	}
	if d.Errors != nil || d.Relative != nil {
		return nil, errors.New("gppl: NewWhittle does not take known errors, which a periodogram cannot weigh: NewExact does")
	}
	d = d.clone()
	if dim := d.X.Dim(); dim != 1 {
		return nil, fmt.Errorf("gppl: NewWhittle takes a series with a constant step, not inputs of dimension %d: NewExact and"+
			" NewProjected do", dim)
	}
	line := observed.Sorted(d.X.at)
	grid, ok := timeline.RegularWithin(line.T, mostMissing, mostOff)
	if !ok || d.Len() < 3 {
		return nil, notRegular(line.T)
	}
	places := make([]int, d.Len()) // place of each observation, in the order of the data
	for i, rank := range line.Ranks() {
		places[i] = grid.Place[rank]
	}
	taper := make([]float64, grid.N)
	if opt.Taper > 0 {
		taper = periodogram.Slepian(grid.N, opt.Taper)
	} else {
		for t := range taper {
			taper[t] = 1
		}
	}
	parallel.Look(ctx)
	free, held, rest, err := meanColumns(ctx, m, d)
	if err != nil {
		return nil, err
	}
	l = &Whittle{model: m, data: d, options: opt, params: m.trained(), scale: scalingOf(m.Kernel), span: extent(d.X),
		even:  periodogram.NewEven(grid.N, places, rest, free, held, taper),
		calls: new(parallel.Pool[whittleCall]), tally: new(tally)}
	l.lags = make([]float64, grid.N)
	for i := range l.lags {
		l.lags[i] = float64(i) * grid.Step
	}
	l.weights = make([]float64, len(l.even.Data))
	for j := range l.weights {
		if l.even.White[j] < leastWhite {
			continue
		}
		if l.weights[j] = float64(d.Len()) / float64(grid.N); j == 0 || 2*j == grid.N {
			l.weights[j] *= 0.5
		}
		l.terms += 2 * l.weights[j]
	}
	if l.terms == 0 {
		return nil, fmt.Errorf("gppl: NewWhittle: the mean %v leaves no frequency of %d observations", m.Mean, d.Len())
	}
	l.tally.report = LossReport{Engine: "whittle", Likelihood: true, Setup: time.Since(start)}
	return l, nil
}

// notRegular says where ascending times leave the grid of their smallest step, and which losses suit them.
func notRegular(t []float64) error {
	const others = "NewExact takes any times and NewResidual long series of them, in O(n) for many kernels"
	if len(t) < 3 {
		return fmt.Errorf("gppl: NewWhittle takes three observations or more, and there are %d", len(t))
	}
	step := math.Inf(1)
	for i := 1; i < len(t); i++ {
		if t[i] == t[i-1] {
			return fmt.Errorf("gppl: NewWhittle takes one observation at a time, and two are at x = %v: %s", t[i], others)
		}
		step = min(step, t[i]-t[i-1])
	}
	worst, at := 0., 1
	for i := 1; i < len(t); i++ {
		steps := (t[i] - t[i-1]) / step
		if off := math.Abs(steps - math.Round(steps)); off > worst {
			worst, at = off, i
		}
	}
	if worst > mostOff {
		return fmt.Errorf("gppl: NewWhittle takes times with a constant step, and from x = %v to %v it is %v times the smallest: %s",
			t[at-1], t[at], float32((t[at]-t[at-1])/step), others)
	}
	return fmt.Errorf("gppl: NewWhittle takes times with a constant step of which a quarter has an observation, and %d of step %v"+
		" cover %v: %s", len(t), float32(step), float32(t[len(t)-1]-t[0]), others)
}

// meanColumns returns three things: the columns of the mean with flat priors, orthonormal; the columns with Gaussian priors,
// times their standard deviations and orthogonal to the former; and y minus its projection on the former.
func meanColumns(ctx context.Context, m Model, d Data) (free, held [][]float64, rest []float64, err error) {
	if m.Mean == nil {
		return nil, nil, d.Y, nil
	}
	h, err := basisWithin(ctx, m.Mean, d.X)
	if err != nil {
		return nil, nil, nil, err
	}
	basis, err := regressionOn(ctx, m.Mean, h)
	if err != nil {
		return nil, nil, nil, err
	}
	rest = append([]float64(nil), d.Y...)
	for j := range basis.Len() {
		q := mat.Col(nil, j, basis.Q)
		if !basis.IsFlat(j) {
			held = append(held, q)
			continue
		}
		free = append(free, q)
		for range 2 { // twice, against the rounding of a large mean
			floats.AddScaled(rest, -floats.Dot(q, rest), q)
		}
	}
	return free, held, rest, nil
}

// whittleCall is the working memory of one evaluation.
type whittleCall struct {
	compiled
	periodogram.Work
	covariances []float64 // covariances by lag, without the noise; the density takes those within the kernel's reach
	lags        []float64 // lags of the density
	expected    []float64 // S̄
	slopes      []float64 // ∂W/∂S̄
	byLag       []float64 // ∂W/∂k
	parts       [][]float64
}

func (l *Whittle) Params() []Param             { return append([]Param(nil), l.params...) }
func (l *Whittle) Model(theta []float64) Model { return l.model.WithParams(theta) }
func (l *Whittle) Report() LossReport          { return l.tally.get() }

func (l *Whittle) String() string {
	name, n := "debiased Whittle NLL", l.data.Len()
	if l.options.Density {
		name = "Whittle NLL"
	}
	s := fmt.Sprintf("%s (n=%d", name, n)
	if missing := l.even.Period - n; missing > 0 {
		s += fmt.Sprintf(", %d missing", missing)
	}
	if l.options.Taper > 0 {
		s += fmt.Sprintf(", taper NW=%g", l.options.Taper)
	}
	return s + ")"
}

// Cost estimates the time of an evaluation, like Exact.Cost.
func (l *Whittle) Cost(theta []float64) (engine string, seconds float64) {
	lags := float64(len(l.lags))
	if l.options.Density {
		m := l.Model(theta)
		if lags = float64(l.densityLags(m.Kernel)); lags == 0 {
			return "", math.Inf(1)
		}
	}
	const transformSeconds = 15e-9 // per entry and log₂ of the length
	n := float64(l.even.Period)
	return "whittle", 2*pairSeconds*lags + transformSeconds*(1+l.even.Columns())*4*n*math.Log2(2*n)
}

func (l *Whittle) ValueGrad(ctx context.Context, grad, theta []float64) (value float64, err error) {
	defer parallel.Stopped(&err)
	if err := checkEvaluation(l.params, grad, theta); err != nil {
		return 0, err
	}
	c := l.calls.Get()
	c.ctx = ctx
	value, err = l.evaluateIn(c, grad, theta)
	l.calls.Put(c)
	return value, err
}

func (l *Whittle) evaluateIn(c *whittleCall, grad, theta []float64) (float64, error) {
	if err := l.expect(c, theta); err != nil {
		return 0, err
	}
	value := periodogram.LogLikelihood(c.slopes, l.weights, l.even.Data, c.expected) + 0.5*l.terms*log2Pi
	nats := choice.Summation(value, l.terms) + floats.Norm(c.slopes, 1)*l.even.Rounding(c.covariances[:len(l.lags)])
	l.tally.promise(nats, nats <= defaultTolerance*l.terms)
	if err := l.checked(c, value, nil, theta); err != nil || grad == nil {
		return value, err
	}
	parallel.Look(c.ctx)
	if l.options.Density {
		c.WrappedSlopes(c.byLag, c.slopes, l.even)
	} else {
		l.even.LagSlopes(c.byLag, c.slopes, &c.Work)
	}
	last := len(grad) - 1
	l.contract(c, grad[:last])
	grad[last] = c.noise * l.whiteSlope(c)
	if l.even.Known == nil { // coefficients of known variance do not scale
		var form float64
		for j, w := range l.weights {
			if w > 0 {
				form += 2 * w * l.even.Data[j] / c.expected[j]
			}
		}
		if err := verifyScale(grad, &l.scale, c.kernel, l.terms, form, nats); err != nil {
			return 0, err
		}
	}
	c.naturalGradient(grad, theta)
	return value, l.checked(c, value, grad, theta)
}

// checked returns the error of checkAnswer, or one that says what is wrong with the kernel.
func (l *Whittle) checked(c *whittleCall, value float64, grad, theta []float64) error {
	if err := checkAnswer(l.params, value, grad, theta); err != nil {
		return kernelFault(c.kernel, l.data.X, l.span, err)
	}
	return nil
}

// expect sets the covariances and S̄ of the model at theta.
func (l *Whittle) expect(c *whittleCall, theta []float64) error {
	if err := c.compile(l.model.Kernel, theta); err != nil {
		return err
	}
	if c.expected == nil {
		half := len(l.weights)
		c.expected, c.slopes, c.byLag = make([]float64, half), make([]float64, half), make([]float64, len(l.lags))
		c.covariances = make([]float64, len(l.lags))
	}
	if l.options.Density {
		if err := l.expectDensity(c); err != nil {
			return err
		}
	} else {
		l.inParts(c, l.lags, func(from, to, _ int) { c.kernel.Cov(c.covariances[from:to], l.lags[from:to]) })
		parallel.Look(c.ctx)
		l.even.Expected(c.expected, c.covariances, &c.Work)
	}
	for j := range c.expected {
		c.expected[j] = max(c.expected[j], 0) + c.noise*l.white(j) // rounding may make it negative
		if l.even.Known != nil {
			c.expected[j] += l.even.Known[j]
		}
	}
	return nil
}

// white returns S̄_j of white noise with variance 1.
func (l *Whittle) white(j int) float64 {
	if l.options.Density {
		return 1
	}
	return l.even.White[j]
}

// whiteSlope returns the derivative of W in the noise variance.
func (l *Whittle) whiteSlope(c *whittleCall) (sum float64) {
	for j, a := range c.slopes {
		sum += a * l.white(j)
	}
	return sum
}

// whittleLags is the number of lags that one goroutine processes at a time.
const whittleLags = 8192

// inParts calls f for numbered parts of the lags, which do not depend on the number of processors.
func (l *Whittle) inParts(c *whittleCall, lags []float64, f func(from, to, part int)) {
	parts := (len(lags) + whittleLags - 1) / whittleLags
	parallel.Within(c.ctx, parts, func(i int) { f(i*whittleLags, min((i+1)*whittleLags, len(lags)), i) })
}

// contract sets grad to Σ_d byLag_d·∂k(dΔ), in the logs of the kernel's parameters.
func (l *Whittle) contract(c *whittleCall, grad []float64) {
	lags := l.lags
	if l.options.Density {
		lags = c.lags
	}
	for len(c.parts)*whittleLags < len(lags) {
		c.parts = append(c.parts, make([]float64, len(grad)))
	}
	l.inParts(c, lags, func(from, to, part int) {
		clear(c.parts[part])
		c.kernel.Contract(c.parts[part], c.byLag[from:to], lags[from:to])
	})
	clear(grad)
	for part := range (len(lags) + whittleLags - 1) / whittleLags {
		floats.Add(grad, c.parts[part])
	}
}

// densityLags returns the number of lags within which the kernel decays, 0 if it does not within densityRanges.
func (l *Whittle) densityLags(k Kernel) int {
	reached := reach(k, 0x1p-52)
	if most := densityRanges * float64(len(l.lags)); !(reached/l.lags[1] < most) {
		return 0
	}
	return max(len(l.lags), 2+int(reached/l.lags[1]))
}

// expectDensity sets S̄ to the spectral density: the covariances of all lags, wrapped around N.
func (l *Whittle) expectDensity(c *whittleCall) error {
	count := l.densityLags(c.kernel)
	if count == 0 {
		return &Refusal{Reason: fmt.Sprintf("WhittleOptions.Density: %v does not decay within %d ranges of x, so that its density is"+
			" not known at these frequencies; without Density any stationary kernel is taken", c.kernel, densityRanges)}
	}
	for len(c.lags) < count {
		c.lags = append(c.lags, float64(len(c.lags))*l.lags[1])
	}
	c.lags = c.lags[:count]
	if cap(c.covariances) < count {
		c.covariances, c.byLag = make([]float64, count), make([]float64, count)
	}
	c.covariances, c.byLag = c.covariances[:count], c.byLag[:count]
	l.inParts(c, c.lags, func(from, to, _ int) { c.kernel.Cov(c.covariances[from:to], c.lags[from:to]) })
	parallel.Look(c.ctx)
	c.Wrapped(c.expected, c.covariances, l.even)
	return nil
}

// meanSeconds is how long, in seconds, the coefficients of a mean may take by the exact likelihood.
const meanSeconds = 10

// conditionedAt returns the mean by the exact likelihood: the least squares that W subtracts do not weigh the observations by
// their covariance.
func (l *Whittle) conditionedAt(ctx context.Context, theta []float64) (*regress.Conditioned, error) {
	if l.model.Mean == nil {
		return nil, nil
	}
	exact, err := NewExact(ctx, l.model.WithParams(theta), l.data, WithSeconds(meanSeconds))
	if err != nil {
		return nil, err
	}
	return exact.conditionedAt(ctx, theta)
}
