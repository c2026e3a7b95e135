package spectral

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/fourier"
)

// Gram is the covariance of k linear functions of the observations, the columns of Ω, from their products with the features of a
// series,
//
//	S = ΩᵀKΩ = Σ_m c_m·(b_m·b_mᵀ + s_m·s_mᵀ),  b_m = Ωᵀcos, s_m = Ωᵀsin of the mth frequency.
//
// With M frequencies it takes 4Mk² flops, and the derivatives as many. It is working memory, for one goroutine.
type Gram struct {
	Ctx      context.Context
	Series   *fourier.Series
	Features blas64.General // b_0, s_0, b_1, …, of at least the frequencies with weight, ×k
	Q        []float64      // see Quadratic

	weighted []int // frequencies with weight
	last     int   // number of frequencies up to the last one kept
	probed   int   // LeftOut checks the omitted frequencies below this one

	a, b blas64.General
	part []blas64.General // per share of the rows: k×k
	u, v blas64.General

	product, quadratic func(int) // the loops that run in parallel, made once
}

// NewGram returns the Gram of k functions.
func NewGram(k int) *Gram {
	g := new(Gram)
	g.product, g.quadratic = g.productShare, g.quadraticShare
	for range shares {
		g.part = append(g.part, dense.New(k, k))
	}
	return g
}

// Keep sets s to the sum over the frequencies below m whose weight is above the threshold; a periodic function has
// few.
func (g *Gram) Keep(s []float64, m int, threshold float64) {
	g.probed = min(g.Features.Rows/2, m+m/64+2)
	g.weighted, g.last = g.weighted[:0], 0
	for j := range m {
		if g.Series.Keeps(j, threshold) {
			g.weighted, g.last = append(g.weighted, j), j+1
		}
	}
	g.weigh(g.Series.C, g.weighted)
	g.multiply(s)
}

// weigh sets a to the listed features, each times the root of its weight in c, and b to a with the signs of the weights.
func (g *Gram) weigh(c []float64, list []int) {
	k := g.Features.Cols
	rows := 2 * len(list)
	g.a = dense.Reshape(g.a, rows, k)
	negative := false
	for i, m := range list {
		negative = negative || c[m] < 0
		root := math.Sqrt(math.Abs(c[m]))
		src, dst := g.Features.Data[2*m*k:2*(m+1)*k], g.a.Data[2*i*k:2*(i+1)*k]
		for j, f := range src {
			dst[j] = root * f
		}
	}
	if g.b = g.a; !negative {
		return
	}
	g.b = dense.New(rows, k) // rare: for a window on a kernel that does not decay
	copy(g.b.Data, g.a.Data)
	for i, m := range list {
		if c[m] < 0 {
			blas64.Scal(-1, dense.Vec(g.b.Data[2*i*k:2*(i+1)*k]))
		}
	}
}

// Form returns zᵀSz by its definition, and the sum of the absolute values of its terms.
func (g *Gram) Form(z []float64) (form, size float64) {
	for _, m := range g.weighted {
		part := g.Series.C[m] * g.power(m, dense.Vec(z))
		form += part
		size += math.Abs(part)
	}
	return form, size
}

// power returns (b_mᵀz)² + (s_mᵀz)².
func (g *Gram) power(m int, z blas64.Vector) float64 {
	b, s := blas64.Dot(dense.Row(g.Features, 2*m), z), blas64.Dot(dense.Row(g.Features, 2*m+1), z)
	return b*b + s*s
}

// LeftOut returns βᵀΔSβ = Σ c_m((b_mᵀβ)² + (s_mᵀβ)²) over the frequencies left out. Where features are not computed, it uses
// the largest square of any frequency.
func (g *Gram) LeftOut(beta blas64.Vector) float64 {
	var left, most, tail float64
	kept := 0
	for m, c := range g.Series.C {
		switch {
		case kept < len(g.weighted) && g.weighted[kept] == m:
			kept++
		case m >= g.probed:
			tail += math.Abs(c)
		case c != 0:
			power := g.power(m, beta)
			left += math.Abs(c) * power
			most = max(most, power)
		}
	}
	return left + tail*most
}

// shares is the number of parts of the rows of features.
const shares = 4

// multiply sets s = aᵀb, symmetric, in rows·k² flops and some more for the tiles on the diagonal.
func (g *Gram) multiply(s []float64) {
	k := g.Features.Cols
	parallel.Within(g.Ctx, shares, g.product)
	for i := range k {
		for j := range i + 1 {
			var v float64
			for _, p := range g.part {
				v += p.Data[i*k+j]
			}
			s[i*k+j], s[j*k+i] = v, v
		}
	}
}

// productShare multiplies a share of the rows.
func (g *Gram) productShare(c int) {
	k := g.Features.Cols
	from, to := parallel.Share(g.a.Rows, shares, c)
	part := g.part[c]
	if from == to {
		clear(part.Data)
		return
	}
	for i := range dense.Blocks(k) {
		parallel.Look(g.Ctx)
		for j := range i + 1 {
			a, b, t := between(g.a, from, to, i), between(g.b, from, to, j), part
			t.Rows, t.Cols = a.Cols, b.Cols
			t.Data = t.Data[i*dense.Tile*k+j*dense.Tile:]
			dense.Gemm(blas.Trans, blas.NoTrans, 1, a, b, 0, t)
		}
	}
}

// between returns block b of the columns of a, in rows from … to−1.
func between(a blas64.General, from, to, b int) blas64.General {
	a.Rows = to - from
	a.Data = a.Data[from*a.Stride+b*dense.Tile:]
	a.Cols = dense.Width(a.Cols, b)
	return a
}

// Quadratic sets Q to the derivatives of ⟨V, S⟩ in the coefficients of the series, q_m = b_mᵀVb_m + s_mᵀVs_m, and returns them
// up to the last frequency kept.
func (g *Gram) Quadratic(v []float64) []float64 {
	k := g.Features.Cols
	g.Q = dense.Resize(g.Q, len(g.Series.C))
	clear(g.Q)
	g.u = dense.Reshape(g.u, g.Features.Rows, k)
	g.v = blas64.General{Rows: k, Cols: k, Stride: k, Data: v}
	parallel.Within(g.Ctx, shares, g.quadratic)
	return g.Q[:g.last]
}

// quadraticShare computes q for a share of the frequencies: all up to the last one if most are kept, else one by one.
func (g *Gram) quadraticShare(c int) {
	if 2*len(g.weighted) > g.last {
		g.quadraticForms(parallel.Share(g.last, shares, c))
		return
	}
	from, to := parallel.Share(len(g.weighted), shares, c)
	for _, m := range g.weighted[from:to] {
		g.quadraticForms(m, m+1)
	}
}

// quadraticForms sets q_m for m0 ≤ m < m1.
func (g *Gram) quadraticForms(m0, m1 int) {
	if m0 == m1 {
		return
	}
	k := g.Features.Cols
	f, u := dense.Rows(g.Features, 2*m0, 2*(m1-m0)), dense.Rows(g.u, 2*m0, 2*(m1-m0))
	dense.Gemm(blas.NoTrans, blas.NoTrans, 1, f, g.v, 0, u)
	for m := m0; m < m1; m++ {
		r := 2 * (m - m0) * k
		g.Q[m] = blas64.Dot(dense.Vec(f.Data[r:r+2*k]), dense.Vec(u.Data[r:r+2*k]))
	}
}

// Sum sets s to the sum with other coefficients c, such as their derivative, over all frequencies.
func (g *Gram) Sum(s, c []float64) {
	rows := make([]int, min(len(c), g.Features.Rows/2))
	for m := range rows {
		rows[m] = m
	}
	g.weigh(c, rows)
	g.multiply(s)
}
