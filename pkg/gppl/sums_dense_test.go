package gppl_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// denseWeighted is the exact NLL where observation i has the noise variance σ²/w_i.
func denseWeighted(t *testing.T, m gppl.Model, x, y, w []float64, centre float64) float64 {
	t.Helper()
	n := len(x)
	a := mat.NewSymDense(n, nil)
	r, c := make([]float64, 1), make([]float64, 1)
	for i := range n {
		for j := range i + 1 {
			r[0] = math.Abs(x[i] - x[j])
			m.Kernel.Cov(c, r)
			if i == j {
				c[0] += m.Noise / w[i]
			}
			a.SetSym(i, j, c[0])
		}
	}
	var f mat.Cholesky
	if !f.Factorize(a) {
		t.Fatal("not positive definite")
	}
	v, alpha := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i := range y {
		v.SetVec(i, y[i]-centre)
	}
	if err := f.SolveVecTo(alpha, v); err != nil {
		t.Fatal(err)
	}
	return 0.5 * (mat.Dot(v, alpha) + f.LogDet() + float64(n)*math.Log(2*math.Pi))
}
