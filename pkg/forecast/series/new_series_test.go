package series

import (
	"math"
	"strings"
	"testing"
)

// TestNewSeriesErrors: columns that are not a series are refused with what is wrong and where.
func TestNewSeriesErrors(t *testing.T) {
	x, y := []float64{0, 1, 2, 3, 4, 5}, []float64{1, 2, 0, 1, 3, 2}
	with := func(v []float64, i int, to float64) []float64 {
		v = append([]float64{}, v...)
		v[i] = to
		return v
	}
	for _, c := range []struct {
		axis Axis
		x, y []float64
		want string // "" for no error
	}{
		{Axis{}, x, y, ""}, {Axis{}, x, y[1:], "6 x and 5 y"}, {Axis{}, x, with(y, 3, math.NaN()), "observation 3 is (3, NaN)"},
		{Axis{}, with(x, 5, math.Inf(1)), y, "observation 5 is"}, {Axis{}, with(x, 2, 0.5), y, "x[2] = 0.5 is below the one before, 1"},
		{Axis{Dates: true, Unit: "fortnight"}, x, y, `dates in the unit "fortnight"`},
	} {
		for name, read := range map[string]func() error{
			"NewSeries": func() error { _, err := NewSeries(c.axis, c.x, c.y); return err },
			"Restore":   func() error { return (&Series{Axis: c.axis, X: c.x, Y: c.y}).Restore() },
		} {
			if err := read(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		}
	}
}
