package gppl

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/projected"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// Projected is the projected likelihood: the negative log likelihood of the k projections z = Ωᵀy of the n observations,
//
//	PL  = ½zᵀS⁻¹z + ½log|S| + (k/2)·log 2π,  S = Ωᵀ(K + σ²I)Ω
//	∂PL = ½⟨S⁻¹ − ββᵀ, Ωᵀ∂AΩ⟩,               β = S⁻¹z
//
// (the paper's eq. (GP_pdf_projected); its eq. (PL_NLL) prints a superfluous inverse). With a mean function it sees ΩᵀH, and the
// coefficients are integrated out as in Exact. Known errors add ΩᵀDΩ to S, D their variances, in O(nk²) once. ΩᵀKΩ is a sum over
// the terms of a sum of kernels, each by the engine that suits it: see Explain. Densely, the value takes n²k flops and the
// gradient as many more, in memory for O(nk + k²) numbers; on a time series, engines that use the structure of the kernel need
// far less.
//
// It is safe for concurrent use; each evaluation under way has its own working memory.
type Projected struct {
	model  Model
	proj   *Projection
	params []Param
	scale  scaling
	mean   *regress.Regression // nil for a mean of zero
	data   projected.Data      // projections of y and of the basis of the mean
	uneven bool                // there are known or relative errors, of any size
	rows   observed.Noise      // known errors of the observations
	known  float64             // a bound below ΩᵀDΩ, D the variances of known errors; 0 without them

	terms []*projectedTerm // terms of the kernel, by the engines of a series
	whole *projectedTerm   // the kernel as one; nil if it has one term
	apart bool             // terms has the kernel's terms, or else the kernel as it is

	conditioned Data    // the data that Posterior conditions on
	memory      float64 // and the bytes that this may take

	tally *tally
	used  *lastUse
	calls *parallel.Pool[projectedCall]
}

// projectedCall is the working memory of one evaluation.
type projectedCall struct {
	compiled
	projected.Factor
	loss   *Projected
	terms  []termCall
	whole  termCall
	use    []*termCall // terms, or the whole
	jitter float64
}

// NewProjected returns the projected likelihood of the data under the
// projection p, to be trained from the parameters of m. It panics if p is nil.
func NewProjected(ctx context.Context, m Model, d Data, p *Projection, opts ...Option) (l *Projected, err error) {
	defer parallel.Stopped(&err)
	start := time.Now()
	notNil("NewProjected", "the projection p", p)
	d, o, err := checked(m, d, opts)
	if err == nil {
		err = m.CheckPlain("PL", d)
	}
	if err != nil {
		return nil, err
	}
	if p.ofSums {
		return nil, fmt.Errorf("gppl: the projection %v is of sums, which NewResidual takes", p)
	}
	n, k := p.Dims()
	if n != d.Len() {
		return nil, fmt.Errorf("gppl: the projection is of %d observations, but x and y have %d", n, d.Len())
	}
	conditioned, logDet := p.wellConditioned(ctx)
	directions := directionsOf(conditioned, d.X, o)
	if d.Errors != nil || d.Relative != nil { // ΩᵀDΩ needs Ω, and DΩ beside it
		if bytes := directions.Formed() + 8*float64(n)*float64(k); bytes > o.Memory {
			return nil, &MemoryError{What: fmt.Sprintf("PL of n = %d observations with known errors", n), Needed: bytes, Limit: o.Memory}
		}
	}
	mean, z, sizes, err := projectedColumns(ctx, m, d, directions)
	if err != nil {
		return nil, err
	}
	l = newProjected(m, p, projected.Data{Directions: directions, Z: z, Sizes: sizes, LogDet: logDet})
	l.conditioned, l.memory = d, o.Memory
	l.mean, l.uneven, l.rows = mean, d.Errors != nil || d.Relative != nil, d.rowNoise()
	switch {
	case d.Relative != nil:
		l.data.OtO = dense.Weighted(ctx, directions.Matrix(), d.rowNoise().Scale).Data
	case !conditioned.Orthonormal:
		omega := conditioned.matrix()
		oto := dense.New(k, k)
		dense.Mul(ctx, oto, blas.Trans, omega, omega)
		l.data.OtO = oto.Data
	}
	l.data.Least, l.data.Cond = dense.LeastEigenvalue(ctx, l.data.OtO, k)
	if d.Errors != nil {
		l.known = l.rows.Least(0)
		if !conditioned.Orthonormal {
			least, _ := dense.LeastEigenvalue(ctx, dense.Weighted(ctx, directions.Matrix(), slices.Repeat([]float64{1}, n)).Data, k)
			l.known *= least
		}
		l.data.Known = dense.Weighted(ctx, directions.Matrix(), d.knownVariances()).Data
	}
	l.plan(d.X, o)
	l.tally.report = LossReport{Likelihood: true, Setup: time.Since(start)}
	return l, nil
}

// newProjected returns the loss of data, without engines, mean and residual.
func newProjected(m Model, p *Projection, d projected.Data) *Projected {
	return &Projected{
		model: m, proj: p, params: m.trained(), scale: scalingOf(m.Kernel), data: d,
		tally: new(tally), used: new(lastUse), calls: new(parallel.Pool[projectedCall]),
	}
}

// plan sets up the engines, which all terms share, for each term of the kernel and for the whole of it.
func (l *Projected) plan(x Inputs, o options) {
	d := l.data.Directions
	all := &denseProjected{x: x, directions: d}
	var parts split
	if x.Dim() != 1 || isPlaced(l.model.Kernel) || !parts.set(l.model.Kernel) {
		l.terms = []*projectedTerm{newProjectedTerm(l.model.Kernel, x, d, o, all)}
		return
	}
	series := observed.Sorted(x.at)
	sorted := newSortedDirections(series, d)
	engines := []projectedEngine{&stateSpaceProjected{directions: sorted},
		newSpectralProjected(d, projected.NewFeatures(x.at, series.Lo, series.Span, d, nil), o.tolerance),
		&bandedProjected{directions: sorted}, all}
	l.planTerms(parts.signal, x, o, engines)
}

// planTerms sets up engines for each term of the kernel and for the whole of it.
func (l *Projected) planTerms(terms []Kernel, x Inputs, o options, engines []projectedEngine) {
	d := l.data.Directions
	l.apart = true
	for _, k := range terms {
		own := engines
		base := newProjectedTerm(k, x, d,
			options{tolerance: o.tolerance, Limits: choice.Limits{Memory: o.Memory, Seconds: o.Seconds}}, engines...)
		if e := newInterpolated(k, base); e != nil {
			own = append([]projectedEngine{e}, engines...)
		}
		l.terms = append(l.terms, newProjectedTerm(k, x, d, o, own...))
	}
	if len(l.terms) > 1 {
		l.whole = newProjectedTerm(l.model.Kernel, x, d, o, engines...)
	}
}

// WithSetup counts d, the time that drawing the projection took, as part of the set-up, and returns l.
func (l *Projected) WithSetup(d time.Duration) *Projected {
	l.tally.setUp(d)
	return l
}

func (l *Projected) Params() []Param             { return append([]Param(nil), l.params...) }
func (l *Projected) Model(theta []float64) Model { return l.model.WithParams(theta) }

// Dims returns the numbers of observations and of projections.
func (l *Projected) Dims() (n, k int) { return l.data.N, l.data.K }

func (l *Projected) Report() LossReport {
	r := l.tally.get()
	var names []string
	l.used.each(func(t *projectedTerm, _ Kernel) { names = append(names, t.chooser.Engines()) })
	r.Engine = strings.Join(names, " + ")
	return r
}

// Explain reports the last evaluation, for each term of the kernel: for each engine
// the expected time and error, and which one was used.
func (l *Projected) Explain() string {
	var b strings.Builder
	l.used.each(func(t *projectedTerm, k Kernel) {
		fmt.Fprintf(&b, "%v: ", k)
		t.chooser.Explain(&b)
	})
	return b.String()
}

func (l *Projected) String() string {
	n, k := l.proj.Dims()
	if l.data.Residual != nil {
		return fmt.Sprintf("PL + residual (n=%d, k=%d, %s)", n, k, l.proj.Design)
	}
	return fmt.Sprintf("PL (n=%d, k=%d, %s)", n, k, l.proj.Design)
}

func (l *Projected) ValueGrad(ctx context.Context, grad, theta []float64) (value float64, err error) {
	defer parallel.Stopped(&err)
	theta = l.rows.Positive(theta, len(l.params)-1)
	if err := checkEvaluation(l.params, grad, theta); err != nil {
		return 0, err
	}
	c := l.calls.Get()
	c.ctx = ctx
	value, err = l.evaluateIn(c, grad, theta)
	l.done(c)
	return value, err
}

func (l *Projected) evaluateIn(c *projectedCall, grad, theta []float64) (float64, error) {
	if err := l.begin(c, theta); err != nil {
		return 0, err
	}
	value, failed, err := l.evaluate(c, grad)
	for failed != nil { // an answer failed its check: the next engine
		failed.reject(err)
		c.choose()
		value, failed, err = l.evaluate(c, grad)
	}
	l.note(c)
	if err != nil {
		if len(l.terms) > 0 {
			err = kernelFault(c.kernel, Inputs{}, l.terms[0].span, err)
		}
		return 0, err
	}
	if grad != nil {
		c.naturalGradient(grad, theta)
	}
	return value, checkAnswer(l.params, value, grad, theta)
}

// begin compiles the kernel at theta and collects the engines' estimates for each of its terms.
func (l *Projected) begin(c *projectedCall, theta []float64) error {
	if c.loss == nil {
		c.init(l)
	}
	c.L.Ctx, c.Inverse.Ctx = c.ctx, c.ctx
	if err := c.compile(l.model.Kernel, theta); err != nil {
		return err
	}
	for i := range c.terms {
		t := &c.terms[i]
		if l.apart {
			c.ask(t, c.split.signal[i], c.split.offset[i], c.split.end[i])
		} else {
			c.ask(t, c.kernel, 0, len(theta)-1)
		}
	}
	if l.whole != nil {
		c.ask(&c.whole, c.kernel, 0, len(theta)-1)
	}
	c.choose()
	return nil
}

// ask collects the estimates for a term, of the parameters from offset to end.
func (c *projectedCall) ask(t *termCall, k Kernel, offset, end int) {
	t.set(k, offset, end, c.noise*c.loss.data.Least+c.loss.known, c.loss.data.Cond)
	t.ctx = c.ctx
	t.estimate(&t.Selection, &t.compiledTerm)
}

// init makes the working memory.
func (c *projectedCall) init(l *Projected) {
	c.loss = l
	c.Factor.Init(&l.data)
	c.terms = make([]termCall, len(l.terms))
	for i := range c.terms {
		c.terms[i].projectedTerm = l.terms[i]
	}
	c.whole.projectedTerm = l.whole
}

// choose sets use to the terms or to the whole, by which is expected to be cheaper.
func (c *projectedCall) choose() {
	var apart float64
	refused := false
	for i := range c.terms {
		t := &c.terms[i]
		f := t.best(&t.Selection)
		apart += f.Cost()
		refused = refused || f.Reason.Given()
	}
	whole := false
	if c.loss.whole != nil {
		f := c.whole.best(&c.whole.Selection)
		whole = !f.Reason.Given() && (refused || f.Cost() < apart)
	}
	c.use = c.use[:0]
	if whole {
		c.use = append(c.use, &c.whole)
		return
	}
	for i := range c.terms {
		c.use = append(c.use, &c.terms[i])
	}
}

// done gives the working memory back.
func (l *Projected) done(c *projectedCall) {
	c.whole.release()
	for i := len(c.terms) - 1; i >= 0; i-- { // the first on top, to find its own again
		c.terms[i].release()
	}
	l.calls.Put(c)
}

// note reports what the evaluation had to do, and lets engines know of it.
func (l *Projected) note(c *projectedCall) {
	fallbacks := c.whole.Fallbacks
	for i := range c.terms {
		fallbacks += c.terms[i].Fallbacks
		c.terms[i].informInterpolated()
	}
	l.tally.add(fallbacks, c.jitter)
	l.used.note(c.use)
}

// evaluate returns the value and, unless grad is nil, sets grad to the derivatives in logs, by the engines whose answers have not
// failed. The term whose answer fails its check now is returned with the error.
func (l *Projected) evaluate(c *projectedCall, grad []float64) (value float64, failed *termCall, err error) {
	if err := l.covariance(c, grad != nil); err != nil {
		return 0, nil, err
	}
	c.Solve()
	logDet, terms := c.LogDet() // includes the residual if there is one
	added, err := l.mean.Complete(c.R, c.All)
	if err != nil {
		return 0, nil, notFactorised(c.kernel, c.noise, err, "gppl: %v", err)
	}
	value = 0.5*(c.All.Data[0]+logDet+terms*log2Pi) + added
	c.Complete()
	all := dense.Form(c.All, c.R)
	promise := l.promise(c, value)
	if grad == nil {
		return value, nil, nil
	}
	if failed, err := l.gradient(c, grad); err != nil {
		return 0, failed, err
	}
	if c.jitter == 0 && l.data.Known == nil { // known errors do not scale
		if err := verifyScale(grad, &l.scale, c.kernel, terms, all, promise); err != nil {
			return 0, nil, err
		}
	}
	return value, nil, nil
}

// promise records and returns a bound on the error of the value. It is the sum of the terms' estimates, which assume that
// zᵀS⁻¹z is one per projection and are completed by its actual size, and of the loss of digits in the residual's τ where
// n·k(0) − tr S₀ cancels and where ΩᵀΩ is not I.
func (l *Projected) promise(c *projectedCall, value float64) (nats float64) {
	k := float64(l.data.K)
	form, size := dense.Form(c.G, c.R), dense.Spread(dense.Diagonal(c.G), c.R)
	nats = choice.Summation(value, k)
	var limit, energy float64
	r := l.data.Residual
	if r != nil {
		energy = dense.Form(r.Energy, c.R)
	}
	for _, t := range c.use {
		s := &t.Selection
		err := s.Candidates[s.Chosen].Err
		s.Nats = choice.Completed(err, size, k)
		if r != nil { // an error that S₀ lacks is added to τ
			s.Nats += 0.5 * err * energy / (c.Tau * r.DoF)
		}
		for j := range c.U.Cols {
			s.Nats += 0.5 * t.gram.leftOut(dense.Column(c.U, j))
		}
		s.Allowed = t.chooser.Limit * max(1, form/k)
		t.chooser.Settle(s)
		nats, limit = nats+s.Nats, max(limit, s.Allowed)
	}
	if w := l.data.Waves; w != nil {
		var signal float64 // the size of a y that S₀ takes for signal
		for _, t := range c.use {
			signal += math.Sqrt(l.data.Mass * t.variance * form)
		}
		nats += c.ColumnRounding(signal, w.Rounding)
	}
	if l.uneven {
		nats += c.UnevenRounding()
	}
	if l.mean != nil { // digits of g cancel in the fit of the mean, digits of z in the sums over a column
		nats += 4 * 0x1p-53 * dense.Spread(dense.Diagonal(c.All), c.R)
		if l.data.Waves == nil {
			nats += c.ColumnRounding(0, func(size float64) float64 { return 4 * 0x1p-53 * size })
		}
	}
	if r != nil {
		lost, terms := c.ResidualRounding(r.N*c.variance, l.data.Bound())
		nats, limit = nats+lost, max(limit, limit/k*terms)
	}
	l.tally.promise(nats, nats <= limit)
	return nats
}

// covariance factorises S, and sets τ where there is a residual.
func (l *Projected) covariance(c *projectedCall, derivatives bool) (err error) {
	c.jitter, c.Tau = 0, 0
	clear(c.S0)
	for _, t := range c.use {
		if err := t.compute(derivatives); err != nil {
			return err
		}
		dense.Add(c.S0, t.gram.covariance())
	}
	if c.jitter, err = c.Factorise(c.noise, c.variance+c.noise); err != nil {
		return notFactorised(c.kernel, c.noise, err, "gppl: the covariance of %d projections cannot be factorised: %v", l.data.K, err)
	}
	r := l.data.Residual
	if r == nil {
		return nil
	}
	var prior float64
	for _, t := range c.use {
		prior += totalVariance(t.kernel, l.conditioned.X, r.N)
	}
	return c.Remainder(prior)
}

// gradient sets grad to ½⟨V, ∂S⟩, V = S⁻¹ − UUᵀ, and the residual's part, in the logs of the parameters and, last, of the noise
// variance with the nugget. It is an error, with the term, if what a term contributes fails its check: as its variances grow, S₀
// does, so that ⟨V, ∂S₀⟩ = ⟨V, S₀⟩, which costs k² flops and shares nothing with how the engine contracts.
func (l *Projected) gradient(c *projectedCall, grad []float64) (*termCall, error) {
	noise, prior := c.Weigh()
	clear(grad)
	last := len(grad) - 1
	for _, t := range c.use {
		if prior != 0 {
			contractVariances(t.own(grad), t.kernel, l.conditioned.X, prior, func(int) float64 { return prior / l.data.Residual.N })
		}
	}
	for _, t := range c.use {
		if err := t.contribute(grad[:last], c.V.Data); err != nil {
			return t, err
		}
	}
	for p := range grad {
		grad[p] *= 0.5
	}
	grad[last] = c.noise * noise
	return nil, nil
}

// contribute adds ⟨V, ∂S₀⟩ to the gradient, and verifies it.
func (t *termCall) contribute(grad, v []float64) error {
	own := t.own(grad)
	before, _ := t.scaling.derivative(own, t.kernel)
	if err := t.gram.contract(own, v); err != nil {
		return err
	}
	after, ok := t.scaling.derivative(own, t.kernel)
	if !ok {
		return nil
	}
	var want, scale float64
	for i, s := range t.gram.covariance() {
		p := v[i] * s
		want += p
		scale += math.Abs(p)
	}
	return verify.Near("the contraction of a projected covariance", after-before, want,
		0.1*verify.GradientTrust*(scale+math.Abs(before)))
}

// renewed returns a copy of l that shares what was computed from the data, with choosers of its own.
func (l *Projected) renewed(choose func(*projectedTerm) *choice.Chooser) *Projected {
	other := *l
	other.used, other.calls = new(lastUse), new(parallel.Pool[projectedCall])
	other.terms = nil
	renew := func(t *projectedTerm) *projectedTerm {
		if t == nil {
			return nil
		}
		n := *t
		n.chooser = choose(t)
		return &n
	}
	for _, t := range l.terms {
		other.terms = append(other.terms, renew(t))
	}
	other.whole = renew(l.whole)
	return &other
}

// WithinSeconds returns the likelihood with another limit of WithSeconds for each term of the kernel, as Exact.WithinSeconds
// does.
func (l *Projected) WithinSeconds(most float64) *Projected {
	return l.renewed(func(t *projectedTerm) *choice.Chooser {
		c := t.chooser.Fresh()
		c.Seconds = most
		return c
	})
}

// Cost predicts the engine and the time in seconds of an evaluation of value and gradient at theta, with a share of the set-up,
// as Exact.Cost does. The engine is "" where terms of the kernel take several.
func (l *Projected) Cost(theta []float64) (engine string, seconds float64) {
	c := l.calls.Get()
	defer l.done(c)
	if err := l.begin(c, theta); err != nil {
		return "", math.Inf(1)
	}
	k := float64(l.data.K)
	seconds = 2 * k * k * k / choice.FlopRate
	var engines []string
	for _, t := range c.use {
		i := t.chooser.Next(&t.Selection)
		if i < 0 {
			return "", math.Inf(1)
		}
		engines = append(engines, t.chooser.Names[i])
		seconds += t.Candidates[i].Cost()
	}
	if engines = slices.Compact(engines); len(engines) == 1 {
		engine = engines[0]
	}
	return engine, seconds
}

// withoutEngine returns the loss without the engine of the last evaluation, of
// the first term that has another, and the name of that engine.
func (l *Projected) withoutEngine() (Loss, string) {
	var faulty *projectedTerm
	var without *choice.Chooser
	var engine string
	l.used.each(func(t *projectedTerm, _ Kernel) {
		if without == nil {
			without, engine = t.chooser.LeaveOut()
			faulty = t
		}
	})
	if without == nil {
		return nil, ""
	}
	other := l.renewed(func(t *projectedTerm) *choice.Chooser {
		if t == faulty {
			return without
		}
		return t.chooser.Fresh()
	})
	return other, engine
}

// projectedColumns returns the projected data of PL: z = Ωᵀy and, if m has a mean, ΩᵀH, in the coordinates of the regression of z
// on ΩᵀH. sizes are bounds on the lengths of the columns before projection.
func projectedColumns(ctx context.Context, m Model, d Data, directions projected.Directions) (
	mean *regress.Regression, z blas64.General, sizes []float64, err error,
) {
	defer parallel.Stopped(&err)
	z = directions.ProjectColumns(ctx, dense.AsColumn(d.Y))
	sizes = dense.Lengths(dense.AsColumn(d.Y))
	if m.Mean == nil {
		return nil, z, sizes, nil
	}
	h, err := basisWithin(ctx, m.Mean, d.X)
	if err != nil {
		return nil, z, nil, err
	}
	// Columns of H that nearly repeat each other would do so but for rounding once they are projected.
	first, err := regressionOn(ctx, m.Mean, h)
	if err != nil {
		return nil, z, nil, err
	}
	columns := directions.ProjectColumns(ctx, first.Q.RawMatrix())
	images := mat.NewDense(columns.Rows, columns.Cols, columns.Data)
	basis, err := projectedBasis(ctx, m.Mean, first, images)
	if err != nil {
		return nil, z, nil, fmt.Errorf("gppl: of the observations, the likelihood sees %d projections: %w", directions.K, err)
	}
	mean, z = regress.New(ctx, columnNames(m.Mean), basis, images, dense.Slice(dense.Column(z, 0)))
	// The columns of Z are combinations of projections: what rounds is as long as the columns that are combined.
	for j := range images.RawMatrix().Cols {
		var size float64
		for i, length := range dense.Lengths(first.Q.RawMatrix()) {
			size += length * math.Abs(basis.T.At(i, j))
		}
		sizes = append(sizes, size)
		sizes[0] += size * math.Abs(mean.Gamma0[j])
	}
	mean.Basis = basis.After(first)
	return mean, z, sizes, nil
}

func (l *Projected) conditionedAt(ctx context.Context, theta []float64) (of *regress.Conditioned, err error) {
	if l.mean == nil {
		return nil, nil
	}
	theta = l.rows.Positive(theta, len(l.params)-1)
	if err := checkParams(l.params, theta); err != nil {
		return nil, err
	}
	c := l.calls.Get()
	c.ctx = ctx
	if err = l.begin(c, theta); err == nil {
		err = l.covariance(c, false)
	}
	if err == nil {
		of, err = l.given(c)
	}
	l.done(c)
	return of, err
}

// given returns the mean given the data at a call that has factorised S.
func (l *Projected) given(c *projectedCall) (*regress.Conditioned, error) {
	c.Solve()
	return l.mean.Given(c.All)
}
