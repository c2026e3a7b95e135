package gppl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// denseExact factorises A = LLᵀ in n³/3 flops and contracts with A⁻¹ in 2n³/3
// more. A factor holds the lower triangles of L and of L⁻¹: n² numbers.
type denseExact struct {
	x       Inputs
	columns blas64.General // C, n×c
	rows    rowNoise       // in the order of x
	factors pool[denseFactor]
}

func newDenseExact(x Inputs, columns blas64.General, rows rowNoise) *denseExact {
	return &denseExact{x: x, columns: columns, rows: rows}
}

func (e *denseExact) name() string { return EngineDense }

func (e *denseExact) forecast(m *compiled) forecast {
	n := float64(e.x.Len())
	atOnce := min(2, float64(dense.Blocks(e.x.Len()))) // a single tile keeps one processor busy
	return forecast{
		seconds: (n*n*n/flopRate + n*n*pairSeconds) / atOnce,
		bytes:   16 * triangle(e.x.Len()),
		err:     n * rounding(m.variance, e.rows.least(m.noise)),
	}
}

// denseFactor is A = LLᵀ.
type denseFactor struct {
	engine  *denseExact
	kernel  Kernel
	noise   float64
	added   float64 // jitter
	l       *dense.Lower
	inverse *dense.Lower   // L⁻¹, made when a gradient is first asked for
	half    blas64.General // L⁻¹C
	alpha   blas64.General // A⁻¹C
	probe   blas64.General // the same by L⁻¹, for the check
	u       blas64.General // A⁻¹CR
	lanes   []lane

	diagonal []float64 // of the noise
}

func (e *denseExact) factor(m *compiled) (exactFactor, error) {
	f := e.factors.get()
	f.engine, f.kernel, f.noise = e, m.kernel, m.noise
	if f.l == nil {
		f.l = dense.NewLower(e.x.Len())
		f.half = dense.New(e.columns.Rows, e.columns.Cols)
		f.alpha = dense.New(e.columns.Rows, e.columns.Cols)
		f.lanes = newLanes(e.x.Len())
	}
	f.l.Ctx = m.ctx
	var err error
	f.added, err = choleskyWithJitter(f.l, m.variance+m.noise, func() {
		fillGram(f.l, e.x, f.kernel, e.rows.matrixNoise(f.noise))
		f.diagonal = e.rows.add(f.l, f.diagonal, e.x.Len(), f.noise)
	})
	if err != nil {
		f.release()
		return nil, fmt.Errorf("gppl: the covariance of %d observations cannot be factorised: %w (kernel %v, noise variance %.4g)", e.x.Len(), err, m.kernel, m.noise)
	}
	return f, nil
}

func (f *denseFactor) release()                           { f.engine.factors.put(f) }
func (f *denseFactor) jitter() float64                    { return f.added }
func (f *denseFactor) logDet() float64                    { return f.l.LogDet() }
func (f *denseFactor) uncertainty(blas64.General) float64 { return 0 }

func (f *denseFactor) gram(g blas64.General) {
	copyGeneral(f.half, f.engine.columns)
	f.l.SolveL(f.half)
	products(g, f.half, f.half)
}

// solve sets alpha to A⁻¹C, given L⁻¹C.
func (f *denseFactor) solve() {
	copyGeneral(f.alpha, f.half)
	f.l.SolveLT(f.alpha)
}

// gradient is ½⟨A⁻¹ − UUᵀ, ∂A⟩, a tile at a time.
func (f *denseFactor) gradient(grad []float64, r blas64.General) error {
	f.solve()
	f.u = combine(f.u, f.alpha, r)
	n := f.engine.x.Len()
	if f.inverse == nil {
		f.inverse = dense.NewLower(n)
	}
	f.l.InvertL(f.inverse)
	f.inverse.Ctx = f.l.Ctx
	last, rows := len(grad)-1, &f.engine.rows
	grow(f.lanes, len(grad))
	eachTile(f.l.Ctx, n, f.lanes, func(l *lane, i, j int) {
		height, cols := dense.Width(n, j), dense.Width(n, i) // tile (j, i) of the lower triangle
		weight := blas64.General{Rows: height, Cols: cols, Stride: cols, Data: l.w}
		f.inverse.InverseTile(weight, j, i)
		subtractOuter(weight, rowsFrom(f.u, j*dense.Tile, height), rowsFrom(f.u, i*dense.Tile, cols))
		w, r := l.w[:height*cols], l.r[:height*cols]
		if i == j {
			for d := range height {
				l.grad[last] += 0.5 * f.noise * rows.weight(j*dense.Tile+d) * w[d*cols+d]
			}
			for p := range w {
				w[p] *= 0.5
			}
		}
		tileDistances(r, f.engine.x, j, i)
		contractions(l.grad[:last], f.kernel, w, f.engine.x.block(j), f.engine.x.block(i), r)
	})
	gradients(grad, f.lanes)
	return f.check()
}

// check compares α = L⁻ᵀ(L⁻¹C) by a solve with the same by the L⁻¹ that the
// gradient is made of, in n² flops a column.
func (f *denseFactor) check() error {
	n, norm := float64(f.alpha.Rows), blas64.Nrm2(dense.Vec(f.half.Data))
	f.probe = dense.Reshape(f.probe, f.half.Rows, f.half.Cols)
	copyGeneral(f.probe, f.half)
	f.inverse.MulLT(f.probe)
	var off float64
	for i, a := range f.alpha.Data {
		if d := math.Abs(a - f.probe.Data[i]); !(d <= off) {
			off = d
		}
	}
	// Rounding of L⁻¹: its norm is at most 1/σ, its condition √(1 + n·v/σ²).
	least := f.engine.rows.least(f.noise)
	limit := 0x1p-46 * n * math.Sqrt((1+n*variance(f.kernel)/least)/least) * norm
	return verify("the inverse of the Cholesky factor", off, 0, limit)
}

func (f *denseFactor) posterior() predictor {
	f.solve()
	f.l.Ctx = nil // of the evaluation, not of predictions
	return newExactPosterior(f.kernel, &exactFactors{x: f.engine.x, kernel: f.kernel, factor: f.l, alpha: f.alpha}, nil)
}
