package fourier

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// TestCircles: sums are computed once for each circle and highest frequency, and forgotten when many others follow.
func TestCircles(t *testing.T) {
	var s Circles
	computed := 0
	on := func(period float64, highest int) *CircleSums {
		return s.On(1, period, highest, func(origin, p float64, m int) (Moments, blas64.General) {
			if computed++; origin != 1 || p != period || m != highest {
				t.Errorf("sums from %v, of the period %v, up to %d", origin, p, m)
			}
			return make(Moments, 2*(2*m+1)), blas64.General{}
		})
	}
	fifty, thirty := on(2000, 50), on(2000, 30)
	if on(2000, 50) != fifty || on(2000, 30) != thirty || len(thirty.Moments) != 122 || thirty.Highest != 30 || computed != 2 {
		t.Errorf("sums up to 50 and 30 are computed %d times, with %d moments up to 30", computed, len(thirty.Moments))
	}
	for _, most := range []int{0, 7} {
		s.Most = most
		for i := range 10 {
			on(float64(1000*most+3000+i), 10)
		}
		computed = 0
		kept := max(most, maxCircles)
		for i := range 10 {
			on(float64(1000*most+3009-i), 10)
			if want := max(0, i+1-kept); computed != want {
				t.Fatalf("of %d kept, %d are computed again after %d", kept, computed, i+1)
			}
		}
	}
	computed = 0
	s.Forget()
	if on(3000, 10); computed != 1 {
		t.Error("sums are not forgotten")
	}
}

// TestLadder: powers and rungs are at least what is asked for, and at most one step higher; a power is its own.
func TestLadder(t *testing.T) {
	for _, each := range []float64{1, 2, 4} {
		for x := 1e-3; x < 1e6; x *= 1.0371 {
			l := Ladder(x, each)
			if !(l >= x*(1-1e-8) && l <= x*math.Exp2(1/each)) || Ladder(l, each) != l {
				t.Errorf("%v, %v to a power of two: %v", x, each, l)
			}
		}
	}
	for m := 1; m < 1e5; m += 1 + m/7 {
		if r := Rung(m); r < max(m, leastRung) || float64(r) > math.Sqrt2*max(float64(m), leastRung)+1 {
			t.Errorf("%d: %d", m, r)
		}
	}
}
