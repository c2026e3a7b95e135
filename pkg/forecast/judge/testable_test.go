package judge

import (
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestTestable: a series is long enough for a test of the past exactly if one with the default options finds an origin in it.
func TestTestable(t *testing.T) {
	for n := 1; n < 30; n++ {
		_, err := BacktestOptions{}.complete().plan(n)
		if got := Testable(&forecast.Analysis{Series: &series.Series{X: make([]float64, n)}}); got != (err == nil) || got != (n > 4) {
			t.Errorf("%d observations: %v, and an origin: %v", n, got, err)
		}
	}
}
