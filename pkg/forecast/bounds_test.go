package forecast

import (
	"math"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/internal/testseries"
)

// TestBoundedDistribution integrates the density between bounds: it is that of the distribution.
func TestBoundedDistribution(t *testing.T) {
	s := testseries.Share(t, false)
	if err := s.Bound(0, 100); err != nil {
		t.Fatal(err)
	}
	m := mixture{{0.4, s.Warp(), 1, 0.8}, {0.6, s.Warp(), -2, 0.3}}
	const steps = 20000
	var sum float64
	for k := range steps {
		_, density := m.distribution(60 * (float64(k) + 0.5) / steps)
		sum += density * 60 / steps
	}
	if below, _ := m.distribution(60); math.Abs(below-sum) > 1e-6 {
		t.Errorf("P(y < 60) = %v, the integral of the density is %v", below, sum)
	}
	for at, want := range map[float64]float64{-1: 0, 0: 0, 100: 1, 101: 1} {
		if below, density := m.distribution(at); math.Abs(below-want) > 1e-12 || density != 0 {
			t.Errorf("P(y < %v) = %v with density %v", at, below, density)
		}
	}
}
