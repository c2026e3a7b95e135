package series

import (
	"slices"
	"testing"

	"github.com/projected-likelihood/gppl/internal/timeline"
)

func TestRegular(t *testing.T) {
	even := []float64{3, 5, 7, 9, 11, 13}
	for _, c := range []struct {
		name string
		x    []float64
		want bool
	}{
		{"even", even, true},
		{"one of a hundred missing", slices.Delete(grid(100), 60, 61), true},
		{"one of six missing", []float64{3, 5, 9, 11, 13}, false},
		{"twice the same", []float64{3, 5, 5, 7}, false},
		{"off by a hundredth", []float64{3, 5.02, 7, 9, 11}, false},
		{"one", []float64{3}, false},
	} {
		if got := Regular(c.x); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func grid(n int) []float64 {
	x := timeline.Steps(n)
	return x
}

func TestOpenPlaces(t *testing.T) {
	var days []float64
	for i := range 100 {
		days = append(days, float64(i/5*7+i%5))
	}
	late := slices.Clone(days)
	late[50] += 0.01
	for name, c := range map[string]struct {
		x    []float64
		want int
	}{
		"working days":       {days, 5},
		"without a holiday":  {slices.Delete(slices.Clone(days), 40, 41), 5},
		"an hour late":       {late, 0},
		"every day":          {grid(100), 0},
		"fewer than a month": {days[:15], 0},
	} {
		if got := OpenPlaces(c.x); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
