package descent

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestCoordinates: in the coordinates of H, ½(u − u₀)ᵀH(u − u₀) is ½|z|², and its slope z; a direction without curvature counts
// as floor.
func TestCoordinates(t *testing.T) {
	h := mat.NewSymDense(2, []float64{50, 40, 40, 40})
	u0, z := []float64{3, -1}, []float64{0.4, -0.7}
	c := NewCoordinates(u0, h, 1)
	u := c.Point(z)
	away := mat.NewVecDense(2, []float64{u[0] - u0[0], u[1] - u0[1]})
	if got, want := mat.Inner(away, h, away), z[0]*z[0]+z[1]*z[1]; math.Abs(got-want) > 1e-12 {
		t.Errorf("the square is %v, want %v", got, want)
	}
	var inU mat.VecDense
	inU.MulVec(h, away)
	grad := make([]float64, 2)
	c.Slope(grad, inU.RawVector().Data)
	if math.Hypot(grad[0]-z[0], grad[1]-z[1]) > 1e-12 {
		t.Errorf("slope %v, want %v", grad, z)
	}
	c.From([]float64{0, 0})
	if at := c.Point(z); math.Hypot(at[0]-away.AtVec(0), at[1]-away.AtVec(1)) > 1e-12 {
		t.Errorf("from 0 the point is %v, want %v", at, mat.Formatted(away.T()))
	}
	flat := NewCoordinates([]float64{0}, mat.NewSymDense(1, []float64{0}), 4)
	if at := flat.Point([]float64{1}); math.Abs(math.Abs(at[0])-0.5) > 1e-15 {
		t.Errorf("without curvature a step is %v, want ½", at[0])
	}
	var none *Coordinates
	if at := none.Point(z); &at[0] != &z[0] {
		t.Error("no coordinates change the point")
	}
}

// TestBalanced: every derivative adds as much to the slope as any other, whatever its size.
func TestBalanced(t *testing.T) {
	grad := []float64{100, -1, 30}
	d, slope := Balanced(grad)
	for j, g := range grad {
		if math.Abs(d[j]*g-slope/3) > 1e-12 {
			t.Errorf("derivative %d adds %v of %v", j, d[j]*g, slope)
		}
	}
}
