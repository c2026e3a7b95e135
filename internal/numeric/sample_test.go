package numeric

import (
	"slices"
	"testing"
)

// TestClipped: values far from the others move to five standard deviations from the median, the others stay.
func TestClipped(t *testing.T) {
	v := []float64{0, 1, 2, 3, 4, 1000, -1000}
	if d := MedianDistance(v); d != 2 {
		t.Errorf("median distance %v, want 2", d)
	}
	const bound = 5 * 1.4826 * 2
	if got, want := Clipped(v), []float64{0, 1, 2, 3, 4, 2 + bound, 2 - bound}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if v[5] != 1000 {
		t.Error("the values themselves changed")
	}
	if same := []float64{1, 1, 1, 9}; !slices.Equal(Clipped(same), []float64{1, 1, 1, 9}) {
		t.Error("values without spread were clipped")
	}
}
