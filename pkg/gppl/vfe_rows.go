package gppl

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// vfeRows is what the noise of the observations does to VFE. Without known errors it is σ²
// for all, and formulas divide by it; with them, rows of Φ and of C are divided by the
// square roots of λ_i = σ² + s_i², and σ² is 1 in the formulas.
type vfeRows struct {
	unit      float64        // σ², or 1
	logs      float64        // Σ log λ_i
	precision float64        // Σ 1/λ_i
	cc        blas64.General // CᵀC, of the rows as they are divided
	slope     float64        // twice the derivative in σ², if there are known errors

	scale   []float64      // 1/√λ_i; nil without known errors
	columns blas64.General // C, divided
}

// set prepares an evaluation with the noise variance σ².
func (r *vfeRows) set(l *VFE, noise float64) {
	n := float64(l.data.Len())
	if l.known == nil {
		r.unit, r.logs, r.precision, r.cc, r.columns = noise, n*math.Log(noise), n/noise, l.cc, l.columns
		return
	}
	if r.scale == nil {
		r.scale = make([]float64, l.data.Len())
		r.columns = newGeneral(l.columns.Rows, l.columns.Cols)
		r.cc = newGeneral(l.cc.Rows, l.cc.Cols)
	}
	r.unit, r.logs, r.precision = 1, 0, 0
	for i, s := range l.known {
		v := noise + s
		r.logs += math.Log(v)
		r.precision += 1 / v
		r.scale[i] = 1 / math.Sqrt(v)
		for j := range r.columns.Cols {
			r.columns.Data[i*r.columns.Stride+j] = r.scale[i] * l.columns.Data[i*l.columns.Stride+j]
		}
	}
	products(r.cc, r.columns, r.columns)
}
