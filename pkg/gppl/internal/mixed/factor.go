package mixed

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Series holds the columns Y of n observations, by ascending time.
type Series struct {
	T       []float64
	Middle  float64        // middle of the range
	Columns blas64.General // n×c
}

// Factor is T = I + EᵀE = LLᵀ for the p columns E = B^−½ΦC^½ of all terms, with products of z = B^−½Y and of s columns E′: the
// derivatives of E where frequencies move, times t − t₀, without the angles. B is diagonal, by Fill; otherwise the caller
// calls Allocate and sets the products. T holds EᵀE before Factorise.
//
// It is working memory, which belongs to one goroutine until its last change.
type Factor struct {
	Ctx    context.Context
	Data   Series
	Lambda []float64 // the diagonal of B
	Circle *Circle   // circle of all waves, in which case Lambda is Noise; nil if there is none
	Noise  float64
	Shift  int // s

	T       *dense.Lower
	Inverse *dense.Lower   // L⁻¹
	Diag    []float64      // diagonal of T⁻¹
	Length  []float64      // squared lengths of the columns of E
	B       blas64.General // Eᵀz
	H       blas64.General // T⁻¹Eᵀz
	ZZ      blas64.General // zᵀz
	Moved   blas64.General // E′ᵀE
	MovedB  blas64.General // E′ᵀz
	U       blas64.General // HR, which the caller sets for derivatives of ½log|A| − ½|A^½U|²; R is c×r

	terms   []*Term
	columns int // p

	rows              blas64.General   // Eᵀ, then E′ᵀ, then zᵀ: for one chunk
	from              int              // first observation of the chunk, −1 for none
	parts, movedParts []Columns        // parts of the columns of E and of E′, with Circle
	mirrored          fourier.Mirrored // the moments of Circle
	size              []float64        // lengths of the columns of ΦC^½, with Circle
	block             blas64.General   // block of T⁻¹ for a packet
	along, strip      blas64.General
	work, back        []float64
	residue           blas64.General

	waves    parallel.Pool[rows]
	products parallel.Pool[partScratch]

	fillRows, addTiles, fillPart, fillMoved func(int)
}

// Reset sets the series and the noise λ of each observation, and removes all terms.
func (f *Factor) Reset(ctx context.Context, data Series) {
	f.Ctx, f.Data, f.Circle = ctx, data, nil
	f.terms, f.columns, f.Shift, f.from = f.terms[:0], 0, 0, -1
	if f.fillRows == nil {
		f.fillRows, f.addTiles, f.fillPart, f.fillMoved = f.fillRowsOfBlock, f.addStripOfTiles, f.productsOfPart, f.productsOfMoved
	}
}

// Add adds a term whose columns are set, and begin at Columns. With moves, its frequencies move with its period.
func (f *Factor) Add(w *Term, moves bool) {
	if moves {
		w.Moving = f.Shift
		f.Shift += w.Size
	}
	w.points.Set(f.Data.T, f.Data.Middle, w.Period)
	f.columns += w.Size
	f.terms = append(f.terms, w)
}

// Columns returns p.
func (f *Factor) Columns() int { return f.columns }

// Allocate allocates the products.
func (f *Factor) Allocate() {
	p, c, s := f.columns, f.Data.Columns.Cols, f.Shift
	if f.T == nil || f.T.N() != p {
		f.T, f.Inverse = dense.NewLower(p), nil
	}
	f.T.Ctx = f.Ctx
	f.B, f.ZZ = dense.Reshape(f.B, p, c), dense.Reshape(f.ZZ, c, c)
	f.Moved, f.MovedB = dense.Reshape(f.Moved, s, p), dense.Reshape(f.MovedB, s, c)
}

// chunk is the number of observations processed at a time, block the number processed by one goroutine, and strip the number
// of rows of their products, a part of dense.Tile.
const (
	chunk = 2048
	block = 64
	strip = 16
)

// Bytes estimates the memory of Fill.
func Bytes(n, columns float64) float64 { return 8 * columns * (chunk + 2*n/max(1, n/chunk)) }

// Fill sets the products for the diagonal B of Lambda, one chunk of observations after another.
func (f *Factor) Fill() {
	p, c, s := f.columns, f.Data.Columns.Cols, f.Shift
	f.Allocate()
	f.T.EachTile(func(_, _ int, t blas64.General) { clear(t.Data) })
	clear(f.B.Data)
	clear(f.ZZ.Data)
	clear(f.Moved.Data)
	clear(f.MovedB.Data)
	f.eachChunk(func() {
		parallel.Within(f.Ctx, (p+strip-1)/strip, f.addTiles)
		z := dense.Rows(f.rows, p+s, c)
		dense.Gemm(blas.NoTrans, blas.Trans, 1, z, z, 1, f.ZZ)
		if s > 0 {
			dense.Gemm(blas.NoTrans, blas.Trans, 1, dense.Rows(f.rows, p, s), z, 1, f.MovedB)
		}
	})
}

// eachChunk calls visit with the rows of every chunk of the observations.
func (f *Factor) eachChunk(visit func()) {
	n, height := len(f.Lambda), f.columns+f.Shift+f.Data.Columns.Cols
	for from := 0; from < n; from += chunk {
		count := min(chunk, n-from)
		if f.from != from || n > chunk {
			f.rows = dense.Reshape(f.rows, height, count)
			f.from = from
			parallel.Within(f.Ctx, (count+block-1)/block, f.fillRows)
		}
		visit()
	}
}

// fillRowsOfBlock sets a block of columns of the rows of a chunk.
func (f *Factor) fillRowsOfBlock(k int) {
	p, part := f.columns, f.rows
	part.Data, part.Cols = part.Data[k*block:], min(block, f.rows.Cols-k*block)
	from := f.from + k*block
	f.whitened(dense.Rows(part, 0, p), from)
	for _, w := range f.terms {
		if w.Moving < 0 {
			continue
		}
		for a := range w.Features {
			still := part.Data[(w.First+a)*part.Stride:][:part.Cols]
			for j, v := range still {
				part.Data[(p+w.Moving+a)*part.Stride+j] = v * (f.Data.T[from+j] - f.Data.Middle)
			}
		}
	}
	for c := range f.Data.Columns.Cols {
		row := part.Data[(p+f.Shift+c)*part.Stride:][:part.Cols]
		for j := range row {
			row[j] = f.Data.Columns.Data[(from+j)*f.Data.Columns.Stride+c] / math.Sqrt(f.Lambda[from+j])
		}
	}
}

// whitened sets dst to columns of Eᵀ, from the given observation on, at most block of them.
func (f *Factor) whitened(dst blas64.General, from int) {
	var scale [block]float64
	for j := range dst.Cols {
		scale[j] = 1 / math.Sqrt(f.Lambda[from+j])
	}
	scratch := f.waves.Get()
	for _, w := range f.terms {
		w.fill(dense.Rows(dst, w.First, w.Size), from, scratch)
	}
	f.waves.Put(scratch)
	for a := range dst.Rows {
		row := dst.Data[a*dst.Stride:][:dst.Cols]
		for j := range row {
			row[j] *= scale[j]
		}
	}
}

// addStripOfTiles adds a chunk to a strip of rows of EᵀE, to rows of Eᵀz and to columns of E′ᵀE, the longest strip first.
func (f *Factor) addStripOfTiles(k int) {
	p, s := f.columns, f.Shift
	k = (p+strip-1)/strip - 1 - k
	i, within := k/(dense.Tile/strip), k%(dense.Tile/strip)*strip
	from := k * strip
	rows := min(strip, p-from)
	own := dense.Rows(f.rows, from, rows)
	for j := range i + 1 {
		t := f.T.At(i, j)
		dense.Gemm(blas.NoTrans, blas.Trans, 1, own, dense.Rows(f.rows, j*dense.Tile, t.Cols), 1, dense.Rows(t, within, rows))
	}
	dense.Gemm(blas.NoTrans, blas.Trans, 1, own, dense.Rows(f.rows, p+s, f.B.Cols), 1, dense.Rows(f.B, from, rows))
	if s > 0 {
		moved := f.Moved
		moved.Cols, moved.Data = rows, moved.Data[from:]
		dense.Gemm(blas.NoTrans, blas.Trans, 1, dense.Rows(f.rows, p, s), own, 1, moved)
	}
}

// FillColumns sets dst to (Y, C^½Φ, its derivatives), n×(c+p+s), not whitened.
func (f *Factor) FillColumns(dst blas64.General) {
	p, c, n := f.columns, f.Data.Columns.Cols, len(f.Data.T)
	parallel.Within(f.Ctx, (n+block-1)/block, func(k int) {
		from := k * block
		rows := dense.Rows(dst, from, min(block, n-from))
		scratch := f.waves.Get()
		dense.Copy(dense.Sub(rows, 0, rows.Rows, 0, c), dense.Rows(f.Data.Columns, from, rows.Rows))
		for _, w := range f.terms {
			scratch.columns = dense.Reshape(scratch.columns, w.Size, rows.Rows)
			w.fill(scratch.columns, from, scratch)
			for j := range rows.Rows {
				row := rows.Data[j*rows.Stride:]
				for a := range w.Size {
					row[c+w.First+a] = scratch.columns.Data[a*rows.Rows+j]
				}
				if w.Moving < 0 {
					continue
				}
				away := f.Data.T[from+j] - f.Data.Middle
				for a, v := range row[c+w.First:][:len(w.Features)] {
					row[c+p+w.Moving+a] = away * v
				}
			}
		}
		f.waves.Put(scratch)
	})
}

// Factorise makes T of EᵀE and factorises it. The error is dense.NotPositive.
func (f *Factor) Factorise() error {
	f.Length = dense.Resize(f.Length, f.columns)
	f.T.EachDiagonal(func(i int, v *float64) { f.Length[i] = max(0, *v) }) // rounding may make it negative
	f.T.AddDiagonal(1)
	return f.T.Cholesky()
}

// LogDet returns log|A| where B is diagonal.
func (f *Factor) LogDet() float64 {
	sum := f.T.LogDet()
	for _, v := range f.Lambda {
		sum += math.Log(v)
	}
	return sum
}

// Solve sets H.
func (f *Factor) Solve() {
	f.H = dense.Reshape(f.H, f.B.Rows, f.B.Cols)
	copy(f.H.Data, f.B.Data)
	f.T.Solve(f.H)
}

// Invert sets Inverse and Diag.
func (f *Factor) Invert() {
	p := f.columns
	if f.Inverse == nil {
		f.Inverse = dense.NewLower(p)
	}
	f.Diag = dense.Resize(f.Diag, p)
	f.T.InverseDiagonal(f.Diag, f.Inverse)
}
