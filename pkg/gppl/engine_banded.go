package gppl

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/costs"
	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/banded"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/choice"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/verify"
)

// negligible is the covariance, relative to the variance, that the banded engine leaves out.
const negligible = 1e-17

// band is the Gram matrix of a sorted series within a kernel's reach.
type band struct {
	line  *observed.Line
	reach float64
	first []int
	gram  banded.Matrix
	ready bool
	lags  observed.Lags
	lanes dense.Lanes
}

const noReach = "the kernel does not die out, or does not declare it by capability.Reacher"

// size estimates the mean half-width of the band and the bytes that its numbers take.
func (b *band) size(k Kernel) (width, bytes float64, ok bool) {
	r := reach(k, negligible)
	if !numeric.IsFinite(r) {
		return 0, 0, false
	}
	width = b.line.Neighbours(r) + 32
	bytes = 8 * float64(len(b.line.T)) * width
	return width, bytes, true
}

// fill evaluates k and adds to the diagonal.
func (b *band) fill(k Kernel, diagonal float64) {
	t := b.line.T
	if r := reach(k, negligible); !b.ready || r != b.reach {
		b.reach, b.ready = r, true
		if b.first == nil {
			b.first = make([]int, len(t))
		}
		j := 0
		for i, ti := range t {
			for t[j] < ti-r {
				j++
			}
			b.first[i] = j
		}
		b.gram.Reset(b.first)
		most, pairs := b.gram.Farthest(t)
		b.lags.Reset(b.line, most, pairs)
	}
	table := b.tabulates(k)
	if table {
		b.lags.Evaluate(k)
	}
	b.gram.EachTile(func(row, col int, tile blas64.General) {
		if table {
			b.distances(tile, row, col)
			b.lags.Look(tile.Data, tile.Data)
			return
		}
		covariances(tile.Data, k, b.points(row, tile.Rows), b.points(col, tile.Cols))
	})
	b.gram.AddDiagonal(diagonal)
}

// tabulates reports whether k is computed once for each distance.
func (b *band) tabulates(k Kernel) bool { return len(b.lags.R) > 0 && !isPlaced(k) }

// distances sets a tile to the distances between its rows' and its columns' observations.
func (b *band) distances(tile blas64.General, row, col int) {
	distances(tile.Data, b.points(row, tile.Rows), b.points(col, tile.Cols))
}

// points returns n inputs from the given one on.
func (b *band) points(from, n int) Inputs { return Scalars(b.line.T[from : from+n]) }

// contract adds Σ w·∂k over the band to the gradients of the lanes, which have the given number of parameters, k's first.
// weigh sets the weights w of a tile, and may add to the gradient of its lane.
func (b *band) contract(k Kernel, params int, weigh func(l *dense.Lane, row, col int, tile, w blas64.General)) {
	m, own := &b.gram, len(k.Params())
	size := m.MaxTile()
	if b.lanes == nil {
		b.lanes = make(dense.Lanes, parallel.Lanes)
	}
	b.lanes.Reserve(size)
	b.lanes.Begin(params)
	table := b.tabulates(k)
	if table {
		b.lags.Begin()
	}
	parallel.For(parallel.Lanes, func(c int) {
		for j := c; j < m.Blocks(); j += parallel.Lanes {
			parallel.Look(m.Ctx)
			m.Block(j, func(row, col int, tile blas64.General) {
				l, w, r := &b.lanes[c], tile, tile
				w.Data, r.Data = l.W[:tile.Rows*tile.Cols], l.R[:tile.Rows*tile.Cols]
				weigh(l, row, col, tile, w)
				if table {
					b.distances(r, row, col)
					b.lags.Add(c, w.Data, r.Data)
					return
				}
				contractions(l.Grad[:own], k, w.Data, b.points(row, tile.Rows), b.points(col, tile.Cols), r.Data)
			})
		}
	})
	if table {
		b.lags.Contract(b.lanes[0].Grad[:own], k)
	}
}

var (
	_ exactEngine = (*bandedExact)(nil)
	_ exactFactor = (*bandedFactor)(nil)
)

// bandedExact is a banded Cholesky factorisation and the selected inverse within the band: n·b² flops for the value and 2n·b²
// more for the gradient, in memory for n·b numbers. Checking a gradient takes 4n·b flops: see checkInverse and checkScale.
type bandedExact struct {
	line    *observed.Line
	factors parallel.Pool[bandedFactor]
}

func newBandedExact(l *observed.Line) *bandedExact { return &bandedExact{line: l} }

func (e *bandedExact) name() string { return EngineBanded }
func (*bandedExact) takesPlaced()   {}

func (e *bandedExact) estimate(m *compiled) choice.Estimate {
	b := band{line: e.line}
	width, bytes, ok := b.size(m.kernel)
	if !ok {
		return choice.Cannot(noReach)
	}
	n := float64(len(e.line.T))
	return choice.Estimate{
		Seconds: costs.Of(costs.BandedProduct, n*width*width) + costs.Of(costs.BandedPair, n*width) +
			costs.Of(costs.BandedRow, n) + costs.Of(costs.BandedOnce, 1),
		Bytes: bytes,
		Err:   n * bandedRounding(m.variance, e.line.Noise.Least(m.noise)),
	}
}

// bandedRounding is the engine's error per observation, of the value and of a derivative ½tr(A⁻¹∂A) with ∂A about as large as K.
// From v/σ² = 1e9 on, the recursion for A⁻¹ loses more than the factorisation, by a factor that grows as the root of v/σ².
func bandedRounding(v, noise float64) float64 {
	return (1.5 + 5e-5*math.Sqrt(v/noise)) * rounding(v, noise)
}

// bandedFactor is A = FFᵀ within the band. A gradient overwrites F with A⁻¹, to save half of the memory: after it, only logDet
// and gram can be asked for.
type bandedFactor struct {
	engine   *bandedExact
	kernel   Kernel
	variance float64
	noise    float64
	band     band // F, then A⁻¹
	inverted bool
	det      float64
	half     blas64.General // F⁻¹C
	u        blas64.General // A⁻¹CR
	form     float64        // Σ_j u_jᵀAu_j
	check    banded.Check
	scale    scaling
	diagonal []float64 // diagonal of the noise, and of A⁻¹ if errors are known
}

func (e *bandedExact) factor(m *compiled) (exactFactor, error) {
	f := e.factors.Get()
	f.engine, f.kernel, f.variance, f.noise, f.inverted = e, m.kernel, m.variance, m.noise, false
	f.band.line, f.band.gram.Ctx = e.line, m.ctx
	f.band.fill(f.kernel, e.line.Noise.OnDiagonal(f.noise))
	a := &f.band.gram
	f.diagonal = e.line.Noise.Add(a, f.diagonal, len(e.line.T), f.noise)
	if err := a.Cholesky(); err != nil {
		f.release()
		return nil, notFactorised(m.kernel, m.noise, err, "gppl: banded engine: %v", err)
	}
	f.det = a.LogDet()
	f.half = dense.Reshape(f.half, e.line.Columns.Rows, e.line.Columns.Cols)
	dense.Copy(f.half, e.line.Columns)
	a.SolveL(f.half)
	return f, nil
}

func (f *bandedFactor) release()                           { f.engine.factors.Put(f) }
func (f *bandedFactor) jitter() float64                    { return 0 }
func (f *bandedFactor) logDet() float64                    { return f.det }
func (f *bandedFactor) uncertainty(blas64.General) float64 { return 0 }
func (f *bandedFactor) gram(g blas64.General) {
	dense.Square(g, f.half, f.engine.line.Unread)
}

func (f *bandedFactor) gradient(grad []float64, r blas64.General) error {
	f.invert(r)
	if err := f.checkInverse(); err != nil {
		return err
	}
	f.contract(grad)
	return f.checkScale(grad)
}

// residuals implements residualFactor, by the diagonal of the selected inverse.
func (f *bandedFactor) residuals(alpha, precisions []float64, r blas64.General) bool {
	if !f.inverted {
		r.Cols = 1
		f.u = dense.Combine(f.u, f.half, r)
		f.band.gram.SolveLT(f.u)
	}
	if precisions != nil {
		f.diagonal = dense.Resize(f.diagonal, len(precisions))
		f.band.gram.Diagonal(f.diagonal)
	}
	for i := range f.u.Rows {
		u, at := dense.Row(f.u, i), f.engine.line.Input(i)
		if alpha[at] = u.Data[0]; precisions != nil {
			precisions[at] = f.diagonal[i] - blas64.Dot(u, u) + u.Data[0]*u.Data[0]
		}
	}
	return true
}

// needFactor panics if the factor was replaced by the inverse.
func (f *bandedFactor) needFactor() {
	if f.inverted {
		panic("gppl: the banded factor was replaced by the inverse")
	}
}

// invert replaces F by A⁻¹, and sets u to A⁻¹CR.
func (f *bandedFactor) invert(r blas64.General) {
	f.needFactor()
	a := &f.band.gram
	f.u = dense.Combine(f.u, f.half, r)
	f.form = blas64.Dot(dense.Vec(f.u.Data), dense.Vec(f.u.Data))
	a.SolveLT(f.u)
	f.check.Solve(a)
	a.Inverse(a)
	f.inverted = true
}

// contract is ½⟨A⁻¹ − UUᵀ, ∂A⟩, a tile of the band at a time.
func (f *bandedFactor) contract(grad []float64) {
	last := len(grad) - 1
	f.band.contract(f.kernel, len(grad), func(l *dense.Lane, row, col int, tile, w blas64.General) {
		copy(w.Data, tile.Data)
		dense.SubtractOuter(w, dense.Rows(f.u, row, tile.Rows), dense.Rows(f.u, col, tile.Cols))
		if row == col {
			for i := range w.Rows {
				l.Grad[last] += 0.5 * f.noise * f.engine.line.Noise.Weight(row+i) * w.Data[i*w.Stride+i]
			}
			blas64.Scal(0.5, dense.Vec(w.Data))
		}
	})
	clear(grad)
	f.band.lanes.AddTo(grad)
}

// checkInverse verifies the selected inverse, which has overwritten the matrix.
func (f *bandedFactor) checkInverse() error {
	noise := &f.engine.line.Noise
	least := noise.Least(f.noise)
	return f.check.Verify(&f.band.gram, least, f.variance+noise.Most(f.noise), checkMargin*bandedRounding(f.variance, least))
}

// checkMargin is the multiple of the promised error that a check accepts, so that it does not reject correct answers. Random
// cases use less than a tenth of it; the worst inverse of banded's TestCheckHolds, at v/σ² = 1e10, uses a quarter.
const checkMargin = 16

// checkScale verifies the sum of the gradient: multiplying A by a factor, that is K, σ² and the known errors, gives
//
//	Σ ∂/∂log(variance of each term) + ∂/∂log σ² + ½Σ_i s_i·((A⁻¹)_ii − |u_i|²) = ½(n − Σ_j u_jᵀAu_j).
//
// It detects faults of the weights and of the sums over tiles, but not an inverse that is wrong in a direction orthogonal to A,
// which the recursion can produce.
func (f *bandedFactor) checkScale(grad []float64) error {
	last := len(grad) - 1
	sum, ok := f.scale.derivative(grad[:last], f.kernel)
	if !ok {
		return nil
	}
	n := float64(f.u.Rows)
	limit := checkMargin * bandedRounding(f.variance, f.engine.line.Noise.Least(f.noise)) * (n + f.form)
	return verify.Near("the gradient in the scale of A", sum+grad[last]+f.knownShare(), 0.5*(n-f.form), limit)
}

// knownShare is ½Σ_i s_i·((A⁻¹)_ii − |u_i|²), the share of the known errors s in the derivative with respect to the scale of A.
func (f *bandedFactor) knownShare() (share float64) {
	known := f.engine.line.Noise.Known
	if known == nil {
		return 0
	}
	f.diagonal = dense.Resize(f.diagonal, len(known))
	f.band.gram.Diagonal(f.diagonal)
	for i, s := range known {
		u := dense.Vec(f.u.Data[i*f.u.Stride:][:f.u.Cols])
		share += 0.5 * s * (f.diagonal[i] - blas64.Dot(u, u))
	}
	return share
}

func (f *bandedFactor) posterior() predictor {
	f.needFactor()
	alpha := dense.New(f.half.Rows, f.half.Cols)
	dense.Copy(alpha, f.half)
	f.band.gram.SolveLT(alpha)
	f.band.gram.Ctx = nil // the context belongs to the evaluation, not to predictions
	l := f.engine.line
	of := &exactFactors{x: Scalars(l.T), factor: &f.band.gram, alpha: alpha,
		columns: l.Columns, lambda: l.Noise.Set(nil, len(l.T), f.noise)}
	return &bandedPosterior{newExactPosterior(f.kernel, of, l.Ranks()), &f.band, l.Noise.Least(f.noise)}
}

// bandedPosterior predicts at an input from the covariances with the rows within its reach; those with all others are 0.
type bandedPosterior struct {
	exactPosterior
	band  *band
	least float64 // no eigenvalue of A is below it
}

// batchReach is the span of the inputs of a batch in units of the reach: a single input has two.
const batchReach = 0.5

// pieces is the number of batches from which inputs that lie close share more rows rather than processors.
const pieces = 8

// latent takes the inputs in ascending order, in batches that share most of their rows. An input takes 2b flops for each row
// within its reach, and for further rows until less than a rounding of its variance is left: a few reaches, not n.
func (p *bandedPosterior) latent(ctx context.Context, means blas64.General, variances []float64, x Inputs) error {
	l := observed.Sorted(x.at)
	most := min(dense.Tile, max(2*pieces, (len(l.T)+pieces-1)/pieces))
	starts := []int{0}
	for i, t := range l.T {
		if start := starts[len(starts)-1]; i-start == most || t-l.T[start] > batchReach*p.band.reach {
			starts = append(starts, i)
		}
	}
	sorted, squares := dense.New(means.Rows, means.Cols), make([]float64, len(l.T))
	prior := make([]float64, len(l.T))
	variancesAt(prior, p.kernel, Scalars(l.T))
	var spaces parallel.Pool[[]float64]
	parallel.Within(ctx, len(starts), func(b int) {
		from, to := starts[b], len(l.T)
		if b+1 < len(starts) {
			to = starts[b+1]
		}
		space := spaces.Get()
		*space = dense.Resize(*space, len(p.of.x.at)*most)
		p.batch(dense.Rows(sorted, from, to-from), squares[from:to], l.T[from:to], slices.Min(prior[from:to]), *space)
		spaces.Put(space)
	})
	for i, v := range squares {
		at := l.Input(i)
		copy(means.Data[at*means.Stride:][:means.Cols], sorted.Data[i*sorted.Stride:][:means.Cols])
		variances[at] = prior[i] - v
	}
	return ctx.Err()
}

// batch sets the means at the ascending inputs x, and the k*ᵀA⁻¹k* that the prior variances, at least prior, lose. space holds n
// zeros for each input, and is zeros again afterwards.
func (p *bandedPosterior) batch(means blas64.General, squares, x []float64, prior float64, space []float64) {
	lo, _ := slices.BinarySearch(p.of.x.at, x[0]-p.band.reach)
	hi, _ := slices.BinarySearch(p.of.x.at, math.Nextafter(x[len(x)-1]+p.band.reach, math.Inf(1)))
	if lo >= hi {
		return
	}
	k := len(x)
	near, at := p.of.x.Slice(lo, hi), Scalars(x)
	cross := blas64.General{Rows: hi - lo, Cols: k, Stride: k, Data: space[lo*k : hi*k]}
	covariances(cross.Data, p.kernel, near, at)
	dense.Gemm(blas.Trans, blas.NoTrans, 1, cross, dense.Rows(p.of.alpha, lo, hi-lo), 0, means)
	all := blas64.General{Rows: p.of.x.Len(), Cols: k, Stride: k, Data: space[:p.of.x.Len()*k]}
	p.band.gram.Squares(squares, all, lo, hi, p.least, negligible*prior)
}
