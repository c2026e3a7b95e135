package timeline

import (
	"slices"
	"testing"
)

func TestOrder(t *testing.T) {
	if o := Order([]float64{1, 1, 2}); o != nil {
		t.Errorf("sorted times have the order %v", o)
	}
	if o := Order([]float64{3, 1, 2, 1}); !slices.Equal(o, []int{1, 3, 2, 0}) {
		t.Errorf("order %v: equal times are to stay in theirs", o)
	}
}

func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		t    []float64
		want float64
	}{
		{[]float64{5}, 0},
		{[]float64{5, 5}, 0},
		{[]float64{0, 1, 2, 3}, 3},
		{[]float64{0, 1, 2, 1002, 1003}, 23}, // the gap counts as twenty spacings
	} {
		if got := Coverage(c.t); got != c.want {
			t.Errorf("%v cover %v, want %v", c.t, got, c.want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for s, want := range map[float64]string{2.34567e-5: "23.5 µs", 0.5: "500 ms", 75: "75 s"} {
		if got := Seconds(s); got != want {
			t.Errorf("%v s is written %q, want %q", s, got, want)
		}
	}
}
