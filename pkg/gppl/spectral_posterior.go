package gppl

import (
	"context"
	"fmt"
	"math"

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
// near; nothing is kept. With weights w, rows of k, Φ and y are multiplied by √w.
type spectralPosterior struct {
	*spectralFactor         // from now on it does not change
	line            *line   // the data, nil if only sums over them are known
	prior           float64 // k(0)
	lo, hi          float64 // the features represent the covariances from here to there
}

func (f *spectralFactor) posterior() predictor {
	f.ctx, f.t.Ctx = nil, nil // of the evaluation, not of predictions
	e := f.engine
	p := &spectralPosterior{spectralFactor: f, prior: variance(f.kernel), lo: e.lo, hi: e.lo + e.span}
	p.line, _ = e.observed.(*line)
	if p.line == nil { // the end of the range, but for rounding
		p.hi += 1e-12 * e.span
	}
	if !f.Series.Windowed() { // a sum of images: the next one begins a period later
		if room := f.Series.Period - reach(f.kernel, e.eps(f.kernel, f.noise)) - e.span; room > 0 {
			p.lo, p.hi = p.lo-room, p.hi+room
		}
	}
	return p
}

func (p *spectralPosterior) represented(x float64) bool { return p.lo <= x && x <= p.hi }

// solved returns gᵀ at represented inputs, and L⁻¹g.
func (p *spectralPosterior) solved(x Inputs) (g, solved blas64.General) {
	phi := dense.New(x.Len(), len(p.Features))
	fourier.NewPoints(x.at, p.sums.origin, p.sums.period).Features(phi, 0, p.Features)
	g, solved = dense.New(phi.Cols, phi.Rows), dense.New(phi.Cols, phi.Rows)
	for i, root := range p.Root {
		for j := range phi.Rows {
			g.Data[i*g.Stride+j] = root * phi.Data[j*phi.Stride+i]
		}
	}
	copy(solved.Data, g.Data)
	p.t.SolveL(solved)
	return g, solved
}

// signed returns the rows of a whose sign in J is 1, and those where it is −1.
func (p *spectralPosterior) signed(a blas64.General) (plus, minus blas64.General) {
	plus, minus = a, a
	plus.Rows = min(p.Negative, a.Rows)
	minus.Rows = a.Rows - plus.Rows
	minus.Data = a.Data[plus.Rows*a.Stride:]
	return plus, minus
}

func (p *spectralPosterior) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	within, beyond := apart(x, p.represented)
	inBatches(ctx, means, variances, x, within, func(m blas64.General, v []float64, x Inputs) {
		g, solved := p.solved(x)
		dense.Gemm(blas.Trans, blas.NoTrans, 1/p.noise, g, p.h, 0, m)
		plus, minus := p.signed(solved)
		dense.AddSquares(v, 1, plus)
		dense.AddSquares(v, -1, minus)
	})
	if len(beyond) == 0 {
		return ctx.Err()
	}
	if p.line == nil {
		return p.unknown(x.at[beyond[0]])
	}
	// As many at a time as have a covariance with every datum in 32 MB.
	size := max(1, min(posteriorBatch, (4<<20)/p.engine.n))
	for from := 0; from < len(beyond); from += size {
		part := beyond[from:min(len(beyond), from+size)]
		m, v := dense.New(len(part), means.Cols), make([]float64, len(part))
		if err := p.beyond(ctx, m, v, x.Pick(part)); err != nil {
			return err
		}
		scatter(means, m, part)
		for j, i := range part {
			variances[i] = v[j]
		}
	}
	return ctx.Err()
}

// apart returns the places of the inputs that are represented, and of the others.
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

// posteriorBatch is how many inputs are predicted at a time.
const posteriorBatch = 128

// inBatches predicts at the given places of x, in parallel, until the context ends.
func inBatches(ctx context.Context, means blas64.General, variances []float64, x Inputs, places []int, predict func(m blas64.General, v []float64, x Inputs)) {
	parallel.For((len(places)+posteriorBatch-1)/posteriorBatch, func(b int) {
		if ctx.Err() != nil {
			return
		}
		part := places[b*posteriorBatch : min(len(places), (b+1)*posteriorBatch)]
		m, v := dense.New(len(part), means.Cols), make([]float64, len(part))
		predict(m, v, x.Pick(part))
		scatter(means, m, part)
		for j, i := range part {
			variances[i] = v[j]
		}
	})
}

// scatter copies the rows of a to the given places of dst.
func scatter(dst, a blas64.General, places []int) {
	for j, i := range places {
		copy(dst.Data[i*dst.Stride:][:dst.Cols], a.Data[j*a.Stride:])
	}
}

// beyond predicts at any inputs.
func (p *spectralPosterior) beyond(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	g, err := p.regress(ctx, means, x, func(r blas64.General) { dense.AddSquares(variances, 1/p.noise, r) })
	if err != nil {
		return err
	}
	plus, minus := p.signed(g)
	dense.AddSquares(variances, 1, plus)
	dense.AddSquares(variances, -1, minus)
	for i, explained := range variances {
		variances[i] = p.prior - explained
	}
	return nil
}

// regress adds the means at x to what is there, returns g, p×len(x), and calls visit
// with r, a block of rows at a time: n×len(x) in all.
func (p *spectralPosterior) regress(ctx context.Context, means blas64.General, x Inputs, visit func(r blas64.General)) (g blas64.General, err error) {
	t := Scalars(p.line.t)
	points := fourier.NewPoints(t.at, p.sums.origin, p.sums.period)
	n, q, f, c := t.Len(), x.Len(), len(p.Features), means.Cols
	g = dense.New(f, q)
	size := max(1, min(128, (4<<20)/n))
	for from := 0; from < q; from += size { // σ⁻²DΦᵀk
		if err := ctx.Err(); err != nil {
			return g, err
		}
		to := min(q, from+size)
		sums := dense.New(2*(p.sums.m+1), to-from)
		points.Sums(sums, p.weighed(crossCovariance(t, x.Slice(from, to), p.kernel)), 0, featureTolerance)
		for i, feature := range p.Features {
			for j, v := range sums.Data[int(feature)*sums.Stride:][:sums.Cols] {
				g.Data[i*g.Stride+from+j] = p.Root[i] / p.noise * v
			}
		}
	}
	p.t.SolveL(g)
	_, minus := p.signed(g)
	for i := range minus.Rows {
		blas64.Scal(-1, dense.Vec(minus.Data[i*minus.Stride:][:q]))
	}
	p.t.SolveLT(g)

	// Dg, and beside it σ⁻²Dh, by which A⁻¹C = σ⁻²(C − σ⁻²ΦDh) follows.
	dg, jh := dense.New(f, q+c), dense.New(f, c)
	for i, root := range p.Root {
		row, h := dg.Data[i*dg.Stride:], p.h.Data[i*p.h.Stride:][:c]
		blas64.Axpy(root, dense.Vec(g.Data[i*g.Stride:][:q]), dense.Vec(row[:q]))
		blas64.Axpy(root/p.noise, dense.Vec(h), dense.Vec(row[q:q+c]))
		blas64.Axpy(p.Sign(i)/p.noise, dense.Vec(h), dense.Vec(jh.Data[i*jh.Stride:][:c]))
	}
	dense.Gemm(blas.Trans, blas.NoTrans, 1, g, jh, 1, means)
	const rows, strip = 1024, 64
	phi, fit, alpha := dense.New(min(n, rows), f), dense.New(min(n, rows), q+c), dense.New(min(n, rows), c)
	for from := 0; from < n; from += rows {
		if err := ctx.Err(); err != nil {
			return g, err
		}
		count := min(rows, n-from)
		phi.Rows, fit.Rows, alpha.Rows = count, count, count
		r := crossCovariance(t.Slice(from, from+count), x, p.kernel)
		parallel.For((count+strip-1)/strip, func(s int) {
			a, b := phi, fit
			a.Rows = min(strip, phi.Rows-s*strip)
			a.Data, b.Rows, b.Data = a.Data[s*strip*a.Stride:], a.Rows, b.Data[s*strip*b.Stride:]
			points.Features(a, from+s*strip, p.Features)
			dense.Gemm(blas.NoTrans, blas.NoTrans, 1, a, dg, 0, b)
		})
		columns := p.line.columns
		for i := range count {
			fitted := fit.Data[i*fit.Stride:][:q+c]
			blas64.Axpy(-1, dense.Vec(fitted[:q]), dense.Vec(r.Data[i*r.Stride:][:q]))
			for j, v := range columns.Data[(from+i)*columns.Stride:][:c] {
				alpha.Data[i*alpha.Stride+j] = (v - fitted[q+j]) / p.noise
			}
			if w := p.line.weights; w != nil {
				root := math.Sqrt(w[from+i])
				blas64.Scal(root, dense.Vec(r.Data[i*r.Stride:][:q]))
				blas64.Scal(root, dense.Vec(alpha.Data[i*alpha.Stride:][:c]))
			}
		}
		dense.Gemm(blas.Trans, blas.NoTrans, 1, r, alpha, 1, means)
		visit(r)
	}
	return g, nil
}

// weighed multiplies the rows of a by the weights, if there are any, and returns it.
func (p *spectralPosterior) weighed(a blas64.General) blas64.General {
	for i, w := range p.line.weights {
		blas64.Scal(w, dense.Vec(a.Data[i*a.Stride:][:a.Cols]))
	}
	return a
}

func (p *spectralPosterior) joint(ctx context.Context, means blas64.General, cov *dense.Lower, x Inputs) error {
	lo, hi := x.Range(0)
	// The inputs are represented with the data, and with one another.
	if far := p.hi - p.engine.lo; p.represented(lo) && p.represented(hi) && hi-lo <= far {
		g, solved := p.solved(x)
		dense.Gemm(blas.Trans, blas.NoTrans, 1/p.noise, g, p.h, 0, means)
		plus, minus := p.signed(solved)
		cov.EachTile(func(_, _ int, t blas64.General) { clear(t.Data) })
		cov.AddOuter(1, plus)
		cov.AddOuter(-1, minus)
		return nil
	}
	if p.line == nil {
		return p.unknown(hi)
	}
	clear(means.Data)
	fillGram(cov, x, p.kernel, 0)
	g, err := p.regress(ctx, means, x, func(r blas64.General) { cov.AddOuter(-1/p.noise, r) })
	if err != nil {
		return err
	}
	plus, minus := p.signed(g)
	cov.AddOuter(-1, plus)
	cov.AddOuter(1, minus)
	return nil
}

// unknown is the error of a posterior from sums at an input that they do not determine.
func (p *spectralPosterior) unknown(x float64) error {
	return fmt.Errorf("gppl: the posterior at x = %v is not known: the sums represent it from %v to %v", x, p.lo, p.hi)
}
