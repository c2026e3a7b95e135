package observe

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// TestMixing iterates a map of 40 numbers with some modes that a step carries beyond the fixed point and some that approach it
// slowly: steps of 0.8 of the change alone oscillate for ever.
func TestMixing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 8))
	const n, share = 40, 0.8
	fixed, slopes, weights := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range fixed {
		fixed[i], slopes[i], weights[i] = 10*rnd.NormFloat64(), []float64{-1.5, 0, 0.6}[i%3], 0.5+rnd.Float64()
	}
	steps := func(m *mixing) int {
		u := make([]float64, n)
		for step := range 100 {
			change := make([]float64, n)
			for i := range change {
				change[i] = (1 - slopes[i]) * (fixed[i] - u[i])
			}
			if floats.Norm(change, math.Inf(1)) < 1e-6 {
				return step
			}
			if m == nil {
				floats.AddScaled(u, share, change)
			} else {
				u = m.next(u, change, weights, share)
			}
		}
		return 100
	}
	if plain, mixed := steps(nil), steps(new(mixing)); plain < 100 || mixed > 25 {
		t.Errorf("%d steps alone, %d mixed", plain, mixed)
	} else {
		t.Logf("%d mixed", mixed)
	}
}
