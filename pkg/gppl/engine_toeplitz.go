package gppl

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/toeplitz"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

var (
	_ exactEngine = (*toeplitzExact)(nil)
	_ exactFactor = (*toeplitzFactor)(nil)
	_ exactEngine = (*cyclesExact)(nil)
	_ exactFactor = (*cyclesFactor)(nil)
)

// toeplitzExact takes any stationary kernel on a series with a constant step; a few values may be missing. A_ij = k(|i−j|·step) +
// σ²δ_ij is Toeplitz: with s_d the sums along the diagonals of A⁻¹ − UUᵀ,
//
//	½⟨A⁻¹ − UUᵀ, ∂A⟩ = ½s_0·∂c_0 + Σ_d s_d·∂c_d,  c_d = k(d·step),
//
// so that n covariances and n derivatives suffice instead of the n² of a dense matrix. About 4n² flops for the factor, in memory
// for O(n) numbers; the derivation is in internal/toeplitz.
type toeplitzExact struct {
	steps
	line    *observed.Line
	grid    timeline.Regular
	ok      bool
	limit   float64        // bytes, of the options
	idle    bool           // too large, or another engine is forced: columns are not transformed
	columns blas64.General // Cᵀ, c×n, at the places, 0 where missing
	rhs     *toeplitz.Columns
	mix     blas64.General // c×c: C = C₀·mix, rhs having C₀; none if C₀ = C
	factors parallel.Pool[toeplitzFactor]
}

// newToeplitz returns the engine of a series on a constant step: of one that is observed at the same places of every cycle, or of
// any other.
func newToeplitz(l *observed.Line, o options) exactEngine {
	e := newToeplitzExact(l, o)
	if !e.ok && l.Noise.Even() && (o.Engine == "" || o.Engine == EngineToeplitz) {
		if of, ok := timeline.CyclesOf(l.T); ok {
			return newCyclesExact(l, &of, o)
		}
	}
	return e
}

// newToeplitzExact makes the transforms of the columns, unless the options leave no use for them.
func newToeplitzExact(l *observed.Line, o options) *toeplitzExact {
	e := &toeplitzExact{line: l, limit: o.Memory}
	if e.grid, e.ok = timeline.RegularOf(l.T); !e.ok {
		return e
	}
	if e.idle = o.Engine != "" && o.Engine != EngineToeplitz || !l.Noise.Even() || e.bytes() > o.Memory; e.idle {
		return e
	}
	e.columns, e.steps = e.atPlaces(l.Columns), stepsOf(e.grid, e.grid.N, o.tolerance)
	e.setColumns()
	return e
}

// steps are the lags of a series on a constant step.
type steps struct {
	step, off float64       // step and largest deviation from the grid (timeline.Regular)
	tolerance float64       // nats per observation, of the options
	lag       []float64     // d·step
	sampled   toeplitz.Lags // lags that an estimate samples
}

// stepsOf returns the lags of so many places of a grid.
func stepsOf(grid timeline.Regular, places int, tolerance float64) steps {
	s := steps{step: grid.Step, off: grid.Off, tolerance: tolerance, lag: make([]float64, places)}
	for d := range s.lag {
		s.lag[d] = float64(d) * grid.Step
	}
	s.sampled = toeplitz.SampleLags(s.lag)
	return s
}

// errs predicts the error of a value of n places, by rounding and by inputs that are off their places, and the latter alone.
func (s *steps) errs(c *compiled, places int) (all, moved float64) {
	n := float64(places)
	norm := c.noise + 2*s.sampled.Size(c.kernel.Cov) // ‖A‖, by its rows
	moved = s.moved(c)
	if moved > 0.1*s.tolerance { // the other bound takes hundreds of slopes of the kernel
		moved = min(moved, 4*s.off*s.slopes(c.kernel)/c.noise)
	}
	// A change of A by ΔA moves NLL by at most ½‖ΔA‖(tr A⁻¹ + |α|²), where tr A⁻¹ is
	// at most n/σ² and |α|², where the model is right, about as large.
	return n/c.noise*0x1p-52*norm + n*moved, n * moved
}

// covariances sets c to the covariances of a model at the lags, noise included, by way of work.
func (s *steps) covariances(c, work []float64, m *compiled) {
	clear(c)
	for _, term := range m.split.signal {
		term.Cov(work, s.lag)
		dense.Add(c, work)
	}
	c[0] += m.noise
}

// contract sets grad to the gradient, given the sums of A⁻¹ − UUᵀ at the lags; it halves the first of them.
func (s *steps) contract(grad, sums []float64, m *compiled) {
	clear(grad)
	grad[len(grad)-1] = 0.5 * m.noise * sums[0]
	sums[0] *= 0.5
	for i, term := range m.split.signal {
		term.Contract(m.split.own(grad, i), sums, s.lag)
	}
}

// atPlaces returns the rows of a, in the order of the series, as columns at the places, 0 where missing.
func (e *toeplitzExact) atPlaces(a blas64.General) blas64.General {
	at := dense.New(a.Cols, e.grid.N)
	for i, p := range e.grid.Place {
		for j, v := range a.Data[i*a.Stride:][:a.Cols] {
			at.Data[j*at.Stride+p] = v
		}
	}
	return at
}

// rowsPerSparse is up to how many rows for each sparse column these take less time than columns that are full.
const rowsPerSparse = 256

// setColumns sets the columns to solve for: C's, or where C is sparse the columns that its are sums of.
func (e *toeplitzExact) setColumns() {
	sparse, c := e.line.Sparse, e.columns.Rows
	if sparse == nil || e.grid.N > rowsPerSparse*(sparse.Columns.Cols-sparse.Dense) {
		e.rhs = toeplitz.NewColumns(e.columns)
		return
	}
	own := dense.New(c, e.grid.N)
	copy(own.Data[:own.Cols], e.columns.Data)
	dense.Copy(dense.Rows(own, 1, c-1), e.atPlaces(e.line.SortRows(sparse.Columns)))
	e.rhs = toeplitz.NewSparseColumns(own, 1+sparse.Dense)
	e.mix = dense.New(c, c)
	e.mix.Data[0] = 1
	dense.Copy(dense.Sub(e.mix, 1, c, 1, c), sparse.Mix)
}

func (e *toeplitzExact) name() string { return EngineToeplitz }

// bytes is the memory of a factor, the engine's own included.
func (e *toeplitzExact) bytes() float64 { return toeplitz.Bytes(e.grid.N, len(e.grid.Missing)) }

func (e *toeplitzExact) estimate(c *compiled) choice.Estimate {
	switch {
	case !e.ok:
		return choice.Cannot("the inputs have no constant step")
	case !e.line.Noise.Even():
		return choice.Cannot("observations have errors of their own, and A is not Toeplitz")
	case !c.hasSignal():
		return choice.Cannot(noSignal)
	}
	if e.idle {
		if f := (choice.Estimate{Bytes: e.bytes()}); f.Bytes > e.limit {
			return f.Within(e.limit)
		}
		return choice.Cannot("another engine is forced")
	}
	f := choice.Estimate{Bytes: e.bytes(), Seconds: toeplitz.Seconds(e.grid.N, len(e.grid.Missing))}
	f.Err, f.Moved = e.errs(c, e.grid.N)
	return f
}

// moved bounds the change of NLL, to first order, if one input is off its place by δ = Off, with a margin of two. s² = 2(k(0) −
// k(δ)) is the variance of f(x_i + δ) − f(x_i). A prediction wᵀy of this difference has wᵀAw ≤ s², so that |w_i| ≤ s/σ; w_i is
// what δ changes in ½log|A|, apart from s²/2σ² of the variance of y_i, which stays. If the model holds, ½yᵀA⁻¹y changes by no
// more. Unlike the norm of the change of A, this does not grow with n.
func (s *steps) moved(c *compiled) float64 {
	if s.off == 0 {
		return 0
	}
	const halves = 24 // δ, δ/2, δ/4, …: a kernel may fall in much less than δ
	buf := scratchPool.Get().(*scratch)
	defer scratchPool.Put(buf)
	r, slopes := buf[0][:halves], buf[1][:halves]
	for i := range r {
		r[i] = math.Ldexp(s.off, -i)
	}
	c.kernel.Slope(slopes, r)
	var most float64
	for _, slope := range slopes {
		most = max(most, math.Abs(slope))
	}
	q := math.Sqrt(2*s.off*most) / math.Sqrt(c.noise) // s/σ or more
	return 4 * (q + q*q)
}

// slopes returns about Σ_d |k′|, the largest near d·step, if some input is off its place.
func (s *steps) slopes(k Kernel) float64 {
	if s.off == 0 {
		return 0
	}
	return s.sampled.Steepness(k.Slope, s.step)
}

// toeplitzFactor is A of the places, factorised. Vectors of n entries are rows here.
type toeplitzFactor struct {
	engine             *toeplitzExact
	model              *compiled
	kernel             Kernel
	noise              float64
	c                  []float64 // the first column of A
	factor             toeplitz.Factor
	work               toeplitz.Workspace
	toeplitz.Solutions                // A⁻¹C₀
	sums               []float64      // s_d
	squares            []float64      // |A⁻¹c|² of the columns
	g, half, root      blas64.General // C₀ᵀA⁻¹C₀, that times mix, and mix·R
}

func (e *toeplitzExact) factor(m *compiled) (exactFactor, error) {
	f := e.factors.Get()
	f.engine, f.model, f.kernel, f.noise = e, m, m.kernel, m.noise
	f.work.Ctx = m.ctx
	n := e.grid.N
	f.c, f.sums = dense.Resize(f.c, n), dense.Resize(f.sums, n)
	e.covariances(f.c, f.sums, m)
	if err := f.factor.Factorise(f.c, e.grid.Missing, &f.work); err != nil {
		f.release()
		return nil, notFactorised(m.kernel, m.noise, err, "gppl: toeplitz engine: %v", err)
	}
	f.factor.SolveColumns(&f.Solutions, e.rhs, &f.work)
	if err := f.factor.Verify(&f.Solutions, f.c); err != nil {
		f.release()
		return nil, err
	}
	return f, nil
}

func (f *toeplitzFactor) release()        { f.engine.factors.Put(f) }
func (f *toeplitzFactor) jitter() float64 { return 0 }
func (f *toeplitzFactor) logDet() float64 { return f.factor.LogDet() }

func (f *toeplitzFactor) gram(g blas64.General) {
	mix := f.engine.mix
	if mix.Rows == 0 {
		f.Gram(g)
		return
	}
	f.g, f.half = dense.Reshape(f.g, mix.Rows, mix.Rows), dense.Reshape(f.half, mix.Rows, mix.Rows)
	f.Gram(f.g)
	dense.Gemm(blas.NoTrans, blas.NoTrans, 1, f.g, mix, 0, f.half)
	dense.Gemm(blas.Trans, blas.NoTrans, 1, mix, f.half, 0, g)
	dense.Symmetrise(g)
}

// own returns the R of gradients for C₀ from that for C: A⁻¹CR = A⁻¹C₀·mix·R.
func (f *toeplitzFactor) own(r blas64.General) blas64.General {
	if mix := f.engine.mix; mix.Rows > 0 {
		f.root = dense.Reshape(f.root, mix.Rows, r.Cols)
		dense.Gemm(blas.NoTrans, blas.NoTrans, 1, mix, r, 0, f.root)
		return f.root
	}
	return r
}

// uncertainty is the error of the value due to the change of A that the computed
// factor belongs to. The estimate has the same formula, without the known factor.
func (f *toeplitzFactor) uncertainty(r blas64.General) float64 {
	f.squares = dense.Resize(f.squares, f.Alpha.Rows)
	for j := range f.squares {
		f.squares[j] = blas64.Dot(dense.Row(f.Alpha, j), dense.Row(f.Alpha, j))
	}
	return 0.5 * f.factor.Backward() * (float64(f.engine.grid.N)/f.noise + dense.Spread(dense.Vec(f.squares), f.own(r)))
}

func (f *toeplitzFactor) gradient(grad []float64, r blas64.General) error {
	f.factor.CombinedSums(f.sums, &f.Solutions, f.own(r), &f.work)
	if err := f.factor.VerifySums(f.sums, f.Combined, verify.Pick(len(f.sums), f.noise, f.c[0], f.factor.LogDet())); err != nil {
		return err
	}
	f.engine.contract(grad, f.sums, f.model)
	return nil
}

// toeplitzPosterior takes O(n) for a mean and, by transforms, O(n log n) for a variance.
type toeplitzPosterior struct {
	factor  *toeplitzFactor // does not change any more
	solved  blas64.General  // (A⁻¹C)ᵀ
	observe Inputs          // inputs of the observed places
	rows    []int           // row of the series for each observation
	work    parallel.Pool[toeplitzWork]
}

// toeplitzWork is the working memory of the prediction at one input.
type toeplitzWork struct {
	work  toeplitz.Workspace
	row   []float64 // k(x, ·) at the observed places
	cross []float64 // the same at all places
}

func (f *toeplitzFactor) posterior() predictor {
	solved := f.Alpha
	if mix := f.engine.mix; mix.Rows > 0 {
		solved = dense.CombineRows(blas64.General{}, solved, mix)
	}
	return &toeplitzPosterior{factor: f, solved: solved, observe: Scalars(f.engine.line.T), rows: f.engine.line.Ranks()}
}

// condition sets cross to k(x, ·) at the places, and means to those at x.
func (p *toeplitzPosterior) condition(means, cross []float64, x Inputs, w *toeplitzWork) {
	w.row = dense.Resize(w.row, p.observe.Len())
	distances(w.row, x, p.observe)
	p.factor.kernel.Cov(w.row, w.row)
	clear(cross)
	for i, at := range p.factor.engine.grid.Place {
		cross[at] = w.row[i]
	}
	for j := range means {
		means[j] = blas64.Dot(dense.Vec(cross), dense.Row(p.solved, j))
	}
}

// each calls f for every input, with working memory.
func (p *toeplitzPosterior) each(ctx context.Context, x Inputs, f func(i int, w *toeplitzWork)) error {
	return parallel.Parts(ctx, x.Len(), 1, func(i, _ int) {
		w := p.work.Get()
		f(i, w)
		p.work.Put(w)
	})
}

func (p *toeplitzPosterior) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	n, prior := p.factor.engine.grid.N, variance(p.factor.kernel)
	return p.each(ctx, x, func(i int, w *toeplitzWork) {
		w.cross = dense.Resize(w.cross, n)
		p.condition(dense.Row(means, i).Data, w.cross, x.Slice(i, i+1), w)
		variances[i] = prior - p.factor.factor.Form(w.cross, &w.work)
	})
}

func (p *toeplitzPosterior) joint(ctx context.Context, means blas64.General, cov *dense.Lower, x Inputs) error {
	fillGram(cov, x, p.factor.kernel, 0)
	return p.given(ctx, means, cov, valuesOf(p.factor.kernel, x))
}

func (p *toeplitzPosterior) observations(context.Context) (*conditions, error) {
	e := p.factor.engine
	n := e.grid.N
	lambda := make([]float64, len(e.line.T))
	for i := range lambda {
		lambda[i] = p.factor.noise
	}
	return onLine(e.line, lambda, 1e-6+float64(n)*150e-9, func(_ context.Context, b []float64) {
		w := p.work.Get()
		w.cross = dense.Resize(w.cross, n)
		clear(w.cross)
		for i, at := range e.grid.Place {
			w.cross[at] = b[i]
		}
		p.factor.factor.Solve(w.cross, w.cross, &w.work)
		for i, at := range e.grid.Place {
			b[i] = w.cross[at]
		}
		p.work.Put(w)
	}), nil
}

func (p *toeplitzPosterior) given(ctx context.Context, means blas64.General, cov *dense.Lower, of functionals) error {
	data, err := p.observations(ctx)
	if err != nil {
		return err
	}
	return givenBySolve(ctx, data, means, cov, of)
}
