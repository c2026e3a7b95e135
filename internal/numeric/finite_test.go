package numeric

import (
	"math"
	"slices"
	"testing"
)

func TestFinite(t *testing.T) {
	values := []float64{1, math.NaN(), -math.MaxFloat64, math.Inf(1), math.Inf(-1), 0}
	if got, want := OnlyFinite(values), []float64{1, -math.MaxFloat64, 0}; !slices.Equal(got, want) || !AllFinite(got...) {
		t.Errorf("%v of %v are finite, not %v", got, values, want)
	}
	for i, v := range values {
		if want := i%2 == 0 && i < 4 || i == 5; IsFinite(v) != want {
			t.Errorf("%v: %v", v, IsFinite(v))
		}
	}
	if FirstNotFinite(values) != 1 || AllFinite(values...) || FirstNotFinite(nil) != -1 {
		t.Errorf("the first of %v is %d, of none %d", values, FirstNotFinite(values), FirstNotFinite(nil))
	}
}
