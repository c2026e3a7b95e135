package gppl

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// denseProjected computes S₀ = ΩᵀKΩ in 2·½n²k flops and its contraction in as
// many, with O(nk) memory: never a matrix n×n.
type denseProjected struct {
	x          Inputs
	directions directions
	omega      blas64.General // n×k
	lanes      []lane
	strip      []blas64.General // per lane: (ΩV or KΩ) of one block of rows
	sum        []blas64.General // per lane: k×k
}

func newDenseProjected(x Inputs, d directions) *denseProjected {
	e := &denseProjected{x: x, directions: d, omega: d.shape(), lanes: newLanes(0)}
	for range e.lanes {
		e.strip = append(e.strip, newGeneral(dense.Tile, d.k))
		e.sum = append(e.sum, newGeneral(d.k, d.k))
	}
	return e
}

func (e *denseProjected) name() string { return EngineDense }

func (e *denseProjected) forecast(k Kernel, noise float64) forecast {
	n, kk := float64(e.omega.Rows), float64(e.omega.Cols)
	return forecast{
		seconds: (2*n*n*kk/flopRate + n*n*pairSeconds) / 2,
		setup:   e.directions.forming(),
		err:     kk * gramRounding(variance(k)*n, noise),
	}
}

// rowsOf returns block b of the rows of Ω.
func (e *denseProjected) rowsOf(b int) blas64.General {
	o := e.omega
	o.Rows = dense.Width(e.omega.Rows, b)
	o.Data = o.Data[b*dense.Tile*o.Stride:]
	return o
}

func (e *denseProjected) gram(s []float64, kernel Kernel, _ float64, _ bool) error {
	e.sandwich(s, func(r []float64) { kernel.Cov(r, r) })
	return nil
}

// sandwich sets s to ΩᵀKΩ, where cov replaces distances by the entries of K. It
// uses the symmetry of K = U + Uᵀ, where U is its upper triangle with the diagonal
// halved: ΩᵀKΩ = ΩᵀUΩ + (ΩᵀUΩ)ᵀ.
func (e *denseProjected) sandwich(s []float64, cov func(r []float64)) {
	e.omega = e.directions.matrix()
	n, k := e.omega.Rows, e.omega.Cols
	nb := dense.Blocks(n)
	parallel.For(min(lanes, nb), func(c int) {
		l, sum := &e.lanes[c], e.sum[c]
		clear(sum.Data)
		for i := c; i < nb; i += lanes {
			strip := e.strip[c] // rows i of UΩ
			strip.Rows = dense.Width(n, i)
			for j := i; j < nb; j++ {
				tile := blas64.General{Rows: strip.Rows, Cols: dense.Width(n, j), Stride: dense.Width(n, j), Data: l.r}
				r := l.r[:tile.Rows*tile.Cols]
				tileDistances(r, e.x, i, j)
				cov(r)
				alpha, beta := 1.0, 1.0
				if j == i {
					alpha, beta = 0.5, 0
				}
				dense.Gemm(blas.NoTrans, blas.NoTrans, alpha, tile, e.rowsOf(j), beta, strip)
			}
			dense.Gemm(blas.Trans, blas.NoTrans, 1, e.rowsOf(i), strip, 1, sum)
		}
	})
	for a := range k {
		for b := range a + 1 {
			var v float64
			for _, sum := range e.sum[:min(lanes, nb)] {
				v += sum.Data[a*k+b] + sum.Data[b*k+a]
			}
			s[a*k+b], s[b*k+a] = v, v
		}
	}
}

// contract weighs ∂K by W = ΩVΩᵀ, a tile of it at a time.
func (e *denseProjected) contract(grad, v []float64, kernel Kernel) {
	n, k := e.omega.Rows, e.omega.Cols
	nb := dense.Blocks(n)
	grow(e.lanes, len(grad))
	vm := blas64.General{Rows: k, Cols: k, Stride: k, Data: v}
	parallel.For(min(lanes, nb), func(c int) {
		l := &e.lanes[c]
		for i := c; i < nb; i += lanes {
			strip := e.strip[c] // rows i of ΩV
			strip.Rows = dense.Width(n, i)
			dense.Gemm(blas.NoTrans, blas.NoTrans, 1, e.rowsOf(i), vm, 0, strip)
			for j := i; j < nb; j++ {
				size := strip.Rows * dense.Width(n, j)
				weight := blas64.General{Rows: strip.Rows, Cols: dense.Width(n, j), Stride: dense.Width(n, j), Data: l.w}
				twice := 2.0 // the tile and its mirror image
				if j == i {
					twice = 1
				}
				dense.Gemm(blas.NoTrans, blas.Trans, twice, strip, e.rowsOf(j), 0, weight)
				tileDistances(l.r[:size], e.x, i, j)
				kernel.Contract(l.grad, l.w[:size], l.r[:size])
			}
		}
	})
	for _, l := range e.lanes {
		add(grad, l.grad)
	}
}
