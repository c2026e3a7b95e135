// Package forecast takes a time series to a model and a forecast.
//
//	s, err := series.Read("tide.csv", series.ReadOptions{X: "date", Y: "level"})
//	a, err := forecast.Fit(ctx, s, forecast.Options{})               // finds a model
//	ahead, err := a.Forecast(24)                                     // 24 steps ahead, in the unit of the file
//	trust, err := judge.TestPast(ctx, a, judge.BacktestOptions{})    // can the forecast be used?
//	err = a.Save("tide-model.json")                                  // forecast.Load predicts from it again
//
// Package series reads time series, and package judge tests forecasts of the past and residuals. Package report turns an analysis
// into figures, tables and a report in HTML; cmd/gppl does all this from a shell.
//
// # How the model is chosen
//
// y, or log y, is standardised. If Options names no kernels, Fit searches for a structure by its evidence and averages the best
// models. Otherwise it trains each named kernel plus noise by the exact likelihood (by a projected one for long series: see
// [Options]) and keeps the one with the lowest
//
//	BIC = 2·NLL + p·log n
//
// with p the number of trained parameters, noise included (Schwarz 1978, Estimating the dimension of a model).
package forecast
