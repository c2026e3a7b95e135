package descent

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/optimize"
)

// TestMetric finds the minimum of a curved valley whose second derivatives are far from the identity in one direction, in fewer
// evaluations than L-BFGS, and ends with an error where the function is not finite.
func TestMetric(t *testing.T) {
	const stiff = 1e8
	valley := optimize.Problem{
		Func: func(x []float64) float64 {
			return 0.5*stiff*x[0]*x[0] + 0.5*math.Pow(x[1]-3, 2) + math.Cosh(x[2]+x[1]-4) + 0.5*(x[3]+2)*(x[3]+2)
		},
		Grad: func(g, x []float64) {
			g[0], g[1], g[2], g[3] = stiff*x[0], x[1]-3+math.Sinh(x[2]+x[1]-4), math.Sinh(x[2]+x[1]-4), x[3]+2
		},
	}
	settings := &optimize.Settings{GradientThreshold: 1e-6, FuncEvaluations: 200, Converger: optimize.NeverTerminate{}}
	start := []float64{1e-3, 0, 0, 0}
	r, err := optimize.Minimize(valley, start, settings, &Metric{})
	if err != nil || r.Status != optimize.GradientThreshold || math.Abs(r.X[1]-3)+math.Abs(r.X[2]-1)+math.Abs(r.X[3]+2) > 1e-5 {
		t.Fatalf("%v, %v", r, err)
	}
	other, err := optimize.Minimize(valley, start, settings, &optimize.LBFGS{})
	if err == nil && r.FuncEvaluations >= other.FuncEvaluations {
		t.Errorf("%d evaluations, L-BFGS takes %d", r.FuncEvaluations, other.FuncEvaluations)
	}
	valley.Func = func([]float64) float64 { return math.NaN() }
	if _, err := optimize.Minimize(valley, start, settings, &Metric{}); err == nil {
		t.Error("a function without values has a minimum")
	}
}
