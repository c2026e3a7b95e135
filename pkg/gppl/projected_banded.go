package gppl

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// bandedProjected multiplies the banded K by Ω: 4n·b·k flops for the value, and
// as many for the gradient.
type bandedProjected struct {
	band       band
	directions directions
	omega      blas64.General // rows in the order of the series
	sorted     bool
	kOmega     blas64.General
}

func newBandedProjected(l *line, d directions) *bandedProjected {
	return &bandedProjected{band: band{line: l}, directions: d, omega: d.shape()}
}

func (e *bandedProjected) name() string { return EngineBanded }

func (e *bandedProjected) forecast(k Kernel, noise float64) forecast {
	width, bytes, ok := e.band.size(k)
	if !ok {
		return cannot(noReach)
	}
	n, kk := float64(e.omega.Rows), float64(e.omega.Cols)
	if bytes += 16 * n * kk; bytes > maxMemory {
		return tooLarge(bytes)
	}
	return forecast{
		seconds: (n*width*(6*kk/flopRate+pairSeconds) + 4*n*kk*kk/flopRate) / 2,
		setup:   e.directions.forming(),
		err:     kk * gramRounding(variance(k)*n, noise),
	}
}

func (e *bandedProjected) gram(s []float64, k Kernel, _ float64, _ bool) error {
	if !e.sorted {
		e.omega, e.sorted = e.band.line.sortRows(e.directions.matrix()), true
		e.kOmega = newGeneral(e.omega.Rows, e.omega.Cols)
	}
	e.band.fill(k, 0)
	e.band.gram.Mul(e.kOmega, e.omega)
	kk := e.omega.Cols
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, e.omega, e.kOmega, 0, blas64.General{Rows: kk, Cols: kk, Stride: kk, Data: s})
	for i := range kk {
		for j := range i {
			v := 0.5 * (s[i*kk+j] + s[j*kk+i])
			s[i*kk+j], s[j*kk+i] = v, v
		}
	}
	return nil
}

// contract weighs ∂K by W = ΩVΩᵀ within the band.
func (e *bandedProjected) contract(grad, v []float64, k Kernel) {
	kk := e.omega.Cols
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, e.omega, blas64.General{Rows: kk, Cols: kk, Stride: kk, Data: v}, 0, e.kOmega)
	e.band.eachTile(&e.band.gram, len(grad), func(l *lane, row, col int, tile blas64.General) {
		size := tile.Rows * tile.Cols
		twice := 2.0 // the tile and its mirror image
		if row == col {
			twice = 1
		}
		left, right := e.kOmega, e.omega
		left.Rows, left.Data = tile.Rows, left.Data[row*left.Stride:]
		right.Rows, right.Data = tile.Cols, right.Data[col*right.Stride:]
		w := blas64.General{Rows: tile.Rows, Cols: tile.Cols, Stride: tile.Cols, Data: l.w[:size]}
		dense.Gemm(blas.NoTrans, blas.Trans, twice, left, right, 0, w)
		r := tile
		r.Data = l.r[:size]
		e.band.distances(r, row, col)
		k.Contract(l.grad, w.Data, r.Data)
	})
	for _, l := range e.band.lanes {
		add(grad, l.grad)
	}
}
