// Package judge compares forecasts with what followed, and models with their residuals.
//
//	trust, err := judge.TestPast(ctx, a, judge.BacktestOptions{Horizon: 24})   // forecasts from places in the past
//	fmt.Println(trust.Verdict)                                                 // whether to use the forecast, and why
//	check, err := judge.CheckResiduals(ctx, a)                                 // are the innovations white, and of variance one?
//
// [Backtest] scores the forecasts of any model over rolling origins, by their point errors, densities and intervals, beside the
// seasonal naive forecast: a forecast is any [Predictive]. For all scores but coverage and log density, smaller is better. The
// functions of scores panic if slices that belong together differ in length. A score of no values is NaN, and so is a score of
// values that are NaN.
package judge
