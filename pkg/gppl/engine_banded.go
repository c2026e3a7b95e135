package gppl

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/banded"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// negligible is the covariance, relative to the variance, that the banded
// engine leaves out.
const negligible = 1e-17

// band is the Gram matrix of a sorted series within a kernel's reach.
type band struct {
	line  *line
	reach float64
	first []int
	gram  banded.Matrix
	ready bool
	lanes []lane
}

const noReach = "the kernel does not die out, or not in a way that is known"

// size estimates the mean half-width of the band and the bytes that its numbers
// take.
func (b *band) size(k Kernel) (width, bytes float64, ok bool) {
	r := reach(k, negligible)
	if math.IsInf(r, 0) || math.IsNaN(r) {
		return 0, 0, false
	}
	width = b.line.neighbours(r) + 32
	bytes = 8 * float64(len(b.line.t)) * width
	return width, bytes, true
}

// fill evaluates k and adds to the diagonal.
func (b *band) fill(k Kernel, diagonal float64) {
	t := b.line.t
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
	}
	b.gram.EachTile(func(row, col int, tile blas64.General) {
		b.distances(tile, row, col)
		k.Cov(tile.Data, tile.Data)
	})
	b.gram.AddDiagonal(diagonal)
}

// distances sets a tile to the distances between its rows' and its columns'
// observations.
func (b *band) distances(tile blas64.General, row, col int) {
	distances(tile.Data, Inputs{1, b.line.t[row : row+tile.Rows]}, Inputs{1, b.line.t[col : col+tile.Cols]})
}

// eachTile calls f for every tile of m with room for distances and weights,
// lane by lane in parallel.
func (b *band) eachTile(m *banded.Matrix, params int, f func(l *lane, row, col int, tile blas64.General)) {
	size := m.MaxTile()
	if b.lanes == nil {
		b.lanes = make([]lane, lanes)
	}
	for i := range b.lanes {
		b.lanes[i].r, b.lanes[i].w = resize(b.lanes[i].r, size), resize(b.lanes[i].w, size)
	}
	grow(b.lanes, params)
	parallel.For(lanes, func(c int) {
		for j := c; j < m.Blocks(); j += lanes {
			m.Block(j, func(row, col int, tile blas64.General) { f(&b.lanes[c], row, col, tile) })
		}
	})
}

// bandedExact is a banded Cholesky factorisation and the selected inverse
// within the band: n·b² flops for the value and 2n·b² more for the gradient,
// in memory for n·b numbers. A gradient is checked before it is returned, in
// 4n·b flops: see checkInverse and checkScale.
type bandedExact struct {
	band   band
	kernel Kernel
	scale  scaling
	alpha  []float64
	form   float64 // yᵀA⁻¹y
	check  banded.Check
}

func newBandedExact(l *line) *bandedExact {
	return &bandedExact{band: band{line: l}, alpha: make([]float64, len(l.t))}
}

func (e *bandedExact) name() string { return EngineBanded }

func (e *bandedExact) forecast(k Kernel, noise float64) forecast {
	width, bytes, ok := e.band.size(k)
	if !ok {
		return cannot(noReach)
	}
	if bytes > maxMemory {
		return tooLarge(bytes)
	}
	n := float64(len(e.alpha))
	return forecast{
		seconds: n*width*(3*width/flopRate+pairSeconds+solveSeconds)/1.5 + n*20e-9,
		err:     n * bandedRounding(variance(k), noise),
	}
}

// solveSeconds is what a solve takes for each number of the factor, which it
// reads there and back; memory is the limit. A gradient takes two, α and the
// check.
const solveSeconds = 2 * 2 * 0.5e-9

// bandedRounding is the error of the banded engine per observation, of the value
// and of a derivative ½tr(A⁻¹∂A) with ∂A about as large as K. The recursion for
// A⁻¹ loses more than the factorisation from v/σ² = 1e9 on, as its root.
func bandedRounding(v, noise float64) float64 {
	return (1.5 + 5e-5*math.Sqrt(v/noise)) * rounding(v, noise)
}

func (e *bandedExact) nll(grad []float64, k Kernel, noise float64) (value, jitter float64, err error) {
	e.kernel = k
	a := &e.band.gram
	e.band.fill(k, noise)
	if err := a.Cholesky(); err != nil {
		return 0, 0, fmt.Errorf("gppl: banded engine: %w (kernel %v, noise variance %.4g)", err, k, noise)
	}
	copy(e.alpha, e.band.line.y)
	a.SolveL(columnOf(e.alpha))
	e.form = blas64.Dot(vec(e.alpha), vec(e.alpha))
	value = 0.5 * (e.form + a.LogDet() + float64(len(e.alpha))*log2Pi)
	if grad == nil {
		return value, 0, nil
	}
	a.SolveLT(columnOf(e.alpha))
	e.check.Solve(a)
	a.Inverse(a)
	if err := e.checkInverse(noise); err != nil {
		return 0, 0, err
	}
	last := len(grad) - 1
	e.band.eachTile(a, len(grad), func(l *lane, row, col int, tile blas64.General) {
		size := tile.Rows * tile.Cols
		w := blas64.General{Rows: tile.Rows, Cols: tile.Cols, Stride: tile.Cols, Data: l.w[:size]}
		copy(w.Data, tile.Data)
		blas64.Ger(-1, vec(e.alpha[row:row+tile.Rows]), vec(e.alpha[col:col+tile.Cols]), w)
		if row == col {
			l.grad[last] += 0.5 * noise * trace(w)
			blas64.Scal(0.5, vec(w.Data))
		}
		r := tile
		r.Data = l.r[:size]
		e.band.distances(r, row, col)
		k.Contract(l.grad[:last], w.Data, r.Data)
	})
	gradients(grad, e.band.lanes)
	if err := e.checkScale(grad, noise); err != nil {
		return 0, 0, err
	}
	return value, 0, nil
}

func (e *bandedExact) measure() (form, extra float64) { return e.form, 0 }

// checkInverse verifies the selected inverse, which is in the place of the
// matrix: where the recursion ends against columns that were solved for, and
// everywhere by 1/(v + σ²) ≤ (A⁻¹)_ii ≤ 1/σ².
func (e *bandedExact) checkInverse(noise float64) error {
	v := variance(e.kernel)
	limit := checkMargin * bandedRounding(v, noise)
	if err := verify("the inverse within the band", e.check.Discrepancy(&e.band.gram), 0, limit); err != nil {
		return err
	}
	lo, hi := e.band.gram.DiagonalRange()
	if err := verify("1/(v + σ²) over the least entry on the diagonal of A⁻¹", max(1, 1/((v+noise)*lo)), 1, limit); err != nil {
		return err
	}
	return verify("the largest entry on the diagonal of A⁻¹ times σ²", max(1, hi*noise), 1, limit)
}

// checkMargin is how many times the promised error a check lets pass, so that it
// does not refuse good answers: random cases take up less than a tenth of it,
// the worst inverse of banded's TestCheckHolds, at v/σ² = 1e10, a quarter.
const checkMargin = 16

// checkScale verifies the sum of the gradient: multiplying K and σ² by the same
// factor gives
//
//	Σ ∂/∂log(variance of each term) + ∂/∂log σ² = ½(n − yᵀA⁻¹y).
//
// It sees faults of the weights and of the sums over tiles. It does not see an
// inverse that is wrong in a direction that is orthogonal to A, and the
// recursion can make such ones.
func (e *bandedExact) checkScale(grad []float64, noise float64) error {
	last := len(grad) - 1
	sum, ok := e.scale.derivative(grad[:last], e.kernel)
	if !ok {
		return nil
	}
	n := float64(len(e.alpha))
	limit := checkMargin * bandedRounding(variance(e.kernel), noise) * (n + e.form)
	return verify("the gradient in the scale of A", sum+grad[last], 0.5*(n-e.form), limit)
}
