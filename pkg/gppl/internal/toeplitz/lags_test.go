package toeplitz

import (
	"math"
	"testing"
)

// TestLags: the sums over a sample of lags are those over all of them, within the margin, for a function that falls and for one
// whose period divides the step.
func TestLags(t *testing.T) {
	for _, n := range []int{1, 100, 5000} {
		all := make([]float64, n)
		for d := range all {
			all[d] = float64(d)
		}
		s := SampleLags(all)
		falls := func(dst, r []float64) {
			for i, x := range r {
				dst[i] = -math.Exp(-x / 500)
			}
		}
		sum, w := 0.0, make([]float64, n)
		falls(w, all)
		for _, v := range w {
			sum += math.Abs(v)
		}
		if got := s.Size(falls); !(got >= 0.99*sum && got <= 2.1*sum) {
			t.Errorf("n = %d: %v, and the sum is %v", n, got, sum)
		}
		turns := func(dst, r []float64) {
			for i, x := range r {
				dst[i] = math.Sin(2 * math.Pi * x)
			}
		}
		if got := s.Steepness(turns, 1); n > 1 && !(got >= 0.5*float64(n)) {
			t.Errorf("n = %d: slopes of a function whose period is the step add up to %v", n, got)
		}
	}
}
