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

// cyclesExact takes any stationary kernel on a series with a constant step that is observed at the same places of every cycle,
// such as the opening hours of a shop or working days. A is Toeplitz by blocks, of one cycle each: for b places in a cycle it
// takes about 6b·n² flops in place of the n³ of a dense matrix, and covariances at as many lags as the series has steps. Open
// places without an observation, such as holidays, are taken out afterwards. The derivation is in internal/toeplitz.
type cyclesExact struct {
	steps
	line    *observed.Line
	of      *timeline.Cycles
	limit   float64        // bytes, of the options
	columns blas64.General // C at the open places, 0 in holes
	factors parallel.Pool[cyclesFactor]
}

func newCyclesExact(l *observed.Line, of *timeline.Cycles, o options) *cyclesExact {
	e := &cyclesExact{line: l, of: of, limit: o.Memory, steps: stepsOf(of.Regular, toeplitz.Places(of), o.tolerance)}
	if e.bytes() <= o.Memory {
		e.columns = dense.New(of.Len(), l.Columns.Cols)
		dense.Scatter(e.columns, l.Columns, of.Row)
	}
	return e
}

func (e *cyclesExact) name() string { return EngineToeplitz }

// bytes is the memory of a factor.
func (e *cyclesExact) bytes() float64 { return toeplitz.CyclesBytes(e.of, e.line.Columns.Cols) }

func (e *cyclesExact) estimate(c *compiled) choice.Estimate {
	if !c.hasSignal() {
		return choice.Cannot(noSignal)
	}
	f := choice.Estimate{Bytes: e.bytes(), Seconds: toeplitz.CyclesSeconds(e.of, e.line.Columns.Cols)}
	if f.Bytes > e.limit {
		return f.Within(e.limit)
	}
	f.Err, f.Moved = e.errs(c, e.of.Len())
	return f
}

// cyclesFactor is A of the open places, factorised.
type cyclesFactor struct {
	toeplitz.Cycles
	engine  *cyclesExact
	model   *compiled
	kernel  Kernel
	noise   float64
	c, sums []float64      // covariances at the lags, and the sums of A⁻¹ − UUᵀ
	g       blas64.General // CᵀA⁻¹C
	u       blas64.General // A⁻¹CR
	squares []float64      // |A⁻¹c|² of the columns
}

func (e *cyclesExact) factor(m *compiled) (exactFactor, error) {
	f := e.factors.Get()
	f.engine, f.model, f.kernel, f.noise, f.Ctx = e, m, m.kernel, m.noise, m.ctx
	f.c, f.sums = dense.Resize(f.c, len(e.lag)), dense.Resize(f.sums, len(e.lag))
	e.covariances(f.c, f.sums, m)
	if err := f.Factorise(e.of, f.c, e.columns); err != nil {
		f.release()
		return nil, notFactorised(m.kernel, m.noise, err, "gppl: toeplitz engine: %v", err)
	}
	if err := f.Verify(); err != nil {
		f.release()
		return nil, err
	}
	return f, nil
}

func (f *cyclesFactor) release()        { f.engine.factors.Put(f) }
func (f *cyclesFactor) jitter() float64 { return 0 }
func (f *cyclesFactor) logDet() float64 { return f.LogDet() }

func (f *cyclesFactor) gram(g blas64.General) {
	f.g = dense.Reshape(f.g, f.Alpha.Cols, f.Alpha.Cols)
	dense.Gemm(blas.Trans, blas.NoTrans, 1, f.engine.columns, f.Alpha, 0, f.g)
	dense.Symmetrise(f.g)
	dense.Copy(g, f.g)
}

// uncertainty is the error estimate of a toeplitzFactor.
func (f *cyclesFactor) uncertainty(r blas64.General) float64 {
	f.squares = dense.Resize(f.squares, f.Alpha.Cols)
	for j := range f.squares {
		alpha := dense.Column(f.Alpha, j)
		f.squares[j] = blas64.Dot(alpha, alpha)
	}
	return 0.5 * f.Backward() * (float64(f.engine.of.Len())/f.noise + dense.Spread(dense.Vec(f.squares), r))
}

// gradient contracts the sums along lags. A is linear in the covariances at the lags, which checks the sums: with half of the
// first, Σ_d s_d·c_d = ½(n − tr RᵀCᵀA⁻¹CR).
func (f *cyclesFactor) gradient(grad []float64, r blas64.General) error {
	f.u = dense.Combine(f.u, f.Alpha, r)
	f.Sums(f.sums, f.u)
	verify.Tampered("cycles sums", f.sums)
	n, form := float64(len(f.engine.of.Row)), dense.Form(f.g, r)
	scale := blas64.Dot(dense.Vec(f.c), dense.Vec(f.sums)) - 0.5*f.c[0]*f.sums[0]
	if err := verify.Near("the gradient in the scale of the covariance", scale, 0.5*(n-form),
		verify.GradientTrust*(n+math.Abs(form)+math.Abs(f.c[0]*f.sums[0]))); err != nil {
		return err
	}
	f.engine.contract(grad, f.sums, f.model)
	return nil
}

// cyclesPosterior conditions on the observations by the factor over all open places.
type cyclesPosterior struct {
	conditioner
	of *cyclesConditions
}

// cyclesConditions are the factors of a cyclesPosterior.
type cyclesConditions struct {
	*cyclesFactor // does not change any more
	alpha         blas64.General
}

func (f *cyclesFactor) posterior() predictor {
	alpha := dense.New(len(f.engine.of.Row), f.Alpha.Cols)
	for i, row := range f.engine.of.Row {
		copy(dense.Row(alpha, i).Data, dense.Row(f.Alpha, row).Data)
	}
	f.model, f.Ctx = nil, nil // they belong to the evaluation, not to predictions
	of := &cyclesConditions{f, alpha}
	return cyclesPosterior{conditioner{f.kernel, of}, of}
}

func (p *cyclesConditions) inputs() Inputs { return Scalars(p.engine.line.T) }

func (p *cyclesConditions) rows() (less, more int) {
	return p.engine.of.Len(), len(p.engine.of.Holes)
}

func (p *cyclesConditions) condition(ctx context.Context, means, cross blas64.General) (less, more blas64.General) {
	dense.Gemm(blas.Trans, blas.NoTrans, 1, cross, p.alpha, 0, means)
	less = dense.New(p.engine.of.Len(), cross.Cols)
	dense.Scatter(less, cross, p.engine.of.Row)
	return less, p.Condition(ctx, less)
}

func (p cyclesPosterior) observations(context.Context) (*conditions, error) {
	e := p.of.engine
	lambda, n := make([]float64, len(e.line.T)), float64(e.of.Len())
	for i := range lambda {
		lambda[i] = p.of.noise
	}
	return onLine(e.line, lambda, 1e-6+n*n*0.5e-9, func(ctx context.Context, b []float64) {
		open := dense.New(e.of.Len(), 1)
		for i, row := range e.of.Row {
			open.Data[row] = b[i]
		}
		p.of.Solve(ctx, open)
		for i, row := range e.of.Row {
			b[i] = open.Data[row]
		}
	}), nil
}
