package dense

import "github.com/projected-likelihood/gppl/internal/parallel"

// Lane is the working memory of one of parallel.Lanes shares of the tiles of a matrix, which add up gradients.
type Lane struct {
	R, W []float64 // a tile of distances, or of values that follow from them, and a tile of weights
	Grad []float64
}

// Lanes share the tiles of a matrix. Their sums do not depend on the number of processors.
type Lanes []Lane

// NewLanes returns the lanes that have work on a symmetric n×n matrix.
func NewLanes(n int) Lanes {
	ls := make(Lanes, min(parallel.Lanes, Blocks(n)))
	tile := min(n, Tile)
	ls.Reserve(tile * tile)
	return ls
}

// Reserve makes memory for tiles of the given number of entries.
func (ls Lanes) Reserve(entries int) {
	for i := range ls {
		ls[i].R, ls[i].W = Resize(ls[i].R, entries), Resize(ls[i].W, entries)
	}
}

// Begin sets the gradient of each lane to zeros, one for each parameter.
func (ls Lanes) Begin(params int) {
	for i := range ls {
		if len(ls[i].Grad) != params {
			ls[i].Grad = make([]float64, params)
		}
		clear(ls[i].Grad)
	}
}

// AddTo adds the gradients of all lanes to dst.
func (ls Lanes) AddTo(dst []float64) {
	for _, l := range ls {
		Add(dst, l.Grad)
	}
}

// EachColumn calls f for every column of tiles of the symmetric n×n matrix, lane by lane in parallel.
func (ls Lanes) EachColumn(n int, f func(l *Lane, column int)) {
	parallel.For(len(ls), func(c int) {
		for j := c; j < Blocks(n); j += parallel.Lanes {
			f(&ls[c], j)
		}
	})
}
