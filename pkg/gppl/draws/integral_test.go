package draws

import (
	"math"
	"testing"
)

func TestIntegral(t *testing.T) {
	for _, c := range []struct {
		a, b, want float64
		f          func(x float64) float64
	}{
		{0, 1, math.E - 1, math.Exp},
		{-8, 9, math.Sqrt(2 * math.Pi), func(x float64) float64 { return math.Exp(-0.5 * x * x) }},
		{0, 5, 1.5 * 1.5, func(x float64) float64 { return max(0, math.Min(x, 3-x)) }}, // with corners
		{1, 1e6, 1 - 1e-6, func(x float64) float64 { return 1 / (x * x) }},
		{2, 2, 0, math.Exp},
	} {
		if got := integral(c.a, c.b, 1e-9, c.f); !(math.Abs(got-c.want) <= 1e-7) {
			t.Errorf("between %v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
	if got := integral(0, 1, 1e-9, func(float64) float64 { return math.NaN() }); !math.IsNaN(got) {
		t.Errorf("of NaN: %v", got)
	}
}
