package search

import "math"

// season is a period that terms may have.
type season struct {
	period float64
	fixed  bool // a period that is given, the calendar's, or a whole number of steps that the series shows
	shown  bool // found in the series
	faint  bool // a season of the calendar whose seasonal means gain nothing in the series
	// smoothness is the start of the periodic lengthscale, suggested by the seasonal means; 0 if they are not known.
	smoothness float64
}

// smoothSeason is the periodic lengthscale at which the training of a season begins, and the median of its prior. A wave has 1.
const smoothSeason = 0.8

// harmonic reports whether a period is a whole fraction of another, to a quarter of a cycle over the span.
func harmonic(of, period, span float64) bool {
	cycles := of / period
	return math.Round(cycles) >= 1 && math.Abs(cycles-math.Round(cycles))*span/of < 0.25*cycles
}
