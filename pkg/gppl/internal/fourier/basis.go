package fourier

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/internal/parallel"
)

// Basis is an orthonormal basis of features over points that is computed from moments alone. Let W (n×k) be the features at the
// points, each divided by its length. WᵀW is a Gram matrix of Moments; with WᵀW = LLᵀ the basis is Q = WL⁻ᵀ. Neither W nor Q is
// ever formed, and once the moments are known, the cost does not depend on n.
//
// Rounding is amplified by up to ‖L⁻¹‖²: QᵀQ is the identity, and products with Q are exact, within about 1e-15·Condition()². The
// pivots of L do not show this condition: the features may be dependent in many digits while every pivot is near one.
type Basis struct {
	features  []Feature
	scale     []float64 // one over the lengths
	l         *dense.Lower
	condition float64
}

// Basis returns a basis of the span of the features over the points whose moments are t, in their order. It leaves out a feature
// if row i of L⁻¹, the coefficients of column i of Q, would be longer than limit: then ‖L⁻¹‖ ≤ limit·√k. The basis of the first
// features is the first part of the basis of all. It takes k³ flops, and panics with a parallel.Stop once ctx has ended. The
// moments must reach twice the highest frequency.
func (t Moments) Basis(ctx context.Context, features []Feature, limit float64) *Basis {
	if !(limit > 1) {
		panic(fmt.Sprintf("fourier: limit %v", limit))
	}
	b := &Basis{}
	var rows, inverse [][]float64 // rows of L and L⁻¹
	gram := dense.New(1, len(features))
	for i := range features {
		parallel.Look(ctx)
		k := len(b.features)
		row, coef := make([]float64, k+1), make([]float64, k+1)
		length := t.length(features[i], gram)
		if !(length > 0) {
			continue
		}
		g := dense.Sub(gram, 0, 1, 0, k)
		t.Gram(g, features[i:i+1], b.features)
		rest := 1.0
		for j, r := range rows {
			v := (g.Data[j]*b.scale[j]/length - blas64.Dot(dense.Vec(row[:j]), dense.Vec(r[:j]))) / r[j]
			row[j] = v
			rest -= v * v
			blas64.Axpy(-v, dense.Vec(inverse[j]), dense.Vec(coef[:j+1]))
		}
		if !(rest > 0) {
			continue
		}
		row[k], coef[k] = math.Sqrt(rest), 1
		blas64.Scal(1/row[k], dense.Vec(coef))
		size := blas64.Nrm2(dense.Vec(coef))
		if size > limit {
			continue
		}
		b.condition = math.Hypot(b.condition, size)
		rows, inverse = append(rows, row), append(inverse, coef)
		b.features, b.scale = append(b.features, features[i]), append(b.scale, 1/length)
	}
	b.l = dense.NewLower(len(rows))
	b.l.EachTile(func(i, j int, tile blas64.General) {
		for a := range tile.Rows {
			from := rows[i*dense.Tile+a]
			copy(tile.Data[a*tile.Stride:][:tile.Cols], from[min(len(from), j*dense.Tile):])
		}
	})
	return b
}

// length returns the length of a feature over the points. It is 0 for one that vanishes at every point up to rounding, as
// sines may.
func (t Moments) length(f Feature, work blas64.General) float64 {
	own := dense.Sub(work, 0, 1, 0, 1)
	t.Gram(own, []Feature{f}, []Feature{f})
	if v := own.Data[0]; v > 1e-13*t[0] {
		return math.Sqrt(v)
	}
	return 0
}

// Features returns the features that are kept. The caller must not change them.
func (b *Basis) Features() []Feature { return b.features }

// Condition returns ‖L⁻¹‖, in the norm that is the root of the sum of squares.
func (b *Basis) Condition() float64 { return b.condition }

// Product sets dst (len(rows)×k) to RᵀQ, where column i of R is the feature rows[i] at the points. The moments t of the same
// points must reach the sum of the highest frequencies of both. It takes k² flops a row.
func (b *Basis) Product(dst blas64.General, t Moments, rows []Feature) {
	if dst.Rows != len(rows) {
		panic(fmt.Sprintf("fourier: %d rows for %d features", dst.Rows, len(rows)))
	}
	parallel.For(lanes, func(c int) {
		from, to := parallel.Share(dst.Rows, lanes, c)
		part := dense.Sub(dst, from, to, 0, dst.Cols)
		t.Gram(part, rows[from:to], b.features)
		b.turn(part)
	})
}

// Project sets dst (k) to Qᵀy from the sums of y over the points as Sums orders them, from frequency 0.
func (b *Basis) Project(dst, sums []float64) {
	if len(dst) != len(b.features) {
		panic(fmt.Sprintf("fourier: %d entries for a basis of %d", len(dst), len(b.features)))
	}
	for i, f := range b.features {
		dst[i] = sums[f]
	}
	b.turn(blas64.General{Rows: 1, Cols: len(dst), Stride: max(1, len(dst)), Data: dst})
}

// lookPoints points of a few hundred features take some milliseconds.
const lookPoints = 1024

// At sets dst (n×k) to the functions that are the columns of Q, at any points p of the same circle.
func (b *Basis) At(dst blas64.General, p *Points) {
	if dst.Rows != p.N() || dst.Cols != len(b.features) {
		panic(fmt.Sprintf("fourier: %d×%d entries for %d points and a basis of %d", dst.Rows, dst.Cols, p.N(), len(b.features)))
	}
	parallel.Within(p.Ctx, lanes, func(c int) {
		from, to := parallel.Share(dst.Rows, lanes, c)
		for i := from; i < to; i++ {
			if i%lookPoints == 0 {
				parallel.Look(p.Ctx)
			}
			p.features(dst.Data[i*dst.Stride:][:dst.Cols], i, b.features)
		}
		for ; from < to; from += lookPoints {
			parallel.Look(p.Ctx)
			b.turn(dense.Sub(dst, from, min(to, from+lookPoints), 0, dst.Cols))
		}
	})
}

// Coefficients returns the coefficients of the features in Qz.
func (b *Basis) Coefficients(z []float64) []float64 {
	k := len(b.features)
	if len(z) != k {
		panic(fmt.Sprintf("fourier: %d coefficients for a basis of %d", len(z), k))
	}
	coef := append([]float64(nil), z...)
	b.l.SolveLT(blas64.General{Rows: k, Cols: 1, Stride: 1, Data: coef})
	floats.Mul(coef, b.scale)
	return coef
}

// Subtract subtracts Qz from y (n) at the points p, by the coefficients L⁻ᵀz: in O(nk), where At takes O(nk²).
func (b *Basis) Subtract(y, z []float64, p *Points) {
	k := len(b.features)
	if len(y) != p.N() || len(z) != k {
		panic(fmt.Sprintf("fourier: %d values at %d points, %d coefficients for a basis of %d", len(y), p.N(), len(z), k))
	}
	coef := b.Coefficients(z)
	parallel.Within(p.Ctx, lanes, func(c int) {
		row := make([]float64, k)
		from, to := parallel.Share(len(y), lanes, c)
		for i := from; i < to; i++ {
			if i%lookPoints == 0 {
				parallel.Look(p.Ctx)
			}
			p.features(row, i, b.features)
			y[i] -= blas64.Dot(dense.Vec(row), dense.Vec(coef))
		}
	})
}

// turn converts products with the features to products with Q.
func (b *Basis) turn(dst blas64.General) {
	if dst.Rows == 0 {
		return
	}
	for i := range dst.Rows {
		for j, s := range b.scale {
			dst.Data[i*dst.Stride+j] *= s
		}
	}
	b.l.SolveLTRight(dst)
}
