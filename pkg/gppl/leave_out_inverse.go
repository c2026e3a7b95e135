package gppl

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// inverter is a predictor whose factor gives A⁻¹ itself. Its posterior at the data would give the same,
// but as the difference of 1/σ² and the variance over σ⁴, which cancels if the noise is a billionth of the
// variance (TestLeaveOutSmallNoise). The filter and the features predict variances without such a
// difference.
type inverter interface {
	// inverseDiagonal sets row i of solved, len(at)×c, to row at[i] of A⁻¹C, and diagonal[i] to
	// (A⁻¹)_ii of that observation.
	inverseDiagonal(solved blas64.General, diagonal []float64, at []int)
	// inverseBlock sets solved, and block to the rows and columns at of A⁻¹.
	inverseBlock(solved blas64.General, block *dense.Lower, at []int)
}

// exactPosterior predicts by a factor A = LLᵀ.
type exactPosterior struct {
	conditioner
	of   *exactFactors
	rows []int // of L, for each observation; nil if they are in order
}

func newExactPosterior(k Kernel, of *exactFactors, rows []int) exactPosterior {
	return exactPosterior{conditioner{k, of}, of, rows}
}

// half returns L⁻¹E, E the columns of the identity at the observations, and sets solved.
func (p exactPosterior) half(solved blas64.General, at []int) blas64.General {
	w := newGeneral(p.of.alpha.Rows, len(at))
	for j, i := range at {
		if p.rows != nil {
			i = p.rows[i]
		}
		w.Data[i*w.Stride+j] = 1
		blas64.Copy(row(p.of.alpha, i), row(solved, j))
	}
	p.of.factor.SolveL(w)
	return w
}

func (p exactPosterior) inverseDiagonal(solved blas64.General, diagonal []float64, at []int) {
	const batch = dense.Tile
	parallel.For((len(at)+batch-1)/batch, func(b int) {
		from, to := b*batch, min(len(at), (b+1)*batch)
		clear(diagonal[from:to])
		addSquares(diagonal[from:to], 1, p.half(rowsFrom(solved, from, to-from), at[from:to]))
	})
}

func (p exactPosterior) inverseBlock(solved blas64.General, block *dense.Lower, at []int) {
	w := p.half(solved, at)
	block.EachTile(func(i, j int, t blas64.General) {
		dense.Gemm(blas.Trans, blas.NoTrans, 1, columnsOf(w, i), columnsOf(w, j), 0, t)
	})
}

// row returns A⁻¹e of observation i, and sets solved.
func (p *toeplitzPosterior) row(dst, solved []float64, i int, w *toeplitzWork) {
	at := p.factor.engine.grid.place[p.sorted(i)]
	w.cross = resize(w.cross, len(dst))
	clear(w.cross)
	w.cross[at] = 1
	p.factor.factor.Solve(dst, w.cross, &w.work)
	p.factor.factor.Refine(dst, w.cross, &w.work)
	for c := range solved {
		solved[c] = row(p.factor.Alpha, c).Data[at]
	}
}

// sorted returns where observation i stands in the series.
func (p *toeplitzPosterior) sorted(i int) int {
	if p.rows == nil {
		return i
	}
	return p.rows[i]
}

func (p *toeplitzPosterior) inverseDiagonal(solved blas64.General, diagonal []float64, at []int) {
	parallel.For(len(at), func(j int) {
		w := p.work.get()
		w.solved = resize(w.solved, p.factor.engine.grid.n)
		p.row(w.solved, row(solved, j).Data, at[j], w)
		diagonal[j] = w.solved[p.factor.engine.grid.place[p.sorted(at[j])]]
		p.work.put(w)
	})
}

func (p *toeplitzPosterior) inverseBlock(solved blas64.General, block *dense.Lower, at []int) {
	inverse := newGeneral(len(at), p.factor.engine.grid.n)
	parallel.For(len(at), func(j int) {
		w := p.work.get()
		p.row(row(inverse, j).Data, row(solved, j).Data, at[j], w)
		p.work.put(w)
	})
	block.EachTile(func(bi, bj int, t blas64.General) {
		for a := range t.Rows {
			for b := range t.Cols {
				place := p.factor.engine.grid.place[p.sorted(at[bj*dense.Tile+b])]
				t.Data[a*t.Stride+b] = inverse.Data[(bi*dense.Tile+a)*inverse.Stride+place]
			}
		}
	})
}

// ranks returns where each observation stands in the series, nil if x was sorted.
func (l *line) ranks() []int {
	if l.order == nil {
		return nil
	}
	rank := make([]int, len(l.order))
	for i, o := range l.order {
		rank[o] = i
	}
	return rank
}
