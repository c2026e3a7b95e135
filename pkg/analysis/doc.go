// Package analysis takes a time series from a csv file to a model, a forecast and a check of both.
//
//	series, err := analysis.Read("tide.csv", analysis.ReadOptions{X: "date", Y: "level"})
//	a, err := analysis.Fit(ctx, series, analysis.Options{})    // finds a model
//	forecast, err := a.Forecast(24)                            // 24 steps ahead, in the unit of the file
//	check, err := a.Residuals()                                // are the innovations white, and of variance one?
//	err = a.Save("tide-model.json")                            // analysis.Load predicts from it again
//
// Package analysis/show turns an analysis into figures, tables and a report in HTML; cmd/gppl does all this from a shell.
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
// # Time
//
// Dates that cover two years or more are measured in years of 365.25 days, so that all days have the same length and a weekly or daily
// season keeps a constant period. The exception are monthly, quarterly and yearly series, whose months all last a twelfth of a year.
// Shorter records are measured from their first observation, in days, hours or seconds. Results also have the dates as text.
package analysis
