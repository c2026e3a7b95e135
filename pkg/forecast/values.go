package forecast

import (
	"context"
	"fmt"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// FitValues is Fit for values y at numbers x, in any order, without a file. errors are known standard deviations of y; nil for
// none. It keeps none of the slices. A number out of range is an error with its index.
func FitValues(ctx context.Context, x, y, errors []float64, o Options) (*Analysis, error) {
	d, err := gppl.Data{X: gppl.Scalars(x), Y: y}.WithErrors(errors)
	if err != nil {
		return nil, fmt.Errorf("forecast: %w", err)
	}
	d = d.Pick(timeline.Ascending(x))
	s, err := series.NewSeries(series.Axis{Name: "x"}, d.X.Coordinate(0), d.Y)
	if err != nil {
		return nil, err
	}
	if s.Errors = d.Errors; errors != nil {
		s.ErrorName = "error"
	}
	return Fit(ctx, s, o)
}
