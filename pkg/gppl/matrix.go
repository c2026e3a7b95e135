package gppl

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/parallel"
)

// What engines do with the columns C for which a loss needs A⁻¹.

// copyGeneral copies src into dst, of the same size.
func copyGeneral(dst, src blas64.General) {
	if dst.Stride == dst.Cols && src.Stride == src.Cols {
		copy(dst.Data, src.Data[:src.Rows*src.Cols])
		return
	}
	for i := range src.Rows {
		copy(dst.Data[i*dst.Stride:][:dst.Cols], src.Data[i*src.Stride:])
	}
}

// products sets g to aᵀb.
func products(g, a, b blas64.General) {
	if a.Cols == 1 && b.Cols == 1 {
		g.Data[0] = blas64.Dot(dense.Column(a, 0), dense.Column(b, 0))
		return
	}
	parallel.For(dense.Blocks(a.Cols), func(i int) {
		part := a
		part.Cols, part.Data = dense.Width(a.Cols, i), a.Data[i*dense.Tile:]
		dense.Gemm(blas.Trans, blas.NoTrans, 1, part, b, 0, rowsFrom(g, i*dense.Tile, part.Cols))
	})
}

// combine returns a·r, in the memory of dst where it does.
func combine(dst, a, r blas64.General) blas64.General {
	dst = dense.Reshape(dst, a.Rows, r.Cols)
	if a.Cols == 1 && r.Cols == 1 {
		copyGeneral(dst, a)
		if r.Data[0] != 1 {
			blas64.Scal(r.Data[0], dense.Column(dst, 0))
		}
		return dst
	}
	dense.Gemm(blas.NoTrans, blas.NoTrans, 1, a, r, 0, dst)
	return dst
}

// manyColumns is from how many columns on matrix products are worth their memory.
const manyColumns = 16

// formOf returns tr(RᵀGR).
func formOf(g, r blas64.General) (form float64) {
	if r.Cols > manyColumns {
		gr := dense.New(g.Rows, r.Cols)
		dense.Gemm(blas.NoTrans, blas.NoTrans, 1, g, r, 0, gr)
		for a := range r.Rows {
			form += blas64.Dot(row(r, a), row(gr, a))
		}
		return form
	}
	for j := range r.Cols {
		for a := range g.Rows {
			for b := range g.Cols {
				form += r.Data[a*r.Stride+j] * g.Data[a*g.Stride+b] * r.Data[b*r.Stride+j]
			}
		}
	}
	return form
}

// spread returns Σ_ij |W_ij|·√(e_i·e_j), W = RRᵀ: twice what a value errs by if the entries g_ij of CᵀA⁻¹C err,
// each by itself, by up to √(e_i·e_j). Columns that A hardly tells apart make W large, and this with it.
func spread(e blas64.Vector, r blas64.General) (sum float64) {
	for i := range r.Rows {
		for j := range i + 1 {
			w := math.Abs(blas64.Dot(row(r, i), row(r, j))) * math.Sqrt(max(0, e.Data[i*e.Inc])) * math.Sqrt(max(0, e.Data[j*e.Inc]))
			if i != j {
				w *= 2
			}
			sum += w
		}
	}
	return sum
}

// diagonalOf returns the diagonal of g.
func diagonalOf(g blas64.General) blas64.Vector {
	return blas64.Vector{N: g.Rows, Inc: g.Stride + 1, Data: g.Data}
}

// sliceOf returns the entries of x, copied unless they lie side by side.
func sliceOf(x blas64.Vector) []float64 {
	if x.Inc == 1 {
		return x.Data[:x.N]
	}
	s := make([]float64, x.N)
	blas64.Copy(x, dense.Vec(s))
	return s
}

// rowsFrom returns count rows of a.
func rowsFrom(a blas64.General, from, count int) blas64.General {
	a.Rows, a.Data = count, a.Data[from*a.Stride:]
	return a
}

// subtractOuter subtracts a·bᵀ from w; with one column in each it is a rank-one
// update.
func subtractOuter(w, a, b blas64.General) {
	if a.Cols == 1 {
		blas64.Ger(-1, dense.Column(a, 0), dense.Column(b, 0), w)
		return
	}
	dense.Gemm(blas.NoTrans, blas.Trans, -1, a, b, 1, w)
}

// combineRows returns rᵀ·a, the combinations of the rows of a, in the memory of dst
// where it does.
func combineRows(dst, a, r blas64.General) blas64.General {
	dst = dense.Reshape(dst, r.Cols, a.Cols)
	clear(dst.Data)
	for j := range r.Cols {
		for i := range a.Rows {
			blas64.Axpy(r.Data[i*r.Stride+j], row(a, i), row(dst, j))
		}
	}
	return dst
}

// row returns row i of a.
func row(a blas64.General, i int) blas64.Vector { return dense.Vec(a.Data[i*a.Stride:][:a.Cols]) }

// quadraticForms sets g to CᵀA⁻¹C = σ⁻²(CᵀC − σ⁻²bᵀh), for A of low rank plus σ²I that
// features represent: b is C on the features, h the solution for it.
func quadraticForms(g, cc, b, h blas64.General, noise float64) {
	for i := range g.Rows {
		for j := range i + 1 {
			bh := blas64.Dot(dense.Column(b, i), dense.Column(h, j))
			v := (cc.Data[i*cc.Stride+j] - bh/noise) / noise
			g.Data[i*g.Stride+j], g.Data[j*g.Stride+i] = v, v
		}
	}
}

func trace(a blas64.General) float64 {
	var s float64
	for i := range a.Rows {
		s += a.Data[i*a.Stride+i]
	}
	return s
}

func columnOf(x []float64) blas64.General {
	return blas64.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}
}

func add(dst, src []float64) {
	for i, v := range src {
		dst[i] += v
	}
}

func addDiagonal(a blas64.General, v float64) {
	for i := range a.Rows {
		a.Data[i*a.Stride+i] += v
	}
}

// columnsOf returns block b of the columns of a.
func columnsOf(a blas64.General, b int) blas64.General {
	a.Data = a.Data[b*dense.Tile:]
	a.Cols = dense.Width(a.Cols, b)
	return a
}

// addSquares adds sign times the squared length of each column of a to v.
func addSquares(v []float64, sign float64, a blas64.General) {
	for i := range a.Rows {
		for j, w := range a.Data[i*a.Stride:][:a.Cols] {
			v[j] += sign * w * w
		}
	}
}

// addOuter adds sign·aᵀa to c.
func addOuter(c *dense.Lower, sign float64, a blas64.General) {
	if a.Rows == 0 {
		return
	}
	c.EachTile(func(i, j int, t blas64.General) {
		dense.Gemm(blas.Trans, blas.NoTrans, sign, columnsOf(a, i), columnsOf(a, j), 1, t)
	})
}

// subtractProduct subtracts a·bᵀ, which must be symmetric, from c.
func subtractProduct(c *dense.Lower, a, b blas64.General) {
	c.EachTile(func(i, j int, t blas64.General) {
		a, b := a, b
		a.Rows, a.Data = t.Rows, a.Data[i*dense.Tile*a.Stride:]
		b.Rows, b.Data = t.Cols, b.Data[j*dense.Tile*b.Stride:]
		dense.Gemm(blas.NoTrans, blas.Trans, -1, a, b, 1, t)
	})
}

// symmetric copies g into a SymDense.
func symmetric(g blas64.General) *mat.SymDense {
	return mat.NewSymDense(g.Rows, slices.Clone(g.Data))
}

// halfProducts returns ½⟨m_a, m_b⟩ for all pairs of the given matrices.
func halfProducts(m []blas64.General) *mat.SymDense {
	h := mat.NewSymDense(len(m), nil)
	for a := range m {
		for b := range a + 1 {
			h.SetSym(a, b, 0.5*blas64.Dot(dense.Vec(m[a].Data), dense.Vec(m[b].Data)))
		}
	}
	return h
}

// multiply returns op(a)·b, a block of rows at a time on all processors.
func multiply(ta blas.Transpose, a, b blas64.General) blas64.General {
	rows := a.Rows
	if ta == blas.Trans {
		rows = a.Cols
	}
	c := dense.New(rows, b.Cols)
	parallel.For(dense.Blocks(rows), func(s int) {
		part := rowBlock(a, s)
		if ta == blas.Trans {
			part = a
			part.Cols, part.Data = dense.Width(rows, s), a.Data[s*dense.Tile:]
		}
		dense.Gemm(ta, blas.NoTrans, 1, part, b, 0, rowBlock(c, s))
	})
	return c
}

// rowBlock returns block s of the rows of g.
func rowBlock(g blas64.General, s int) blas64.General {
	return rowsFrom(g, s*dense.Tile, dense.Width(g.Rows, s))
}

// whiten replaces the symmetric matrix w by L⁻¹wL⁻ᵀ, in 4/3·n³ flops: of the
// second solve only the lower triangle is computed.
func whiten(l *dense.Lower, w blas64.General) {
	n := w.Rows
	nb := dense.Blocks(n)
	parallel.For(nb, func(s int) {
		columns := w
		columns.Cols, columns.Data = dense.Width(n, s), w.Data[s*dense.Tile:]
		l.SolveL(columns)
	})
	parallel.For(nb, func(c int) {
		s := nb - 1 - c // longest row first
		row := rowBlock(w, s)
		tile := func(t int) blas64.General {
			g := row
			g.Cols, g.Data = dense.Width(n, t), row.Data[t*dense.Tile:]
			return g
		}
		for t := range s + 1 {
			for u := range t {
				dense.Gemm(blas.NoTrans, blas.Trans, -1, tile(u), l.At(t, u), 1, tile(t))
			}
			blas64.Trsm(blas.Right, blas.Trans, 1, lowerOf(l.At(t, t)), tile(t))
		}
	})
	for r := range n {
		for c := range r {
			w.Data[c*w.Stride+r] = w.Data[r*w.Stride+c]
		}
	}
}

// mulLT replaces b (n×m) by Lᵀb, in n²m flops.
func mulLT(l *dense.Lower, b blas64.General) {
	nb := dense.Blocks(b.Rows)
	for s := range nb {
		row := rowBlock(b, s)
		blas64.Trmm(blas.Left, blas.Trans, 1, lowerOf(l.At(s, s)), row)
		for t := s + 1; t < nb; t++ {
			dense.Gemm(blas.Trans, blas.NoTrans, 1, l.At(t, s), rowBlock(b, t), 1, row)
		}
	}
}

func lowerOf(a blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: a.Rows, Stride: a.Stride, Data: a.Data}
}

// product sets c = a·op(b), block rows of a in parallel.
func product(ctx context.Context, tb blas.Transpose, a, b, c blas64.General) {
	const rows = 32
	parallel.Within(ctx, (a.Rows+rows-1)/rows, func(i int) {
		ai, ci := a, c
		ai.Rows, ai.Data = min(rows, a.Rows-i*rows), a.Data[i*rows*a.Stride:]
		ci.Rows, ci.Data = ai.Rows, c.Data[i*rows*c.Stride:]
		dense.Gemm(blas.NoTrans, tb, 1, ai, b, 0, ci)
	})
}

// pool keeps values that were used for others to use, so that what works on
// many goroutines allocates as often as it has run at once. Unlike a sync.Pool it
// keeps them across garbage collections: a factor may hold gigabytes, and to
// make it again costs more than it saves. The zero value is empty.
type pool[T any] struct {
	mu   sync.Mutex
	free []*T
}

// get returns one that is free, or a new zero value.
func (p *pool[T]) get() *T {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.free) - 1
	if last < 0 {
		return new(T)
	}
	v := p.free[last]
	p.free = p.free[:last]
	return v
}

// put gives one back; its memory may be used again. It is not to be deferred: what a panic, of
// a kernel or because a context has ended, leaves half done must not come back.
func (p *pool[T]) put(v *T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, v)
}

// eps is the distance from 1 to the next float64.
const eps = 0x1p-52

// A lane is a fixed share of the rows of tiles, with its own accumulators. The division
// into lanes does not depend on the number of processors, so results are the same to
// the last bit.
const lanes = 16

// flopRate is what a core is reckoned to do in matrix products, in flops a
// second, and pairSeconds what evaluating one covariance and its derivatives
// takes. They only have to be right to a factor: engines differ by powers of n.
const (
	flopRate    = 9e9
	pairSeconds = 12e-9
)

// setLower sets l to the lower triangle of a.
func setLower(l *dense.Lower, a blas64.General) {
	l.EachTile(func(i, j int, t blas64.General) {
		for r := range t.Rows {
			copy(t.Data[r*t.Stride:][:t.Cols], a.Data[(i*dense.Tile+r)*a.Stride+j*dense.Tile:])
		}
	})
}
