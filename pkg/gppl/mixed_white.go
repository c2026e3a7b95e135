package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// What the mixed engine computes where B is the noise alone: sums over the data, a chunk of observations at a time.

// fillWhite sets EᵀE, and what there is of z and of the features that move, a chunk of observations after another.
func (f *mixedFactor) fillWhite() {
	p, c, s := f.features(), f.engine.line.columns.Cols, f.shift
	f.room()
	f.t.EachTile(func(_, _ int, t blas64.General) { clear(t.Data) })
	clear(f.b.Data)
	clear(f.zz.Data)
	clear(f.moved.Data)
	clear(f.movedB.Data)
	f.eachChunk(func() {
		parallel.Within(f.ctx, dense.Blocks(p), f.addTiles)
		z := rowsFrom(f.rows, p+s, c)
		dense.Gemm(blas.NoTrans, blas.Trans, 1, z, z, 1, f.zz)
		if s > 0 {
			dense.Gemm(blas.NoTrans, blas.Trans, 1, rowsFrom(f.rows, p, s), z, 1, f.movedB)
		}
	})
}

// eachChunk calls visit with the rows of every chunk of the observations.
func (f *mixedFactor) eachChunk(visit func()) {
	n, height := len(f.lambda), f.features()+f.shift+f.engine.line.columns.Cols
	for from := 0; from < n; from += mixedChunk {
		count := min(mixedChunk, n-from)
		if f.from != from || n > mixedChunk {
			f.rows = dense.Reshape(f.rows, height, count)
			f.from = from
			parallel.Within(f.ctx, (count+mixedBlock-1)/mixedBlock, f.fillRows)
		}
		visit()
	}
}

// mixedBlock is how many columns of the rows are filled at a time.
const mixedBlock = 64

// fillRowsOfBlock sets a block of columns of the rows of a chunk.
func (f *mixedFactor) fillRowsOfBlock(k int) {
	l, p := f.engine.line, f.features()
	part := f.rows
	part.Data, part.Cols = part.Data[k*mixedBlock:], min(mixedBlock, f.rows.Cols-k*mixedBlock)
	from := f.from + k*mixedBlock
	f.whitened(rowsFrom(part, 0, p), from)
	middle := l.middle()
	for i := range f.terms {
		w := &f.terms[i]
		if w.moving < 0 {
			continue
		}
		for a := range w.features {
			still := part.Data[(w.first+a)*part.Stride:][:part.Cols]
			for j, v := range still {
				part.Data[(p+w.moving+a)*part.Stride+j] = v * (l.t[from+j] - middle)
			}
		}
	}
	for c := range l.columns.Cols {
		row := part.Data[(p+f.shift+c)*part.Stride:][:part.Cols]
		for j := range row {
			row[j] = l.columns.Data[(from+j)*l.columns.Stride+c] / math.Sqrt(f.lambda[from+j])
		}
	}
}

// whitened sets dst to columns of Eᵀ, from the given observation on, at most mixedBlock of them.
func (f *mixedFactor) whitened(dst blas64.General, from int) {
	var scale [mixedBlock]float64
	for j := range dst.Cols {
		scale[j] = 1 / math.Sqrt(f.lambda[from+j])
	}
	room := f.engine.waves.get()
	for i := range f.terms {
		w := &f.terms[i]
		w.fill(rowsFrom(dst, w.first, w.size), &w.points, from, room)
	}
	f.engine.waves.put(room)
	for a := range dst.Rows {
		row := dst.Data[a*dst.Stride:][:dst.Cols]
		for j := range row {
			row[j] *= scale[j]
		}
	}
}

// addRowOfTiles adds a chunk to a row of tiles of EᵀE, to rows of Eᵀz and to columns of E′ᵀE, the longest row first.
func (f *mixedFactor) addRowOfTiles(k int) {
	p, s := f.features(), f.shift
	i := dense.Blocks(p) - 1 - k
	from, rows := i*dense.Tile, dense.Width(p, i)
	own := rowsFrom(f.rows, from, rows)
	for j := range i + 1 {
		t := f.t.At(i, j)
		dense.Gemm(blas.NoTrans, blas.Trans, 1, own, rowsFrom(f.rows, j*dense.Tile, t.Cols), 1, t)
	}
	dense.Gemm(blas.NoTrans, blas.Trans, 1, own, rowsFrom(f.rows, p+s, f.b.Cols), 1, rowsFrom(f.b, from, rows))
	if s > 0 {
		moved := f.moved
		moved.Cols, moved.Data = rows, moved.Data[from:]
		dense.Gemm(blas.NoTrans, blas.Trans, 1, rowsFrom(f.rows, p, s), own, 1, moved)
	}
}

// noiseSlope returns the derivative in log σ², ½Σ_i σ²e_i²·(A⁻¹ − UUᵀ)_ii.
func (f *mixedFactor) noiseSlope(r blas64.General) float64 {
	p := f.features()
	if f.engine.line.noise.known == nil { // all λ scale with σ²: λ_i(A⁻¹)_ii sums to n − tr(I − T⁻¹)
		var trace float64
		for _, d := range f.diag {
			trace += d
		}
		uu := formOf(f.g, r) - blas64.Dot(dense.Vec(f.u.Data), dense.Vec(f.u.Data))
		return 0.5 * (float64(len(f.lambda)-p) + trace - uu)
	}
	var sum float64
	f.eachChunk(func() { sum += f.noiseSlopeOfChunk(r) })
	return 0.5 * sum
}

// noiseSlopeOfChunk returns Σ_i σ²e_i²/λ_i·(1 − |L⁻¹E_i|² − |((z_i − E_ih)R)|²) over a chunk.
func (f *mixedFactor) noiseSlopeOfChunk(r blas64.General) (sum float64) {
	p, s, c, count := f.features(), f.shift, f.b.Cols, f.rows.Cols
	noise := &f.engine.line.noise
	solved := dense.New(p, count)
	copyGeneral(solved, rowsFrom(f.rows, 0, p))
	parallel.Within(f.ctx, (count+mixedBlock-1)/mixedBlock, func(k int) {
		part := solved
		part.Data, part.Cols = part.Data[k*mixedBlock:], min(mixedBlock, count-k*mixedBlock)
		f.t.SolveL(part)
	})
	rest := dense.New(r.Cols, count) // Rᵀ(z − Eh)ᵀ
	dense.Gemm(blas.Trans, blas.NoTrans, 1, r, rowsFrom(f.rows, p+s, c), 0, rest)
	dense.Gemm(blas.Trans, blas.NoTrans, -1, f.u, rowsFrom(f.rows, 0, p), 1, rest)
	left := make([]float64, count)
	for i := range left {
		left[i] = 1
	}
	addSquares(left, -1, solved)
	addSquares(left, -1, rest)
	for i, v := range left {
		sum += f.noise * noise.weight(f.from+i) / f.lambda[f.from+i] * v
	}
	return sum
}
