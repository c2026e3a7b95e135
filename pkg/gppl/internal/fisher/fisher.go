// Package fisher computes the Fisher information that observations y ~ N(0, A), and linear functions z = Ωᵀy of them, carry
// about the parameters of A, from A and its derivatives Ȧ_p alone:
//
//	I_Y[a,b] = ½tr(A⁻¹Ȧ_a A⁻¹Ȧ_b)              of the observations
//	I_Z[a,b] = ½tr(S⁻¹ΩᵀȦ_aΩ S⁻¹ΩᵀȦ_bΩ)        of the functions, S = ΩᵀAΩ
//
// and the covariance of y given z. Matrices are dense.
package fisher

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Unidentified is the largest standard error of log θ, a factor of e^10 either way, at which the curvature of a loss, by
// differences of rounded gradients, still determines θ. A larger one is reported as +Inf.
const Unidentified = 10

// Information is the information of n observations about q parameters. It is immutable, and safe for concurrent use.
type Information struct {
	A      blas64.General   // n×n
	Dot    []blas64.General // Ȧ, n×n each
	Factor *dense.Lower     // L, where A = LLᵀ
	white  []blas64.General // L⁻¹ȦL⁻ᵀ, n×n each
}

// New factorises A, in (1 + 4q)·n³/3 flops, until ctx ends. It returns an error if A is not positive definite. It keeps its
// arguments.
func New(ctx context.Context, a blas64.General, dot []blas64.General) (*Information, error) {
	i := &Information{A: a, Dot: dot, Factor: dense.NewLower(a.Rows)}
	i.Factor.Ctx = ctx
	i.Factor.Set(a)
	if err := i.Factor.Cholesky(); err != nil {
		return nil, err
	}
	for _, d := range dot {
		parallel.Look(ctx)
		w := dense.New(d.Rows, d.Cols)
		dense.Copy(w, d)
		i.Factor.Whiten(w)
		i.white = append(i.white, w)
	}
	i.Factor.Ctx = nil // the context is for this call only
	return i, nil
}

// Data returns I_Y, q×q.
func (i *Information) Data() *mat.SymDense { return dense.HalfProducts(i.white) }

// Projected returns I_Z, q×q, for Ω, n×k, in 2qn²k flops. It returns an error if S is not positive definite.
func (i *Information) Projected(ctx context.Context, omega blas64.General) (*mat.SymDense, error) {
	s, err := factorise(ctx, omega, dense.ProductWithin(ctx, blas.NoTrans, i.A, omega))
	if err != nil {
		return nil, err
	}
	var whitened []blas64.General
	for _, dot := range i.Dot {
		g := Sandwich(ctx, dot, omega)
		s.Whiten(g)
		whitened = append(whitened, g)
	}
	return dense.HalfProducts(whitened), nil
}

// Restrict subtracts, from the information of z ~ N(0, S) and of a white remainder r ~ N(0, τI), the information that common
// coefficients absorb. W_a is L⁻¹∂_aS L⁻ᵀ for z and relative_a·I = ∂_a log τ·I for the remainder, the two together; N = I −
// BBᵀ, with B orthonormal on both. Bᵀ on z is b, h×k, and BᵀB on r is rest:
//
//	½tr(NW_aNW_b) = ½tr(W_aW_b) − tr(BᵀW_aW_bB) + ½tr(BᵀW_aB·BᵀW_bB).
func Restrict(info *mat.SymDense, white []blas64.General, b blas64.General, relative []float64, rest blas64.General) {
	moved, inner := make([]blas64.General, len(white)), make([]blas64.General, len(white)) // BᵀW_a, BᵀW_aB
	for a, w := range white {
		moved[a], inner[a] = dense.New(b.Rows, b.Cols), dense.New(b.Rows, b.Rows)
		dense.Gemm(blas.NoTrans, blas.NoTrans, 1, b, w, 0, moved[a])
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, moved[a], b, 0, inner[a])
		blas64.Axpy(relative[a], dense.Vec(rest.Data), dense.Vec(inner[a].Data))
	}
	for a := range white {
		for d := range a + 1 {
			first := blas64.Dot(dense.Vec(moved[a].Data), dense.Vec(moved[d].Data)) + relative[a]*relative[d]*dense.Trace(rest)
			second := 0.5 * blas64.Dot(dense.Vec(inner[a].Data), dense.Vec(inner[d].Data))
			info.SetSym(a, d, info.At(a, d)-first+second)
		}
	}
}

// Sandwich returns ΩᵀaΩ.
func Sandwich(ctx context.Context, a, omega blas64.General) blas64.General {
	return dense.ProductWithin(ctx, blas.Trans, omega, dense.ProductWithin(ctx, blas.NoTrans, a, omega))
}

// factorise returns the Cholesky factor of S = ΩᵀAΩ, given AΩ.
func factorise(ctx context.Context, omega, aOmega blas64.General) (*dense.Lower, error) {
	s := dense.NewLower(omega.Cols)
	s.Ctx = ctx
	s.Set(dense.ProductWithin(ctx, blas.Trans, omega, aOmega))
	return s, s.Cholesky()
}

// Loss returns two terms that add up to I_Y − I_Z, each positive semi-definite, in 4qn²k flops. In the coordinates L⁻¹y the
// functions span Q = orth(LᵀΩ). With W = L⁻¹ȦL⁻ᵀ and P = I − QQᵀ the terms are ½‖PWP‖² and ‖PWQ‖². The absolute error is about
// ε·‖W‖·√ΔI. The matrices are meaningless if columns of LᵀΩ are dependent.
func (i *Information) Loss(ctx context.Context, omega blas64.General) (quadratic, cross *mat.SymDense, f *dense.QR) {
	n, k := omega.Rows, omega.Cols
	q := dense.New(n, k)
	dense.Copy(q, omega)
	i.Factor.Within(ctx).MulLT(q)
	if f = dense.Orthonormalise(ctx, q); f.Dependent != nil {
		return nil, nil, f
	}
	var residual, half []blas64.General
	for _, w := range i.white {
		u := dense.ProductWithin(ctx, blas.NoTrans, w, q)
		qh := dense.ProductWithin(ctx, blas.NoTrans, q, dense.ProductWithin(ctx, blas.Trans, q, u))
		r, f := dense.New(n, k), dense.New(n, k)
		for j, v := range u.Data {
			r.Data[j] = v - qh.Data[j]     // PWQ
			f.Data[j] = v - 0.5*qh.Data[j] // PWP = W − QFᵀ − FQᵀ
		}
		residual, half = append(residual, r), append(half, f)
	}
	cross = dense.HalfProducts(residual)
	cross.ScaleSym(2, cross)
	return i.quadratic(ctx, q, half), cross, f
}

// quadratic returns ½⟨PW_aP, PW_bP⟩, where PWP = W − QFᵀ − FQᵀ, tile by tile.
func (i *Information) quadratic(ctx context.Context, q blas64.General, f []blas64.General) *mat.SymDense {
	n, np := q.Rows, len(f)
	nb := dense.Blocks(n)
	sums := make([][]float64, min(parallel.Lanes, nb))
	parallel.For(len(sums), func(c int) {
		sum := make([]float64, np*np)
		tiles := make([]blas64.General, np)
		for a := range tiles {
			tiles[a] = dense.New(dense.Tile, dense.Tile)
		}
		for s := c; s < nb; s += parallel.Lanes {
			for t := range s + 1 {
				parallel.Look(ctx)
				weight := 1.0 // ½ of the tile and its mirror image
				if s == t {
					weight = 0.5
				}
				for a, w := range i.white {
					g := &tiles[a]
					g.Rows, g.Cols = dense.Width(n, s), dense.Width(n, t)
					for r := range g.Rows {
						copy(g.Data[r*g.Stride:][:g.Cols], w.Data[(s*dense.Tile+r)*n+t*dense.Tile:])
					}
					dense.Gemm(blas.NoTrans, blas.Trans, -1, dense.RowBlock(q, s), dense.RowBlock(f[a], t), 1, *g)
					dense.Gemm(blas.NoTrans, blas.Trans, -1, dense.RowBlock(f[a], s), dense.RowBlock(q, t), 1, *g)
					for b := range a + 1 {
						for r := range g.Rows {
							sum[a*np+b] += weight * blas64.Dot(dense.Row(*g, r), dense.Row(tiles[b], r))
						}
					}
				}
			}
		}
		sums[c] = sum
	})
	total := mat.NewSymDense(np, nil)
	for a := range np {
		for b := range a + 1 {
			var v float64
			for _, s := range sums {
				v += s[a*np+b]
			}
			total.SetSym(a, b, v)
		}
	}
	return total
}

// Explained returns, for each of the given numbers d, B (n×k) such that BBᵀ = CΩS⁻¹ΩᵀC, where C = A + dI: the part of linear
// functions of y that z explains, in 2n²k flops. It returns an error if S is not positive definite.
func (i *Information) Explained(ctx context.Context, omega blas64.General, shifts ...float64) (all []blas64.General, err error) {
	aOmega := dense.ProductWithin(ctx, blas.NoTrans, i.A, omega)
	s, err := factorise(ctx, omega, aOmega)
	if err != nil {
		return nil, err
	}
	for _, d := range shifts {
		b := dense.New(aOmega.Rows, aOmega.Cols)
		dense.Copy(b, aOmega)
		for r := range b.Rows {
			blas64.Axpy(d, dense.Row(omega, r), dense.Row(b, r))
		}
		parallel.Within(ctx, dense.Blocks(b.Rows), func(r int) { s.SolveLTRight(dense.RowBlock(b, r)) })
		all = append(all, b)
	}
	return all, nil
}

// Conditional returns A + dI − BBᵀ with the B of Explained, in 4n²k flops.
func (i *Information) Conditional(ctx context.Context, omega blas64.General, d float64) (*mat.SymDense, error) {
	explained, err := i.Explained(ctx, omega, d)
	if err != nil {
		return nil, err
	}
	b := explained[0]
	c := dense.Symmetric(i.A)
	for j := range b.Rows {
		c.SetSym(j, j, c.At(j, j)+d)
	}
	raw := c.RawSymmetric()
	parallel.Within(ctx, dense.Blocks(b.Rows), func(s int) {
		rows := dense.RowBlock(b, s)
		for t := s; t < dense.Blocks(b.Rows); t++ {
			parallel.Look(ctx) // SymDense keeps the upper triangle
			g := blas64.General{Rows: rows.Rows, Cols: dense.Width(b.Rows, t), Stride: raw.Stride,
				Data: raw.Data[s*dense.Tile*raw.Stride+t*dense.Tile:]}
			dense.Gemm(blas.NoTrans, blas.Trans, -1, rows, dense.RowBlock(b, t), 1, g)
		}
	})
	return c, nil
}

// Complement returns an orthonormal basis of the orthogonal complement of the columns of h, n×c, n > c.
func Complement(h *mat.Dense) blas64.General {
	n, c := h.Dims()
	var qr mat.QR
	qr.Factorize(h)
	var q mat.Dense
	qr.QTo(&q)
	return mat.DenseCopyOf(q.Slice(0, n, c, n)).RawMatrix()
}

// Null returns an orthonormal basis of the left null space of a, and its rank, to a relative 1e-12. The basis is empty if the
// rank is the number of rows. Null returns an error if the singular values do not converge.
func Null(a blas64.General) (null blas64.General, rank int, err error) {
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(a.Rows, a.Cols, a.Data), mat.SVDFullU) {
		return null, 0, errors.New("the singular values did not converge")
	}
	const rounding = 1e-12
	values := svd.Values(nil)
	rank = 0
	for _, s := range values {
		if s > rounding*values[0] {
			rank++
		}
	}
	if rank == a.Rows {
		return null, rank, nil
	}
	var u mat.Dense
	svd.UTo(&u)
	return mat.DenseCopyOf(u.Slice(0, a.Rows, rank, a.Rows)).RawMatrix(), rank, nil
}

// singular is a lower bound on the smallest eigenvalue of an information matrix, scaled to a unit diagonal: below it, rounding of
// about 1e-13 in the matrix leaves at most two correct digits.
const singular = 1e-11

// Bounds returns the Cramér–Rao bounds √(I⁻¹)_pp, q of them, for an information matrix. A parameter that is not identified has
// +Inf: if the matrix, scaled to a unit diagonal, has an eigenvalue below 1e-11, or if a diagonal entry of the unscaled matrix
// is below 1e-20 of the largest. The columns of null are orthonormal directions without information; it is nil if there are
// none. Bounds returns an error if the eigenvalues do not converge.
func Bounds(info mat.Symmetric) (bounds []float64, null *mat.Dense, err error) {
	q := info.SymmetricDim()
	var largest float64
	for a := range q {
		largest = max(largest, info.At(a, a))
	}
	scale := make([]float64, q) // 1/√I_pp; 0 without information, which leaves a row and a column of zeros
	for a := range q {
		if d := info.At(a, a); d > 1e-20*largest {
			scale[a] = 1 / math.Sqrt(d)
		}
	}
	scaled := mat.NewSymDense(q, nil)
	for a := range q {
		for b := range a + 1 {
			scaled.SetSym(a, b, info.At(a, b)*scale[a]*scale[b])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(scaled, true) {
		return nil, nil, errors.New("the eigenvalues of the information matrix did not converge")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	bounds = make([]float64, q)
	lost := make([]bool, q)
	var directions []float64 // directions, as rows
	for c, value := range e.Values(nil) {
		for a := range q {
			v := vectors.At(a, c)
			if value > singular {
				bounds[a] += v * v * scale[a] * scale[a] / value
				continue
			}
			lost[a] = lost[a] || math.Abs(v) > 1e-6 // less is rounding
			if scale[a] > 0 {
				v *= scale[a]
			}
			directions = append(directions, v)
		}
	}
	for a := range bounds {
		if bounds[a] = math.Sqrt(bounds[a]); lost[a] {
			bounds[a] = math.Inf(1)
		}
	}
	if directions == nil {
		return bounds, nil, nil
	}
	null = mat.DenseCopyOf(mat.NewDense(len(directions)/q, q, directions).T())
	dense.Orthonormalise(context.Background(), null.RawMatrix())
	return bounds, null, nil
}
