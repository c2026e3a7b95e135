package forecast

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ofParts lets tests compare forecasts with the scales of their parts.
var ofParts = cmp.AllowUnexported(Part{})

// TestWarps: g increases, g⁻¹ goes back and ends at bounds, and log g′ is the slope, by differences.
func TestWarps(t *testing.T) {
	odds := &Bounds{Lo: -1, Hi: 3}
	for w, values := range map[warp][]float64{
		(&Series{}).warp():                  {1e-9, 0.3, 1, 700},
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
	for _, c := range []struct {
		p    Part
		z, y float64
	}{{Part{}, 2, 2}, {Part{warp: (&Series{}).warp()}, 2, math.Exp(2)}, {Part{warp: odds}, 0, 1}} {
		if y := c.p.Value(c.z); math.Abs(y-c.y) > 1e-15 {
			t.Errorf("%+v: %v is %v, want %v", c.p, c.z, y, c.y)
		}
	}
}
