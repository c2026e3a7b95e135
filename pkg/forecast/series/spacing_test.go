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
