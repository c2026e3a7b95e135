package gppl

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// spectralPosterior is Bayesian linear regression on the features: with
// g = Dφ(x) the mean is gᵀh/σ² and the covariance gᵀT⁻¹g′ (see spectralExact).
// That holds where the features represent the covariances k of x with the data:
// k = ΦDg. It takes O(p²) for each x.
//
// Elsewhere ΦDg represents k as well as it can, and r = k − ΦDg is left, with
//
//	g = σ⁻²T⁻¹DΦᵀk,  r = σ²A⁻¹k
//	mean       = σ⁻²gᵀJh + rᵀα,  α = A⁻¹y = σ⁻²(y − σ⁻²ΦDh)
//	covariance = k(x, x′) − gᵀJg′ − σ⁻²rᵀr′
//
// where kᵀA⁻¹k = σ⁻²|k − ΦDg|² + gᵀJg is stationary in g, so that rounding of g
// counts by its square and nothing cancels. It takes O(np) for each x, far or
// near; nothing is kept.
type spectralPosterior struct {
	engine *spectralExact // from now on it does not change
	kernel Kernel
	noise  float64
	prior  float64
	lo, hi float64 // the features represent the covariances from here to there
}

func (e *spectralExact) posterior() predictor {
	p := &spectralPosterior{engine: e, kernel: e.kernel, noise: e.noise, prior: variance(e.kernel)}
	p.lo, p.hi = e.lo, e.lo+e.span
	if e.line == nil { // the end of the range, but for rounding
		p.hi += 1e-12 * e.span
	}
	if e.series.window == nil { // a sum of images: the next one begins a period later
		if room := e.series.period - reach(e.kernel, e.eps(e.kernel, p.noise)) - e.span; room > 0 {
			p.lo, p.hi = p.lo-room, p.hi+room
		}
	}
	return p
}

func (p *spectralPosterior) represented(x float64) bool { return p.lo <= x && x <= p.hi }

// features returns gᵀ at represented inputs, and L⁻¹g.
func (p *spectralPosterior) features(x Inputs) (g, solved blas64.General) {
	e := p.engine
	phi := newGeneral(x.Len(), len(e.features))
	fourier.NewPoints(x.at, e.origin, e.series.period).Features(phi, 0, e.features)
	g, solved = newGeneral(phi.Cols, phi.Rows), newGeneral(phi.Cols, phi.Rows)
	for i, root := range e.root {
		for j := range phi.Rows {
			g.Data[i*g.Stride+j] = root * phi.Data[j*phi.Stride+i]
		}
	}
	copy(solved.Data, g.Data)
	e.t.SolveL(solved)
	return g, solved
}

// signed returns the rows of a whose sign in J is 1, and those where it is −1.
func (p *spectralPosterior) signed(a blas64.General) (plus, minus blas64.General) {
	plus, minus = a, a
	plus.Rows = min(p.engine.negative, a.Rows)
	minus.Rows = a.Rows - plus.Rows
	minus.Data = a.Data[plus.Rows*a.Stride:]
	return plus, minus
}

func (p *spectralPosterior) latent(ctx context.Context, mean, variances []float64, x Inputs) error {
	var within, beyond []int
	for i, v := range x.at {
		if p.represented(v) {
			within = append(within, i)
		} else {
			beyond = append(beyond, i)
		}
	}
	const batch = 128
	parallel.For((len(within)+batch-1)/batch, func(b int) {
		if ctx.Err() == nil {
			part := within[b*batch : min(len(within), (b+1)*batch)]
			p.within(mean, variances, x.Pick(part), part)
		}
	})
	if p.engine.line == nil && len(beyond) > 0 {
		return p.unknown(x.at[beyond[0]])
	}
	// As many at a time as have a covariance with every datum in 32 MB.
	size := max(1, min(batch, (4<<20)/p.engine.n))
	for from := 0; from < len(beyond); from += size {
		part := beyond[from:min(len(beyond), from+size)]
		m, v := make([]float64, len(part)), make([]float64, len(part))
		if err := p.beyond(ctx, m, v, x.Pick(part)); err != nil {
			return err
		}
		for j, i := range part {
			mean[i], variances[i] = m[j], v[j]
		}
	}
	return ctx.Err()
}

// within predicts at represented inputs, whose places are given.
func (p *spectralPosterior) within(mean, variances []float64, x Inputs, places []int) {
	g, solved := p.features(x)
	m, v := make([]float64, len(places)), make([]float64, len(places))
	blas64.Gemv(blas.Trans, 1/p.noise, g, vec(p.engine.h), 0, vec(m))
	plus, minus := p.signed(solved)
	addSquares(v, 1, plus)
	addSquares(v, -1, minus)
	for j, i := range places {
		mean[i], variances[i] = m[j], v[j]
	}
}

// beyond predicts at any inputs.
func (p *spectralPosterior) beyond(ctx context.Context, mean, variances []float64, x Inputs) error {
	g, err := p.regress(ctx, mean, x, func(r blas64.General) { addSquares(variances, 1/p.noise, r) })
	if err != nil {
		return err
	}
	plus, minus := p.signed(g)
	addSquares(variances, 1, plus)
	addSquares(variances, -1, minus)
	for i, explained := range variances {
		variances[i] = p.prior - explained
	}
	return nil
}

// regress sets the mean at x, returns g, p×len(x), and calls visit with r, a
// block of rows at a time: n×len(x) in all.
func (p *spectralPosterior) regress(ctx context.Context, mean []float64, x Inputs, visit func(r blas64.General)) (g blas64.General, err error) {
	e := p.engine
	t := Inputs{1, e.line.t}
	points := fourier.NewPoints(e.line.t, e.origin, e.series.period)
	n, q, f := t.Len(), x.Len(), len(e.features)
	g = newGeneral(f, q)
	size := max(1, min(128, (4<<20)/n))
	for from := 0; from < q; from += size { // σ⁻²DΦᵀk
		if err := ctx.Err(); err != nil {
			return g, err
		}
		to := min(q, from+size)
		sums := newGeneral(2*(e.m+1), to-from)
		points.Sums(sums, crossCovariance(t, x.Slice(from, to), p.kernel), 0, featureTolerance)
		for i, feature := range e.features {
			for j, v := range sums.Data[int(feature)*sums.Stride:][:sums.Cols] {
				g.Data[i*g.Stride+from+j] = e.root[i] / p.noise * v
			}
		}
	}
	e.t.SolveL(g)
	_, minus := p.signed(g)
	for i := range minus.Rows {
		blas64.Scal(-1, vec(minus.Data[i*minus.Stride:][:q]))
	}
	e.t.SolveLT(g)

	// Dg, and beside it σ⁻²Dh, by which α follows.
	dg := newGeneral(f, q+1)
	for i, root := range e.root {
		sign := 1.0
		if i >= e.negative {
			sign = -1
		}
		row := g.Data[i*g.Stride:][:q]
		blas64.Axpy(sign*e.h[i]/p.noise, vec(row), vec(mean))
		blas64.Axpy(root, vec(row), vec(dg.Data[i*dg.Stride:][:q]))
		dg.Data[i*dg.Stride+q] = root * e.h[i] / p.noise
	}
	const rows, strip = 1024, 64
	phi, fit := newGeneral(min(n, rows), f), newGeneral(min(n, rows), q+1)
	for from := 0; from < n; from += rows {
		if err := ctx.Err(); err != nil {
			return g, err
		}
		phi.Rows, fit.Rows = min(rows, n-from), min(rows, n-from)
		r := crossCovariance(t.Slice(from, from+phi.Rows), x, p.kernel)
		parallel.For((phi.Rows+strip-1)/strip, func(s int) {
			a, b := phi, fit
			a.Rows = min(strip, phi.Rows-s*strip)
			a.Data, b.Rows, b.Data = a.Data[s*strip*a.Stride:], a.Rows, b.Data[s*strip*b.Stride:]
			points.Features(a, from+s*strip, e.features)
			dense.Gemm(blas.NoTrans, blas.NoTrans, 1, a, dg, 0, b)
		})
		for i := range r.Rows {
			row, fitted := r.Data[i*r.Stride:][:q], fit.Data[i*fit.Stride:][:q+1]
			blas64.Axpy(-1, vec(fitted[:q]), vec(row))
			blas64.Axpy((e.line.y[from+i]-fitted[q])/p.noise, vec(row), vec(mean))
		}
		visit(r)
	}
	return g, nil
}

func (p *spectralPosterior) joint(ctx context.Context, mean []float64, cov *dense.Lower, x Inputs) error {
	lo, hi := x.Range(0)
	// The inputs are represented with the data, and with one another.
	if far := p.hi - p.engine.lo; p.represented(lo) && p.represented(hi) && hi-lo <= far {
		g, solved := p.features(x)
		blas64.Gemv(blas.Trans, 1/p.noise, g, vec(p.engine.h), 0, vec(mean))
		plus, minus := p.signed(solved)
		cov.EachTile(func(_, _ int, t blas64.General) { clear(t.Data) })
		addOuter(cov, 1, plus)
		addOuter(cov, -1, minus)
		return nil
	}
	if p.engine.line == nil {
		return p.unknown(hi)
	}
	clear(mean)
	fillGram(cov, x, p.kernel, 0)
	g, err := p.regress(ctx, mean, x, func(r blas64.General) { addOuter(cov, -1/p.noise, r) })
	if err != nil {
		return err
	}
	plus, minus := p.signed(g)
	addOuter(cov, -1, plus)
	addOuter(cov, 1, minus)
	return nil
}

// unknown is the error of a posterior from sums at an input that they do not determine.
func (p *spectralPosterior) unknown(x float64) error {
	return fmt.Errorf("gppl: the posterior at x = %v is not known: the sums represent it from %v to %v", x, p.lo, p.hi)
}
