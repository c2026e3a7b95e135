package dense

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/parallel"
)

// The functions below compute products of matrices, some with few columns and many rows, and what follows from them.

// Copy copies src into dst, of the same size.
func Copy(dst, src blas64.General) {
	if dst.Stride == dst.Cols && src.Stride == src.Cols {
		copy(dst.Data, src.Data[:src.Rows*src.Cols])
		return
	}
	for i := range src.Rows {
		copy(dst.Data[i*dst.Stride:][:dst.Cols], src.Data[i*src.Stride:])
	}
}

// deepest is a multiple of the number of terms of a sum that Gemm takes at a time, so that pieces of so many have the same
// digits.
const deepest = 4096

// Mul sets c to op(a)·b, a block of its rows at a time on all processors, until ctx ends (parallel.Within). Long sums are
// taken in pieces between looks at ctx.
func Mul(ctx context.Context, c blas64.General, ta blas.Transpose, a, b blas64.General) {
	parallel.Within(ctx, Blocks(c.Rows), func(i int) {
		part := RowBlock
		if ta == blas.Trans {
			part = columnBlock
		}
		ai, ci := part(a, i), RowBlock(c, i)
		depth := max(deepest, int(pieceFlops/(2*float64(ci.Rows)*float64(max(1, c.Cols))))/deepest*deepest)
		if b.Rows <= depth {
			Gemm(ta, blas.NoTrans, 1, ai, b, 0, ci)
			return
		}
		for from, beta := 0, 0.0; from < b.Rows; from, beta = from+depth, 1 {
			parallel.Look(ctx)
			count := min(depth, b.Rows-from)
			piece := Sub(ai, 0, ai.Rows, from, min(from+count, ai.Cols))
			if ta == blas.Trans {
				piece = Rows(ai, from, count)
			}
			Gemm(ta, blas.NoTrans, 1, piece, Rows(b, from, count), beta, ci)
		}
	})
}

// Square sets g to aᵀa on all processors. It leaves out the products of the last unread columns with one another, except in tiles
// that also have other products.
func Square(g, a blas64.General, unread int) {
	if a.Cols == 1 {
		g.Data[0] = blas64.Dot(Column(a, 0), Column(a, 0))
		return
	}
	parallel.For(Blocks(a.Cols), func(i int) {
		i = Blocks(a.Cols) - 1 - i // the longest block comes first
		from, end := i*Tile, i*Tile+Width(a.Cols, i)
		read := end
		if from >= a.Cols-unread {
			read = a.Cols - unread
		}
		if read == 0 {
			return
		}
		below := Sub(g, from, end, 0, read)
		Gemm(blas.Trans, blas.NoTrans, 1, columnBlock(a, i), Sub(a, 0, a.Rows, 0, read), 0, below)
		for j := range below.Rows {
			for k, v := range Row(below, j).Data[:min(read, from)] {
				g.Data[k*g.Stride+from+j] = v
			}
		}
	})
}

// ProductWithin returns op(a)·b, computed as by Mul, until ctx ends (parallel.Within).
func ProductWithin(ctx context.Context, ta blas.Transpose, a, b blas64.General) blas64.General {
	rows := a.Rows
	if ta == blas.Trans {
		rows = a.Cols
	}
	c := New(rows, b.Cols)
	Mul(ctx, c, ta, a, b)
	return c
}

// Combine returns a·r, in the memory of dst if that suffices. Where r is zero above or below, as a triangular one is, it takes
// less time.
func Combine(dst, a, r blas64.General) blas64.General {
	dst = Reshape(dst, a.Rows, r.Cols)
	if a.Cols == 1 && r.Cols == 1 {
		Copy(dst, a)
		if r.Data[0] != 1 {
			blas64.Scal(r.Data[0], Column(dst, 0))
		}
		return dst
	}
	for j := 0; j < r.Cols; j += Tile {
		to := min(j+Tile, r.Cols)
		from, end := nonZero(Sub(r, 0, r.Rows, j, to))
		if from == end {
			Zero(Sub(dst, 0, dst.Rows, j, to))
			continue
		}
		Gemm(blas.NoTrans, blas.NoTrans, 1, Sub(a, 0, a.Rows, from, end), Sub(r, from, end, j, to), 0, Sub(dst, 0, dst.Rows, j, to))
	}
	return dst
}

// nonZero returns the range of rows in which a is not zero.
func nonZero(a blas64.General) (from, to int) {
	zero := func(i int) bool {
		for _, v := range Row(a, i).Data {
			if v != 0 {
				return false
			}
		}
		return true
	}
	to = a.Rows
	for to > 0 && zero(to-1) {
		to--
	}
	for from < to && zero(from) {
		from++
	}
	return from, to
}

// CombineRows returns rᵀ·a, the combinations of the rows of a, in the memory of dst if that suffices.
func CombineRows(dst, a, r blas64.General) blas64.General {
	dst = Reshape(dst, r.Cols, a.Cols)
	clear(dst.Data)
	for j := range r.Cols {
		for i := range a.Rows {
			blas64.Axpy(r.Data[i*r.Stride+j], Row(a, i), Row(dst, j))
		}
	}
	return dst
}

// ManyColumns is the number of columns from which matrix products are worth their memory.
const ManyColumns = 16

// Form returns tr(RᵀGR).
func Form(g, r blas64.General) (form float64) {
	if r.Cols > ManyColumns {
		gr := New(g.Rows, r.Cols)
		Gemm(blas.NoTrans, blas.NoTrans, 1, g, r, 0, gr)
		for a := range r.Rows {
			form += blas64.Dot(Row(r, a), Row(gr, a))
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

// Spread returns Σ_ij |W_ij|·√(e_i·e_j), W = RRᵀ. This is twice the error of ½tr(RᵀGR) if the entries g_ij err, each by itself,
// by up to √(e_i·e_j).
func Spread(e blas64.Vector, r blas64.General) (sum float64) {
	for i := range r.Rows {
		for j := range i + 1 {
			w := math.Abs(blas64.Dot(Row(r, i), Row(r, j))) * math.Sqrt(max(0, e.Data[i*e.Inc])) * math.Sqrt(max(0, e.Data[j*e.Inc]))
			if i != j {
				w *= 2
			}
			sum += w
		}
	}
	return sum
}

// SubtractOuter subtracts a·bᵀ from w; with one column in each it is a rank-one update.
func SubtractOuter(w, a, b blas64.General) {
	if a.Cols == 1 {
		blas64.Ger(-1, Column(a, 0), Column(b, 0), w)
		return
	}
	Gemm(blas.NoTrans, blas.Trans, -1, a, b, 1, w)
}

// LowRankForms sets g to CᵀA⁻¹C = σ⁻²(CᵀC − σ⁻²bᵀh) for A = FᵀJF + σ²I, where F has few rows and J = ±1 is diagonal. It takes
// cc = CᵀC, b = FC and h = (J + σ⁻²FFᵀ)⁻¹b.
func LowRankForms(g, cc, b, h blas64.General, noise float64) {
	for i := range g.Rows {
		for j := range i + 1 {
			bh := blas64.Dot(Column(b, i), Column(h, j))
			v := (cc.Data[i*cc.Stride+j] - bh/noise) / noise
			g.Data[i*g.Stride+j], g.Data[j*g.Stride+i] = v, v
		}
	}
}

// Trace returns the sum of the diagonal of a square matrix.
func Trace(a blas64.General) (sum float64) {
	for i := range a.Rows {
		sum += a.Data[i*a.Stride+i]
	}
	return sum
}

// Add adds src to dst.
func Add(dst, src []float64) {
	for i, v := range src {
		dst[i] += v
	}
}

// SquaredDistance returns |a − b|².
func SquaredDistance(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return sum
}

// Difference returns a − b.
func Difference(a, b blas64.General) blas64.General {
	c := New(a.Rows, a.Cols)
	for i := range a.Rows {
		blas64.Copy(Row(a, i), Row(c, i))
		blas64.Axpy(-1, Row(b, i), Row(c, i))
	}
	return c
}

// AddDiagonal adds v to the diagonal of a.
func AddDiagonal(a blas64.General, v float64) {
	for i := range a.Rows {
		a.Data[i*a.Stride+i] += v
	}
}

// AddSquares adds sign times the squared length of each column of a to v.
func AddSquares(v []float64, sign float64, a blas64.General) {
	for i := range a.Rows {
		for j, w := range a.Data[i*a.Stride:][:a.Cols] {
			v[j] += sign * w * w
		}
	}
}

// Symmetrise replaces a by ½(a + aᵀ).
func Symmetrise(a blas64.General) {
	for i := range a.Rows {
		for j := range i {
			v := 0.5 * (a.Data[i*a.Stride+j] + a.Data[j*a.Stride+i])
			a.Data[i*a.Stride+j], a.Data[j*a.Stride+i] = v, v
		}
	}
}

// Symmetric copies g into a SymDense.
func Symmetric(g blas64.General) *mat.SymDense {
	return mat.NewSymDense(g.Rows, slices.Clone(g.Data))
}

// HalfProducts returns ½⟨m_a, m_b⟩ for all pairs of the given matrices.
func HalfProducts(m []blas64.General) *mat.SymDense {
	h := mat.NewSymDense(len(m), nil)
	for a := range m {
		for b := range a + 1 {
			h.SetSym(a, b, 0.5*blas64.Dot(Vec(m[a].Data), Vec(m[b].Data)))
		}
	}
	return h
}

// Lengths returns the lengths of the columns of a.
func Lengths(a blas64.General) (all []float64) {
	for j := range a.Cols {
		all = append(all, blas64.Nrm2(Column(a, j)))
	}
	return all
}

// Weighted returns aᵀDa for a diagonal D.
func Weighted(ctx context.Context, a blas64.General, d []float64) blas64.General {
	scaled := New(a.Rows, a.Cols)
	Copy(scaled, a)
	ScaleRows(scaled, d)
	return ProductWithin(ctx, blas.Trans, a, scaled)
}

// LargestOnDiagonal returns the largest entry on the diagonal of the k×k matrix a, row by row, no less than 0.
func LargestOnDiagonal(a []float64, k int) (v float64) {
	for i := 0; i < len(a); i += k + 1 {
		v = max(v, a[i])
	}
	return v
}

// LeastEigenvalue returns a lower bound on the eigenvalues of the positive definite k×k matrix a, row by row, 1/‖a⁻¹‖₁, and an
// estimate of its condition number; 1 and 1 for nil, which stands for I. It takes k³/3 flops, until ctx ends (parallel.Apart).
func LeastEigenvalue(ctx context.Context, a []float64, k int) (least, cond float64) {
	if a == nil {
		return 1, 1
	}
	s := mat.NewSymDense(k, a)
	norm := mat.Norm(s, 1)
	var chol mat.Cholesky
	var definite bool
	parallel.Apart(ctx, func() { definite = chol.Factorize(s) })
	if !definite {
		return 0x1p-53 * norm, 0x1p53
	}
	cond = chol.Cond()
	return norm / cond, cond
}
