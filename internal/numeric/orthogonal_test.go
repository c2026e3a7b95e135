package numeric

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// TestOrthogonalise: of a vector that is a sum of two orthonormal ones but for 1e-9, just that is left, orthogonal to them, and the
// coefficients give back the vector.
func TestOrthogonalise(t *testing.T) {
	const n = 50
	basis := [][]float64{make([]float64, n), make([]float64, n)}
	v := make([]float64, n)
	for i := range n {
		basis[0][i] = math.Sqrt(2./n) * math.Cos(2*math.Pi*float64(i)/n)
		basis[1][i] = math.Sqrt(2./n) * math.Sin(2*math.Pi*float64(i)/n)
		v[i] = 3*basis[0][i] - 70*basis[1][i] + 1e-9*math.Cos(6*math.Pi*float64(i)/n)
	}
	want := append([]float64{}, v...)
	c := Orthogonalise(v, basis)
	left := floats.Norm(v, 2)
	if math.Abs(left/(1e-9*math.Sqrt(n/2.))-1) > 1e-4 {
		t.Errorf("%v is left", left)
	}
	for i, q := range basis {
		if along := floats.Dot(q, v); math.Abs(along) > 1e-14*left {
			t.Errorf("%v of what is left is along the vector %d", along/left, i)
		}
	}
	for i, q := range basis {
		floats.AddScaled(v, c[i], q)
	}
	if off := floats.Distance(v, want, 2); off > 1e-12 || math.Abs(c[0]-3) > 1e-12 || math.Abs(c[1]+70) > 1e-12 {
		t.Errorf("coefficients %v give a vector %v off", c, off)
	}
}
