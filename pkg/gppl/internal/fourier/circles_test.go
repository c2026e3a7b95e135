package fourier

import (
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// TestCircles: sums are computed once for each circle, more of them where they are
// asked for, and forgotten on circles that were begun long ago.
func TestCircles(t *testing.T) {
	var s Circles
	computed := 0
	begin := func(period float64) *CircleSums {
		return s.Begin(func(c *CircleSums) bool { return c.Period == period }, CircleSums{Period: period})
	}
	grow := func(period float64, m int) *CircleSums {
		return s.Grow(begin(period), m, m+5, func(_, of float64, m int) (Moments, blas64.General) {
			if computed++; of != period {
				t.Errorf("sums of the period %v, want %v", of, period)
			}
			return make(Moments, 2*(2*m+1)), blas64.General{Rows: 2 * (m + 1), Cols: 1, Stride: 1, Data: make([]float64, 2*(m+1))}
		})
	}
	first := grow(2000, 10)
	if again := grow(2000, 15); again != first || again.Highest != 15 || computed != 1 {
		t.Errorf("computed %d times: up to %d", computed, again.Highest)
	}
	more := grow(2000, 16)
	if more == first || more.Highest != 21 || more.Columns.Rows != 44 || first.Highest != 15 || len(s.all()) != 1 {
		t.Errorf("grown to %d, the first to %d, of %d", more.Highest, first.Highest, len(s.all()))
	}
	for i := range maxCircles {
		grow(3000+float64(i), 10)
	}
	if len(s.all()) != maxCircles || begin(2000).Highest != 0 {
		t.Error("the oldest circle is still there")
	}
	if s.Forget(); len(s.all()) != 0 {
		t.Error("circles are not forgotten")
	}
}
