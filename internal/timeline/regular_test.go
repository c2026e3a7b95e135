package timeline

import (
	"math"
	"testing"
)

func TestRegular(t *testing.T) {
	for _, c := range []struct {
		name string
		t    []float64
		n    int // 0: not regular
	}{
		{"integers", []float64{3, 4, 5, 6}, 4},
		{"one missing of many", append(steps(20, 0.1, 0), 2.1, 2.2), 23},
		{"large offset", steps(50, 0.25, 1.7e9), 50},
		{"decimal steps", steps(1000, 0.001, -3), 1000},
		{"two", []float64{1, 9}, 2},
		{"one", []float64{1}, 0},
		{"a duplicate", []float64{1, 2, 2, 3}, 0},
		{"half missing", []float64{0, 1, 2, 3, 10}, 0},
		{"irregular", []float64{0, 1, 2.3, 3, 4}, 0},
	} {
		g, ok := RegularOf(c.t)
		if ok != (c.n > 0) || ok && (g.N != c.n || len(g.Place) != len(c.t) || len(g.Missing) != c.n-len(c.t)) {
			t.Errorf("%s: %v, %+v", c.name, ok, g)
			continue
		}
		for i, p := range g.Place {
			if off := math.Abs(c.t[0] + float64(p)*g.Step - c.t[i]); off > g.Off+1e-15*math.Abs(c.t[i]) {
				t.Errorf("%s: place %d is %g off, more than %g", c.name, i, off, g.Off)
			}
		}
	}
}

// TestRegularWithin: middles of months are at their places, and places may be missing.
func TestRegularWithin(t *testing.T) {
	var middles []float64
	at := 0.
	for i := range 36 {
		days := []float64{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[i%12]
		if i%7 != 3 {
			middles = append(middles, math.Round(1000*(at+0.5*days)/365)/1000)
		}
		at += days
	}
	if g, ok := RegularWithin(middles, 0.3, 0.1); !ok || g.N != 36 || len(g.Missing) != 36-len(middles) || math.Abs(g.Step*12-1) > 0.01 {
		t.Errorf("middles of months: %v, %+v", ok, g)
	}
	if _, ok := RegularWithin(middles, 0.1, 0.1); ok {
		t.Error("more are missing than a tenth")
	}
	if _, ok := RegularWithin(middles, 0.3, 0.02); ok {
		t.Error("they are further off than 2 %")
	}
}

func steps(n int, step, lo float64) (t []float64) {
	for i := range n {
		t = append(t, lo+float64(i)*step)
	}
	return t
}
