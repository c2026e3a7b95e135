package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/internal/atomicfile"
	"github.com/projected-likelihood/gppl/internal/flagwords"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/report"
)

func predictCommand() *cli.Command {
	return &cli.Command{
		Name: "predict", Usage: "predict with a model that gppl fit saved", ArgsUsage: "MODEL.json",
		Description: `The model contains the observations, so the csv file is not needed.

   gppl predict model.json --forecast 52 --out forecast.csv
   gppl predict model.json --at 2030-01-01 --at 2031-01-01
   gppl predict model.json --future prices.csv --out forecast.csv`,
		Flags: append(formatFlags(), []cli.Flag{
			forecastFlag(),
			&cli.StringFlag{Name: "future", Usage: "`FILE.csv` with future x and the regressors of the model; - is standard input", Category: "RESULTS"},
			&cli.StringSliceFlag{Name: "at", Usage: "predict at this `DATE` or number instead of the next steps; may be repeated", Category: "RESULTS"},
			&cli.StringFlag{Name: "out", Usage: "write to `FILE.csv` rather than to standard output", Category: "RESULTS"}, levelsFlag(),
			jsonFlag(),
		}...),
		Action: func(ctx context.Context, c *cli.Command) error {
			path, err := argument(c, "saved model")
			if err != nil {
				return err
			}
			if err := formatKnown("out", c.String("out")); err != nil {
				return err
			}
			if err := checkSteps(c); err != nil {
				return err
			}
			if err := writable(c, "out"); err != nil {
				return err
			}
			if isSums(path) {
				return usageError{fmt.Errorf("%s holds sums: gppl fit %s --at DATE predicts from them", path, path)}
			}
			limit, err := memoryLimit(ctx, c)
			if err != nil {
				return err
			}
			a, err := interruptible(ctx, func() (*forecast.Analysis, error) { return forecast.LoadWithin(path, limit) })
			if errors.Is(err, forecast.ErrModelAlone) {
				return fmt.Errorf("%w, as gppl fit saves of sums: gppl fit FILE.sums --at DATE predicts from these", err)
			}
			if err != nil {
				return memoryHint(c, err)
			}
			if err := a.LimitMemory(limit); err != nil {
				return memoryHint(c, err)
			}
			if path := c.String("future"); path != "" {
				o, err := readOptions(c)
				if o.Memory = limit; err == nil {
					_, err = interruptible(ctx, func() (struct{}, error) { return struct{}{}, a.Series.AddFuture(path, o) })
				}
				if err != nil {
					return err
				}
			}
			x, err := places(a, c)
			if err != nil {
				return err
			}
			steps := forecastSteps(c, len(a.Series.X))
			if x == nil {
				if steps, _, err = stepsAhead(c, a.Series); err != nil {
					return err
				}
			}
			f, err := interruptible(ctx, func() (*forecast.Forecast, error) {
				if x == nil {
					return a.Forecast(steps)
				}
				return a.PredictContext(ctx, x)
			})
			if err != nil {
				return err
			}
			if note := a.Note(); note != "" {
				say(c, "warning: %s", note)
			}
			csv := func(w io.Writer) error { return f.WriteCSV(w, a.Series.Axis, levels(c)...) }
			if out := c.String("out"); out != "" {
				if err := writeFile(ctx, out, csv); err != nil {
					return err
				}
				if !c.Bool("json") {
					fmt.Fprintf(c.Root().Writer, "%d predictions written to %s\n", len(f.X), flagwords.Printable(out))
				}
			}
			switch {
			case c.Bool("json"):
				return writeJSON(ctx, c, report.Describe(a, f, nil, nil))
			case c.String("out") == "":
				return print(ctx, c.Root().Writer, csv)
			}
			return nil
		},
	}
}

// places returns the x of --at, ascending; nil if a forecast of the next steps is asked for.
func places(a *forecast.Analysis, c *cli.Command) ([]float64, error) {
	at := c.StringSlice("at")
	if len(at) == 0 {
		return nil, nil
	}
	x := make([]float64, len(at))
	for i, text := range at {
		var err error
		if x[i], err = a.Series.Axis.Parse(text); err != nil {
			return nil, usageError{fmt.Errorf("--at: %s", message(err))}
		}
	}
	slices.Sort(x)
	return x, nil
}

func dataCommand() *cli.Command {
	return &cli.Command{
		Name: "data", Usage: "find or download a recording", ArgsUsage: "[NAME]",
		Description: `Without a name, lists the recordings. With a name, looks for the recording in the folder GPPL_DATA, in data/ and at its
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
			recording, err := forecast.FindRecording(name)
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
				if err := atomicfile.Apart([]atomicfile.Name{{Path: s.Source}}, []atomicfile.Name{{Flag: "out", Path: out}}); err != nil {
					return err
				}
				if err := writeFile(ctx, out, func(w io.Writer) error { return forecast.WriteSeries(w, s) }); err != nil {
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
