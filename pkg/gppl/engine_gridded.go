package gppl

import (
	"context"
	"fmt"
	"math"

	"github.com/projected-likelihood/gppl/pkg/gppl/capability"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/costs"
	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/gridded"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/mixed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// griddedExact is the exact likelihood of a smooth kernel that decays to zero, such as SE, in a time that grows with the range
// over the lengthscale and not with n: its sums over the data are computed once, and the factorised matrix is banded. The
// derivation is in internal/gridded.
type griddedExact struct {
	observed.Summed
	yy      blas64.General // CᵀC of the columns
	factors parallel.Pool[griddedFactor]
}

func newGriddedExact(d observed.Source) *griddedExact {
	e := &griddedExact{yy: d.Squares()}
	e.Read(d)
	return e
}

func (e *griddedExact) name() string { return EngineGridded }

const (
	// rootTolerance is the size, relative to the largest, below which roots of coefficients and entries of their transform are
	// dropped.
	rootTolerance = gridded.Floor
	// griddedBytes is the memory per grid point.
	griddedBytes = 2000
	// griddedMargin is for the derivative in the lengthscale, which errs by up to a
	// dozen of the bounds of the value where the noise is tiny.
	griddedMargin = 12
	// griddedContrast is the largest variance, relative to the noise's, for which
	// the derivative in the lengthscale keeps what the margin promises.
	griddedContrast = 3e8
	// maxGrid bounds the grid.
	maxGrid = 4 << 20
)

const tooSteep = "the variance is %.2g times the noise's: its derivatives would lose their digits"

const noDensity = "the kernel is a sum, or declares no formula of its spectral density by capability.Spectrum"

func (e *griddedExact) estimate(m *compiled) choice.Estimate {
	if why := e.Refuses(); why != "" {
		return choice.Cannot(why)
	}
	if !m.hasSignal() {
		return choice.Cannot(noSignal)
	}
	if _, ok := m.split.signal[0].(capability.Spectrum); !ok || len(m.split.signal) > 1 {
		return choice.Cannot(noDensity)
	}
	if e.Span == 0 {
		return choice.Cannot("all inputs coincide")
	}
	period := e.Span + 2*e.gap(m.kernel)
	frequencies := bandwidth(m.kernel, rootTolerance*rootTolerance) * period
	if c, ok := e.Circle(); ok {
		frequencies *= c.Period / period
		switch need := math.Ceil(frequencies) + gridded.Spare; {
		case need > float64(c.Highest):
			return choice.Estimate{Reason: choice.Because(c.Beyond, need/c.Period)}
		case e.Span+2*rootGap(m.kernel) > c.Period*(1+1e-12):
			return choice.Cannot(c.Resolves)
		}
	}
	grid := 2 * frequencies
	if !(grid < maxGrid) {
		return choice.Estimate{Reason: choice.Because("it would take a grid of %.2g points", grid)}
	}
	v, noise := m.variance, e.Averaged(m.noise)
	if v > griddedContrast*noise {
		return choice.Estimate{Reason: choice.Because(tooSteep, v/noise)}
	}
	return choice.Estimate{
		Bytes:   griddedBytes * grid,
		Seconds: costs.Of(costs.GriddedPoint, grid) + costs.Of(costs.GriddedOnce, 1),
		Setup:   e.Pass(600e-9) + frequencies*4e-6,
		Err:     griddedMargin * gridded.Bound(e.N, v, noise, rootTolerance),
	}
}

// rootGap is how far the points must keep from the ends of the period.
func rootGap(k Kernel) float64 { return gridded.RootReach * reach(k, rootTolerance) }

// gap is rootGap with some space to spare: there are few such gaps (fourier.Ladder).
func (e *griddedExact) gap(k Kernel) float64 {
	return e.Span * fourier.Ladder(max(leastGap, rootGap(k)/e.Span), 4)
}

// leastGap is the least gap, in spans: shorter ones share it, at the cost of three in a hundred points more.
const leastGap = 1. / 64

// rootFrequencies is how many the coefficients of k take to fall far enough.
func rootFrequencies(k Kernel, period float64) float64 {
	return math.Ceil(bandwidth(k, rootTolerance*rootTolerance)*period) + gridded.Spare
}

// sumsFor returns the sums that k takes, and the number of frequencies.
func (e *griddedExact) sumsFor(k Kernel) (*fourier.CircleSums, int, error) {
	gap := e.gap(k)
	origin, period := e.Lo-gap, e.Span+2*gap
	if fixed, ok := e.Circle(); ok {
		origin, period = fixed.Origin, fixed.Period
	}
	m := rootFrequencies(k, period)
	if m > maxGrid {
		return nil, 0, fmt.Errorf("gppl: gridded engine: %.3g frequencies for %v", m, k)
	}
	c, err := e.On(origin, period, int(m))
	return c, int(m), err
}

// griddedFactor is the factor of one model.
type griddedFactor struct {
	missed  []float64 // errors of the forms of the columns
	engine  *griddedExact
	model   *compiled
	kernel  Kernel
	noise   float64
	sums    *fourier.CircleSums
	f, c, q []float64 // frequencies m/P, coefficients, derivatives in them
	factor  gridded.Factor
	work    gridded.Workspace
	beta, h blas64.General // BᵀC and H⁻¹BᵀC, p×c
	g       blas64.General // CᵀA⁻¹C
	u, of   blas64.General // hR, and the sums of the columns CR
}

func (e *griddedExact) factor(m *compiled) (exactFactor, error) {
	f := e.factors.Get()
	f.engine, f.model, f.kernel, f.noise = e, m, m.kernel, m.noise
	f.work.Ctx = m.ctx
	if err := f.factorise(); err != nil {
		f.release()
		return nil, err
	}
	return f, nil
}

func (f *griddedFactor) factorise() error {
	e := f.engine
	sums, m, err := e.sumsFor(f.kernel)
	if err != nil {
		return err
	}
	f.sums = sums
	f.f, f.c, f.q = dense.Resize(f.f, m+1), dense.Resize(f.c, m+1), dense.Resize(f.q, m+1)
	for j := range f.f {
		f.f[j] = float64(j) / sums.Period
	}
	f.term().Density(f.c, f.f)
	f.perPeriod(f.c)
	first := (e.Lo - sums.Origin) / sums.Period
	points := gridded.Points{N: e.N, First: first, Last: first + e.Span/sums.Period, Moments: sums.Moments}
	if err := f.factor.Factorise(f.c, points, f.noise, rootTolerance, &f.work); err != nil {
		return notFactorised(f.kernel, f.noise, err, "gppl: gridded engine: %v", err)
	}
	return nil
}

// term is the kernel without its nugget.
func (f *griddedFactor) term() capability.Spectrum {
	return f.model.split.signal[0].(capability.Spectrum)
}

// perPeriod turns densities into coefficients of the cosine series, by Poisson's
// formula, k(τ) = S(0)/P + Σ_m (2/P)·S(m/P)·cos(2πmτ/P), and is its own adjoint.
func (f *griddedFactor) perPeriod(c []float64) {
	c[0] /= f.sums.Period
	for j := 1; j < len(c); j++ {
		c[j] *= 2 / f.sums.Period
	}
}

func (f *griddedFactor) release()        { f.engine.factors.Put(f) }
func (f *griddedFactor) jitter() float64 { return 0 }
func (f *griddedFactor) logDet() float64 { return f.factor.LogDet() - f.engine.LogWeights() }

func (f *griddedFactor) gram(g blas64.General) {
	p, c := f.factor.Size(), f.sums.Columns.Cols
	f.beta, f.h = dense.Reshape(f.beta, p, c), dense.Reshape(f.h, p, c)
	f.factor.Project(f.beta, f.sums.Columns, &f.work)
	dense.Copy(f.h, f.beta)
	f.factor.Solve(f.h)
	f.g = dense.Reshape(f.g, c, c)
	dense.LowRankForms(f.g, f.engine.yy, f.beta, f.h, f.noise)
	dense.Copy(g, f.g)
}

// uncertainty is the rounding of CᵀC and ΦᵀC in the forms of the columns. What is fitted is no larger than the column.
func (f *griddedFactor) uncertainty(r blas64.General) float64 {
	f.missed = dense.Resize(f.missed, f.g.Cols)
	for j := range f.missed {
		yy := f.engine.yy.Data[j*f.engine.yy.Stride+j]
		f.missed[j] = fourier.RoundedForm(yy, math.Sqrt(yy), f.noise)
	}
	return dense.Spread(dense.Vec(f.missed), r)
}

func (f *griddedFactor) gradient(grad []float64, r blas64.General) error {
	f.u = dense.Combine(f.u, f.h, r)
	f.of = dense.Combine(f.of, dense.Rows(f.sums.Columns, 0, 2*len(f.c)), r)
	form := dense.Form(f.g, r)
	slope := f.factor.Gradient(f.q, f.of, f.u, form, &f.work)
	// A is linear in c and σ²: Σ_m c_m·q_m + σ²·slope = ½(n − tr RᵀCᵀA⁻¹CR).
	n := float64(f.engine.N)
	scale := blas64.Dot(dense.Vec(f.c), dense.Vec(f.q)) + f.noise*slope
	if err := verify.Near("the gradient in the scale of the covariance", scale, 0.5*(n-form),
		verify.GradientTrust*(n+math.Abs(form)+math.Abs(f.noise*slope))); err != nil {
		return err
	}
	clear(grad)
	f.perPeriod(f.q)
	f.term().ContractDensity(f.model.split.own(grad, 0), f.q, f.f)
	grad[len(grad)-1] = f.noise * slope
	return nil
}

// griddedPosterior predicts from the few grid points around an input.
type griddedPosterior struct {
	*griddedFactor // does not change any more
	predictor      *gridded.Predictor
	err            error
}

func (f *griddedFactor) posterior() predictor {
	p := &griddedPosterior{griddedFactor: f}
	p.predictor, p.err = f.factor.Predictor(&f.work)
	f.model, f.work = nil, gridded.Workspace{} // not needed any more
	return p
}

// inPeriods returns an input in periods.
func (p *griddedPosterior) inPeriods(x Inputs, i int) float64 {
	return (x.at[i] - p.sums.Origin) / p.sums.Period
}

func (p *griddedPosterior) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	if p.err != nil {
		return p.err
	}
	const batch = 256
	return parallel.Parts(ctx, x.Len(), batch, func(from, to int) {
		at := p.predictor.Point()
		for i := from; i < to && ctx.Err() == nil; i++ {
			at.Set(p.inPeriods(x, i))
			at.Means(means.Data[i*means.Stride:][:means.Cols], p.h)
			if variances != nil {
				variances[i] = at.Variance()
			}
		}
	})
}

// joint is K** − b bᵀ + bᵀH⁻¹b, with the vectors b(x) on the grid in the columns of a matrix.
func (p *griddedPosterior) joint(ctx context.Context, means blas64.General, cov *dense.Lower, x Inputs) error {
	if err := p.latent(ctx, means, nil, x); err != nil {
		return err
	}
	n := x.Len()
	b := dense.New(p.factor.Size(), n)
	at := p.predictor.Point()
	for i := range n {
		at.Set(p.inPeriods(x, i))
		first, entries := at.Entries()
		for g, v := range entries {
			if row := first + g; row >= 0 && row < b.Rows {
				b.Data[row*b.Stride+i] = v
			}
		}
	}
	fillGram(cov, x, p.kernel, 0)
	cov.AddOuter(-1, b)
	p.factor.SolveL(b)
	cov.AddOuter(1, b)
	return ctx.Err()
}

// entries returns what calls f with the entries of B that are not zero, b at the places (i, row), for the inputs x.
func (p *griddedPosterior) entries(x Inputs) func(ctx context.Context, f func(i, row int, b float64)) {
	return func(ctx context.Context, f func(i, row int, b float64)) {
		at := p.predictor.Point()
		for i := range x.Len() {
			if i%256 == 0 {
				parallel.Look(ctx)
			}
			at.Set(p.inPeriods(x, i))
			first, entries := at.Entries()
			for g, v := range entries {
				if row := first + g; row >= 0 && row < p.factor.Size() {
					f(i, row, v)
				}
			}
		}
	}
}

func (p *griddedPosterior) observations(context.Context) (*conditions, error) {
	if p.err != nil {
		return nil, p.err
	}
	var line *observed.Line
	switch of := p.engine.Source.(type) {
	case *observed.Line:
		line = of
	case *mixed.Grid:
		line = of.Line
	default:
		return nil, errNoObservations
	}
	lambda, each := weighted(line, p.noise), p.entries(Scalars(line.T))
	return onLine(line, lambda, 1e-6+float64(len(line.T))*5e-6, func(ctx context.Context, b []float64) {
		lowRank(b, lambda, func(w []float64) []float64 {
			h := make([]float64, p.factor.Size())
			each(ctx, func(i, row int, v float64) { h[row] += v * w[i] })
			p.factor.Solve(dense.AsColumn(h))
			return h
		}, func(h []float64) []float64 {
			fit := make([]float64, len(line.T))
			each(ctx, func(i, row int, v float64) { fit[i] += v * h[row] })
			return fit
		})
	}), nil
}

// given is K = BBᵀ: with g = H⁻¹BᵀΛ⁻¹κ and r = κ − Bg, κᵀA⁻¹κ = rᵀΛ⁻¹r + gᵀg, which is stationary in g, and κᵀA⁻¹C = rᵀΛ⁻¹C.
func (p *griddedPosterior) given(ctx context.Context, means blas64.General, cov *dense.Lower, of functionals) error {
	data, err := p.observations(ctx)
	if err != nil {
		return err
	}
	r := of(data.x, 0, means.Rows)
	g, rows := dense.New(p.factor.Size(), r.Cols), p.entries(data.x)
	rows(ctx, func(i, row int, v float64) { blas64.Axpy(v/data.lambda[i], dense.Row(r, i), dense.Row(g, row)) })
	p.factor.Solve(g)
	rows(ctx, func(i, row int, v float64) { blas64.Axpy(-v, dense.Row(g, row), dense.Row(r, i)) })
	columns := dense.New(data.columns.Rows, data.columns.Cols)
	dense.Copy(columns, data.columns)
	for i, l := range data.lambda {
		blas64.Scal(1/math.Sqrt(l), dense.Row(r, i))
		blas64.Scal(1/math.Sqrt(l), dense.Row(columns, i))
	}
	dense.Gemm(blas.Trans, blas.NoTrans, 1, r, columns, 0, means)
	cov.AddOuter(-1, r)
	cov.AddOuter(-1, g)
	return ctx.Err()
}
