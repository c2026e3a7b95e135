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

func steps(n int, step, lo float64) (t []float64) {
	for i := range n {
		t = append(t, lo+float64(i)*step)
	}
	return t
}
