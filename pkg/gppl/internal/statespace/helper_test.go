package statespace

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// one is R where there is one column.
var one = blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1}}

func column(y []float64) blas64.General { return general(len(y), 1, y) }

// NLL returns the negative log likelihood of y ~ N(0, A), ½yᵀA⁻¹y + ½log|A| +
// (n/2)·log 2π, and, unless grad is nil, sets grad to its gradient.
func (f *Filter) NLL(grad, y []float64, cs []component, noise float64) (float64, error) {
	if err := f.factoriseSum(column(y), cs, noise); err != nil {
		return 0, err
	}
	if grad != nil {
		f.Gradient(grad, one)
	}
	var quad [1]float64
	f.Gram(blas64.General{Rows: 1, Cols: 1, Stride: 1, Data: quad[:]})
	return 0.5 * (quad[0] + f.LogDet() + float64(len(y))*math.Log(2*math.Pi)), nil
}

// predict is Posterior for one column.
func (f *Filter) predict(mean, variance, at, y []float64, cs []component, noise float64) error {
	if err := f.factoriseSum(column(y), cs, noise); err != nil {
		return err
	}
	f.Posterior(column(mean), variance, at)
	return nil
}
