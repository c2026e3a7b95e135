package gppl

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/spectral"
)

// spectralPosterior is Bayesian linear regression on the features: with g = Dφ(x) the mean is gᵀh/σ² and the covariance gᵀT⁻¹g′
// (see spectralExact). That holds where the features represent the covariances k of x with the data: k = ΦDg. It takes O(p²) for
// each x.
//
// Elsewhere ΦDg is the best representation of k, with the remainder r = k − ΦDg (spectral.Factor.Regress), and the covariance
// is k(x, x′) − gᵀJg′ − σ⁻²rᵀr′. It takes O(np) for each x, far or near; nothing is kept.
type spectralPosterior struct {
	*spectralFactor                // immutable from now on
	line            *observed.Line // the data, nil if only sums over them are known
	prior           float64        // k(0)
	lo, hi          float64        // the features represent the covariances between lo and hi
}

func (f *spectralFactor) posterior() predictor {
	f.Ctx, f.T.Ctx = nil, nil // predictions have their own context
	e := f.engine
	p := &spectralPosterior{spectralFactor: f, prior: variance(&f.kernel), lo: e.Lo, hi: e.Lo + e.Span}
	p.line, _ = e.Source.(*observed.Line)
	if p.line == nil { // the end of the range, up to rounding
		p.hi += 1e-12 * e.Span
	}
	if !f.Series.Windowed() { // a sum of images: the next one begins a period later
		if beyond := f.Series.Period - f.kernel.Reach(e.eps(&f.kernel, f.Noise)) - e.Span; beyond > 0 {
			p.lo, p.hi = p.lo-beyond, p.hi+beyond
		}
	}
	return p
}

func (p *spectralPosterior) represented(x float64) bool { return p.lo <= x && x <= p.hi }

// points returns inputs on the circle of the features.
func (p *spectralPosterior) points(x []float64) *fourier.Points {
	return fourier.NewPoints(x, p.sums.Origin, p.sums.Period)
}

func (p *spectralPosterior) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	within, beyond := apart(x, p.represented)
	inBatches(ctx, means, variances, x, within, func(m blas64.General, v []float64, x Inputs) {
		g, solved := p.At(ctx, p.points(x.at))
		dense.Gemm(blas.Trans, blas.NoTrans, 1/p.Noise, g, p.H, 0, m)
		plus, minus := p.Signed(solved)
		dense.AddSquares(v, 1, plus)
		dense.AddSquares(v, -1, minus)
	})
	if len(beyond) == 0 {
		return ctx.Err()
	}
	if p.line == nil {
		return p.unknown(x.at[beyond[0]])
	}
	// As many at a time as have their covariances with all data in 32 MB.
	size := max(1, min(posteriorBatch, (4<<20)/p.engine.N))
	for from := 0; from < len(beyond); from += size {
		part := beyond[from:min(len(beyond), from+size)]
		m, v := dense.New(len(part), means.Cols), make([]float64, len(part))
		if err := p.predictBeyond(ctx, m, v, x.Pick(part)); err != nil {
			return err
		}
		dense.Scatter(means, m, part)
		for j, i := range part {
			variances[i] = v[j]
		}
	}
	return ctx.Err()
}

// apart returns the indices of the represented inputs, and of the others.
func apart(x Inputs, represented func(float64) bool) (within, beyond []int) {
	for i, v := range x.at {
		if represented(v) {
			within = append(within, i)
		} else {
			beyond = append(beyond, i)
		}
	}
	return within, beyond
}

// posteriorBatch is the number of inputs predicted at a time.
const posteriorBatch = 128

// inBatches predicts at the given places of x, in parallel, until the context ends.
func inBatches(ctx context.Context, means blas64.General, variances []float64, x Inputs, places []int,
	predict func(m blas64.General, v []float64, x Inputs)) {
	parallel.Parts(ctx, len(places), posteriorBatch, func(from, to int) {
		part := places[from:to]
		m, v := dense.New(len(part), means.Cols), make([]float64, len(part))
		predict(m, v, x.Pick(part))
		dense.Scatter(means, m, part)
		for j, i := range part {
			variances[i] = v[j]
		}
	})
}

// predictBeyond predicts at any inputs.
func (p *spectralPosterior) predictBeyond(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	plus, minus, err := p.regress(ctx, means, valuesOf(p.kernel.Kernel, x),
		func(r blas64.General) { dense.AddSquares(variances, 1/p.Noise, r) })
	if err != nil {
		return err
	}
	dense.AddSquares(variances, 1, plus)
	dense.AddSquares(variances, -1, minus)
	for i, explained := range variances {
		variances[i] = p.prior - explained
	}
	return nil
}

func (p *spectralPosterior) joint(ctx context.Context, means blas64.General, cov *dense.Lower, x Inputs) error {
	lo, hi := x.Range(0)
	// The inputs are represented with the data, and with one another.
	if far := p.hi - p.engine.Lo; p.represented(lo) && p.represented(hi) && hi-lo <= far {
		g, solved := p.At(ctx, p.points(x.at))
		dense.Gemm(blas.Trans, blas.NoTrans, 1/p.Noise, g, p.H, 0, means)
		plus, minus := p.Signed(solved)
		cov.EachTile(func(_, _ int, t blas64.General) { clear(t.Data) })
		cov.AddOuter(1, plus)
		cov.AddOuter(-1, minus)
		return nil
	}
	if p.line == nil {
		return p.unknown(hi)
	}
	fillGram(cov, x, p.kernel.Kernel, 0)
	return p.given(ctx, means, cov, valuesOf(p.kernel.Kernel, x))
}

// unknown is the error of a posterior from sums at an input outside their range.
func (p *spectralPosterior) unknown(x float64) error {
	return fmt.Errorf("gppl: the posterior at x = %v is not known: the sums represent it from %v to %v", x, p.lo, p.hi)
}

func (p *spectralPosterior) observations(context.Context) (*conditions, error) {
	if p.line == nil {
		return nil, errNoObservations
	}
	n, features := len(p.line.T), float64(len(p.Features))
	points, highest := p.points(p.line.T), p.Highest()
	lambda := weighted(p.line, p.Noise)
	return onLine(p.line, lambda, 1e-6+float64(n)*150e-9+features*features*1e-9, func(ctx context.Context, b []float64) {
		at := *points
		at.Ctx = ctx
		lowRank(b, lambda, func(w []float64) []float64 {
			sums := dense.New(2*(highest+1), 1)
			at.NUFFT(sums, dense.AsColumn(w), 0, drawnTolerance)
			h := make([]float64, len(p.Features))
			for i, feature := range p.Features {
				h[i] = p.Root[i] * sums.Data[feature]
			}
			p.T.Within(ctx).Solve(dense.AsColumn(h))
			return h
		}, func(h []float64) []float64 {
			cos, sin, fit := make([]float64, highest+1), make([]float64, highest+1), make([]float64, n)
			for i, feature := range p.Features {
				if m := feature.Frequency(); feature.IsSin() {
					sin[m] += p.Root[i] * h[i]
				} else {
					cos[m] += p.Root[i] * h[i]
				}
			}
			at.Synthesise(fit, cos, sin, drawnTolerance)
			return fit
		})
	}), nil
}

func (p *spectralPosterior) given(ctx context.Context, means blas64.General, cov *dense.Lower, of functionals) error {
	if p.line == nil {
		return errNoObservations
	}
	clear(means.Data)
	plus, minus, err := p.regress(ctx, means, of, func(r blas64.General) { cov.AddOuter(-1/p.Noise, r) })
	if err != nil {
		return err
	}
	cov.AddOuter(-1, plus)
	cov.AddOuter(1, minus)
	return nil
}

// regress adds to means the means of functionals, and calls visit with r, a block of rows at a time. It returns the rows of g
// with signs 1 and −1.
func (p *spectralPosterior) regress(ctx context.Context, means blas64.General, of functionals,
	visit func(r blas64.General)) (plus, minus blas64.General, err error) {
	t := Scalars(p.line.T)
	data := spectral.Observations{Points: p.points(t.at), Columns: p.line.Columns, Weights: p.line.Weights,
		Tolerance: fourier.Tolerance}
	g, err := p.Regress(ctx, means, data, func(i, ni, j, nj int) blas64.General { return of(t.Slice(i, i+ni), j, j+nj) }, visit)
	if err != nil {
		return plus, minus, err
	}
	plus, minus = p.Signed(g)
	return plus, minus, nil
}
