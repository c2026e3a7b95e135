package gppl

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/mixed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/statespace"
)

// A solver is a predictor that solves with A = K + Λ, as draws from a posterior need it.
type solver interface {
	// observations returns what the predictor is conditioned on.
	observations(ctx context.Context) (*conditions, error)
}

// conditions are observations with the matrix A of their engine, rows in an order of its own.
type conditions struct {
	x       Inputs
	lambda  []float64      // Λ
	columns blas64.General // C, n×c
	seconds float64        // that solve takes for a column
	// solve replaces b, n×m, by A⁻¹b.
	solve func(ctx context.Context, b blas64.General) error
}

// errNoObservations is the error of a posterior that knows sums over its observations alone.
var errNoObservations = errors.New("gppl: the observations are known by their sums alone")

var (
	_ solver = exactPosterior{}
	_ solver = (*bandedPosterior)(nil)
	_ solver = (*stateSpacePosterior)(nil)
	_ solver = (*toeplitzPosterior)(nil)
	_ solver = (*spectralPosterior)(nil)
	_ solver = (*griddedPosterior)(nil)
	_ solver = (*mixedPosterior)(nil)
	_ solver = (*basedPosterior)(nil)
	_ solver = (*updated)(nil)
)

func (p exactPosterior) observations(context.Context) (*conditions, error) {
	n := float64(p.of.x.Len())
	return &conditions{x: p.of.x, lambda: p.of.lambda, columns: p.of.columns, seconds: 1e-6 + 0.5e-9*n*n,
		solve: func(ctx context.Context, b blas64.General) error {
			f := until(ctx, p.of.factor)
			f.SolveL(b)
			f.SolveLT(b)
			return ctx.Err()
		}}, nil
}

// onLine returns the conditions of a series, whose columns are solved for one by one.
func onLine(l *observed.Line, lambda []float64, seconds float64, solve func(ctx context.Context, b []float64)) *conditions {
	return &conditions{x: Scalars(l.T), lambda: lambda, columns: l.Columns, seconds: seconds,
		solve: func(ctx context.Context, b blas64.General) error {
			return parallel.Parts(ctx, b.Cols, 1, func(j, _ int) {
				column := make([]float64, b.Rows)
				blas64.Copy(dense.Column(b, j), dense.Vec(column))
				solve(ctx, column)
				blas64.Copy(dense.Vec(column), dense.Column(b, j))
			})
		}}
}

func (p *stateSpacePosterior) observations(context.Context) (*conditions, error) {
	n := len(p.line.T)
	return onLine(p.line, p.line.Noise.Set(nil, n, p.noise), 1e-6+float64(n)*100e-9, func(ctx context.Context, b []float64) {
		p.read(ctx, func(f *statespace.Filter) { f.Solve(b, b) })
	}), nil
}

func (u *updated) observations(ctx context.Context) (*conditions, error) {
	whole, err := u.condition(ctx)
	if err != nil {
		return nil, err
	}
	return whole.observations(ctx)
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

// weighted returns Λ = σ²W⁻¹.
func weighted(l *observed.Line, noise float64) []float64 {
	lambda := make([]float64, len(l.T))
	for i := range lambda {
		if lambda[i] = noise; l.Weights != nil {
			lambda[i] /= l.Weights[i]
		}
	}
	return lambda
}

// lowRank replaces b by (Λ + EEᵀ)⁻¹b = Λ⁻¹(b − E·T⁻¹EᵀΛ⁻¹b), T = I + EᵀΛ⁻¹E: project returns T⁻¹Eᵀ of its argument, and fit
// returns E times its argument.
func lowRank(b, lambda []float64, project, fit func([]float64) []float64) {
	w := make([]float64, len(b))
	for i, v := range b {
		w[i] = v / lambda[i]
	}
	for i, v := range fit(project(w)) {
		b[i] = (b[i] - v) / lambda[i]
	}
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
	lambda, x := weighted(line, p.noise), Scalars(line.T)
	each := func(ctx context.Context, f func(i, row int, b float64)) {
		at := p.predictor.Point()
		for i := range line.T {
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
