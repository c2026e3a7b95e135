// Package series reads time series, and provides what models need of them: their axis and calendar, regressors and holidays,
// counts, bounds, error bars and changes of level.
//
//	s, err := series.Read(ctx, "tide.csv", series.ReadOptions{X: "date", Y: "level"})   // from a csv file
//	s, err := series.NewSeries(series.Axis{Name: "t", Unit: "s"}, x, y)            // from columns
//
// Messages of the package begin with forecast, since most users call it through that package.
//
// # Time
//
// Dates that cover two years or more are measured in years of 365.25 days, so that all days have the same length and a weekly or
// daily season keeps a constant period. The exceptions are monthly, quarterly and yearly series, whose months all last a twelfth
// of a year. Shorter records are measured from their first observation, in days, hours or seconds. Results also have dates as
// text.
package series
