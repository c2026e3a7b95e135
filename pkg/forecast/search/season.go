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

// isWave reports whether a season was found with a period that need not be a whole number of steps.
func (c season) isWave() bool { return c.shown && !c.fixed }

// smoothSeason is the periodic lengthscale at which the training of a season begins, and the median of its prior. A wave has 1.
const smoothSeason = 0.8

// harmonic reports whether a period is a whole fraction of a season: over the span they differ by less than half a cycle of the
// period, the resolution of a periodogram. If the season is not fixed, they differ by up to a quarter of a cycle of the season.
// The k-th fraction of a season that is slightly wrong is off by k times as much: in a long series nearly every short period
// would be such a fraction of a week or a year.
func (c season) harmonic(period, span float64) bool {
	const resolved, unsure = 0.5, 0.25 // cycles
	cycles := c.period / period
	most := unsure * cycles
	if c.fixed {
		most = min(most, resolved)
	}
	return math.Round(cycles) >= 1 && math.Abs(cycles-math.Round(cycles))*span/c.period < most
}
