package gppl

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/gridded"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// griddedExact is the exact NLL of a smooth kernel that dies out, SE above all,
// in a time that grows with the range over the lengthscale and not with n: the
// sums over the data that enter it are computed once, and the matrix that is
// factorised is banded. The derivation is in internal/gridded.
type griddedExact struct {
	data    observed
	n       int
	lo      float64
	span    float64
	yy      float64
	split   split
	period  float64
	origin  float64
	m       int // frequencies that are computed
	moment  fourier.Moments
	sums    []float64 // of y
	f, c, q []float64 // frequencies m/P, coefficients, derivatives in them
	beta, h []float64
	factor  gridded.Factor
	work    gridded.Workspace
	kernel  Kernel
	noise   float64
	form    float64 // yᵀA⁻¹y
}

func newGriddedExact(d observed) *griddedExact {
	e := &griddedExact{data: d, n: d.count(), yy: d.squares()}
	e.lo, e.span = d.extent()
	return e
}

func (e *griddedExact) name() string { return EngineGridded }

const (
	// rootTolerance is what is left out of roots of coefficients and of their
	// transform, relative to the largest.
	rootTolerance = gridded.Floor
	// rootReach is the reach of the convolution root relative to that of a kernel
	// with a Gaussian spectrum, with a margin for a lengthscale that grows.
	rootReach = 0.8
	// griddedSeconds is what a grid point takes, value and gradient.
	griddedSeconds = 1.5e-6
	// griddedMargin is for the derivative in the lengthscale, which errs by up to a
	// dozen of the bounds of the value where the noise is tiny.
	griddedMargin = 12
	// griddedContrast is the largest variance, relative to the noise's, for which
	// the derivative in the lengthscale keeps what the margin promises.
	griddedContrast = 3e8
	// maxGrid bounds the grid.
	maxGrid = 4 << 20
)

const noDensity = "no formula of its spectral density is known, or it is no single term"

func (e *griddedExact) forecast(k Kernel, noise float64) forecast {
	if !e.split.of(k) {
		return cannot(noSignal)
	}
	if _, ok := e.split.signal[0].(Spectrum); !ok || len(e.split.signal) > 1 {
		return cannot(noDensity)
	}
	if e.span == 0 {
		return cannot("all inputs coincide")
	}
	period := e.span + 2*rootReach*reach(k, rootTolerance)
	frequencies := bandwidth(k, rootTolerance*rootTolerance) * period
	if c, ok := e.data.circle(); ok {
		frequencies *= c.period / period
		switch need := math.Ceil(frequencies) + griddedSpare; {
		case need > float64(c.highest):
			return forecast{reason: reason{c.beyond, need / c.period}}
		case period > c.period*(1+1e-12):
			return cannot(c.resolves)
		}
	}
	grid := 2 * frequencies
	if !(grid < maxGrid) {
		return forecast{reason: reason{"it would take a grid of %.2g points", grid}}
	}
	n, v := float64(e.n), variance(k)
	if v > griddedContrast*noise {
		return forecast{reason: reason{"the variance is %.2g times the noise's: its derivatives would lose their digits", v / noise}}
	}
	f := forecast{
		seconds: grid*griddedSeconds + 2e-4,
		err:     griddedMargin * gridded.Bound(e.n, v, noise, rootTolerance),
	}
	if !e.covers(k) {
		f.setup = n*600e-9 + frequencies*4e-6
	}
	return f
}

// covers reports whether the sums that are there do for k.
func (e *griddedExact) covers(k Kernel) bool {
	if _, ok := e.data.circle(); ok {
		return e.m > 0
	}
	gap := 2 * rootReach * reach(k, rootTolerance)
	return e.m > 0 && e.period >= e.span+0.93*gap && e.period <= 2*(e.span+gap) && e.frequencies(k) <= float64(e.m)
}

// frequencies is how many the coefficients of k take to fall far enough.
func (e *griddedExact) frequencies(k Kernel) float64 {
	return math.Ceil(bandwidth(k, rootTolerance*rootTolerance)*e.period) + griddedSpare
}

// prepare makes sure of the sums.
func (e *griddedExact) prepare(k Kernel) error {
	if e.covers(k) {
		return nil
	}
	if c, ok := e.data.circle(); ok {
		e.period, e.origin, e.m = c.period, c.origin, c.highest
	} else {
		gap := rootReach * reach(k, rootTolerance)
		if period := e.span + 2*gap; e.m == 0 || period > e.period || 2*period < e.period {
			e.period, e.origin, e.m = period, e.lo-gap, 0
		}
		m := e.frequencies(k)
		if m > maxGrid {
			return fmt.Errorf("gppl: gridded engine: %.3g frequencies for %v", m, k)
		}
		e.m = int(m) + int(m)/8
	}
	e.moment, e.sums = e.data.sums(e.origin, e.period, e.m)
	e.f = make([]float64, e.m+1)
	for j := range e.f {
		e.f[j] = float64(j) / e.period
	}
	e.c, e.q = make([]float64, e.m+1), make([]float64, e.m+1)
	return nil
}

func (e *griddedExact) nll(grad []float64, k Kernel, noise float64) (value, jitter float64, err error) {
	e.split.of(k)
	term := e.split.signal[0].(Spectrum)
	e.kernel, e.noise = k, noise
	if err := e.prepare(k); err != nil {
		return 0, 0, err
	}
	m := min(int(e.frequencies(k)), e.m)
	f, c, q := e.f[:m+1], e.c[:m+1], e.q[:m+1]
	term.Density(c, f)
	e.perPeriod(c)
	n := e.n
	first := (e.lo - e.origin) / e.period
	points := gridded.Points{N: n, First: first, Last: first + e.span/e.period, Moments: e.moment}
	if err := e.factor.Factorise(c, points, e.noise, rootTolerance, &e.work); err != nil {
		return 0, 0, fmt.Errorf("gppl: gridded engine: %w (kernel %v, noise variance %.4g)", err, k, noise)
	}
	e.beta, e.h = resize(e.beta, e.factor.Size()), resize(e.h, e.factor.Size())
	e.factor.Project(e.beta, e.sums, &e.work)
	copy(e.h, e.beta)
	e.factor.Solve(columnOf(e.h))
	e.form = e.factor.Quadratic(e.yy, e.beta, e.h)
	value = 0.5 * (e.form + e.factor.LogDet() - e.data.logWeights() + float64(n)*log2Pi)
	if grad == nil {
		return value, 0, nil
	}
	slope := e.factor.Gradient(q, e.sums, e.yy, e.beta, e.h, &e.work)
	// A is linear in c and σ²: Σ_m c_m·q_m + σ²·slope = ½(n − yᵀA⁻¹y).
	scale := blas64.Dot(vec(c), vec(q)) + e.noise*slope
	if err := verify("the gradient in the scale of the covariance", scale, 0.5*(float64(n)-e.form), gradientTrust*(float64(n)+math.Abs(e.form)+math.Abs(e.noise*slope))); err != nil {
		return 0, 0, err
	}
	clear(grad)
	e.perPeriod(q)
	term.ContractDensity(e.split.own(grad, 0), q, f)
	grad[len(grad)-1] = e.noise * slope
	return value, 0, nil
}

// perPeriod turns densities into coefficients of the cosine series, by Poisson's
// formula, k(τ) = S(0)/P + Σ_m (2/P)·S(m/P)·cos(2πmτ/P), and is its own adjoint.
func (e *griddedExact) perPeriod(c []float64) {
	c[0] /= e.period
	for j := 1; j < len(c); j++ {
		c[j] *= 2 / e.period
	}
}

func (e *griddedExact) measure() (form, extra float64) { return e.form, 0 }

// griddedPosterior predicts from the few grid points around an input.
type griddedPosterior struct {
	factor         *gridded.Factor
	predictor      *gridded.Predictor
	h              []float64
	origin, period float64
	kernel         Kernel
	err            error
}

func (e *griddedExact) posterior() predictor {
	factor := e.factor
	e.factor = gridded.Factor{}
	p := &griddedPosterior{
		factor: &factor, h: append([]float64(nil), e.h...), origin: e.origin, period: e.period,
		kernel: e.kernel,
	}
	p.predictor, p.err = factor.Predictor(&e.work)
	return p
}

// at returns an input in periods.
func (p *griddedPosterior) at(x Inputs, i int) float64 { return (x.at[i] - p.origin) / p.period }

func (p *griddedPosterior) latent(ctx context.Context, mean, variances []float64, x Inputs) error {
	if p.err != nil {
		return p.err
	}
	const batch = 256
	parallel.For((x.Len()+batch-1)/batch, func(b int) {
		work := make([]float64, p.predictor.Width())
		for i := b * batch; i < min(x.Len(), (b+1)*batch) && ctx.Err() == nil; i++ {
			mean[i] = p.predictor.Mean(p.at(x, i), p.h, work)
			if variances != nil {
				variances[i] = p.predictor.Variance(p.at(x, i), work)
			}
		}
	})
	return ctx.Err()
}

// joint is K** − b bᵀ + bᵀH⁻¹b, with the vectors b(x) on the grid in the columns
// of a matrix.
func (p *griddedPosterior) joint(ctx context.Context, mean []float64, cov *dense.Lower, x Inputs) error {
	if err := p.latent(ctx, mean, nil, x); err != nil {
		return err
	}
	n := x.Len()
	b := newGeneral(p.factor.Size(), n)
	basis := make([]float64, p.predictor.Width())
	for i := range n {
		first := p.predictor.Basis(basis, p.at(x, i))
		for g, v := range basis {
			if row := first + g; row >= 0 && row < b.Rows {
				b.Data[row*b.Stride+i] = v
			}
		}
	}
	fillGram(cov, x, p.kernel, 0)
	addOuter(cov, -1, b)
	p.factor.SolveL(b)
	addOuter(cov, 1, b)
	return ctx.Err()
}
