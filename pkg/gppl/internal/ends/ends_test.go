package ends

import (
	"math"
	"testing"
)

func TestOf(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		natural func(u float64) float64
		lo, hi  float64
	}{
		"exp":               {math.Exp, 0, inf},
		"the identity":      {func(u float64) float64 { return u }, -inf, inf},
		"a small unit":      {func(u float64) float64 { return 1e-9 * u }, -inf, inf},
		"falling":           {func(u float64) float64 { return -u }, -inf, inf},
		"a floor":           {func(u float64) float64 { return 0.4 + math.Exp(u) }, 0.4, inf},
		"a ceiling":         {func(u float64) float64 { return 3 - math.Exp(-u) }, -inf, 3},
		"a falling ceiling": {func(u float64) float64 { return 3 - math.Exp(u) }, -inf, 3},
		"logistic":          {func(u float64) float64 { return -2 + 5/(1+math.Exp(-u)) }, -2, 3},
		"overflowing":       {func(u float64) float64 { return math.Exp(u) / (1 + math.Exp(u)) }, 0, 1},
		"falling logistic":  {func(u float64) float64 { return 7 / (1 + math.Exp(u)) }, 0, 7},
		"slow":              {func(u float64) float64 { return 1 + math.Atan(u)/math.Pi }, 0.5, 1.5},
		"clipped":           {func(u float64) float64 { return min(max(u, 2), 5) }, 2, 5},
	} {
		lo, hi := Of(c.natural)
		near := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9 }
		if !near(lo, c.lo) || !near(hi, c.hi) {
			t.Errorf("%s: between %v and %v, want %v and %v", name, lo, hi, c.lo, c.hi)
		}
	}
}
