package report

import (
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast"
)

// TestBeyondPercent tells of bands beyond 0 or 100 % of observations that are within, and of no others.
func TestBeyondPercent(t *testing.T) {
	for name, c := range map[string]struct {
		unit   string
		y      float64
		lo, hi float64
		want   bool
	}{
		"above": {"%", 99, 80, 104, true}, "below": {"%", 1, -4, 20, true}, "within": {"%", 99, 80, 100, false}, "no per cent": {"m", 99, 80, 104, false}, "growth": {"%", -3, -9, 104, false},
	} {
		s := &forecast.Series{YUnit: c.unit, Y: []float64{50, c.y}}
		if got := beyondPercent(s, &forecast.Forecast{When: []string{"then"}, Lower: []float64{c.lo}, Upper: []float64{c.hi}}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	bounded := &forecast.Series{YUnit: "%", Y: []float64{50, 99}, Bounds: &forecast.Bounds{Hi: 100}}
	if beyondPercent(bounded, &forecast.Forecast{When: []string{"then"}, Lower: []float64{0}, Upper: []float64{101}}) {
		t.Error("with bounds")
	}
}
