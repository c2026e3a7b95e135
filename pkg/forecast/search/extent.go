package search

import "github.com/projected-likelihood/gppl/pkg/forecast/series"

// extent describes x for the priors: its step and its range.
type extent struct{ step, span float64 }

// extentOf returns the step of a series and the range of its latest observations; if that range is below two steps, of all.
func extentOf(s *series.Series, rows int, step float64) extent {
	const least = 2
	n := len(s.X)
	span := s.X[n-1] - s.X[n-rows]
	if span < least*step {
		span = s.X[n-1] - s.X[0]
	}
	return extent{step, span}
}
