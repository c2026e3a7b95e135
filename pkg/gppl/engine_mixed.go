package gppl

import (
	"context"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/costs"
	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/mixed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/waves"
)

var (
	_ exactEngine = (*mixedExact)(nil)
	_ exactFactor = (*mixedFactor)(nil)
)

// mixedExact is the exact likelihood of A = B + ΦCΦᵀ, with Φ the cosines and sines at the few frequencies where the terms
// of a kernel have weight (Waver), C > 0 their coefficients, and B the noise, with those terms of the kernel that are none or too
// many waves, as the state space or the banded engine factorises it. With the whitened columns E = B^−½ΦC^½ and
// z = B^−½Y for the columns Y of the data,
//
//	T = I + EᵀE,  h = T⁻¹Eᵀz,  log|A| = log|B| + log|T|,  YᵀA⁻¹Y = zᵀz − (Eᵀz)ᵀh
//	½(φ_fᵀA⁻¹φ_f − |φ_fᵀU|²)·c_f = ½(1 − (T⁻¹)_ff − |(hR)_f|²),  U = A⁻¹YR
//
// (Rasmussen and Williams 2006, eq. A.9 and A.10). Frequencies that move with the period of a kernel add to the gradient,
// with the derivatives E′ of E, ½⟨A⁻¹ − UUᵀ, ∂ΦCΦᵀ + ΦC∂Φᵀ⟩ = tr(E′ᵀE·T⁻¹) − ⟨(E′ᵀz − E′ᵀEh)R, hR⟩. The time is O(n·p² +
// p³) for p columns, O(p³) where B is even noise (internal/mixed/sums.go). Waves near a harmonic are combined to columns that
// differ on the range of the data (internal/mixed/packet.go).
type mixedExact struct {
	line      *observed.Line
	tolerance float64       // nats per observation
	tight     bool          // for a posterior
	memory    float64       // bytes that predictions far from the data may take
	probes    []exactEngine // engines that may factorise B, for their estimates
	grid      *griddedExact // likewise
	factors   parallel.Pool[mixedFactor]
	rests     parallel.Pool[mixedBase]
	buffers   parallel.Pool[[]capability.Band]
	divisions parallel.Pool[division]
	sums      observed.Summed
	favour    float64 // how many times longer sums may take than the data themselves; 1 but in tests
}

func newMixedExact(l *observed.Line, o options) *mixedExact {
	e := &mixedExact{line: l, tolerance: o.tolerance, tight: o.posterior, memory: o.Memory, favour: 1}
	e.sums.Read(l)
	e.grid = newGriddedExact(l)
	for _, base := range bases {
		e.probes = append(e.probes, base(l))
	}
	return e
}

func (e *mixedExact) name() string { return EngineMixed }

// eps bounds the sum of the coefficients that are left out, relative to the variance: even if all observations had the phase of
// one such frequency, the value would err by less than a fortieth of the tolerance. A larger eps would save hardly any columns.
func (e *mixedExact) eps(m *compiled) float64 {
	n := float64(len(e.line.T))
	return min(1e-6, max(1e-20, 0.05*e.tolerance*e.line.Noise.Least(m.noise)/(m.variance*n)))
}

// left bounds what a value errs by for the coefficients that are left out, with ‖ΔK‖ ≤ n·eps·v: ½·tr(A⁻¹ΔK) in log|A|, as much
// again in a quadratic form of one per observation, and ½·‖ΔK‖/σ² in log|HᵀA⁻¹H| for each column of a mean.
func (e *mixedExact) left(m *compiled) float64 {
	means := float64(max(0, e.line.Columns.Cols-1))
	return float64(len(e.line.T)) * e.eps(m) * m.variance / e.line.Noise.Least(m.noise) * (1 + 0.5*means)
}

// mixedContrast is the largest n·v/σ², about the condition of T, at which T is sure to be positive definite.
const mixedContrast = 1e14

const noWaves = "a term of the kernel is not a sum of a few waves"

func (e *mixedExact) estimate(m *compiled) choice.Estimate {
	if !m.hasSignal() {
		return choice.Cannot(noSignal)
	}
	if e.line.Span == 0 {
		return choice.Cannot("all inputs coincide")
	}
	if contrast := m.variance / e.line.Noise.Least(m.noise); contrast*float64(len(e.line.T)) > mixedContrast {
		return choice.Estimate{Reason: choice.Because(tooSteep, contrast)}
	}
	d := e.divisions.Get()
	e.divide(d, m, e.eps(m))
	var f choice.Estimate
	switch {
	case d.p == 0:
		f = choice.Cannot(noWaves)
	case d.p+d.moving > spectral.MostFeatures:
		f = spectral.TooMany(d.p / 2)
	case len(d.rest) == 0:
		f = e.predict(m, d)
	default:
		f = e.predictBased(m, d)
	}
	if d.layered >= 0 {
		f.Err += float64(len(e.line.T)) * waves.ScaleRounding * m.variance / e.line.Noise.Least(m.noise)
	}
	e.divisions.Put(d)
	return f
}

// predictBased is the estimate with a base of other terms.
func (e *mixedExact) predictBased(m *compiled, d *division) choice.Estimate {
	f := choice.Cannot(noWaves)
	b := e.rests.Get()
	if err := b.compile(m, d.rest); err == nil {
		_, f = e.baseEstimate(b, d)
	}
	e.rests.Put(b)
	if f.Reason.Given() {
		return f
	}
	n, least, p := float64(len(e.line.T)), e.line.Noise.Least(m.noise), d.p
	f.Err += n*rounding(m.variance, least) + e.left(m)
	f.Bytes += 16 * triangle(int(p))
	f.Seconds += costs.Of(costs.MixedCube, p*p*p*(1+d.moving/(3*p))) + costs.Of(costs.MixedBaseOnce, 1)
	return f
}

// predict is the estimate where B is the noise alone.
func (e *mixedExact) predict(m *compiled, d *division) choice.Estimate {
	n, least, p := float64(len(e.line.T)), e.line.Noise.Least(m.noise), d.p
	direct, sums := e.costs(d)
	f := choice.Estimate{
		Bytes:   16*triangle(int(p)) + mixed.Bytes(n, p+d.moving),
		Seconds: direct,
		Err:     n*rounding(m.variance, least) + e.left(m),
	}
	if e.summed(d) {
		f.Seconds = sums
	}
	f.Seconds += costs.Of(costs.MixedCube, p*p*p*(1+d.moving/(3*max(1, p)))) + costs.Of(costs.MixedSquare, p*p) +
		costs.Of(costs.MixedOnce, 1)
	if d.moving < p {
		f.Seconds += costs.Of(costs.MixedPackets, 1)
	}
	return f
}

// mixedFactor is T = LLᵀ of one model.
type mixedFactor struct {
	mixed.Factor
	engine *mixedExact
	model  *compiled
	kernel Kernel
	eps    float64
	span   float64 // the waves represent the kernel up to this distance

	terms    []waveTerm
	base     mixedBase
	which    int // index among the engines that may factorise it
	division division
	circle   mixed.Circle   // the circle that all waves are on, if Circle is there
	g        blas64.General // YᵀA⁻¹Y
	errors   []float64
	probe    [2][]float64
}

func (e *mixedExact) factor(m *compiled) (exactFactor, error) {
	f := e.factors.Get()
	f.engine, f.model, f.kernel, f.Noise, f.eps = e, m, m.kernel, m.noise, e.eps(m)
	if err := f.expand(); err != nil {
		f.release()
		return nil, err
	}
	if err := f.fill(); err != nil {
		f.release()
		return nil, err
	}
	if err := f.Factorise(); err != nil {
		f.release()
		return nil, notFactorised(m.kernel, m.noise, err, "gppl: mixed engine: %v", err)
	}
	return f, nil
}

func (f *mixedFactor) release() {
	if f.base.factor != nil {
		f.base.factor.release()
		f.base.factor = nil
	}
	f.engine.factors.Put(f)
}

func (f *mixedFactor) jitter() float64 { return 0 }

// fill sets EᵀE and what there is of the columns of the data.
func (f *mixedFactor) fill() error {
	switch {
	case len(f.base.of) > 0:
		return f.fillBase()
	case f.Circle != nil:
		f.FillSums()
	default:
		f.Fill()
	}
	return nil
}

func (f *mixedFactor) logDet() float64 {
	if f.base.factor != nil {
		return f.T.LogDet() + f.base.factor.logDet()
	}
	return f.LogDet()
}

func (f *mixedFactor) gram(g blas64.General) {
	f.Solve()
	verify.Tampered("mixed h", f.H.Data)
	f.g = dense.Reshape(f.g, f.B.Cols, f.B.Cols)
	dense.LowRankForms(f.g, f.ZZ, f.B, f.H, 1)
	dense.Copy(g, f.g)
	f.bound()
}

// bound sets errors to bounds on the error of the forms, as spectralFactor.bound does: the rounding of the sums over the
// data, and what the series leaves out, at most eps·v·n·|A⁻¹y|².
func (f *mixedFactor) bound() {
	c := f.B.Cols
	f.errors = dense.Resize(f.errors, c)
	least, scale := f.engine.line.Noise.Least(f.Noise), 1.0
	if len(f.base.of) > 0 { // B⁻¹ itself is rounded
		scale += math.Sqrt(f.base.model.variance / least)
	}
	for j := range f.errors {
		var fitted float64
		for i, length := range f.Length {
			fitted += math.Abs(f.H.Data[i*c+j]) * math.Sqrt(length)
		}
		left := f.eps * f.model.variance * float64(len(f.Lambda)) * f.g.Data[j*c+j] / least
		f.errors[j] = scale*fourier.RoundedForm(f.ZZ.Data[j*c+j], fitted, 1) + max(0, left)
	}
}

func (f *mixedFactor) uncertainty(r blas64.General) float64 {
	return dense.Spread(dense.Vec(f.errors), r)
}

func (f *mixedFactor) gradient(grad []float64, r blas64.General) error {
	f.Invert()
	verify.Tampered("mixed diag", f.Diag)
	f.U = dense.Combine(f.U, f.H, r)
	var rows func(a *mixed.Again) error // compares rows of EᵀE with those that a base on a grid used
	if len(f.base.of) > 0 {
		rows = func(a *mixed.Again) error { return f.base.grid.Verify(a, f.g.Data[0]) }
	}
	if err := f.Verify(f.g.Data[0], rows); err != nil {
		return err
	}
	clear(grad)
	last := len(grad) - 1
	for i := range f.terms {
		w := &f.terms[i]
		w.slope = dense.Resize(w.slope, len(w.Coef))
		if err := f.Slopes(w.slope, &w.Term); err != nil {
			return err
		}
		own := f.model.split.own(grad[:last], w.index)
		w.kernel.ContractCoefficients(own, w.slope, w.Period, w.bands)
		if w.param >= 0 {
			own[w.param] += f.MovedSlope(&w.Term, r)
		}
	}
	switch noise := &f.engine.line.Noise; {
	case f.base.factor != nil:
		return f.baseGradient(grad, r)
	case noise.Known == nil:
		grad[last] = f.ScaleSlope(dense.Form(f.g, r))
	default:
		grad[last] = f.NoiseSlope(r, func(i int) float64 { return f.Noise * noise.Weight(i) })
	}
	return nil
}

// residuals implements residualFactor. With a base they are the residuals of B with the columns of baseGradient, which has the
// same A⁻¹ − UUᵀ. On a grid, and for sums, there are none.
func (f *mixedFactor) residuals(alpha, precisions []float64, r blas64.General) bool {
	if f.Circle != nil {
		return false
	}
	if precisions == nil {
		r.Cols = 1
		f.U = dense.Combine(f.U, f.H, r)
	}
	if of := f.base.factor; of != nil {
		base, ok := of.(residualFactor)
		if precisions == nil {
			f.spread(r, 0)
		}
		return ok && base.residuals(alpha, precisions, f.base.r)
	}
	f.Residuals(r, precisions != nil, func(i int, first, own float64) {
		at := f.engine.line.Input(i)
		if alpha[at] = first; precisions != nil {
			precisions[at] = own + first*first
		}
	})
	return true
}

// mixedPosterior is Bayesian linear regression on the waves: at x within the range of the data, with e = C^½φ(x),
//
//	mean = eᵀh,  covariance = eᵀT⁻¹e′,
//
// in O(p²) for each x. Beyond it, where the waves do not represent the covariances k of x with the data, with κ = B^−½k and
//
//	g = T⁻¹Eᵀκ,  r = κ − Eg
//	mean = κᵀ(z − Eh),  covariance = k(x, x′) − rᵀr′ − gᵀg′
//
// where rᵀr + gᵀg = kᵀA⁻¹k is stationary in g, so that rounding of g counts by its square. That takes O(np) for each x.
type mixedPosterior struct {
	*mixedFactor // does not change any more
}

func (f *mixedFactor) posterior() predictor {
	f.Ctx, f.T.Ctx = nil, nil // the contexts belong to the evaluation, not to predictions
	if f.base.factor != nil {
		return newBasedPosterior(f)
	}
	return &mixedPosterior{f}
}

func (p *mixedPosterior) represented(x float64) bool {
	l := p.engine.line
	return l.Lo <= x && x <= l.Lo+l.Span
}

// solved returns e at represented inputs, and L⁻¹e.
func (p *mixedPosterior) solved(ctx context.Context, x Inputs) (e, solved blas64.General) {
	e = p.At(x.at)
	solved = dense.New(e.Rows, e.Cols)
	copy(solved.Data, e.Data)
	p.T.Within(ctx).SolveL(solved)
	return e, solved
}

func (p *mixedPosterior) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	within, beyond := apart(x, p.represented)
	inBatches(ctx, means, variances, x, within, func(m blas64.General, v []float64, x Inputs) {
		e, solved := p.solved(ctx, x)
		dense.Gemm(blas.Trans, blas.NoTrans, 1, e, p.H, 0, m)
		dense.AddSquares(v, 1, solved)
	})
	inBatches(ctx, means, variances, x, beyond, func(m blas64.General, v []float64, x Inputs) {
		variancesAt(v, p.kernel, x)
		g := p.Regress(ctx, m, p.cross(valuesOf(p.kernel, x), x.Len()), func(r blas64.General) { dense.AddSquares(v, -1, r) })
		dense.AddSquares(v, -1, g)
	})
	return ctx.Err()
}

// cross returns the covariances of observations with q functionals.
func (p *mixedPosterior) cross(of functionals, q int) func(from, count int) blas64.General {
	t := Scalars(p.Data.T)
	return func(from, count int) blas64.General { return of(t.Slice(from, from+count), 0, q) }
}

func (p *mixedPosterior) joint(ctx context.Context, means blas64.General, cov *dense.Lower, x Inputs) error {
	lo, hi := x.Range(0)
	if p.represented(lo) && p.represented(hi) {
		e, solved := p.solved(ctx, x)
		dense.Gemm(blas.Trans, blas.NoTrans, 1, e, p.H, 0, means)
		cov.EachTile(func(_, _ int, t blas64.General) { clear(t.Data) })
		cov.AddOuter(1, solved)
		return nil
	}
	fillGram(cov, x, p.kernel, 0)
	return p.given(ctx, means, cov, valuesOf(p.kernel, x))
}

// throughWaves replaces b by A⁻¹b, A = B + EEᵀ, given what solves with B.
func (f *mixedFactor) throughWaves(ctx context.Context, b blas64.General,
	base func(ctx context.Context, b blas64.General) error) error {
	n := b.Rows
	t := f.engine.line.T
	within := dense.New(n, b.Cols)
	dense.Copy(within, b)
	if err := base(ctx, within); err != nil {
		return err
	}
	h := dense.New(f.Columns(), b.Cols)
	const rows = 512
	for from := 0; from < n; from += rows {
		parallel.Look(ctx)
		count := min(rows, n-from)
		dense.Gemm(blas.NoTrans, blas.NoTrans, 1, f.At(t[from:from+count]), dense.Rows(within, from, count), 1, h)
	}
	f.T.Within(ctx).Solve(h)
	for from := 0; from < n; from += rows {
		parallel.Look(ctx)
		count := min(rows, n-from)
		dense.Gemm(blas.Trans, blas.NoTrans, -1, f.At(t[from:from+count]), h, 1, dense.Rows(b, from, count))
	}
	return base(ctx, b)
}

func (p *mixedPosterior) observations(context.Context) (*conditions, error) {
	line := p.engine.line
	n, columns := float64(len(line.T)), float64(p.Columns())
	return &conditions{x: Scalars(line.T), lambda: p.Lambda, columns: line.Columns, seconds: 1e-6 + 4e-9*n*columns,
		solve: func(ctx context.Context, b blas64.General) error {
			return p.throughWaves(ctx, b, func(_ context.Context, b blas64.General) error {
				for i, l := range p.Lambda {
					blas64.Scal(1/l, dense.Row(b, i))
				}
				return nil
			})
		}}, nil
}

func (p *mixedPosterior) given(ctx context.Context, means blas64.General, cov *dense.Lower, of functionals) error {
	g := p.Regress(ctx, means, p.cross(of, means.Rows), func(r blas64.General) { cov.AddOuter(-1, r) })
	cov.AddOuter(-1, g)
	return nil
}
