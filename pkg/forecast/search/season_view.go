package search

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// view is an even series without its trend, on a scale of y.
type view struct {
	at     []int     // steps from the first observation
	y      []float64 // value at each place
	weight []float64 // weight of each value, 1 on average; the inverse of its known variance
}

// stepsOf returns the places of the observations from an index on, in steps from the first of these.
func stepsOf(s *series.Series, from int) (at []int) {
	for _, x := range s.X[from:] {
		at = append(at, int(math.Round((x-s.X[from])/s.Step)))
	}
	return at
}

// weightsOf returns the inverse of the known variance of each observation, 1 on average. Unless the errors are relative, the
// median variance is added to each, since there may be noise beside the known errors.
func weightsOf(s *series.Series) []float64 {
	weight := make([]float64, len(s.X))
	if s.Errors == nil {
		floats.AddConst(1, weight)
		return weight
	}
	noise := sq(numeric.UpperMedian(s.Errors))
	if s.Relative {
		noise = 0
	}
	for i, e := range s.Errors {
		weight[i] = 1 / max(sq(e)+noise, math.SmallestNonzeroFloat64)
	}
	floats.Scale(float64(len(weight))/floats.Sum(weight), weight)
	return weight
}

// whitened returns the AR(1) residuals: a walk looks periodic at many periods, its steps do not.
func (v *view) whitened() *view {
	var product, square float64
	for i := 1; i < len(v.y); i++ {
		if v.at[i] == v.at[i-1]+1 {
			product, square = product+v.y[i]*v.y[i-1], square+v.y[i-1]*v.y[i-1]
		}
	}
	if !(square > 0) {
		return &view{v.at[1:], v.y[1:], v.weight[1:]}
	}
	a := min(max(product/square, 0), 1)
	w := &view{v.at[1:], make([]float64, len(v.y)-1), v.weight[1:]}
	for i := range w.y {
		w.y[i] = v.y[i+1] - math.Pow(a, float64(v.at[i+1]-v.at[i]))*v.y[i]
	}
	return w
}
