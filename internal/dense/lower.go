// Package dense does the linear algebra of symmetric matrices in square tiles,
// on all processors. A tile is contiguous in memory and small enough that
// gonum's Gemm works on it without spawning goroutines or allocating, so that
// the parallelism is between tiles alone.
package dense

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Lower is the lower triangle of an n×n matrix, symmetric or triangular, in
// tiles of Tile×Tile (the last row of tiles may be lower, the last column
// narrower). The tiles on the diagonal are stored whole.
type Lower struct {
	n        int
	tiles    []blas64.General // tiles row by row: (0,0), (1,0), (1,1), (2,0), …
	negative int              // first block whose diagonal in J is −1 (CholeskySigned)

	// Fused makes Cholesky, InvertL and InverseColumn use fused multiply-adds on processors that have them: they round each sum, and
	// no product before it. They are faster (BenchmarkDense of pkg/gppl), and the last digits differ from gonum's. Set it before the
	// first call, and leave it false if results depend on the last digits of a factor (solvePanel).
	Fused bool

	// Ctx, unless nil, is looked at between tiles: once it has ended, methods panic with a parallel.Stop.
	Ctx context.Context

	// The functions are the loops that run in parallel, made once so that calls need not allocate; the other fields are what they
	// run on.
	panel, trailing, invert, below, squares func(int)
	first, column                           int // of the strip; at work, or the one after the strip
	inverse                                 *Lower
	within                                  *[strip * (strip - 1) / 2]packed // packed tiles of the strip, for InvertL
	across                                  []float64                        // transposes of the strip's tiles, if Fused
	diagonal                                []float64
}

// NewLower returns a zero matrix of size n.
func NewLower(n int) *Lower {
	l := &Lower{n: n, negative: Blocks(n)}
	l.panel, l.trailing, l.squares = l.solvePanel, l.updateRow, l.addSquares
	l.invert, l.below = l.invertColumn, l.subtractStrip
	for i := range Blocks(n) {
		for j := range i + 1 {
			r, c := Width(n, i), Width(n, j)
			l.tiles = append(l.tiles, blas64.General{Rows: r, Cols: c, Stride: c, Data: make([]float64, r*c)})
		}
	}
	return l
}

// Blocks returns the number of tiles that cover n rows.
func Blocks(n int) int { return (n + Tile - 1) / Tile }

// Width returns the number of rows in block b of n.
func Width(n, b int) int { return min(Tile, n-b*Tile) }

// N returns the size of the matrix.
func (l *Lower) N() int { return l.n }

// At returns tile (i, j), i ≥ j.
func (l *Lower) At(i, j int) blas64.General { return l.tiles[i*(i+1)/2+j] }

// SetEntry sets entry (i, j) of a symmetric matrix, i ≥ j.
func (l *Lower) SetEntry(i, j int, v float64) {
	t := l.At(i/Tile, j/Tile)
	t.Data[i%Tile*t.Stride+j%Tile] = v
	if i/Tile == j/Tile { // tiles on the diagonal are stored whole
		t.Data[j%Tile*t.Stride+i%Tile] = v
	}
}

// Entry returns entry (i, j), i ≥ j.
func (l *Lower) Entry(i, j int) float64 {
	t := l.At(i/Tile, j/Tile)
	return t.Data[i%Tile*t.Stride+j%Tile]
}

// Within returns a factor whose solves look at ctx, for one goroutine of many that share the tiles. It is not to be factorised.
func (l *Lower) Within(ctx context.Context) *Lower {
	own := *l
	own.Ctx = ctx
	return &own
}

// EachTile calls f once for every tile (i, j), i ≥ j, in parallel.
func (l *Lower) EachTile(f func(i, j int, tile blas64.General)) {
	nb := Blocks(l.n)
	parallel.Within(l.Ctx, nb, func(k int) {
		i := nb - 1 - k // the longest row comes first
		for j := range i + 1 {
			parallel.Look(l.Ctx)
			f(i, j, l.At(i, j))
		}
	})
}

// EachDiagonal calls f for every diagonal entry.
func (l *Lower) EachDiagonal(f func(i int, v *float64)) {
	for b := range Blocks(l.n) {
		t := l.At(b, b)
		for i := range t.Rows {
			f(b*Tile+i, &t.Data[i*t.Stride+i])
		}
	}
}

// AddDiagonal adds v to every diagonal entry.
func (l *Lower) AddDiagonal(v float64) { l.EachDiagonal(func(_ int, own *float64) { *own += v }) }

// AddDiagonals adds d[i] to diagonal entry i.
func (l *Lower) AddDiagonals(d []float64) {
	if len(d) != l.n {
		panic(fmt.Sprintf("dense: %d numbers for a diagonal of %d", len(d), l.n))
	}
	l.EachDiagonal(func(i int, v *float64) { *v += d[i] })
}

// NotPositive is the error of Cholesky: the leading minor that ends in Row is
// not positive definite.
type NotPositive struct{ Row int }

func (e NotPositive) Error() string {
	return fmt.Sprintf("the leading minor of order %d is not positive definite", e.Row+1)
}

// Cholesky replaces a symmetric matrix by its factor L, A = LLᵀ, in n³/3
// flops. On a NotPositive error the contents are lost.
func (l *Lower) Cholesky() error { return l.CholeskySigned(Blocks(l.n)) }

// CholeskySigned replaces a symmetric matrix by its factor L, A = LJLᵀ, where J is 1 on the diagonal in the blocks before
// negative and −1 from there on. There is such a factor, without pivoting, if the leading part is positive definite and the rest
// after eliminating it negative definite (Vanderbei 1995).
func (l *Lower) CholeskySigned(negative int) error {
	nb := Blocks(l.n)
	l.negative = negative
	if l.Fused && l.across == nil {
		l.across = make([]float64, FusedSize(l.n))
	}
	for first := 0; first < nb; first += strip {
		l.first = first
		for j := first; j < min(first+strip, nb); j++ {
			l.column = j
			l.eliminate(j, j, j)
			diag := l.At(j, j)
			if j >= negative {
				blas64.Scal(-1, Vec(diag.Data))
			}
			if err := potrf(diag); err != nil {
				err.Row += j * Tile
				return *err
			}
			parallel.Within(l.Ctx, nb-j-1, l.panel)
		}
		l.column = first + strip
		parallel.Within(l.Ctx, nb-l.column, l.trailing)
	}
	return nil
}

// strip is the number of columns of tiles that are eliminated from the others together: each tile is then read and written once
// for as many products.
const strip = 4

// FusedSize returns how many numbers Cholesky of a Fused matrix of size n holds besides it: the transposes of a strip's tiles,
// none for a single tile.
func FusedSize(n int) int { return (Blocks(n) - 1) * strip * Tile * Tile }

// sign is the diagonal of J in a block.
func (l *Lower) sign(block int) float64 {
	if block >= l.negative {
		return -1
	}
	return 1
}

// eliminate subtracts from the tiles (i, from) to (i, to) the products of the strip's columns before l.column.
func (l *Lower) eliminate(i, from, to int) {
	if l.first == l.column {
		return
	}
	if l.Fused {
		l.eliminateFused(i, from, to)
		return
	}
	for c := from; c <= to; c++ {
		for j := l.first; j < l.column; j++ {
			Gemm(blas.NoTrans, blas.Trans, -l.sign(j), l.At(i, j), l.At(c, j), 1, l.At(i, c))
		}
	}
}

// strips holds packed rows of a strip.
var strips = sync.Pool{New: func() any { return new([strip]packed) }}

// eliminateFused does as eliminate. Row i of the strip is packed once for all tiles.
func (l *Lower) eliminateFused(i, from, to int) {
	row := strips.Get().(*[strip]packed)
	for j := l.first; j < l.column; j++ {
		row[j-l.first].set(true, blas.NoTrans, -l.sign(j), l.At(i, j))
	}
	for c := from; c <= to; c++ {
		for j := l.first; j < l.column; j++ {
			next := l.transposed(min(c+1, to), l.first)
			if j+1 < l.column {
				next = l.transposed(c, j+1)
			}
			row[j-l.first].addTo(lowerIf(i, c, lowerC), l.transposed(c, j), l.At(i, c), next)
		}
	}
	strips.Put(row)
}

// transposed returns the memory for the transpose of tile (i, j) of the strip.
func (l *Lower) transposed(i, j int) blas64.General {
	rows := Width(l.n, i)
	return blas64.General{Rows: Tile, Cols: rows, Stride: rows, Data: l.across[((i-1)*strip+j-l.first)*Tile*Tile:][:Tile*rows]}
}

// CholeskyWithJitter factorises the matrix that fill writes. If that fails it adds jitter to the diagonal, from 1e-12 of scale
// upwards by tens to 1e-6 of scale, and returns the jitter.
func (l *Lower) CholeskyWithJitter(scale float64, fill func()) (jitter float64, err error) {
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

// solvePanel makes factors of the tiles below the diagonal one. Unless l is Fused, it uses gonum's Trsm because draws from nearly
// singular covariances, such as the paper's simulated data, change with the rounding of L.
func (l *Lower) solvePanel(k int) {
	j := l.column
	i := j + 1 + k
	l.eliminate(i, j, j)
	if l.Fused {
		t := l.transposed(i, j)
		transpose(t, l.At(i, j))
		l.substitute(j, l.sign(j), t)
		transpose(l.At(i, j), t)
		return
	}
	blas64.Trsm(blas.Right, blas.Trans, l.sign(j), lowerTriangle(l.At(j, j)), l.At(i, j))
}

// substitute replaces b by sign·L_ii⁻¹b, with fused products if l is Fused.
func (l *Lower) substitute(i int, sign float64, b blas64.General) {
	t := lowerTriangle(l.At(i, i))
	if !l.Fused || !solveByFours(true, sign, t, b) {
		Trsm(blas.Left, blas.NoTrans, sign, t, b)
	}
}

// updateRow eliminates a strip of columns of tiles from a row of the tiles to its right.
func (l *Lower) updateRow(k int) {
	i := Blocks(l.n) - 1 - k // the longest row comes first
	l.eliminate(i, l.column, i)
}

// potrf factorises one tile in place and clears the part above its diagonal.
func potrf(a blas64.General) *NotPositive {
	for i := range a.Rows {
		ri := a.Data[i*a.Stride : i*a.Stride+i+1]
		for j := range i {
			rj := a.Data[j*a.Stride : j*a.Stride+j+1]
			ri[j] = (ri[j] - blas64.Dot(Vec(ri[:j]), Vec(rj[:j]))) / rj[j]
		}
		d := ri[i] - blas64.Dot(Vec(ri[:i]), Vec(ri[:i]))
		if !(d > 0) || math.IsInf(d, 0) { // NaN fails too
			return &NotPositive{i}
		}
		ri[i] = math.Sqrt(d)
		clear(a.Data[i*a.Stride+i+1 : i*a.Stride+a.Cols])
	}
	return nil
}

// LogDet returns log|A| = 2·Σ log L_ii of a Cholesky factor.
func (l *Lower) LogDet() float64 {
	var s float64
	l.EachDiagonal(func(_ int, v *float64) { s += math.Log(*v) })
	return 2 * s
}

// MinDiagonal returns the smallest entry on the diagonal. For a Cholesky factor it bounds the root of the smallest eigenvalue of
// A from above.
func (l *Lower) MinDiagonal() float64 {
	least := math.Inf(1)
	l.EachDiagonal(func(_ int, v *float64) { least = min(least, *v) })
	return least
}

// Set sets l to the lower triangle of a.
func (l *Lower) Set(a blas64.General) {
	for i := range Blocks(l.n) {
		for j := range i + 1 {
			Copy(l.At(i, j), columnBlock(RowBlock(a, i), j))
		}
	}
}

// Transposed returns the transpose of a triangular matrix, zeros below its diagonal.
func (l *Lower) Transposed() blas64.General {
	a := New(l.n, l.n)
	for i := range Blocks(l.n) {
		for j := range i + 1 {
			t := l.At(i, j)
			for r := range t.Rows {
				for c, v := range Row(t, r).Data {
					if row := i*Tile + r; j*Tile+c <= row {
						a.Data[(j*Tile+c)*a.Stride+row] = v
					}
				}
			}
		}
	}
	return a
}

// AddOuter adds sign·aᵀa to l.
func (l *Lower) AddOuter(sign float64, a blas64.General) {
	if a.Rows == 0 {
		return
	}
	l.EachTile(func(i, j int, t blas64.General) {
		Gemm(blas.Trans, blas.NoTrans, sign, columnBlock(a, i), columnBlock(a, j), 1, t)
	})
}

// SubtractProduct subtracts a·bᵀ, which must be symmetric, from l.
func (l *Lower) SubtractProduct(a, b blas64.General) {
	l.EachTile(func(i, j int, t blas64.General) {
		Gemm(blas.NoTrans, blas.Trans, -1, RowBlock(a, i), RowBlock(b, j), 1, t)
	})
}

// Whiten replaces the symmetric matrix w by L⁻¹wL⁻ᵀ, in 4/3·n³ flops. The second solve computes only the lower triangle.
func (l *Lower) Whiten(w blas64.General) {
	nb := Blocks(l.n)
	parallel.Within(l.Ctx, nb, func(s int) { l.SolveL(columnBlock(w, s)) })
	parallel.Within(l.Ctx, nb, func(c int) {
		s := nb - 1 - c // the longest row comes first
		row := RowBlock(w, s)
		for t := range s + 1 {
			parallel.Look(l.Ctx)
			for u := range t {
				Gemm(blas.NoTrans, blas.Trans, -1, columnBlock(row, u), l.At(t, u), 1, columnBlock(row, t))
			}
			Trsm(blas.Right, blas.Trans, 1, lowerTriangle(l.At(t, t)), columnBlock(row, t))
		}
	})
	mirror(w)
}

// SolveL replaces b (n×m) by L⁻¹b, in n²m flops.
func (l *Lower) SolveL(b blas64.General) {
	for i := range Blocks(l.n) {
		parallel.Look(l.Ctx)
		bi := RowBlock(b, i)
		for j := range i {
			Gemm(blas.NoTrans, blas.NoTrans, -1, l.At(i, j), RowBlock(b, j), 1, bi)
		}
		Trsm(blas.Left, blas.NoTrans, 1, lowerTriangle(l.At(i, i)), bi)
	}
}

// SolveLT replaces b (n×m) by L⁻ᵀb, in n²m flops.
func (l *Lower) SolveLT(b blas64.General) {
	nb := Blocks(l.n)
	for i := nb - 1; i >= 0; i-- {
		parallel.Look(l.Ctx)
		bi := RowBlock(b, i)
		for j := i + 1; j < nb; j++ {
			Gemm(blas.Trans, blas.NoTrans, -1, l.At(j, i), RowBlock(b, j), 1, bi)
		}
		Trsm(blas.Left, blas.Trans, 1, lowerTriangle(l.At(i, i)), bi)
	}
}

// Solve replaces b (n×m) by A⁻¹b = L⁻ᵀJL⁻¹b, in 2n²m flops.
func (l *Lower) Solve(b blas64.General) {
	l.SolveL(b)
	for i := l.negative * Tile; i < l.n; i++ {
		blas64.Scal(-1, Row(b, i))
	}
	l.SolveLT(b)
}

// SolveUnit sets z, of n numbers, to L⁻¹e_i, in (n−i)² flops.
func (l *Lower) SolveUnit(z []float64, i int) {
	clear(z)
	z[i] = 1
	first := i / Tile
	for r := first; r < Blocks(l.n); r++ {
		y := Vec(z[r*Tile:][:Width(l.n, r)])
		for c := first; c < r; c++ {
			blas64.Gemv(blas.NoTrans, -1, l.At(r, c), Vec(z[c*Tile:][:Tile]), 1, y)
		}
		blas64.Trsv(blas.NoTrans, lowerTriangle(l.At(r, r)), y)
	}
}

// SolveLRight replaces b (m×n) by b·L⁻¹, in n²m flops.
func (l *Lower) SolveLRight(b blas64.General) {
	nb := Blocks(l.n)
	for j := nb - 1; j >= 0; j-- {
		parallel.Look(l.Ctx)
		bj := columnBlock(b, j)
		for k := j + 1; k < nb; k++ {
			Gemm(blas.NoTrans, blas.NoTrans, -1, columnBlock(b, k), l.At(k, j), 1, bj)
		}
		Trsm(blas.Right, blas.NoTrans, 1, lowerTriangle(l.At(j, j)), bj)
	}
}

// SolveLTRight replaces b (m×n) by b·L⁻ᵀ, in n²m flops.
func (l *Lower) SolveLTRight(b blas64.General) {
	for j := range Blocks(l.n) {
		parallel.Look(l.Ctx)
		bj := columnBlock(b, j)
		for k := range j {
			Gemm(blas.NoTrans, blas.Trans, -1, columnBlock(b, k), l.At(j, k), 1, bj)
		}
		Trsm(blas.Right, blas.Trans, 1, lowerTriangle(l.At(j, j)), bj)
	}
}

// MulL sets b (n×m) to L·b, in n²m flops.
func (l *Lower) MulL(b blas64.General) {
	for i := Blocks(l.n) - 1; i >= 0; i-- {
		parallel.Look(l.Ctx)
		bi := RowBlock(b, i)
		blas64.Trmm(blas.Left, blas.NoTrans, 1, lowerTriangle(l.At(i, i)), bi)
		for j := range i {
			Gemm(blas.NoTrans, blas.NoTrans, 1, l.At(i, j), RowBlock(b, j), 1, bi)
		}
	}
}

// MulLT sets b (n×m) to Lᵀ·b, in n²m flops.
func (l *Lower) MulLT(b blas64.General) {
	nb := Blocks(l.n)
	for i := range nb {
		parallel.Look(l.Ctx)
		bi := RowBlock(b, i)
		blas64.Trmm(blas.Left, blas.Trans, 1, lowerTriangle(l.At(i, i)), bi)
		for j := i + 1; j < nb; j++ {
			Gemm(blas.Trans, blas.NoTrans, 1, l.At(j, i), RowBlock(b, j), 1, bi)
		}
	}
}

// InvertL sets dst to L⁻¹, in n³/3 flops. dst and l must not share storage.
func (l *Lower) InvertL(dst *Lower) {
	nb := Blocks(l.n)
	l.inverse = dst
	p := pairs.Get().(*[strip * (strip - 1) / 2]packed)
	l.within = p
	for first := 0; first < nb; first += strip {
		l.first, l.column = first, min(first+strip, nb)
		for i := first; i < l.column; i++ {
			for k := first; k < i; k++ {
				l.between(i, k).set(l.Fused, blas.NoTrans, -1, l.At(i, k))
			}
		}
		parallel.Within(l.Ctx, l.column, l.invert)
		parallel.Within(l.Ctx, nb-l.column, l.below)
	}
	l.within = nil
	pairs.Put(p)
}

// pairs holds packed tiles of L in the rows of a strip of columns.
var pairs = sync.Pool{New: func() any { return new([strip * (strip - 1) / 2]packed) }}

// between returns the packed tile (i, k) of L of two columns i > k of the strip.
func (l *Lower) between(i, k int) *packed {
	i, k = i-l.first, k-l.first
	return &l.within[i*(i-1)/2+k]
}

// invertColumn completes column j of M = L⁻¹ in the rows of the strip, M_ij = −L_ii⁻¹·Σ_k L_ik·M_kj, from which the sums over the
// columns before the strip are subtracted.
func (l *Lower) invertColumn(j int) {
	m := l.inverse
	for i := max(l.first, j); i < l.column; i++ {
		if i == j {
			copy(m.At(i, i).Data, l.At(i, i).Data)
			if !lapack64.Trtri(lowerTriangle(m.At(i, i))) {
				panic("dense: zero on the diagonal of a Cholesky factor")
			}
			continue
		}
		if j >= l.first {
			Zero(m.At(i, j))
		}
		for k := max(l.first, j); k < i; k++ {
			l.between(i, k).addTo(lowerIf(k, j, lowerB), m.At(k, j), m.At(i, j), m.At(min(k+1, i), j))
		}
		l.substitute(i, 1, m.At(i, j))
	}
}

// subtractStrip subtracts L_ik·M_kj for all columns k of the strip from a row M_ij below it. The row of L is packed once for all
// j.
func (l *Lower) subtractStrip(row int) {
	i, m := l.column+row, l.inverse
	of := strips.Get().(*[strip]packed)
	for k := l.first; k < l.column; k++ {
		of[k-l.first].set(l.Fused, blas.NoTrans, -1, l.At(i, k))
	}
	for j := range l.column {
		parallel.Look(l.Ctx)
		if j >= l.first {
			Zero(m.At(i, j))
		}
		for k := max(l.first, j); k < l.column; k++ {
			next := m.At(max(l.first, j+1), min(j+1, l.column-1))
			if k+1 < l.column {
				next = m.At(k+1, j)
			}
			of[k-l.first].addTo(lowerIf(k, j, lowerB), m.At(k, j), m.At(i, j), next)
		}
	}
	strips.Put(of)
}

// InverseDiagonal sets d to the diagonal of A⁻¹ = MᵀJM and m to M = L⁻¹, in n³/3 flops.
func (l *Lower) InverseDiagonal(d []float64, m *Lower) {
	l.InvertL(m)
	clear(d)
	l.diagonal = d
	parallel.Within(l.Ctx, Blocks(l.n), l.squares)
	l.diagonal = nil
}

// addSquares adds a column of tiles of M to the diagonal.
func (l *Lower) addSquares(j int) {
	d := l.diagonal[j*Tile:][:Width(l.n, j)]
	for i := j; i < Blocks(l.n); i++ {
		AddSquares(d, l.sign(i), l.inverse.At(i, j))
	}
}

// InverseTile sets dst to tile (i, j), i ≥ j, of A⁻¹ = MᵀM, where m = M = L⁻¹.
// All tiles together take n³/3 flops.
func (m *Lower) InverseTile(dst blas64.General, i, j int) {
	beta := 0.0
	for k := i; k < Blocks(m.n); k++ {
		Gemm(blas.Trans, blas.NoTrans, 1, m.At(k, i), m.At(k, j), beta, dst)
		beta = 1
	}
}

// inverseColumns holds packed columns of tiles.
var inverseColumns = sync.Pool{New: func() any { return new([]packed) }}

// InverseColumn calls visit with each tile (i, j), i ≥ j, of a column of A⁻¹ = MᵀM, where m = M = L⁻¹, in scratch for a tile. The
// digits agree with InverseTile unless m is Fused. It computes the transposes of the tiles, so that column j of M is packed once
// for all of them.
func (m *Lower) InverseColumn(j int, scratch []float64, visit func(i int, t blas64.General)) {
	nb := Blocks(m.n)
	column, memory := inverseColumns.Get().(*[]packed), transposes.Get().(*[Tile * Tile]float64)
	*column = slices.Grow((*column)[:0], nb)[:nb]
	for k := j; k < nb; k++ {
		(*column)[k].set(m.Fused, blas.Trans, 1, m.At(k, j))
	}
	for i := j; i < nb; i++ {
		parallel.Look(m.Ctx)
		rows, cols := Width(m.n, j), Width(m.n, i)
		t := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: memory[:rows*cols]}
		Zero(t)
		for k := i; k < nb; k++ {
			next := m.At(min(i+1, nb-1), min(i+1, nb-1))
			if k+1 < nb {
				next = m.At(k+1, i)
			}
			(*column)[k].addTo(lowerIf(k, i, lowerB)|lowerIf(i, j, lowerC), m.At(k, i), t, next)
		}
		if i == j {
			mirror(t)
		}
		dst := blas64.General{Rows: cols, Cols: rows, Stride: rows, Data: scratch[:rows*cols]}
		transpose(dst, t)
		visit(i, dst)
	}
	transposes.Put(memory)
	inverseColumns.Put(column)
}

// mirror copies what is below the diagonal of a to its other side.
func mirror(a blas64.General) {
	for r := range a.Rows {
		for c := range r {
			a.Data[c*a.Stride+r] = a.Data[r*a.Stride+c]
		}
	}
}

// Inverse sets dst, n×n, to A⁻¹ for m = L⁻¹, both triangles.
func (m *Lower) Inverse(dst blas64.General) {
	for i := range Blocks(m.n) {
		parallel.Look(m.Ctx)
		for j := range i + 1 {
			m.InverseTile(columnBlock(RowBlock(dst, i), j), i, j)
		}
	}
	mirror(dst)
}

// RowSquares calls visit for each row of L with Σ_j L_ij², which is A_ii, and L_ii², the part of A_ii that earlier rows do not
// explain.
func (l *Lower) RowSquares(visit func(row int, all, left float64)) {
	for i := range Blocks(l.n) {
		for a := range l.At(i, i).Rows {
			var all float64
			for j := range i + 1 {
				row := Row(l.At(i, j), a)
				if i == j {
					row.N, row.Data = a+1, row.Data[:a+1]
				}
				all += blas64.Dot(row, row)
			}
			pivot := l.At(i, i).Data[a*l.At(i, i).Stride+a]
			visit(i*Tile+a, all, pivot*pivot)
		}
	}
}

// InverseBlock sets dst to rows and columns first, first + 1, … of A⁻¹ = MᵀM, where m = M = L⁻¹, with the working memory of
// strip, which it returns.
func (m *Lower) InverseBlock(dst blas64.General, first int, strip blas64.General) blas64.General {
	count := dst.Cols
	strip = Reshape(strip, Tile, count)
	beta := 0.0
	for i := first / Tile; i < Blocks(m.n); i++ {
		part := Rows(strip, 0, Width(m.n, i))
		for a := range part.Rows {
			own := Row(part, a).Data
			for k := 0; k < count; {
				j, c := (first+k)/Tile, (first+k)%Tile
				width := min(count-k, Tile-c)
				if j > i {
					clear(own[k:])
					break
				}
				t := m.At(i, j)
				copy(own[k:k+width], t.Data[a*t.Stride+c:])
				if j == i { // above the diagonal the tile is not L⁻¹
					clear(own[k+max(0, min(width, a+1-c)) : k+width])
				}
				k += width
			}
		}
		Gemm(blas.Trans, blas.NoTrans, 1, part, part, beta, dst)
		beta = 1
	}
	return strip
}

func lowerTriangle(a blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: a.Rows, Stride: a.Stride, Data: a.Data}
}
