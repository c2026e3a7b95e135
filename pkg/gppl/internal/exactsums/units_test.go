package exactsums

import (
	"math"
	"testing"
)

func TestUnits(t *testing.T) {
	for v, want := range map[float64]float64{0: 0, 1: 1, 1.1: 2, 0.25: 0.25, 0.26: 0.5, 3e10: 1 << 35} {
		if got := UnitFor(v); got != want {
			t.Errorf("the unit for %v is %v, want %v", v, got, want)
		}
	}
	for v, want := range map[float64]bool{1: true, 0.125: true, 3: false, 0: false, -2: false, math.Ldexp(1, mostExponent-1): true,
		math.Ldexp(1, mostExponent+1): false, math.Inf(1): false} {
		if IsUnit(v) != want {
			t.Errorf("%v is a unit: %v", v, !want)
		}
	}
}
