package descent

import (
	"math"
	"testing"
)

// TestConfirm: a slope that is wrong by a hundredth is told from the right one, and a point that is no minimum from one that is,
// also where some values are missing.
func TestConfirm(t *testing.T) {
	for _, missing := range []float64{0, 5e-3} {
		f := func(x float64) float64 { return math.Exp(x) - 2*x + 3*x*x }
		at := func(x float64) Line {
			return Line{f(x), func(step float64) float64 {
				if step > missing && missing > 0 {
					return math.NaN()
				}
				return f(x + step)
			}}
		}
		const x = 0.7
		slope := math.Exp(x) - 2 + 6*x
		if why := at(x).ConfirmSlope(slope, 1e-3*slope); why != "" {
			t.Errorf("right, and refused: %s", why)
		}
		if at(x).ConfirmSlope(1.01*slope, 1e-3*slope) == "" {
			t.Error("wrong by a hundredth, and confirmed")
		}
		least := 0.0
		for range 50 {
			least -= (math.Exp(least) - 2 + 6*least) / (math.Exp(least) + 6)
		}
		if why := at(least).ConfirmMinimum(0.01); why != "" {
			t.Errorf("a minimum, and refused: %s", why)
		}
		if at(least+1).ConfirmMinimum(0.01) == "" {
			t.Error("no minimum, and confirmed")
		}
	}
}
