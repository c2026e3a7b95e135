package forecast

import (
	"math"
	"testing"
)

// TestWarps: g increases, g⁻¹ goes back and ends at bounds, and log g′ is the slope, by differences.
func TestWarps(t *testing.T) {
	odds := &Bounds{Lo: -1, Hi: 3}
	for w, values := range map[warp][]float64{
		logarithm{}:                         {1e-9, 0.3, 1, 700},
		odds:                                {-1 + 1e-5, 0, 2, 3 - 1e-5},
		&Bounds{Lo: -1, Hi: 3, Beyond: 0.1}: {-1, 0, 2, 3},
	} {
		before := math.Inf(-1)
		for _, y := range values {
			z := w.forward(y)
			if back := w.inverse(z); !(z > before) || math.Abs(back-y) > 1e-12*(1+math.Abs(y)) {
				t.Errorf("%T: g(%v) = %v above %v, there and back %v", w, y, z, before, back)
			}
			before = z
			slope := math.Exp(w.logSlope(y))
			h := 1e-4 * min(1, 1/slope)
			if by := (w.forward(y+h) - w.forward(y-h)) / (2 * h); math.Abs(by/slope-1) > 1e-5 {
				t.Errorf("%T: slope at %v: %v, by differences %v", w, y, slope, by)
			}
		}
	}
	if lo, hi := odds.inverse(-1e3), odds.inverse(1e3); lo != -1 || hi != 3 {
		t.Errorf("far beyond: %v and %v", lo, hi)
	}
}
