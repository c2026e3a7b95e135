package series

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestBoundsErrors names a value beyond the bounds, and bounds that are none.
func TestBoundsErrors(t *testing.T) {
	s := share(t, false)
	if err := s.Bound(0, 50); err == nil || !strings.Contains(err.Error(), "is beyond the bounds, 0 and 50") || s.Bounds != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "3", "100,0", "0,x", "1,1", "0,NaN"} {
		if b, err := ParseBounds(text); err == nil {
			t.Errorf("%q: %+v", text, b)
		}
	}
}

// TestBoundsNear: one value at a bound and one next to it do not make the log odds of the others: where the values are far from the
// bounds, these are nearly straight in y. Where values crowd at a bound, the log odds stay, and end close beyond it.
func TestBoundsNear(t *testing.T) {
	const n = 120
	for name, c := range map[string]struct {
		draw        func(r *rand.Rand, i int) float64
		least, most float64 // limits on the distance beyond
	}{
		"60 ± 3, 100 and 99.99": {func(r *rand.Rand, i int) float64 {
			switch i {
			case 40:
				return 100
			case 70:
				return 99.99
			}
			return 60 + 3*r.NormFloat64()
		}, 20, 100},
		"60 ± 3 and 99.99": {func(r *rand.Rand, i int) float64 {
			if i == 70 {
				return 99.99
			}
			return 60 + 3*r.NormFloat64()
		}, 20, 100},
		"60 ± 3": {func(r *rand.Rand, _ int) float64 { return 60 + 3*r.NormFloat64() }, 0, 0},
		"near the bound": {func(r *rand.Rand, _ int) float64 {
			return math.Round(1000/(1+math.Exp(5+1.5*r.NormFloat64()))) / 10 // with some exact zeros
		}, 0.01, 2},
	} {
		r, x, y := rand.New(rand.NewPCG(65, 7)), make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = float64(i), c.draw(r, i)
		}
		s, err := NewSeries(Axis{Name: "t"}, x, y)
		if err == nil {
			err = s.Bound(0, 100)
		}
		if err != nil {
			t.Fatal(err)
		}
		if b := s.Bounds.Beyond; b < c.least || b > c.most {
			t.Errorf("%s: the log odds end %v beyond the bounds, want %v to %v", name, b, c.least, c.most)
		}
	}
}
