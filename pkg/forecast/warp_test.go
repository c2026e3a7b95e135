package forecast

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// ofParts lets tests compare forecasts with the scales of their parts.
var ofParts = cmp.AllowUnexported(Part{})

// TestWarps: g increases, g⁻¹ inverts it and ends at the bounds, and the logarithm of its slope, by differences, is log g′.
func TestWarps(t *testing.T) {
	odds := &series.Bounds{Lo: -1, Hi: 3}
	for w, values := range map[series.Warp][]float64{
		(&series.Series{}).Warp(): {1e-9, 0.3, 1, 700},
		odds:                      {-1 + 1e-5, 0, 2, 3 - 1e-5},
		&series.Bounds{Lo: -1, Hi: 3, Beyond: 0.1}: {-1, 0, 2, 3},
	} {
		before := math.Inf(-1)
		for _, y := range values {
			z := w.Forward(y)
			if back := w.Inverse(z); !(z > before) || math.Abs(back-y) > 1e-12*(1+math.Abs(y)) {
				t.Errorf("%T: g(%v) = %v above %v, there and back %v", w, y, z, before, back)
			}
			before = z
			slope := math.Exp(w.LogSlope(y))
			h := 1e-4 * min(1, 1/slope)
			if by := (w.Forward(y+h) - w.Forward(y-h)) / (2 * h); math.Abs(by/slope-1) > 1e-5 {
				t.Errorf("%T: slope at %v: %v, by differences %v", w, y, slope, by)
			}
		}
	}
	if lo, hi := odds.Inverse(-1e3), odds.Inverse(1e3); lo != -1 || hi != 3 {
		t.Errorf("far beyond: %v and %v", lo, hi)
	}
}
