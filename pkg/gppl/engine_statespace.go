package gppl

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/costs"
	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

var (
	_ exactEngine = (*stateSpaceExact)(nil)
	_ exactFactor = (*stateSpaceFactor)(nil)
)

// stateSpaceExact runs a Kalman filter over the sorted series: O(n).
type stateSpaceExact struct {
	line      *observed.Line
	tolerance float64                          // nats per observation
	factors   *parallel.Pool[stateSpaceFactor] // shared by engines of the same inputs, see Exact.WithObservations
	scratches *parallel.Pool[stateSpace]
}

func newStateSpaceExact(l *observed.Line) *stateSpaceExact {
	return &stateSpaceExact{line: l, tolerance: defaultTolerance, factors: new(parallel.Pool[stateSpaceFactor]),
		scratches: new(parallel.Pool[stateSpace])}
}

// within sets the tolerance to a loss's, in nats per observation. A posterior leaves out observations by differences and
// needs 1e-4 of that, for a few more harmonics.
func (e *stateSpaceExact) within(o options) *stateSpaceExact {
	if e.tolerance = o.tolerance; o.posterior {
		e.tolerance *= 1e-4
	}
	return e
}

// share takes the working memory of an engine of the same inputs.
func (e *stateSpaceExact) share(from *stateSpaceExact) {
	e.factors, e.scratches = from.factors, from.scratches
}

func (e *stateSpaceExact) name() string { return EngineStateSpace }

// notMatern is why the projected likelihood, whose sums along the series are for Matérn terms, does not take a kernel.
const notMatern = "not a sum of Laplace, Matérn 3/2 and 5/2 kernels"

func (e *stateSpaceExact) estimate(m *compiled) choice.Estimate {
	scratch := e.scratches.Get()
	defer e.scratches.Put(scratch)
	state, ok := e.state(scratch, m)
	if !ok {
		return choice.Cannot(notMarkov)
	}
	f, _ := e.sweep(state, m)
	return f
}

// state returns the processes of a model: its own, or in scratch if it has waves.
func (e *stateSpaceExact) state(scratch *stateSpace, m *compiled) (state *stateSpace, ok bool) {
	if m.hasState {
		return &m.state, true
	}
	return scratch, scratch.expand(m.kernel, e.lost(m))
}

// lost is the share of the variance that harmonics may lack.
func (e *stateSpaceExact) lost(m *compiled) float64 {
	return harmonicsLost(e.tolerance, m.variance, e.line.Noise.Least(m.noise))
}

// sweep returns how a model is factorised, and its estimate. Sums of Matérn processes are summed unless pairs are faster, as they
// are from two Matérn 3/2 on, and their bound leaves pairsSpare of the tolerance.
func (e *stateSpaceExact) sweep(l *stateSpace, m *compiled) (choice.Estimate, statespace.Sweep) {
	n, least := float64(len(e.line.T)), e.line.Noise.Least(m.noise)
	f := e.byPairs(l, m, n, least)
	if l.summable() {
		if g := e.bySum(l, m, n, least); f.Seconds >= g.Seconds || pairsSpare*f.Err > n*e.tolerance {
			return g, statespace.BySum
		}
	}
	return f, statespace.ByPairs
}

// bySum is the estimate for statespace.BySum.
func (e *stateSpaceExact) bySum(l *stateSpace, m *compiled, n, least float64) choice.Estimate {
	d, _ := l.size()
	seconds := costs.Of(costs.SumsEntry, n*d*d) + costs.Of(costs.SumsRow, n)
	if len(l.blocks) == 1 {
		seconds = costs.Of(costs.SumNumber, n*d) + costs.Of(costs.SumRow, n)
	}
	return choice.Estimate{
		Bytes:   8 * n * (d*d + 2 + 3*float64(len(l.blocks)) + e.columnNumbers(d)), // see statespace.Filter
		Seconds: seconds + costs.Of(costs.StateOnce, 1),
		Err:     n * 0x1p-50 * math.Sqrt(1+m.variance/least), // see statespace
	}
}

// byPairs is the estimate for statespace.ByPairs.
func (e *stateSpaceExact) byPairs(l *stateSpace, m *compiled, n, least float64) choice.Estimate {
	d, numbers := l.size()
	steps, base, each := 0.0, anySeconds, twoPairSeconds
	matern := l.summable()
	for i := range l.blocks {
		size := float64(l.blocks[i].Process.Dim())
		steps += 2*size*size + 1
		if size != 2 {
			each = anyPairSeconds
		}
	}
	if matern && each == twoPairSeconds {
		base, each = maternSeconds, maternPairSeconds
	}
	return choice.Estimate{
		Bytes:   8 * n * (numbers + 2*d + 2 + steps + e.columnNumbers(d)),
		Seconds: n*(base+each*numbers) + costs.Of(costs.StateOnce, 1),
		Err:     n*0x1p-50*(1+m.variance/least) + l.bound(n, least),
	}
}

// What statespace.ByPairs takes for an observation, and for each number of P, there and back: in general, where all processes
// have two numbers, and where all are Matérn 3/2 without waves (BenchmarkBlocks, BenchmarkSweeps).
const (
	anySeconds, anyPairSeconds       = 500e-9, 150e-9
	twoPairSeconds                   = 8e-9
	maternSeconds, maternPairSeconds = 230e-9, 11e-9
)

// pairsSpare is how many times the bound of pairs fits into the tolerance: far from the model's scale a bound is completed by up
// to twice what the tolerance is (choice.Completed), and a derivative may err by more than the value.
const pairsSpare = 4

// columnNumbers is how many numbers a filter keeps of the columns at each input: their errors, and means of d numbers.
func (e *stateSpaceExact) columnNumbers(d float64) float64 {
	cols := e.line.Columns.Cols
	return float64(cols) + d*float64(statespace.MeansKept(cols))
}

// stateSpaceFactor is A = LDLᵀ, row by row.
type stateSpaceFactor struct {
	engine  *stateSpaceExact
	model   *compiled
	kernel  Kernel
	filter  *statespace.Filter
	g       blas64.General // CᵀA⁻¹C
	alpha   []float64
	grad    []float64  // derivatives in the parameters of each block, and in log σ²
	scratch stateSpace // holds state unless the model does
	state   *stateSpace
	by      statespace.Sweep
	short   stretch
}

func (e *stateSpaceExact) factor(m *compiled) (exactFactor, error) {
	f := e.factors.Get()
	if f.filter == nil {
		f.filter = statespace.NewFilter(e.line.T, nil)
	}
	if f.engine != e {
		f.filter.SetErrors(e.line.Noise.Known)
		f.filter.SetScale(e.line.Noise.Scale)
	}
	f.g = dense.Reshape(f.g, e.line.Columns.Cols, e.line.Columns.Cols) // the mixed engine changes their number between evaluations
	f.short.Of(e.line.T, e.line.Columns, e.line.Noise.Known, e.line.Noise.Scale)
	f.engine, f.model, f.kernel = e, m, m.kernel
	f.filter.Ctx = m.ctx
	if err := f.factorise(); err != nil {
		f.release()
		return nil, notFactorised(m.kernel, m.noise, err, "gppl: statespace engine: %v", err)
	}
	f.filter.Gram(f.g)
	return f, nil
}

func (f *stateSpaceFactor) release()                           { f.engine.factors.Put(f) }
func (f *stateSpaceFactor) jitter() float64                    { return 0 }
func (f *stateSpaceFactor) logDet() float64                    { return f.filter.LogDet() }
func (f *stateSpaceFactor) uncertainty(blas64.General) float64 { return 0 }
func (f *stateSpaceFactor) gram(g blas64.General)              { dense.Copy(g, f.g) }

func (f *stateSpaceFactor) factorise() error {
	m, ok := f.model, false
	if f.state, ok = f.engine.state(&f.scratch, m); !ok {
		return errors.New(notMarkov)
	}
	_, f.by = f.engine.sweep(f.state, m)
	return f.filter.Factorise(f.engine.line.Columns, f.state.blocks, m.noise, f.by)
}

func (f *stateSpaceFactor) gradient(grad []float64, r blas64.General) error {
	f.grad = dense.Resize(f.grad, f.filter.Derivatives())
	last := len(f.grad) - 1
	known := f.filter.Gradient(f.grad, r)
	if err := f.checkGradient(known, r); err != nil {
		return err
	}
	clear(grad)
	f.state.contract(grad, f.grad[:last])
	grad[len(grad)-1] = f.grad[last]
	return nil
}

// residuals implements residualFactor: the diagonal of A⁻¹ − UUᵀ is twice the derivative in each observation's own variance.
func (f *stateSpaceFactor) residuals(alpha, precisions []float64, r blas64.General) bool {
	first := r
	first.Cols = 1
	f.alpha = dense.Resize(f.alpha, len(alpha))
	f.filter.Residuals(f.alpha, first)
	for i, a := range f.alpha {
		alpha[f.engine.line.Input(i)] = a
	}
	if precisions == nil {
		return true
	}
	own := f.filter.OwnSlopes()
	for i, d := range own {
		precisions[f.engine.line.Input(i)] = d + f.alpha[i]*f.alpha[i]
	}
	return own != nil
}

// checkGradient verifies a gradient. Scaling all variances, the noise and the known errors by one factor scales A: the
// derivatives in their logs add to ½(n − Σ_j u_jᵀAu_j). And on a short stretch of the series the gradient along one direction is
// compared with a difference of values, which takes a hundredth of an evaluation or so.
func (f *stateSpaceFactor) checkGradient(known float64, r blas64.General) error {
	n, form, last := float64(len(f.engine.line.T)), dense.Form(f.g, r), len(f.grad)-1
	sum := f.grad[last] + known
	contrast := 1 + f.model.variance/f.engine.line.Noise.Least(f.model.noise)
	if f.by == statespace.BySum {
		contrast = math.Sqrt(contrast)
	}
	sum += f.state.scaling(f.grad)
	rounding := 0x1p-49 * contrast
	if err := verify.Near("the sum of the derivatives in the variances", sum, 0.5*(n-form), (n+form)*(1e-9+rounding)); err != nil {
		return err
	}
	r.Cols = min(r.Cols, dense.ManyColumns) // every column takes the same steps of the filter: a few are check enough
	return f.short.checkGradient(f, r, rounding)
}

// stretch is a short stretch of the series, with memory for a kernel on it.
type stretch struct {
	statespace.Stretch
	state stateSpace
	theta []float64
	own   []float64
}

// checkGradient compares the gradient of the model with a difference of values.
func (s *stretch) checkGradient(f *stateSpaceFactor, r blas64.General, rounding float64) (err error) {
	var slope, difference, limit float64
	if f.state.summable() {
		slope, difference, limit, err = s.CompareMatern(f.state.blocks, f.model.noise, f.by, r, rounding)
	} else {
		slope, difference, limit, err = s.compare(f.model, f.engine.lost(f.model), r, rounding)
	}
	if err != nil {
		return err
	}
	return verify.Near("the gradient of a stretch of the series", slope, difference, limit)
}

// compare is statespace.Stretch.Compare in the kernel's own parameters.
func (s *stretch) compare(m *compiled, lost float64, r blas64.General,
	rounding float64) (slope, difference, limit float64, err error) {
	params := len(m.theta)
	if fine := 1e-3 * lost; s.state.expand(m.kernel, fine) {
		lost = fine // the difference does not see that a harmonic comes in
	}
	return s.Compare(func(step float64) error {
		s.theta = append(s.theta[:0], m.theta...)
		for i := range s.theta {
			s.theta[i] *= math.Exp(step * verify.Direction(i))
		}
		if !s.state.expand(m.kernel.WithParams(s.theta), lost) {
			return errors.New(notMarkov)
		}
		return s.Factorise(s.Columns, s.state.blocks, m.noise*math.Exp(step*verify.Direction(params)), statespace.ByPairs)
	}, func(grad []float64) []float64 {
		last := len(grad) - 1
		s.own = dense.Resize(s.own, params+1)
		clear(s.own)
		s.state.contract(s.own[:params], grad[:last])
		s.own[params] = grad[last]
		return s.own
	}, r, rounding)
}

// stateSpacePosterior smooths: O(n + len(x)) for means and variances.
type stateSpacePosterior struct {
	line    *observed.Line
	kernel  Kernel
	filter  *statespace.Filter // does not change any more
	lost    float64            // the variance of the harmonics left out
	noise   float64            // σ², with the nugget
	readers parallel.Pool[*statespace.Filter]
}

func (f *stateSpaceFactor) posterior() predictor {
	f.filter.Ctx = nil // the context belongs to the evaluation, not to predictions
	return &stateSpacePosterior{line: f.engine.line, kernel: f.kernel, filter: f.filter, lost: f.state.lost, noise: f.model.noise}
}

// read calls f with the filter and working memory for one goroutine, until ctx ends.
func (p *stateSpacePosterior) read(ctx context.Context, f func(*statespace.Filter)) {
	r := p.readers.Get()
	if *r == nil {
		*r = p.filter.Reader()
	}
	(*r).Ctx = ctx
	f(*r)
	(*r).Ctx = nil
	p.readers.Put(r)
}

func (p *stateSpacePosterior) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.read(ctx, func(f *statespace.Filter) { f.Posterior(means, variances, x.at) })
	return nil
}

// joint predicts from the last observation on by the state there. Elsewhere K** − K_*x A⁻¹ K_x* takes a solve in O(n) per column.
func (p *stateSpacePosterior) joint(ctx context.Context, means blas64.General, cov *dense.Lower, x Inputs) error {
	if n := len(p.line.T); x.Len() > 0 && x.at[0] >= p.line.T[n-1] && slices.IsSorted(x.at) {
		p.read(ctx, func(f *statespace.Filter) { f.AheadJointly(means, f.Tail(), x.at, cov.SetEntry) })
		return ctx.Err()
	}
	fillGram(cov, x, p.kernel, 0)
	return p.given(ctx, means, cov, valuesOf(p.kernel, x))
}

func (p *stateSpacePosterior) observations(context.Context) (*conditions, error) {
	n := len(p.line.T)
	return onLine(p.line, p.line.Noise.Set(nil, n, p.noise), 1e-6+float64(n)*100e-9, func(ctx context.Context, b []float64) {
		p.read(ctx, func(f *statespace.Filter) { f.Solve(b, b) })
	}), nil
}

func (p *stateSpacePosterior) given(ctx context.Context, means blas64.General, cov *dense.Lower, of functionals) error {
	data, err := p.observations(ctx)
	if err != nil {
		return err
	}
	return givenBySolve(ctx, data, means, cov, of)
}
