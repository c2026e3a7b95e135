package gppl

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
)

// basedPosterior predicts with a base of other terms: given the weights w ~ N(h, T⁻¹) of the waves, the rest is the posterior
// of the base for Y − Ew. With m_Y and m_E the predictions of the base from the columns Y and E, and e the waves at x,
//
//	q = e − m_E,  mean = m_Y + qᵀh,  covariance = base's + qᵀT⁻¹q′.
//
// The waves represent the covariances with the data within a range of the data on either side. Beyond it, like mixedPosterior,
// it uses the covariances k of x with the data:
//
//	g = T⁻¹EᵀB⁻¹k,  r = k − Eg
//	mean = rᵀB⁻¹(Y − Eh) + gᵀh,  covariance = k(x, x′) − rᵀB⁻¹r′ − gᵀg′,
//
// B is factorised twice more for this, with the columns (E, k) and (Y − Eh, r).
type basedPosterior struct {
	*mixedFactor // immutable from now on
	of           predictor
}

func newBasedPosterior(f *mixedFactor) *basedPosterior {
	f.base.model.ctx = nil // predictions have their own context
	return &basedPosterior{f, f.base.factor.posterior()}
}

// represented reports whether the waves represent the covariances of x with all of the data.
func (p *basedPosterior) represented(x float64) bool {
	l := p.engine.line
	return max(x-l.Lo, l.Lo+l.Span-x) <= p.span
}

// conditioned sets the means at x, given the base's means for all columns, and returns L⁻¹q.
func (p *basedPosterior) conditioned(ctx context.Context, means, wide blas64.General, x Inputs) (solved blas64.General) {
	count, c := p.Columns(), means.Cols
	q := p.At(x.at)
	for j := range x.Len() {
		of := wide.Data[j*wide.Stride:]
		copy(means.Data[j*means.Stride:][:c], of)
		for i, m := range of[c:][:count] {
			q.Data[i*q.Stride+j] -= m
		}
	}
	dense.Gemm(blas.Trans, blas.NoTrans, 1, q, p.H, 1, means)
	p.T.Within(ctx).SolveL(q)
	return q
}

// latent predicts inputs that the waves represent at once, and the rest in batches.
func (p *basedPosterior) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	within, beyond := apart(x, p.represented)
	if len(within) > 0 {
		near := x.Pick(within)
		wide, v := dense.New(near.Len(), p.base.g.Cols), make([]float64, near.Len())
		if err := p.of.latent(ctx, wide, v, near); err != nil {
			return err
		}
		m := dense.New(near.Len(), means.Cols)
		dense.AddSquares(v, 1, p.conditioned(ctx, m, wide, near))
		dense.Scatter(means, m, within)
		for j, i := range within {
			variances[i] = v[j]
		}
	}
	for from := 0; from < len(beyond); from += posteriorBatch {
		part := beyond[from:min(from+posteriorBatch, len(beyond))]
		far := x.Pick(part)
		m, v := dense.New(len(part), means.Cols), make([]float64, len(part))
		g, explained, err := p.beyond(ctx, m, valuesOf(p.kernel, far))
		if err != nil && ctx.Err() == nil {
			for _, i := range beyond[from:] {
				variances[i] = math.NaN()
			}
			return &farError{part[0], err}
		}
		if err != nil {
			return err
		}
		variancesAt(v, p.kernel, far)
		dense.AddSquares(v, -1, g)
		dense.Scatter(means, m, part)
		for j, i := range part {
			variances[i] = v[j] - explained.Data[j*explained.Stride+j]
		}
	}
	return ctx.Err()
}

func (p *basedPosterior) joint(ctx context.Context, means blas64.General, cov *dense.Lower, x Inputs) error {
	lo, hi := x.Range(0)
	if p.represented(lo) && p.represented(hi) {
		wide := dense.New(x.Len(), p.base.g.Cols)
		if err := p.of.joint(ctx, wide, cov, x); err != nil {
			return err
		}
		cov.AddOuter(1, p.conditioned(ctx, means, wide, x))
		return nil
	}
	fillGram(cov, x, p.kernel, 0)
	return p.given(ctx, means, cov, valuesOf(p.kernel, x))
}

// beyond sets the means of functionals at any x, q×c, and returns g, p×q, and rᵀB⁻¹r′, q×q.
func (p *basedPosterior) beyond(ctx context.Context, means blas64.General,
	of functionals) (g, explained blas64.General, err error) {
	defer parallel.Stopped(&err)
	n, count, c, q := len(p.engine.line.T), p.Columns(), means.Cols, means.Rows
	all := dense.New(n, c+count+p.Shift)
	p.FillColumns(all)
	y, e := dense.Sub(all, 0, n, 0, c), dense.Sub(all, 0, n, c, c+count)
	cross := of(Scalars(p.engine.line.T), 0, q)
	products, err := p.products(ctx, e, cross)
	if err != nil {
		return g, explained, err
	}
	g = dense.New(count, q)
	dense.Copy(g, dense.Sub(products, 0, count, count, count+q))
	p.T.Within(ctx).Solve(g)
	dense.Gemm(blas.NoTrans, blas.NoTrans, -1, e, p.H, 1, y)
	parallel.Within(ctx, dense.Blocks(n), func(i int) {
		dense.Gemm(blas.NoTrans, blas.NoTrans, -1, dense.RowBlock(e, i), g, 1, dense.RowBlock(cross, i))
	})
	if products, err = p.products(ctx, y, cross); err != nil {
		return g, explained, err
	}
	dense.Copy(means, dense.Sub(products, c, c+q, 0, c))
	dense.Gemm(blas.Trans, blas.NoTrans, 1, g, p.H, 1, means)
	return g, dense.Sub(products, c, c+q, c, c+q), nil
}

// products returns CᵀB⁻¹C for the columns C = (a, b) over the line.
func (p *basedPosterior) products(ctx context.Context, a, b blas64.General) (blas64.General, error) {
	line := *p.engine.line
	line.Columns, line.Y, line.Unread = dense.New(a.Rows, a.Cols+b.Cols), nil, 0
	dense.Copy(dense.Sub(line.Columns, 0, a.Rows, 0, a.Cols), a)
	dense.Copy(dense.Sub(line.Columns, 0, b.Rows, a.Cols, a.Cols+b.Cols), b)
	m := p.base.model
	m.ctx = ctx
	f, err := p.factorBase(&m, &line)
	if err != nil {
		return blas64.General{}, err
	}
	g := dense.New(line.Columns.Cols, line.Columns.Cols)
	f.gram(g)
	f.release()
	return g, nil
}

// factorBase factorises B by the engine that did so for the data if it reads a line, else by another one that can.
func (p *basedPosterior) factorBase(m *compiled, l *observed.Line) (exactFactor, error) {
	var engines []exactEngine
	for i, of := range bases {
		if e := of(l); i == p.which {
			engines = append([]exactEngine{e}, engines...)
		} else if !e.estimate(m).Reason.Given() {
			engines = append(engines, e)
		}
	}
	for _, e := range engines {
		if f, err := e.factor(m); err == nil || m.ctx.Err() != nil {
			return f, err
		}
	}
	e := newDenseExact(Scalars(l.T), l.Columns, l.Noise)
	if needed := e.estimate(m).Bytes; needed > p.engine.memory {
		return nil, &MemoryError{What: "a prediction so far from the data", Needed: needed, Limit: p.engine.memory}
	}
	return e.factor(m)
}

func (p *basedPosterior) observations(ctx context.Context) (*conditions, error) {
	of, is := p.of.(solver)
	if !is {
		return nil, errNoObservations
	}
	base, err := of.observations(ctx)
	if err != nil {
		return nil, err
	}
	line := p.engine.line
	n, columns := float64(len(line.T)), float64(p.Columns())
	return &conditions{x: Scalars(line.T), lambda: p.Lambda, columns: line.Columns, seconds: 2*base.seconds + 4e-9*n*columns,
		solve: func(ctx context.Context, b blas64.General) error { return p.throughWaves(ctx, b, base.solve) }}, nil
}

func (p *basedPosterior) given(ctx context.Context, means blas64.General, cov *dense.Lower, of functionals) error {
	g, explained, err := p.beyond(ctx, means, of)
	if err != nil {
		return err
	}
	cov.AddOuter(-1, g)
	for i := range means.Rows {
		parallel.Look(ctx)
		for j := range i + 1 {
			cov.SetEntry(i, j, cov.Entry(i, j)-explained.Data[i*explained.Stride+j])
		}
	}
	return nil
}
