package report

import (
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestSlopeUnit: a change of slope is given for the same length as growth is, the longest unit that the series spans twice.
func TestSlopeUnit(t *testing.T) {
	date := series.Axis{Name: "date", Unit: "year", Dates: true}
	hours := series.Axis{Name: "time", Unit: "hour", Dates: true, Origin: time.Unix(0, 0)}
	for _, c := range []struct {
		axis series.Axis
		end  float64
		want string
	}{
		{date, 5, "The slope of y changed by 24.00 ± 0.24 a year at then."},
		{date, 1, "The slope of y changed by 2.000 ± 0.020 a month at then."},
		{hours, 80, "The slope of y changed by 576.0 ± 5.8 a day at then."},
		{series.Axis{Name: "depth", Unit: "m"}, 80, "The slope of y changed by 24.00 ± 0.24 per m at then."},
		{series.Axis{Name: "depth"}, 80, "The slope of y changed by 24.00 ± 0.24 per unit of depth at then."},
	} {
		a := &forecast.Analysis{Series: &series.Series{Axis: c.axis, YName: "y", X: []float64{0, c.end}}}
		if got := shift(a, forecast.ShiftSize{Kind: "slope", Size: 24, StdErr: 0.24, When: "then"}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
