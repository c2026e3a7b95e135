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
		return s.Grow(begin(period), m, m+5, func(known *CircleSums, m int) (Moments, blas64.General) {
			if computed++; known.Period != period || known.Highest > 0 && known.Columns.Rows != 2*(known.Highest+1) {
				t.Errorf("sums of the period %v, want %v, with %d rows known to %d", known.Period, period, known.Columns.Rows, known.Highest)
			}
			return make(Moments, 2*(2*m+1)), blas64.General{Rows: 2 * (m + 1), Cols: 1, Stride: 1, Data: make([]float64, 2*(m+1))}
		})
	}
	first := grow(2000, 10)
	if again := grow(2000, 15); again != first || again.Highest != 15 || computed != 1 {
		t.Errorf("computed %d times: up to %d", computed, again.Highest)
	}
	more := grow(2000, 16)
	if more == first || more.Highest != 21 || more.Columns.Rows != 44 || first.Highest != 15 || len(s.Known()) != 1 {
		t.Errorf("grown to %d, the first to %d, of %d", more.Highest, first.Highest, len(s.Known()))
	}
	for i := range maxCircles {
		grow(3000+float64(i), 10)
	}
	if len(s.Known()) != maxCircles || begin(2000).Highest != 0 {
		t.Error("the oldest circle is still there")
	}
	s.Most = maxCircles + 2
	for i := range 2 * maxCircles {
		grow(4000+float64(i), 10)
	}
	if len(s.Known()) != maxCircles+2 || s.Known()[0].Period != 4000+2*maxCircles-1 {
		t.Errorf("%d circles are kept, the first of period %v", len(s.Known()), s.Known()[0].Period)
	}
	exactly := func(m int) *CircleSums {
		return s.Exactly(CircleSums{Period: 5000, Highest: m}, func(_, _ float64, m int) (Moments, blas64.General) {
			computed++
			return make(Moments, 2*(2*m+1)), blas64.General{}
		})
	}
	computed = 0
	fifty, thirty := exactly(50), exactly(30)
	if exactly(50) != fifty || exactly(30) != thirty || len(thirty.Moments) != 122 || computed != 2 {
		t.Errorf("sums up to 50 and 30 are computed %d times, with %d moments up to 30", computed, len(thirty.Moments))
	}
	if s.Forget(); len(s.Known()) != 0 {
		t.Error("circles are not forgotten")
	}
}
