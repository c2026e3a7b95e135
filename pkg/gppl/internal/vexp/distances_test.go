package vexp

import (
	"math"
	"testing"
)

// TestRoots compares with math.Sqrt to the last bit, in slices that end at each place of a four.
func TestRoots(t *testing.T) {
	all := []float64{0, 1, 2, 1e-310, 3e300, 0.1, math.Inf(1), -1, 7, math.NaN(), 1e-20}
	for n := range len(all) + 1 {
		x := append([]float64(nil), all...)
		Roots(x[:n])
		for i, v := range all {
			want := v
			if i < n {
				want = math.Sqrt(v)
			}
			if x[i] != want && !(math.IsNaN(x[i]) && math.IsNaN(want)) {
				t.Errorf("%d roots: root of %v is %v", n, v, x[i])
			}
		}
	}
}

// TestAddSquares compares with a loop to the last bit, in slices that end at each place of a four.
func TestAddSquares(t *testing.T) {
	from := []float64{0, 1.7e9, -2, 1e-310, 3e300, 0.1, math.Inf(1), -1, 7, math.NaN(), 1e-20}
	for n := range len(from) + 1 {
		s := make([]float64, len(from))
		for i := range s {
			s[i] = 0.3 * float64(i)
		}
		AddSquares(s[:n], 0.7, from)
		for i, v := range from {
			want := 0.3 * float64(i)
			if i < n {
				d := 0.7 - v
				want += float64(d * d)
			}
			if s[i] != want && !(math.IsNaN(s[i]) && math.IsNaN(want)) {
				t.Errorf("%d sums: the one of %v is %v, want %v", n, v, s[i], want)
			}
		}
	}
}
