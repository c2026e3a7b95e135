package forecast

import (
	"context"
	"fmt"

	"github.com/projected-likelihood/gppl/internal/timeline"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Fit learns a model of the series.
//
// It finds the structure and the parameters. It compares noise alone and a smooth, a less smooth and a rough term, each with and
// without a season and a linear trend, for y and, if all y are positive, for log y. The best grows by one term at a time.
// Parameters have weak priors, so that five observations suffice. Candidates are ranked by their evidence, the marginal
// likelihood with the parameters integrated out. Forecasts average the candidates whose weights count and, for short series, over
// their parameters. A series of more than 400 observations may also be a Wiener process, alone or with other terms.
//
// In a long series, structures are compared on the latest 400 observations, and the best three are then trained on the latest
// 1500. If x is not regular, these are 700 or as many more as an engine takes in the same time, and the best is tried with the
// seasons that they show. A candidate that can take fewer observations than the best is then left out, with an error that says
// how far behind it was. Options.Budget changes these numbers. Forecasts are conditioned on the observations from which
// parameters were learnt, or on four of the longest season. Predictions at earlier x are conditioned on all observations or, if
// neither a state space, a constant step nor waves make that cheap, on the 2000 around each x.
//
// A daily series may have effects of days of the month (series.WithMonthDays), unless seasons are excluded.
//
// If kernels are named (Options.Kernels), they are the candidates of the search, in place of the sums that it would try and grow.
// A named kernel begins where a search of all observations by the library ends (auto.FindStarts), since its scales and periods
// may be any. All else is the same: scales, trends, weak priors, evidence, averages, budget and status. Every candidate has its
// BIC as well, to compare with other programs.
//
// A candidate that cannot be trained is kept with its error. Fit returns an error if none can be trained, if a kernel's name is
// unknown, or if ctx ends.
func Fit(ctx context.Context, s *series.Series, o Options) (*Analysis, error) {
	if err := series.WithinMemory(fmt.Sprintf("a fit of %d observations", len(s.X)), o.FitBytes(s), o.Memory); err != nil {
		return nil, err
	}
	s, err := o.Weigh(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(o.Kernels) == 0 && !o.NoSeason {
		s = s.WithMonthDays()
	}
	found, err := search.Find(ctx, s, o)
	if err != nil {
		return nil, err
	}
	a := analysisOf(s, o, found)
	if a.ShiftMode() == ShiftsUsed {
		if a, err = a.withFound(ctx); err != nil {
			return nil, err
		}
	}
	return a.withNoiseSeason(ctx)
}

// FitValues is Fit for values y at numbers x, in any order, without a file. errors are known standard deviations of y; nil for
// none. It keeps none of the slices. A number out of range is an error with its index.
func FitValues(ctx context.Context, x, y, errors []float64, o Options) (*Analysis, error) {
	d, err := gppl.Data{X: gppl.Scalars(x), Y: y}.WithErrors(errors)
	if err != nil {
		return nil, err
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
