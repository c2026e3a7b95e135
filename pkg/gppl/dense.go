package gppl

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// The dense engine takes any kernel in any dimension. It computes in symmetric
// tiles on all processors: each pair of observations is evaluated once.

// block returns block b of the points of x.
func (x Inputs) block(b int) Inputs {
	from := b * dense.Tile
	return x.Slice(from, from+dense.Width(x.Len(), b))
}

// tileDistances sets the row-major tile r to the distances between blocks i
// and j of x.
func tileDistances(r []float64, x Inputs, i, j int) {
	distances(r, x.block(i), x.block(j))
}

// A lane is a fixed share of the rows of tiles, with its own accumulators. The division
// into lanes does not depend on the number of processors, so results are the same to
// the last bit.
const lanes = 16

// lane is the working memory of one lane.
type lane struct {
	r, w []float64 // a tile of distances and covariances, and one of weights
	grad []float64
}

// newLanes returns the lanes that have work on an n×n matrix.
func newLanes(n int) []lane {
	ls := make([]lane, min(lanes, dense.Blocks(n)))
	tile := min(n, dense.Tile)
	for i := range ls {
		ls[i].r, ls[i].w = make([]float64, tile*tile), make([]float64, tile*tile)
	}
	return ls
}

// gradients adds up the gradients of all lanes.
func gradients(dst []float64, ls []lane) {
	clear(dst)
	for _, l := range ls {
		add(dst, l.grad)
	}
}

// grow makes sure that each lane has room for nparams gradients, all zero.
func grow(ls []lane, nparams int) {
	for i := range ls {
		if len(ls[i].grad) != nparams {
			ls[i].grad = make([]float64, nparams)
		}
		clear(ls[i].grad)
	}
}

// eachTile calls f for every tile (i, j) of the symmetric n×n matrix that has
// j ≥ i, lane by lane in parallel.
func eachTile(ctx context.Context, n int, ls []lane, f func(l *lane, i, j int)) {
	nb := dense.Blocks(n)
	parallel.For(len(ls), func(c int) {
		for i := c; i < nb; i += lanes {
			for j := i; j < nb; j++ {
				parallel.Look(ctx)
				f(&ls[c], i, j)
			}
		}
	})
}

// fillGram sets l to the lower triangle of K + noise·I.
func fillGram(l *dense.Lower, x Inputs, k Kernel, noise float64) {
	l.EachTile(func(i, j int, t blas64.General) {
		tileDistances(t.Data, x, i, j)
		covariances(t.Data, k, x.block(i), x.block(j), t.Data)
	})
	l.AddDiagonal(noise)
}

// choleskyWithJitter factorises the matrix that fill writes into l. If that
// fails it adds jitter to the diagonal, from 1e-12 of scale upwards by tens to
// 1e-6 of scale, and returns what it took.
func choleskyWithJitter(l *dense.Lower, scale float64, fill func()) (jitter float64, err error) {
	fill()
	if err = l.Cholesky(); err == nil {
		return 0, nil
	}
	for jitter = 1e-12 * scale; jitter > 0 && jitter <= 1.01e-6*scale; jitter *= 10 {
		fill()
		l.AddDiagonal(jitter)
		if e := l.Cholesky(); e == nil {
			return jitter, nil
		}
	}
	return 0, fmt.Errorf("%w, nor with jitter up to %.3g on its diagonal", err, jitter/10)
}
