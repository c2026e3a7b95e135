package leaveout

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/internal/dense"
	"github.com/projected-likelihood/gppl/pkg/gppl/internal/regress"
)

// Observations are left out by the entries of A⁻¹, which follow from the means M and the covariance V of the signal's
// posterior at the observations, and from the noise D:
//
//	A⁻¹C = D⁻¹(C − M),  A⁻¹ = D⁻¹ − D⁻¹VD⁻¹.
//
// Both are differences, and P = A⁻¹ − A⁻¹QM⁻¹QᵀA⁻¹ is another.
type Observations struct {
	Y       []float64
	Noise   []float64      // D
	Columns blas64.General // C: y and the basis of the mean
	Fit     *regress.Fit   // nil without a mean
	Length  float64        // √(yᵀPy)
	Eta     float64        // δA relative to the noise, see off
}

// Solve turns the means at the observations of the given indices into their rows of A⁻¹C.
func (o *Observations) Solve(means blas64.General, at []int) {
	for j, i := range at {
		for c, m := range dense.Row(means, j).Data {
			means.Data[j*means.Stride+c] = (o.Columns.Data[i*o.Columns.Stride+c] - m) / o.Noise[i]
		}
	}
}

// Precisions turns the variances at the observations into the entries of the diagonal of A⁻¹.
func (o *Observations) Precisions(variances []float64, at []int) {
	for j, i := range at {
		variances[j] = (1 - variances[j]/o.Noise[i]) / o.Noise[i]
	}
}

// Contrast returns α_i and P_ii, given row i of A⁻¹C and (A⁻¹)_ii.
func (o *Observations) Contrast(row []float64, precision float64) (alpha, p float64) {
	if o.Fit == nil {
		return row[0], precision
	}
	return blas64.Dot(dense.Vec(row), dense.Vec(o.Fit.Contrast())), precision - o.Fit.Form(row[1:], row[1:])
}

// One sets the prediction of observation i from the others, given row i of A⁻¹C and (A⁻¹)_ii. It returns a LostError, of block
// 0, if rounding spoils it.
func (o *Observations) One(mean, variances, row []float64, precision float64, i int) error {
	alpha, precision := o.Contrast(row, precision)
	if !(precision > 0) {
		return &LostError{0, math.Inf(1)}
	}
	if err := trusted(0, o.off([]int{i}, 1/precision)); err != nil {
		return err
	}
	mean[i], variances[i] = o.Y[i]-alpha/precision, 1/precision
	return nil
}

// off estimates the error of predictions of covariance S = P_BB⁻¹ from rounding and from the omitted parts of A. A as
// represented is off by some η, and the bound on its likelihood is η/σ² per observation. That moves P_BB by at most the share
// η/σ² or, where P_BB is the difference of 1/σ² and a number about as large, by η/σ²·1/σ².
func (o *Observations) off(block []int, trace float64) float64 {
	least := math.Inf(1)
	for _, i := range block {
		least = min(least, o.Noise[i])
	}
	return o.Eta * max(1, trace/least) * (1 + o.Length)
}

// Block predicts the observations in block b, with the given indices, from all others, given the means and the covariance of
// the signal at the block, which it overwrites. It takes O(b³), and returns a LostError if rounding spoils a prediction.
func (o *Observations) Block(mean, variances []float64, solved blas64.General, cov *dense.Lower, b int, at []int) error {
	n := len(at)
	o.precision(cov, at)
	o.Solve(solved, at)
	alpha := dense.Slice(dense.Column(solved, 0))
	if o.Fit != nil {
		alpha = make([]float64, n)
		blas64.Gemv(blas.NoTrans, 1, solved, dense.Vec(o.Fit.Contrast()), 0, dense.Vec(alpha))
		rows := dense.New(solved.Cols-1, n)
		for j := range n {
			for k := range rows.Rows {
				rows.Data[k*rows.Stride+j] = solved.Data[j*solved.Stride+1+k]
			}
		}
		o.Fit.Whiten(rows)
		cov.AddOuter(-1, rows)
	}
	if err := cov.Cholesky(); err != nil {
		return &LostError{b, math.Inf(1)}
	}
	// P_BB⁻¹α_B, and the diagonal of P_BB⁻¹.
	cov.SolveL(dense.AsColumn(alpha))
	cov.SolveLT(dense.AsColumn(alpha))
	inverse := dense.New(n, n)
	dense.AddDiagonal(inverse, 1)
	cov.SolveL(inverse)
	var trace float64
	for j, i := range at {
		var v float64
		for k := j; k < n; k++ {
			w := inverse.Data[k*inverse.Stride+j]
			v += w * w
		}
		mean[i], variances[i] = o.Y[i]-alpha[j], v
		trace += v
	}
	return trusted(b, o.off(at, trace))
}

// precision converts the covariance V at the observations to their rows and columns of A⁻¹ = D⁻¹ − D⁻¹VD⁻¹.
func (o *Observations) precision(cov *dense.Lower, at []int) {
	precision := make([]float64, len(at))
	for j, i := range at {
		precision[j] = 1 / o.Noise[i]
	}
	cov.EachTile(func(bi, bj int, t blas64.General) {
		for a := range t.Rows {
			for b := range t.Cols {
				t.Data[a*t.Stride+b] *= -precision[bi*dense.Tile+a] * precision[bj*dense.Tile+b]
			}
		}
	})
	cov.AddDiagonals(precision)
}

// Missing bounds the error of predictions, in their standard deviations, if A lacks a positive matrix with the diagonal δ: A
// then has the relative error δ/σ², and Zᵀ·δA·α′ (Root) is that share of √(ZᵀAZ·yᵀPy).
func (o *Observations) Missing(diagonal float64) float64 {
	return diagonal / slices.Min(o.Noise) * (1 + o.Length)
}

// Smoothed estimates the effect of rounding on predictions from the two sides of a block, in their standard deviations:
// ε√(v/σ²), with v the variance of the signal, and the rounding of y. With a mean, the columns of two observations that nearly
// coincide differ by rounding, ε/σ, and the difference of their y then counts as information on the coefficients.
func (o *Observations) Smoothed(variance float64) float64 {
	const margin = 8
	least, most := slices.Min(o.Noise), 0.0
	for _, y := range o.Y {
		most = max(most, math.Abs(y))
	}
	contrast := math.Sqrt(1 + variance/least)
	off := contrast + most/math.Sqrt(least)
	if o.Fit != nil {
		off += contrast * o.Length
	}
	return margin * 0x1p-53 * off
}
