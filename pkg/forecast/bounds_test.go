package forecast

import (
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
)

// TestBoundedDistribution compares the integral of the density between bounds with the distribution.
func TestBoundedDistribution(t *testing.T) {
	s := testseries.Share(t, false)
	if err := s.Bound(0, 100); err != nil {
		t.Fatal(err)
	}
	m := mixtureOf([]Part{{Weight: 0.4, warp: s.Warp(), Mean: []float64{1}, NoisyVar: []float64{0.64}},
		{Weight: 0.6, warp: s.Warp(), Mean: []float64{-2}, NoisyVar: []float64{0.09}}}, false)
	density := func(v float64) float64 {
		return math.Exp(testkit.Must(m.LogDensity(t.Context(), []float64{v}))(t)[0])
	}
	const steps = 20000
	var sum float64
	for k := range steps {
		sum += density(60*(float64(k)+0.5)/steps) * 60 / steps
	}
	if below, _ := m.Tails([]float64{60}); math.Abs(below[0]-sum) > 1e-6 {
		t.Errorf("P(y ≤ 60) = %v, the integral of the density is %v", below, sum)
	}
	for at, want := range map[float64]float64{-1: 0, 0: 0, 100: 1, 101: 1} {
		if below, _ := m.Tails([]float64{at}); math.Abs(below[0]-want) > 1e-12 || density(at) != 0 {
			t.Errorf("P(y ≤ %v) = %v with density %v", at, below, density(at))
		}
	}
}
