package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/numeric"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/report"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

func predictCommand() *cli.Command {
	return &cli.Command{
		Name: "predict", Usage: "predict with a model that gppl fit saved", ArgsUsage: "MODEL.json",
		Description: `The model contains the observations, so the csv file is not needed.

   gppl predict model.json --forecast 52 --out forecast.csv
   gppl predict model.json --at 2030-01-01 --at 2031-01-01
   gppl predict model.json --future prices.csv --out forecast.csv
   gppl predict model.json --until 100 --forecast 120`,
		Flags: append(append(formatFlags(), flagsOf("by")...), []cli.Flag{
			forecastFlag(),
			&cli.StringFlag{Name: "future",
				Usage: "`FILE.csv` with future x and the regressors of the model; - is standard input", Category: "RESULTS"},
			&cli.StringSliceFlag{Name: "at",
				Usage: "predict at this `DATE` or number instead of the next steps; may be repeated", Category: "RESULTS"},
			&cli.FloatFlag{Name: "until",
				Usage:       "predict when the curve first reaches this `LEVEL`, within the steps of --forecast",
				HideDefault: true, Category: "RESULTS"},
			&cli.UintFlag{Name: "seed", Value: 1, Usage: "`SEED` of the draws of --until", Category: "RESULTS"},
			&cli.StringFlag{Name: "out", Usage: "write to `FILE.csv` rather than to standard output", Category: "RESULTS"}, levelsFlag(),
			jsonFlag(), &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no line about the file of --out"},
		}...),
		Action: func(ctx context.Context, c *cli.Command) error {
			path, err := argument(c, "saved model")
			if err != nil {
				return err
			}
			err = cmp.Or(oneSeries(c), formatKnown("out", c.String("out")), checkSteps(c), checkPlaces(c), writable(c, "out"))
			if err != nil {
				return err
			}
			a, limit, err := loadModel(ctx, c, path)
			if err != nil {
				return err
			}
			if path := c.String("future"); path != "" {
				o, err := readOptions(c)
				if o.Memory, o.Pooled = limit, pooled(c); err == nil {
					_, err = interruptible(ctx, func() (struct{}, error) { return struct{}{}, a.Series.AddFuture(path, o) })
				}
				if err != nil {
					return err
				}
			}
			x, err := places(a.Series.Axis, c)
			if err != nil {
				return err
			}
			steps := forecastSteps(c, len(a.Series.X))
			if x == nil {
				if steps, _, err = stepsAhead(c, a.Series); err != nil {
					return err
				}
			}
			if c.IsSet("until") {
				return until(ctx, c, a, steps)
			}
			f, err := interruptible(ctx, func() (*forecast.Forecast, error) {
				if x == nil {
					return a.Forecast(ctx, steps)
				}
				return a.Predict(ctx, x)
			})
			if err != nil {
				return err
			}
			if note := a.Note(); note != "" {
				say(c, "warning: %s", note)
			}
			csv := func(w io.Writer) error { return f.WriteCSV(w, a.Series.Axis, levels(c)...) }
			return printPredictions(ctx, c, len(f.X), csv, report.Describe(a, f, nil, nil, sumflags.Word))
		},
	}
}

// printPredictions writes n predictions to --out, if that is given. It also prints them as JSON with --json, or as csv without
// --out.
func printPredictions(ctx context.Context, c *cli.Command, n int, csv func(io.Writer) error, described any) error {
	out := c.String("out")
	if err := writeFile(ctx, out, csv); err != nil {
		return err
	}
	switch {
	case c.Bool("json"):
		return writeJSON(ctx, c, described)
	case out == "":
		return print(ctx, c, csv)
	case !c.Bool("quiet"):
		fmt.Fprintf(c.Root().Writer, "%d predictions written to %s\n", n, text.Printable(out))
	}
	return nil
}

// checkPlaces returns an error for places of predictions that exclude one another, and for an invalid level of --until.
func checkPlaces(c *cli.Command) error {
	level := c.Float("until")
	switch {
	case c.IsSet("at") && c.IsSet("forecast"):
		return usageError{errors.New("--at names the places of the predictions, " +
			"and --forecast counts the next steps: leave out one of them")}
	case !c.IsSet("until"):
		return nil
	case !numeric.IsFinite(level):
		return usageError{fmt.Errorf("--until %v: it takes a finite number", level)}
	case c.IsSet("at") || c.IsSet("levels"):
		return usageError{errors.New("--until is about the steps of --forecast: leave out --at and --levels")}
	case c.Int("forecast") > forecast.CrossingSteps:
		return usageError{fmt.Errorf("--until %v --forecast %d: at most %d steps are drawn jointly",
			level, c.Int("forecast"), forecast.CrossingSteps)}
	}
	return nil
}

// until writes when the curve first reaches the level of --until.
func until(ctx context.Context, c *cli.Command, a *forecast.Analysis, steps int) error {
	crossing, err := interruptible(ctx, func() (*forecast.Crossing, error) {
		x, err := a.Series.Next(steps)
		if err != nil {
			return nil, err
		}
		return a.Until(ctx, c.Float("until"), x, uint64(c.Uint("seed")))
	})
	if err != nil {
		return err
	}
	if note := a.Note(); note != "" {
		say(c, "warning: %s", note)
	}
	if err := writeFile(ctx, c.String("out"), func(w io.Writer) error { return crossing.WriteCSV(w, a.Series.Axis) }); err != nil {
		return err
	}
	return show(ctx, c, func() any { return report.DescribeCrossing(crossing) },
		func(w io.Writer) error { _, err := io.WriteString(w, report.Crossing(a, crossing)); return err })
}

// places returns the x of --at, ascending; nil if a forecast of the next steps is requested.
func places(axis series.Axis, c *cli.Command) ([]float64, error) {
	at := c.StringSlice("at")
	if len(at) == 0 {
		return nil, nil
	}
	x := make([]float64, len(at))
	for i, text := range at {
		var err error
		if x[i], err = axis.Parse(text); err != nil {
			return nil, usageError{fmt.Errorf("--at: %s", message(err))}
		}
	}
	slices.Sort(x)
	return x, nil
}

func dataCommand() *cli.Command {
	return &cli.Command{
		Name: "data", Usage: "find or download a recording", ArgsUsage: "[NAME]",
		Description: `Without a name, lists the recordings. With a name, looks for the recording in the folder GPPL_DATA, ` +
			`in data/ and at its
publisher, and prints where it is and what it contains. --out writes it as a csv file for gppl fit.

   gppl data
   gppl data sunspots
   gppl data sunspots --out sunspots.csv && gppl fit sunspots.csv`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "write the series to `FILE.csv`"},
			&cli.BoolFlag{Name: "offline", Usage: "do not download"},
			jsonFlag(),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.NArg() == 0 {
				return report.Recordings(c.Root().Writer)
			}
			name, err := argument(c, "recording")
			if err != nil {
				return err
			}
			recording, err := series.FindRecording(name)
			if err != nil {
				return usageError{fmt.Errorf("%s", message(err))}
			}
			if err := writable(c, "out"); err != nil {
				return err
			}
			s, err := recording.Load(ctx, dataset.Options{Offline: c.Bool("offline"), Log: c.Root().ErrWriter})
			if err != nil {
				return err
			}
			if out := c.String("out"); out != "" {
				if err := files.Apart([]files.Name{{Path: s.Source}}, []files.Name{{Flag: "out", Path: out}}); err != nil {
					return err
				}
				if err := writeFile(ctx, out, func(w io.Writer) error { return series.WriteSeries(w, s) }); err != nil {
					return err
				}
			}
			facts := report.Facts(recording, s, c.String("out"))
			if c.Bool("json") {
				return writeJSON(ctx, c, facts)
			}
			return facts.Text(c.Root().Writer)
		},
	}
}
