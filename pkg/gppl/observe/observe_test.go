package observe_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/projected-likelihood/gppl/internal/must"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// near compares to a relative tolerance.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s: got %v, want %v, relative error %.2g > %.2g", what, got, want, math.Abs(got-want)/math.Abs(want), tol)
	}
}

// noisySine is a sine with noise of variance 0.16.
func noisySine(n int) gppl.Data {
	rnd := rand.New(rand.NewPCG(5, 0))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 0.3 * float64(n) * rnd.Float64()
		y[i] = math.Sin(x[i]) + 0.4*rnd.NormFloat64()
	}
	return gppl.Data{X: gppl.Scalars(x), Y: y}
}

// valueAt is the exact likelihood at the parameters of m.
func valueAt(t *testing.T, m gppl.Model, d gppl.Data) float64 {
	t.Helper()
	theta := gppl.Values(m.Params())
	return must.Get(must.Get(gppl.NewExact(m, d))(t).ValueGrad(nil, theta))(t)
}
