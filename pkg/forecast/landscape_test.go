package forecast

import (
	"math"
	"testing"
)

// TestRidge: a contour reaches 3.5 standard deviations, or a factor of ten of one parameter and what goes with it of the other.
func TestRidge(t *testing.T) {
	const e = 1e4 // of the second case: a = 4b + ε, where b and ε have standard deviations of 100 and 0.01
	for _, c := range []struct{ haa, hab, hbb, a, b float64 }{
		{4, 0, 9, 3.5 / 2, 3.5 / 3},
		{e, -4 * e, 16*e + 1e-4, math.Log(10), math.Log(10)/4 + 3.5*0.01/4},
	} {
		if a, b := ridge(c.haa, c.hab, c.hbb); math.Abs(a-c.a) > 1e-6 || math.Abs(b-c.b) > 1e-6 {
			t.Errorf("curvature %v, %v, %v: %v and %v, want %v and %v", c.haa, c.hab, c.hbb, a, b, c.a, c.b)
		}
	}
}
