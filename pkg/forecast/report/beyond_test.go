package report

import (
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestBeyond: a note mentions bands below 0, or beyond 0 or 100 %, if all observations are within, and no other bands.
func TestBeyond(t *testing.T) {
	for name, c := range map[string]struct {
		unit   string
		y      float64
		lo, hi float64
		want   string
	}{
		"above": {"%", 99, 80, 104, "0,100"}, "below": {"%", 1, -4, 20, "0,100"}, "within": {"%", 99, 80, 100, ""},
		"no per cent": {"m", 99, 80, 104, ""}, "growth": {"%", -3, -9, 104, ""},
		"counts":          {"", 3, -1, 9, "above, and --likelihood negbinomial"},
		"counts and none": {"", 0, -1, 9, "if none can be, --likelihood negbinomial"},
		"counts within":   {"", 3, 0, 9, ""}, "amounts": {"mm", 1.5, -1, 9, "always"}, "amounts and none": {"mm", 0, -1, 9, "as 0"},
		"differences": {"mm", -0.6, -1, 9, ""}, "nearly none": {"mm", -0.5, -4, 9, "hardly are: read their lower ends as 0"},
		"nearly within": {"mm", -0.5, -0.4, 9, ""}, "whole amounts": {"µg", 0, -1, 9, "as 0"},
	} {
		s := &series.Series{YUnit: c.unit, Y: []float64{50, c.y}}
		if c.unit == "mm" {
			s.Y[0] += 0.5
		}
		got := beyond(s, &forecast.Forecast{When: []string{"then"}, Lower: []float64{c.lo}, Upper: []float64{c.hi}})
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	falling := &forecast.Forecast{When: []string{"then"}, Median: []float64{-1}, Lower: []float64{-4}, Upper: []float64{2}}
	if got := beyond(&series.Series{Y: []float64{5.5, 2}}, falling); !strings.HasPrefix(got, "It expects values below 0, where") {
		t.Errorf("a mean below 0: %q", got)
	}
	humidity := &series.Series{YName: "Humidity", Y: []float64{50, 99}}
	if got := beyond(humidity, &forecast.Forecast{When: []string{"then"}, Lower: []float64{80},
		Upper: []float64{104}}); !strings.Contains(got, "0,100") {
		t.Errorf("humidity: %q", got)
	}
	bounded := &series.Series{YUnit: "%", Y: []float64{50, 99}, Bounds: &series.Bounds{Hi: 100}}
	if got := beyond(bounded, &forecast.Forecast{When: []string{"then"}, Lower: []float64{0}, Upper: []float64{101}}); got != "" {
		t.Errorf("with bounds: %q", got)
	}
}
