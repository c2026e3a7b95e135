package search

import (
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestSpread checks that the chosen observations are at all places that fit, as many at each as at the others with enough, and
// that nothing changes where the latest are at enough places.
func TestSpread(t *testing.T) {
	of := func(x []float64) *series.Series {
		s, err := series.NewSeries(series.Axis{}, x, line(1, 1, len(x)))
		if err != nil {
			t.Fatal(err)
		}
		s.Errors = line(1, 1, len(x))
		s.Counting = &series.Counting{Sizes: line(1, 1, len(x))}
		return s
	}
	crowded := of(copiesAt(line(0, 1, 99), 402, 99))
	if got := crowded.Reaching(400); got != 501 {
		t.Errorf("reaches %d rows, want all: 100 places", got)
	}
	for _, most := range []int{400, 150, 101, 100, 60} {
		few := crowded.Spread(0, most)
		if n, at := len(few.X), places(few.X); n != most || at != min(most, 100) {
			t.Errorf("at most %d: %d rows at %d places", most, n, at)
		}
		if !slices.IsSorted(few.X) || !slices.IsSorted(few.Y) || !slices.Equal(few.Y, few.Errors) ||
			!slices.Equal(few.Y, few.Counting.Sizes) || few.Step != crowded.Step {
			t.Errorf("at most %d: the columns do not fit: %v", most, few.X)
		}
	}
	even := of(line(0, 1, 1000))
	if got := even.Reaching(400); got != 400 {
		t.Errorf("of an even series %d rows, want the 400 asked for", got)
	}
	if got := len(even.Spread(600, 400).X); got != 400 {
		t.Errorf("of 400 at different places %d are left", got)
	}
	if e := extentOf(crowded, 50, 1); e.span != 99 {
		t.Errorf("50 rows at one x have the extent %v", e)
	}
}
