package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/report"
)

func holdoutFlag() cli.Flag {
	return &cli.IntFlag{Name: "holdout",
		Usage: "test once, by forecasting the last `N` observations from those before", HideDefault: true, Category: "RESULTS"}
}

func originsFlag() cli.Flag {
	return &cli.IntFlag{Name: "origins", Value: 5, DefaultText: "5, or 2 to 4 in series of less than 150 observations",
		Usage: "test by forecasts from `N` places in the past, called origins; 0 skips the test", Category: "RESULTS"}
}

// backtest tests a model as the flags say; nil if they ask for none. Unless they ask for a test, it also returns nil if the
// series is too short for one, or if no model could be learnt at any origin, which it reports.
func backtest(ctx context.Context, c *cli.Command, a *forecast.Analysis, horizon int) (*judge.Trust, error) {
	o, asked, none := testOptions(c, horizon)
	if none || !asked && !judge.Testable(a) {
		return nil, nil
	}
	t, err := interruptible(ctx, func() (*judge.Trust, error) { return judge.TestPast(ctx, a, o) })
	if err != nil && !asked && ctx.Err() == nil { // the forecast is made all the same, untested
		say(c, "no test of the past: %s", message(err))
		return nil, nil
	}
	return t, err
}

// testOptions returns the options of the tests of the past. asked says that the flags ask for a test, none that they exclude it.
func testOptions(c *cli.Command, horizon int) (o judge.BacktestOptions, asked, none bool) {
	o = judge.BacktestOptions{Horizon: horizon, Holdout: c.Int("holdout")}
	if c.IsSet("origins") {
		o.Origins = c.Int("origins")
	}
	asked = c.IsSet("origins") || o.Holdout > 0 || c.Name == "backtest"
	return o, asked, c.Name == "compare" || asked && c.Int("origins") == 0 && o.Holdout == 0
}

func backtestCommand() *cli.Command {
	return &cli.Command{
		Name: "backtest", Usage: "measure how good forecasts of the past were", ArgsUsage: "FILE.csv",
		Description: `Learns a model as gppl fit does, forecasts the most recent observations with it, ` +
			`and compares the errors with those of the
best naive forecast of the same observations: the last value, with or without drift, or the last season.

   gppl backtest co2-weekly.csv --x date --y co2_ppm --forecast 52 --origins 10
   gppl backtest sales.csv --holdout 12`,
		Flags: append(inputFlags(), forecastFlag(), holdoutFlag(), originsFlag()),
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := checkSteps(c); err != nil {
				return err
			}
			past := newPastBar(c)
			a, err := learnFile(ctx, c, past)
			if err != nil {
				return err
			}
			t, err := backtest(ctx, c, a, forecastSteps(c, len(a.Series.X)))
			if past.end(cmp.Or(context.Cause(ctx), err)); err != nil {
				return err
			}
			if t == nil {
				return usageError{fmt.Errorf("--origins 0: there is nothing to test")}
			}
			return show(ctx, c, func() any { return report.Describe(a, nil, nil, t, sumflags.Word) },
				func(w io.Writer) error { return report.Backtest(w, a, t, sumflags.Word) })
		},
	}
}
