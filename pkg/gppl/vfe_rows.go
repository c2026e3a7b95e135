package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/projected-likelihood/gppl/pkg/gppl/internal/dense"
)

// vfeRows describes how the noise of the observations enters VFE. If it is σ² for all,
// formulas divide by it. If errors are known up to their scale, rows of K_xu and of C
// are divided by e_i, and the same formulas hold. With known errors, rows of Φ and of C
// are divided by the square roots of λ_i = σ²e_i² + s_i², and σ² is 1 in the formulas.
type vfeRows struct {
	unit      float64        // σ², or 1
	logs      float64        // Σ log λ_i
	precision float64        // Σ 1/λ_i
	cc        blas64.General // CᵀC, of the rows as they are divided
	slope     float64        // twice the derivative in σ², if there are known errors

	scale   []float64      // 1/√λ_i with known errors, else 1/(σe_i); nil where the noise is even
	back    []float64      // by which weights on K_xu are multiplied: 1/√λ_i, or 1/e_i
	columns blas64.General // C, divided
}

// set prepares an evaluation with the noise variance σ².
func (r *vfeRows) set(l *VFE, noise float64) {
	n := float64(l.data.Len())
	if l.rows.even() {
		r.unit, r.logs, r.precision, r.cc, r.columns = noise, n*math.Log(noise), n/noise, l.cc, l.columns
		return
	}
	if r.scale == nil {
		r.scale = make([]float64, l.data.Len())
		r.back = make([]float64, l.data.Len())
		r.columns = dense.New(l.columns.Rows, l.columns.Cols)
		r.cc = dense.New(l.cc.Rows, l.cc.Cols)
	}
	if l.rows.known == nil {
		r.setRelative(l, noise)
		return
	}
	r.unit, r.logs, r.precision = 1, 0, 0
	for i, s := range l.rows.known {
		v := noise*l.rows.weight(i) + s
		r.logs += math.Log(v)
		r.precision += 1 / v
		r.scale[i] = 1 / math.Sqrt(v)
		r.back[i] = r.scale[i]
		for j := range r.columns.Cols {
			r.columns.Data[i*r.columns.Stride+j] = r.scale[i] * l.columns.Data[i*l.columns.Stride+j]
		}
	}
	products(r.cc, r.columns, r.columns)
}

// setRelative is set where errors are known up to their scale alone.
func (r *vfeRows) setRelative(l *VFE, noise float64) {
	r.unit, r.logs, r.precision = noise, 0, 0
	for i, e2 := range l.rows.scale {
		r.logs += math.Log(noise * e2)
		r.precision += 1 / (noise * e2)
		r.scale[i], r.back[i] = 1/math.Sqrt(noise*e2), 1/math.Sqrt(e2)
		for j := range r.columns.Cols {
			r.columns.Data[i*r.columns.Stride+j] = r.back[i] * l.columns.Data[i*l.columns.Stride+j]
		}
	}
	products(r.cc, r.columns, r.columns)
}
