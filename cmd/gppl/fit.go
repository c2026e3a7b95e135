package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/report"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// defaultForecast is the number of steps of a forecast without --forecast. A short series has 1/defaultShare of its observations:
// its past then has one stretch of that length to forecast and three to learn from.
const defaultForecast, defaultShare = 24, 4

func forecastFlag() cli.Flag {
	return &cli.IntFlag{Name: "forecast", Aliases: []string{"horizon"}, Value: defaultForecast,
		DefaultText: "24, or a quarter of a short series",
		Usage:       "number of `STEPS` ahead; a step is the series' own: a month, a week, …", Category: "RESULTS"}
}

func levelsFlag() cli.Flag {
	return &cli.FloatSliceFlag{Name: "levels", Usage: "bands of these `PERCENTAGES` in --out, such as 50,80,95", Category: "RESULTS"}
}

// levels returns the levels of --levels, in (0, 1).
func levels(c *cli.Command) (levels []float64) {
	for _, percent := range c.FloatSlice("levels") {
		levels = append(levels, percent/100)
	}
	return levels
}

// checkSteps returns an error if --forecast is not a number of steps, if --levels are not percentages, or if no bands are written
// for them.
func checkSteps(c *cli.Command) error {
	for _, p := range c.FloatSlice("levels") {
		if !(p > 0 && p < 100) {
			return usageError{fmt.Errorf("--levels %g: percentages between 0 and 100 are needed, such as 50,80,95", p)}
		}
	}
	if c.IsSet("levels") && !c.IsSet("out") && (c.Name != "predict" || c.Bool("json")) {
		return usageError{errors.New("--levels are of the bands in the csv file that --out names")}
	}
	switch steps := c.Int("forecast"); {
	case steps < 1:
		return usageError{fmt.Errorf("--forecast %d: at least one step is needed", steps)}
	case steps > forecast.MostSteps:
		return usageError{fmt.Errorf("--forecast %d: at most %d", steps, forecast.MostSteps)}
	}
	return nil
}

// forecastSteps returns the number of steps of --forecast, or the default for n observations.
func forecastSteps(c *cli.Command, n int) int {
	if c.IsSet("forecast") {
		return c.Int("forecast")
	}
	return min(defaultForecast, max(1, n/defaultShare))
}

func fitCommand() *cli.Command {
	return &cli.Command{
		Name: "fit", Usage: "learn a model, check it, forecast", ArgsUsage: "FILE.csv … | FILE.sums",
		Description: `Finds structure and parameters by their evidence, among all sums or among named kernels (--kernel). ` +
			`Then it forecasts, tests the
model on the most recent observations at the same horizon, says whether to use the forecast, and checks the residuals.
"-" reads standard input. From sums (gppl sum) it compares kernels, learns, and forecasts at --at or for --forecast steps; ` +
			`without observations
it tests and checks nothing.

   gppl fit co2-weekly.csv --x date --y co2_ppm --y-unit ppm --forecast 104 --report co2.html --live
   gppl fit tide.csv --x time --y level --kernel "SE + LocPer" --model tide.json --out forecast.csv
   gppl fit log.csv --x 1 --y 4 --time unix --last 2000 --json
   ssh logger cat log.csv | gppl fit - --out forecast.csv
   gppl fit sales.csv --regressor price --y-error se --future prices.csv --figure sales.svg

From several files, several --y, or a long table with --by, it writes one table (csv, or JSON with --json) ` +
			`with a row for each series;
--report, --model, --out and --figure then name a folder, or files with {name} in their names.

   gppl fit shops/*.csv --y sales --y visits --forecast 12 --out "forecasts/{name}.csv" > table.csv
   gppl fit sales.csv --x date --y sold --by store --by item --out "forecasts/{name}.csv" > table.csv
`,
		Flags: append(inputFlags(), forecastFlag(), holdoutFlag(), originsFlag(),
			&cli.StringFlag{Name: "report", Usage: "write a page with figures and tables to `FILE.html`", Category: "RESULTS"},
			&cli.BoolFlag{Name: "live",
				Usage:    "let the page of --report compute: its reader tries other kernels, lengthscales, seasons and horizons (2 MB more)",
				Category: "RESULTS"},
			&cli.StringFlag{Name: "figure", Usage: "draw the forecast to `FILE.svg`, .png or .pdf", Category: "RESULTS"},
			&cli.StringFlag{Name: "model", Usage: "save the model to `FILE.json`, for gppl predict", Category: "RESULTS"},
			&cli.StringFlag{Name: "out", Usage: "write the forecast to `FILE.csv`", Category: "RESULTS"}, levelsFlag(),
			&cli.StringFlag{Name: "components",
				Usage: "write what the mean is made of, trend, seasons and the rest, to `FILE.csv`", Category: "RESULTS"},
			&cli.StringSliceFlag{Name: "at", Usage: "for sums: predict at this `DATE` or number; may be repeated", Category: "RESULTS"},
		),
		Action: func(ctx context.Context, c *cli.Command) error {
			files, columns := c.Args().Slice(), yColumns(c)
			switch {
			case isSums(c.Args().First()):
				return fitSums(ctx, c)
			case c.IsSet("at"):
				return usageError{errors.New("--at is for sums: gppl predict takes it with the model that --model saves")}
			}
			if err := checkSteps(c); err != nil {
				return err
			}
			switch {
			case c.Bool("live") && !c.IsSet("report"):
				return usageError{errors.New("--live is of the page that --report FILE.html writes")}
			case len(files) > 1 || len(columns) > 1 || keyColumns(c) != nil:
				return fitBatch(ctx, c, files, columns)
			}
			path, err := argument(c, "csv file")
			if err != nil {
				return err
			}
			return fitFile(ctx, c, task{path: path, y: yColumn(c), alone: true})
		},
	}
}

func compareCommand() *cli.Command {
	return &cli.Command{
		Name: "compare", Usage: "compare kernels by evidence and BIC", ArgsUsage: "FILE.csv",
		Description: `   gppl compare co2-weekly.csv --x date --y co2_ppm
   gppl compare data.csv --kernel "SE, Matern32, SE + Periodic, SE + LocPer" --json`,
		Flags: inputFlags(),
		Action: func(ctx context.Context, c *cli.Command) error {
			a, err := learnFile(ctx, c, nil)
			if err != nil {
				return err
			}
			return show(ctx, c, func() any { return report.Describe(a, nil, nil, nil, sumflags.Word) },
				func(w io.Writer) error { return report.Text(w, a, nil, nil, nil, nil, sumflags.Word) })
		},
	}
}

// stepsAhead returns the number of steps to forecast: --forecast or, without the flag, as many as the regressors are known for.
// If they are not known ahead, and no flag asks for a forecast, it returns 0 and the reason.
func stepsAhead(c *cli.Command, s *series.Series) (steps int, why string, err error) {
	steps = forecastSteps(c, len(s.X))
	if s.Known == nil {
		return steps, "", nil
	}
	known := len(s.Ahead())
	asked := c.IsSet("forecast") || c.IsSet("report") || c.IsSet("out") || c.IsSet("components") || c.IsSet("figure") ||
		c.Name == "predict"
	remedy := fmt.Sprintf("add rows with an empty %s to the file, or name a file with future values by --future", s.YName)
	if c.Name == "predict" {
		remedy = "name a csv file with future values by --future"
	}
	switch names := strings.Join(s.Known.Names, ", "); {
	case known >= steps || known > 0 && !c.IsSet("forecast"):
		return min(known, steps), "", nil
	case asked:
		return 0, "", usageError{fmt.Errorf("a forecast of %d steps needs future values of %s, "+
			"which the file has for %d after the last value of %s: %s",
			steps, names, known, s.YName, remedy)}
	default:
		return 0, fmt.Sprintf("no forecast: %s is not known after the last value of %s; %s", names, s.YName, remedy), nil
	}
}
