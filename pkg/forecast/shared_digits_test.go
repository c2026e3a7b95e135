package forecast

import "testing"

// TestTwoDigits: numbers are written without an exponent unless they are very large or small.
func TestTwoDigits(t *testing.T) {
	for v, want := range map[float64]string{296.4: "300", 0.7512: "0.75", 13.04: "13", 2: "2", 3.21e-7: "3.2e-07", 4.5e8: "4.5e+08"} {
		if got := twoDigits(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}
