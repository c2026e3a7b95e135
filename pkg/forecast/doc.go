// Package forecast takes a time series to a model, a forecast and a check of both, and scores forecasts.
//
//	s, err := series.Read("tide.csv", series.ReadOptions{X: "date", Y: "level"})
//	a, err := forecast.Fit(ctx, s, forecast.Options{})    // finds a model
//	ahead, err := a.Forecast(24)                          // 24 steps ahead, in the unit of the file
//	check, err := forecast.CheckResiduals(ctx, a)         // are the innovations white, and of variance one?
//	err = a.Save("tide-model.json")                       // forecast.Load predicts from it again
//
// Package forecast/report turns an analysis into figures, tables and a report in HTML; cmd/gppl does all this from a shell.
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
//
// # Scores
//
// [Backtest] scores the forecasts of any model over rolling origins, by their point errors, densities and intervals, beside the
// seasonal naive forecast: a forecast is any [Predictive]. For all scores but coverage and log density, smaller is better. The
// functions of scores panic if slices that belong together differ in length. A score of no values is NaN, and so is a score of
// values that are NaN.
package forecast
