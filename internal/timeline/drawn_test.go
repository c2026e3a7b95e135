package timeline

import (
	"math"
	"slices"
	"testing"
)

func TestDrawn(t *testing.T) {
	x := []float64{0, 1, 2, 2, 3, 7, 8, 9, 10}
	y := make([]float64, len(x))
	if got := Drawn(x, y, 1, 9); !slices.Equal(got, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("an even series is drawn at %v", got)
	}
	uneven := []float64{0, 1, 1.5, 4, 9, 9.25, 16}
	got := Drawn(uneven, make([]float64, len(uneven)), 0, 16)
	for i, v := range uneven {
		if !slices.Contains(got, v) {
			t.Errorf("x[%d] = %v is not drawn", i, v)
		}
	}
	if !slices.IsSorted(got) || len(got) < 500 || len(got) > 520 {
		t.Errorf("%d places of an uneven series", len(got))
	}
	for i := range got[1:] {
		if got[i+1]-got[i] > 16./500+1e-12 {
			t.Fatalf("nothing between %v and %v", got[i], got[i+1])
		}
	}
}

func TestAbsent(t *testing.T) {
	if got := Absent(2, 6.02, 1); len(got) != 3 || math.Abs(got[1]-4.01) > 1e-12 {
		t.Errorf("between neighbours a whole number of steps apart: %v", got)
	}
	if got := Absent(0, 2.6, 1); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("between others: %v", got)
	}
	if got := Absent(0, 1e12, 1); len(got) > MostDrawn || got[0] != math.Trunc(got[0]) {
		t.Errorf("%d steps of a very long gap, the first at %v", len(got), got[0])
	}
}

func TestExtremes(t *testing.T) {
	n := 50000
	x, y, z := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i], z[i] = float64(i)/7, math.Sin(float64(i)), math.NaN()
	}
	y[777], y[40001] = -5, 5
	at := Extremes(x, y, z)
	if len(at) > MostDrawn || at[0] != 0 || at[len(at)-1] != n-1 || !slices.Contains(at, 777) || !slices.Contains(at, 40001) {
		t.Errorf("%d of %d instants", len(at), n)
	}
	if !slices.IsSorted(at) || len(slices.Compact(slices.Clone(at))) != len(at) {
		t.Error("the instants do not ascend")
	}
	if at := Extremes(x[:100], y[:100]); len(at) != 100 {
		t.Errorf("%d of 100 instants", len(at))
	}
}
