package forecast

import (
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// dated returns the series of y at the given times, read as dates are.
func dated(t *testing.T, at []time.Time, y func(time.Time) float64) *series.Series {
	t.Helper()
	seconds, x, v := make([]float64, len(at)), make([]float64, len(at)), make([]float64, len(at))
	for i := range at {
		seconds[i] = float64(at[i].UnixMicro()) / 1e6
	}
	axis := series.DateAxis("date", seconds)
	for i := range at {
		x[i], v[i] = axis.X(at[i]), y(at[i])
	}
	s, err := series.NewSeries(axis, x, v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
