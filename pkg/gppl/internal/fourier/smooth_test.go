package fourier

import (
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

// TestSmooth transforms at sizes near those with the most factors, for which gonum's FFT has no room from 2·3¹³ on.
func TestSmooth(t *testing.T) {
	for n := 1; n < 1<<24; n = n + n/5 + 1 {
		if s := Smooth(n); s < n || s%2 != 0 || s > n+n/4+2 || factors(s) == 0 || factors(s) > mostFactors {
			t.Errorf("Smooth(%d) = %d, with %d factors", n, s, factors(s))
		}
	}
	const three13 = 1594323
	if got := factors(2 * three13); got != 14 {
		t.Errorf("2·3¹³ has %d factors", got)
	}
	fourier.NewFFT(2 * Smooth(2*three13)) // panics without room
}
