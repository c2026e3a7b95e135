package testkit

import (
	"math/rand/v2"
	"testing"
)

// TestUniform: if a truth is distributed as its draws, its ranks are uniform; if it is 0.3 standard deviations off, they are not.
func TestUniform(t *testing.T) {
	const sims = 1000
	rnd, ranks := rand.New(rand.NewPCG(1, 2)), Ranks{}
	for range sims {
		drawn := make([]float64, RankedDraws)
		for i := range drawn {
			drawn[i] = rnd.NormFloat64()
		}
		truth := rnd.NormFloat64()
		ranks.Add("right", truth, drawn)
		ranks.Add("off", truth+0.3, drawn)
	}
	if p, ok := ranks.Uniform("right"); !ok || p > 1 {
		t.Errorf("right: %v, p = %v", *ranks["right"], p)
	}
	if p, ok := ranks.Uniform("off"); ok {
		t.Errorf("off: %v, p = %v", *ranks["off"], p)
	}
}
