package periodogram

import (
	"math"
	"testing"
)

// TestWindow wants windows close to Hann's, with coefficients that do not cancel.
func TestWindow(t *testing.T) {
	for _, ratio := range []float64{1.02, 1.05, 1.3, 1.6, 1.99, 2, 2.16, 2.5, 3, 3.9, 7.3, 100.2} {
		w := NewWindow(ratio)
		var off, size float64
		for i := range 101 {
			u := 0.5 * float64(i) / 100
			h := w.A[0]
			size = math.Abs(w.A[0])
			for k, a := range w.A[1:] {
				h += 2 * a * math.Cos(2*math.Pi*float64((k+1)*w.Step)*u/ratio)
				size += 2 * math.Abs(a)
			}
			cos := math.Cos(math.Pi * u)
			off = max(off, math.Abs(h-cos*cos))
		}
		if off > 5e-3 || size > 30 {
			t.Errorf("period of %v ranges: off by %.2g, coefficients %.3g: %v", ratio, off, size, w.A)
		}
		t.Logf("%v: off by %.2g, coefficients %.3g", ratio, off, size)
	}
}
