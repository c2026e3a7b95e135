package gppl

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

// Exact is the negative log likelihood of all n observations (Rasmussen and
// Williams 2006, eq. 2.30 and 5.9; the paper's eq. (nll)):
//
//	NLL  = ½yᵀA⁻¹y + ½log|A| + (n/2)·log 2π,  A = K + σ²I
//	∂NLL = ½tr((A⁻¹ − ααᵀ)∂A),                α = A⁻¹y
//
// With a mean function (Model.Mean) the coefficients are integrated out: with flat priors this is the restricted likelihood of
// the contrasts of y that are free of them (eq. 2.45), made invariant to the scaling of the basis by −½log|HᵀH|.
//
// Which engine computes it, and in how many operations, depends on the kernel and on the inputs: see Explain. Densely, the value
// takes n³/3 flops and the gradient 2n³/3 more, in memory for n² numbers; on a time series, engines that use the structure of the
// kernel need far less.
//
// Observations of several channels (Model.Channels), and averages over exposures (Data.Exposures), take a state space, in time
// linear in n. The covariance of y then follows from the equation in Channel, with the offsets integrated out.
//
// It is safe for concurrent use; each evaluation under way has its own working memory.
type Exact struct {
	model   Model
	data    Data // zero if only sums of them are known
	n       int
	extent  Inputs          // the inputs, or the two ends of the range of sums
	c       blas64.General  // C, n×c: y and the basis of the mean; none for sums
	known   *observed.Known // the sums; nil for data
	params  []Param
	scale   scaling
	span    float64             // the largest distance there is
	mean    *regress.Regression // nil for a mean of zero
	columns int                 // c, of y and the basis of the mean
	rows    observed.Noise      // known errors of the observations
	series  *observed.Line      // nil for inputs of several dimensions
	options options
	engines []exactEngine
	only    string // the one engine there is, see OnlyEngine; "" for all
	chosen
	calls    *parallel.Pool[exactCall]
	profiles *parallel.Pool[profile]
	viewed   *viewed // the likelihood of channels or exposures, in place of the engines; nil without
}

// exactCall is the working memory of one evaluation.
type exactCall struct {
	compiled
	choice.Selection
	value float64
	g, r  blas64.General // CᵀA⁻¹C, and the R of the gradient
}

// NewExact returns the exact negative log likelihood of the data, to be trained from the parameters of m.
func NewExact(ctx context.Context, m Model, d Data, opts ...Option) (*Exact, error) {
	start := time.Now()
	if d.sums != nil {
		return newSumsExact(m, d, opts)
	}
	d, o, err := checked(m, d, opts)
	if err != nil {
		return nil, err
	}
	if len(m.Channels) > 0 || d.isViewed() {
		return newViewedExact(ctx, m, d, o)
	}
	var series *observed.Line
	if d.X.Dim() == 1 {
		series = observed.Sorted(d.X.at)
	}
	l := newExact(m, d.Len(), o, extent(d.X))
	mean, columns, err := dataColumns(ctx, m, d)
	if err != nil {
		return nil, err
	}
	l.observe(d, series, mean, columns)
	l.tally.setUp(time.Since(start))
	return l, nil
}

// newViewedExact is NewExact for channels or exposures.
func newViewedExact(ctx context.Context, m Model, d Data, o options) (*Exact, error) {
	if o.Engine != "" && o.Engine != EngineStateSpace {
		return nil, &Refusal{Engine: o.Engine, Reason: "channels and exposures take the statespace engine"}
	}
	v, err := newViewed(ctx, m, d, o)
	if err != nil {
		return nil, err
	}
	return &Exact{model: m, data: d, n: d.Len(), params: v.params, rows: v.line.Noise, options: o, viewed: v}, nil
}

// observe sets the data of the loss, with the series of their inputs in order, and the engines.
func (l *Exact) observe(d Data, series *observed.Line, mean *regress.Regression, columns blas64.General) {
	l.data, l.extent, l.series, l.mean, l.c, l.columns, l.rows = d, d.X, series, mean, columns, columns.Cols, d.rowNoise()
	if series != nil {
		series.SetColumns(columns)
		if mean != nil {
			series.Sparse = mean.Basis.Sparse
		}
		series.SetNoise(l.rows)
	}
	l.prepare()
}

// prepare sets the engines of the data or sums under the options.
func (l *Exact) prepare() {
	var engines []exactEngine
	if l.known != nil {
		for _, e := range []exactEngine{newGriddedExact(l.known), newSpectralExact(l.known, l.options)} {
			if l.only == "" || l.only == e.name() {
				engines = append(engines, e)
			}
		}
	}
	if series := l.series; series != nil {
		for _, e := range seriesEngines {
			if l.only == "" || l.only == e.name {
				engines = append(engines, e.of(series, l.options))
			}
		}
	}
	if l.known == nil && l.data.X.Dim() > 1 && (l.only == "" || l.only == EngineKronecker) {
		engines = append(engines, newKroneckerExact(l.data.X, l.c, l.rows, l.model.Kernel))
	}
	if l.known == nil && (l.only == "" || l.only == EngineDense) {
		engines = append(engines, newDenseExact(l.data.X, l.c, l.rows))
	}
	l.setEngines(engines)
}

// seriesEngines are the engines of the exact likelihood that take a time series.
var seriesEngines = []struct {
	name string
	of   func(*observed.Line, options) exactEngine
}{
	{EngineStateSpace, func(l *observed.Line, o options) exactEngine { return newStateSpaceExact(l).within(o) }},
	{EngineSpectral, func(l *observed.Line, o options) exactEngine { return newSpectralExact(l, o) }},
	{EngineGridded, func(l *observed.Line, _ options) exactEngine { return newGriddedExact(l) }},
	{EngineToeplitz, func(l *observed.Line, o options) exactEngine { return newToeplitz(l, o) }},
	{EngineBanded, func(l *observed.Line, _ options) exactEngine { return newBandedExact(l) }},
	{EngineMixed, func(l *observed.Line, o options) exactEngine { return newMixedExact(l, o) }},
}

// OnlyEngine returns the likelihood by one engine alone: unlike WithEngine, it does not even prepare the others. It shares what
// was computed from the data. Many evaluations of WithObservations at one θ then spend no time on the choice; Cost names the
// engine. It panics if there is no such engine.
func (l *Exact) OnlyEngine(name string) *Exact {
	if l.viewed != nil && name == EngineStateSpace {
		return l
	}
	other := *l
	other.only = name
	i := slices.IndexFunc(l.engines, func(e exactEngine) bool { return e.name() == name })
	if i < 0 {
		panic(fmt.Sprintf("gppl: OnlyEngine(%q): the likelihood has %s", name, strings.Join(l.engineNames(), ", ")))
	}
	other.setEngines(l.engines[i:][:1])
	return &other
}

// WithObservations returns the likelihood of other observations y, with other known errors (nil for none), at the same inputs
// under the same model. It shares working memory and what was computed from the inputs: package observe iterates over reweighted
// Gaussian models with it. Errors are as in NewData and Data.WithErrors; it panics if lengths differ.
func (l *Exact) WithObservations(y, errors []float64) (*Exact, error) {
	if len(y) != l.n || errors != nil && len(errors) != l.n {
		panic(fmt.Sprintf("gppl: WithObservations: %d observations and %d errors, want %d", len(y), len(errors), l.n))
	}
	d := l.data
	d.Y, d.Errors = slices.Clone(y), slices.Clone(errors)
	if err := d.Check(); err != nil {
		return nil, err
	}
	if l.viewed != nil {
		return newViewedExact(context.Background(), l.model, d, l.options)
	}
	other := *l
	mean, columns := l.mean, blas64.General{Rows: l.n, Cols: 1, Stride: 1, Data: d.Y}
	if mean != nil {
		mean, columns = mean.Again(d.Y)
	}
	series := l.series
	if series != nil {
		moved := *series
		series = &moved
	}
	other.observe(d, series, mean, columns)
	for i, e := range other.engines { // in the order of the engines of l
		if e, ok := e.(*stateSpaceExact); ok {
			e.share(l.engines[i].(*stateSpaceExact))
		}
	}
	other.chooser.LeftOut = l.chooser.LeftOut
	return &other, nil
}

// newExact returns the loss of n observations over the given range of inputs, with a mean of zero and without engines.
func newExact(m Model, n int, o options, span float64) *Exact {
	return &Exact{model: m, n: n, params: m.trained(), scale: scalingOf(m.Kernel), columns: 1, span: span, options: o,
		calls: new(parallel.Pool[exactCall]), profiles: new(parallel.Pool[profile])}
}

// setEngines begins with engines that did nothing yet.
func (l *Exact) setEngines(engines []exactEngine) {
	l.engines, l.chooser = engines, choice.New(l.options.Limits, l.options.tolerance*float64(l.n), engineNamesOf(engines))
	l.tally = &tally{report: LossReport{Likelihood: true}}
}

func (l *Exact) Params() []Param             { return append([]Param(nil), l.params...) }
func (l *Exact) Model(theta []float64) Model { return l.model.WithParams(theta) }

func (l *Exact) String() string {
	if l.viewed != nil {
		return l.viewed.String()
	}
	return fmt.Sprintf("exact NLL (n=%d)", l.n)
}

// engineNames returns the names of the engines that there are.
func (l *Exact) engineNames() []string {
	if l.viewed != nil {
		return []string{EngineStateSpace}
	}
	return l.chooser.Names
}

// Report returns the engine, and jitter, fallbacks and error bounds so far.
func (l *Exact) Report() LossReport {
	if l.viewed != nil {
		return l.viewed.tally.get()
	}
	return l.chosen.Report()
}

// Explain reports the last evaluation: for each engine the expected time and error, and which one was used.
func (l *Exact) Explain() string {
	if l.viewed != nil {
		return "statespace: the only engine of channels and exposures\n"
	}
	return l.chosen.Explain()
}

func (l *Exact) negligible(p int, noise float64) bool {
	if l.viewed != nil {
		return l.viewed.negligible(p, noise)
	}
	return p == len(l.params)-1 && l.rows.Negligible(noise, nil)
}

func (l *Exact) ValueGrad(ctx context.Context, grad, theta []float64) (float64, error) {
	if l.viewed != nil {
		return l.viewed.ValueGrad(ctx, grad, theta)
	}
	value, _, err := l.evaluate(ctx, grad, theta, false)
	if err == nil {
		err = checkAnswer(l.params, value, grad, theta)
	}
	return value, err
}

// evaluate is ValueGrad that returns the factor too, if it is to be kept.
func (l *Exact) evaluate(ctx context.Context, grad, theta []float64, keep bool) (value float64, f exactFactor, err error) {
	defer parallel.Stopped(&err)
	theta = l.rows.Positive(theta, len(l.params)-1)
	if err := checkEvaluation(l.params, grad, theta); err != nil {
		return 0, nil, err
	}
	c := l.calls.Get()
	c.ctx = ctx
	value, f, err = l.evaluateIn(c, grad, theta, keep)
	l.calls.Put(c)
	return value, f, err
}

// leastVariance is the least variance of an observation. Data of leastMagnitude have larger ones, and below it covariances lack
// digits: all engines would fail, one after the other, some in seconds for a few observations.
const leastVariance = 1e-304

func (l *Exact) evaluateIn(c *exactCall, grad, theta []float64, keep bool) (value float64, f exactFactor, err error) {
	if err := c.compile(l.model.Kernel, theta); err != nil {
		return 0, nil, err
	}
	if all := c.variance + l.rows.Least(c.noise); all < leastVariance {
		return 0, nil, fmt.Errorf("gppl: the variances of %v and of the noise, %v, are too small to compute with",
			c.kernel, c.noise)
	}
	l.estimate(c)
	var jitter float64
	err = l.chooser.Evaluate(&c.Selection, func(i int) (o choice.Outcome, err error) {
		if f != nil {
			f.release() // the factor of an engine that did not keep its promised accuracy
		}
		if f, err = l.engines[i].factor(&c.compiled); err != nil {
			return o, err
		}
		jitter = f.jitter()
		if o, err = l.assemble(f, c.Candidates[i].Err, grad, c); err != nil {
			f.release()
			f = nil
		}
		c.value = o.Value
		return o, err
	})
	if f != nil && (!keep || err != nil) {
		f.release()
		f = nil
	}
	l.tally.note(&c.Selection, jitter)
	if err != nil {
		return 0, nil, kernelFault(c.kernel, l.data.X, l.span, asRefusal(err))
	}
	if grad != nil {
		c.naturalGradient(grad, theta)
	}
	return c.value, f, nil
}

// estimate asks every engine what time it takes for the compiled model, and with what error.
func (l *Exact) estimate(c *exactCall) {
	l.chooser.Begin(&c.Selection)
	blur := float64(l.n) * phases(c.kernel, l.span, l.rows.Least(c.noise), 1)
	placed := isPlaced(c.kernel)
	for i, e := range l.engines {
		if _, ok := e.(takesPlaced); placed && !ok {
			c.Candidates[i] = choice.Cannot(notPlaced)
			continue
		}
		c.Candidates[i] = l.chooser.Limited(e.estimate(&c.compiled))
		c.Candidates[i].Err += blur
	}
}

// assemble computes the value and, unless grad is nil, its derivatives in logs. expected is the error bound of the estimate.
func (l *Exact) assemble(f exactFactor, expected float64, grad []float64, c *exactCall) (choice.Outcome, error) {
	n, cols := float64(l.n), l.columns
	c.g, c.r = dense.Reshape(c.g, cols, cols), dense.Reshape(c.r, cols, cols)
	f.gram(c.g)
	added, err := l.mean.Complete(c.r, c.g)
	if err != nil {
		return choice.Outcome{}, notFactorised(c.kernel, c.noise, err, "gppl: %v", err)
	}
	form := dense.Form(c.g, c.r)
	size := dense.Spread(dense.Diagonal(c.g), c.r)
	o := choice.Outcome{Value: 0.5*(c.g.Data[0]+f.logDet()+n*log2Pi) + added, Terms: n, Form: form, Size: size,
		Extra: f.uncertainty(c.r)}
	if grad == nil {
		return o, nil
	}
	if err := f.gradient(grad, c.r); err != nil {
		return o, err
	}
	if f.jitter() == 0 && l.data.Errors == nil { // known errors do not scale
		return o, verifyScale(grad, &l.scale, c.kernel, n, form, choice.Completed(expected, size, n)+o.Extra)
	}
	return o, nil
}

// Cost predicts the engine and the time in seconds of an evaluation of value and gradient at theta, with a share of the set-up.
// It counts operations and measures nothing, so that decisions based on it are the same on every machine. seconds is +Inf if no
// engine takes the model, or if it is out of the range of float64.
func (l *Exact) Cost(theta []float64) (engine string, seconds float64) {
	if l.viewed != nil {
		return EngineStateSpace, l.viewed.seconds(l.Model(theta))
	}
	c := l.calls.Get()
	engine, seconds = "", math.Inf(1)
	if err := c.compile(l.model.Kernel, l.rows.Positive(theta, len(l.params)-1)); err == nil {
		l.estimate(c)
		if i := l.chooser.Next(&c.Selection); i >= 0 {
			engine, seconds = l.chooser.Names[i], c.Candidates[i].Cost()
		}
	}
	l.calls.Put(c)
	return engine, seconds
}

// WithinSeconds returns the likelihood under another limit of WithSeconds. It shares what was computed from the data.
func (l *Exact) WithinSeconds(most float64) *Exact {
	if l.viewed != nil { // one engine, in time linear in n
		return l
	}
	other := *l
	other.chooser = l.chooser.Fresh()
	other.chooser.Seconds = most
	return &other
}

// withoutEngine returns the loss without the engine of the last evaluation, and its name.
func (l *Exact) withoutEngine() (Loss, string) {
	if l.viewed != nil {
		return nil, ""
	}
	other := *l
	var engine string
	if other.chooser, engine = l.chooser.LeaveOut(); engine == "" {
		return nil, ""
	}
	return &other, engine
}

// QuadLogDet sets quad to yᵀB⁻¹y and logdet to log|B|, B = K + noise·I, for the kernel of m and each of the noise variances. With
// these a search compares starts at the best common factor of all variances. Both are +Inf where they cannot be computed. It
// takes n² covariances once and n³/3 flops for each noise variance. For a Markov kernel on the line it takes O(n), by the
// likelihoods at one and at four times the variances; B must then be linear in the variances, without known errors. Unless apart
// is true, only the sum of quad and logdet is correct, which takes one of the two likelihoods. It returns the number of
// likelihoods that it computed, and ignores the mean. It panics if lengths differ, and for channels, exposures and sums.
func (l *Exact) QuadLogDet(
	ctx context.Context, quad, logdet []float64, m Model, noises []float64, apart bool,
) (evaluations int, err error) {
	defer parallel.Stopped(&err)
	switch {
	case len(quad) != len(noises) || len(logdet) != len(noises):
		panic(fmt.Sprintf("gppl: QuadLogDet: len(quad) = %d, len(logdet) = %d, want len(noises) = %d",
			len(quad), len(logdet), len(noises)))
	case l.viewed != nil || l.known != nil:
		panic("gppl: QuadLogDet: " + l.String())
	}
	if l.linear(m.Kernel) {
		theta := m.Values()
		for i, noise := range noises {
			parallel.Look(ctx)
			quad[i], logdet[i] = l.quadOfScales(ctx, theta, noise, apart)
		}
		return 2 * len(noises), ctx.Err()
	}
	p := l.profiles.Get()
	p.set(ctx, l, quad, logdet, m.Kernel, noises)
	l.profiles.Put(p)
	return len(noises), ctx.Err()
}

// linear reports whether the exact likelihood of a kernel takes O(n).
func (l *Exact) linear(k Kernel) bool {
	state := stateSpace{calm: true}
	return l.data.X.Dim() == 1 && state.expand(k, 0) && state.summable()
}

// quadOfScales returns Q and log|B| from the likelihoods at one and at four times the variances. Unless they are needed apart, Q
// is twice the likelihood without its constant, and log|B| is 0.
func (l *Exact) quadOfScales(ctx context.Context, theta []float64, noise float64, apart bool) (quad, logdet float64) {
	last, n := len(theta)-1, float64(l.n)
	theta[last] = noise
	once, err := l.ValueGrad(ctx, nil, theta)
	if err != nil {
		return math.Inf(1), math.Inf(1)
	}
	if !apart {
		return 2*once - n*log2Pi, 0
	}
	const factor = 4
	four := slices.Clone(theta)
	for i := range four {
		if l.params[i].Unit == UnitY2 {
			four[i] *= factor
		}
	}
	other, err := l.ValueGrad(ctx, nil, four)
	if err != nil {
		return math.Inf(1), math.Inf(1)
	}
	quad = 2 * (once - other + 0.5*n*math.Log(factor)) / (1 - 1.0/factor)
	return quad, 2*once - n*log2Pi - quad
}

// profile is the working memory of QuadLogDet.
type profile struct {
	cov, work *dense.Lower
	white     []float64
	diagonal  []float64
}

// set sets Q and log|B| at each noise variance.
func (p *profile) set(ctx context.Context, l *Exact, quad, logdet []float64, k Kernel, noises []float64) {
	if p.cov == nil {
		p.cov, p.work, p.white = dense.NewLower(l.n), dense.NewLower(l.n), make([]float64, l.n)
	}
	p.cov.Ctx, p.work.Ctx = ctx, ctx
	fillGram(p.cov, l.data.X, k, 0)
	for i, noise := range noises {
		noise += capability.Nugget(k)
		p.cov.EachTile(func(r, c int, tile blas64.General) { copy(p.work.At(r, c).Data, tile.Data) })
		p.work.AddDiagonal(l.rows.OnDiagonal(noise))
		p.diagonal = l.rows.Add(p.work, p.diagonal, l.n, noise)
		if p.work.Cholesky() != nil {
			quad[i], logdet[i] = math.Inf(1), math.Inf(1)
			continue
		}
		copy(p.white, l.data.Y)
		p.work.SolveL(dense.AsColumn(p.white))
		quad[i] = blas64.Dot(dense.Vec(p.white), dense.Vec(p.white))
		logdet[i] = p.work.LogDet()
	}
}

func (l *Exact) conditionedAt(ctx context.Context, theta []float64) (*regress.Conditioned, error) {
	if l.viewed != nil {
		return l.viewed.conditionedAt(ctx, theta)
	}
	if l.mean == nil {
		return nil, nil
	}
	_, f, err := l.evaluate(ctx, nil, theta, true)
	if err != nil {
		return nil, err
	}
	of, _, err := l.given(f)
	f.release()
	return of, err
}

// given returns the mean given the data by a factor, and the form yᵀA⁻¹y less what the mean explains.
func (l *Exact) given(f exactFactor) (of *regress.Conditioned, form float64, err error) {
	g := dense.New(l.columns, l.columns)
	f.gram(g)
	of, err = l.mean.Given(g)
	return of, of.Quad(g), err
}
