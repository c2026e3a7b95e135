package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/banded"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
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
		covariances(tile.Data, k, b.points(row, tile.Rows), b.points(col, tile.Cols), tile.Data)
	})
	b.gram.AddDiagonal(diagonal)
}

// distances sets a tile to the distances between its rows' and its columns'
// observations.
func (b *band) distances(tile blas64.General, row, col int) {
	distances(tile.Data, b.points(row, tile.Rows), b.points(col, tile.Cols))
}

// points returns n inputs from the given one on.
func (b *band) points(from, n int) Inputs { return Scalars(b.line.t[from : from+n]) }

// eachTile calls f for every tile of m with room for distances and weights,
// lane by lane in parallel.
func (b *band) eachTile(m *banded.Matrix, params int, f func(l *lane, row, col int, tile blas64.General)) {
	size := m.MaxTile()
	if b.lanes == nil {
		b.lanes = make([]lane, lanes)
	}
	for i := range b.lanes {
		b.lanes[i].r, b.lanes[i].w = dense.Resize(b.lanes[i].r, size), dense.Resize(b.lanes[i].w, size)
	}
	grow(b.lanes, params)
	parallel.For(lanes, func(c int) {
		for j := c; j < m.Blocks(); j += lanes {
			parallel.Look(m.Ctx)
			m.Block(j, func(row, col int, tile blas64.General) { f(&b.lanes[c], row, col, tile) })
		}
	})
}
