package inducing

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/observed"
)

// Rows says how the noise of the observations enters a bound. If it is σ² for all, formulas divide by it. If errors are known up
// to their scale, rows of K_xu and of Y are divided by e_i, and the same formulas hold. With known errors, rows of Φ and of Y are
// divided by the square roots of λ_i = σ²e_i² + s_i², and σ² is 1 in the formulas. It is working memory, for one goroutine.
type Rows struct {
	Unit      float64        // σ², or 1
	Logs      float64        // Σ log λ_i
	Precision float64        // Σ 1/λ_i
	Columns   blas64.General // Y, its rows divided by the noise
	Squares   blas64.General // YᵀY of these Columns
	Variance  float64        // k(x, x), which the caller sets
	Variances []float64      // k(x, x) of each observation if they differ, in the caller's memory; else nil
	Slope     float64        // twice the derivative in σ² with known errors, which the caller sets

	noise *observed.Noise
	scale []float64 // 1/√λ_i with known errors, else 1/(σe_i); nil where the noise is even
	back  []float64 // factors of the weights on K_xu: 1/√λ_i, or 1/e_i
}

// Set prepares an evaluation with the noise variance σ², given Y and YᵀY.
func (r *Rows) Set(rows *observed.Noise, y, yy blas64.General, noise float64) {
	n := float64(y.Rows)
	if r.noise = rows; rows.Even() {
		r.Unit, r.Logs, r.Precision, r.Squares, r.Columns = noise, n*math.Log(noise), n/noise, yy, y
		return
	}
	if r.scale == nil {
		r.scale, r.back = make([]float64, y.Rows), make([]float64, y.Rows)
		r.Columns, r.Squares = dense.New(y.Rows, y.Cols), dense.New(yy.Rows, yy.Cols)
	}
	r.Unit, r.Logs, r.Precision = noise, 0, 0
	if rows.Known != nil {
		r.Unit = 1
	}
	for i := range r.scale {
		inUnits := rows.Weight(i) // λ_i/Unit, complete below
		v := noise * inUnits
		if rows.Known != nil {
			v += rows.Known[i]
			inUnits = v
		}
		r.Logs += math.Log(v)
		r.Precision += 1 / v
		r.scale[i], r.back[i] = 1/math.Sqrt(v), 1/math.Sqrt(inUnits)
	}
	dense.Copy(r.Columns, y)
	dense.ScaleRows(r.Columns, r.back)
	dense.Square(r.Squares, r.Columns, 0)
}

// Divide turns rows a of K_xu·L⁻ᵀ, from observation first on, into rows of Φ, with the noise variance σ².
func (r *Rows) Divide(a blas64.General, first int, noise float64) {
	if r.scale == nil {
		blas64.Scal(1/math.Sqrt(noise), dense.Vec(a.Data[:a.Rows*a.Cols]))
		return
	}
	dense.ScaleRows(a, r.scale[first:])
}

// Back turns weights on the divided rows of K_xu, from observation first on, into weights on the rows themselves.
func (r *Rows) Back(weight blas64.General, first int) {
	if r.scale != nil {
		dense.ScaleRows(weight, r.back[first:])
	}
}

// PrecisionOf returns 1/λ_i.
func (r *Rows) PrecisionOf(i int) float64 {
	if r.scale == nil {
		return 1 / r.Unit
	}
	return r.scale[i] * r.scale[i]
}

// Prior returns Σ k(x_i, x_i)/λ_i.
func (r *Rows) Prior() (sum float64) {
	if r.Variances == nil {
		return r.Precision * r.Variance
	}
	for i, v := range r.Variances {
		sum += v * r.PrecisionOf(i)
	}
	return sum
}

// NoiseSlope returns the share of rows of Φ and β, from observation first on, in twice the derivative of the bound in σ², if
// there are known errors,
//
//	Σ_i e_i²[1 − φ_iᵀB⁻¹φ_i − |β_i|² − (v/λ_i − |φ_i|²)]/λ_i,
//
// where v is k(x_i, x_i). It works in scratch, which it returns.
func (r *Rows) NoiseSlope(scratch, phi, beta, bInv blas64.General, first int) (slope float64, _ blas64.General) {
	if r.noise.Known == nil {
		return 0, scratch
	}
	scratch = dense.Reshape(scratch, phi.Rows, phi.Cols)
	dense.Gemm(blas.NoTrans, blas.NoTrans, 1, phi, bInv, 0, scratch)
	for i := range phi.Rows {
		row, b := dense.Row(phi, i), dense.Row(beta, i)
		precision := r.scale[first+i] * r.scale[first+i]
		v := r.Variance
		if r.Variances != nil {
			v = r.Variances[first+i]
		}
		taken := blas64.Dot(row, dense.Row(scratch, i))
		slope += r.noise.Weight(first+i) * precision * (1 - taken - blas64.Dot(b, b) - v*precision + blas64.Dot(row, row))
	}
	return slope, scratch
}
