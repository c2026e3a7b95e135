// Package analysis takes a researcher's own series from a csv file to a model, a forecast and a check of both.
//
//	series, err := analysis.Read("tide.csv", analysis.ReadOptions{X: "date", Y: "level"})
//	a, err := analysis.Fit(ctx, series, analysis.Options{})    // compares kernels, keeps the best
//	forecast, err := a.Forecast(24)                            // 24 steps ahead, in the unit of the file
//	check, err := a.Residuals()                                // are the innovations white, and of variance one?
//	err = a.Save("tide-model.json")                            // analysis.Load predicts from it again
//
// Package analysis/show makes figures, tables and a report in HTML of it; cmd/gppl does all this from a shell.
//
// # What is done
//
// y is standardised. Each candidate kernel plus noise is trained by the exact likelihood (see [Options] for what is done
// where n is too large for it), and the candidates are compared by
//
//	BIC = 2·NLL + p·log n
//
// with p the number of trained parameters, noise included (Schwarz 1978, Estimating the dimension of a model). The model
// with the lowest BIC is kept.
//
// # Time
//
// Dates are measured from 1970 in years of 365.25 days, where they cover two years or more, so that every day is as long as
// any other: a weekly or daily rhythm stays one. Shorter records are measured from their first observation, in days, hours or
// seconds. Results carry the dates as text again.
package analysis
