// Package forecast takes a time series to a model and a forecast.
//
//	s, err := series.Read(ctx, "tide.csv", series.ReadOptions{X: "date", Y: "level"})
//	a, err := forecast.Fit(ctx, s, forecast.Options{})               // finds a model
//	ahead, err := a.Forecast(ctx, 24)                                // 24 steps ahead, in the unit of the file
//	trust, err := judge.TestPast(ctx, a, judge.BacktestOptions{})    // can the forecast be used?
//	err = a.Save("tide-model.json")                                  // forecast.Load predicts from it again
//
// Package series reads time series, package search finds a model, and package judge tests forecasts of the past and residuals.
// Package report turns an analysis into figures, tables and a report in HTML; cmd/gppl does all this from a shell.
package forecast
