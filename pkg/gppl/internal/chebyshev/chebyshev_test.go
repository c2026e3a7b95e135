package chebyshev

import (
	"errors"
	"math"
	"testing"
)

// TestPanel: a matrix function, its contraction and its derivative within an interval equal the function's, between nodes
// and at the ends.
func TestPanel(t *testing.T) {
	const k, centre, half = 3, 0.4, 0.6
	at := func(s []float64, u, order float64) {
		for i := range k {
			for j := range k {
				rate := 0.3 * float64(1+i+j)
				s[i*k+j] = math.Pow(rate, order) * math.Exp(rate*u)
			}
		}
	}
	p, err := NewPanel(centre, half, k, func(s []float64, u float64) error { at(s, u, 0); return nil })
	if err != nil {
		t.Fatal(err)
	}
	v := []float64{1, 0.5, -2, 0.5, 3, 0.1, -2, 0.1, 0.7}
	g := NewInterpolant(k)
	want, got := make([]float64, k*k), make([]float64, k*k)
	for _, u := range []float64{centre - half, centre - 0.123, centre, centre + half} {
		g.Set(p, u)
		value, slope := g.Contract(v)
		for order, form := range []float64{value, slope} {
			at(want, u, float64(order))
			g.Sum(got, 2, []*[Nodes]float64{&g.Weight, &g.Slope}[order])
			var sum float64
			for i, w := range want {
				sum += v[i] * w
				if !(math.Abs(got[i]-2*w) <= 1e-11) {
					t.Errorf("u = %v, derivative %d, entry %d: %v, want %v", u, order, i, got[i], 2*w)
				}
			}
			if !(math.Abs(form-sum) <= 1e-11) {
				t.Errorf("u = %v, derivative %d: contraction %v, want %v", u, order, form, sum)
			}
		}
		g.Value(got, 2)
		at(want, u, 0)
		for i, w := range want {
			if !(math.Abs(got[i]-2*w) <= 1e-13*p.Size) {
				t.Errorf("u = %v, entry %d: %v, want %v", u, i, got[i], 2*w)
			}
		}
		if one, off, none, steep := g.Lines(u); math.Abs(one-1)+math.Abs(off)+math.Abs(none)+math.Abs(steep-1) > 1e-10 {
			t.Errorf("u = %v: lines are interpolated as %v, %v, %v, %v", u, one, off, none, steep)
		}
	}
	g.Set(p, p.node[7]) // a node itself: the values are right, the slopes are lost, and the lines tell
	g.Value(got, 1)
	at(want, p.node[7], 0)
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= 1e-13*p.Size) {
			t.Errorf("entry %d at a node: %v, want %v", i, got[i], w)
		}
	}
	if _, _, none, _ := g.Lines(p.node[7]); !(math.Abs(none) > 1e-6) {
		t.Errorf("at a node the slopes make %v of a constant: that they are lost does not show", none)
	}
	fault := errors.New("no value")
	if _, err := NewPanel(0, 1, k, func([]float64, float64) error { return fault }); err != fault {
		t.Errorf("error %v, want that of the values", err)
	}
}
