package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/report"
)

func updateCommand() *cli.Command {
	return &cli.Command{
		Name: "update", Usage: "add new observations to a saved model, and check them", ArgsUsage: "MODEL.json FILE.csv",
		Description: `Predicts each new observation from all before it, says which are anomalies and whether the parameters still hold,
and writes the model with the new observations, at the same parameters: gppl predict then forecasts from all of them. The file may
have the new rows alone, or all rows as they are now; its columns have the names that they had for gppl fit. ` +
			`"-" reads standard input.

   gppl update model.json new.csv --model updated.json
   gppl update model.json all.csv --out checked.csv --anomaly 1e-4`,
		Flags: append(append(formatFlags(), flagsOf("by")...), []cli.Flag{
			&cli.StringFlag{Name: "y",
				Usage: "`COLUMN` of values; if not given, the one that the model was learnt from", Category: "THE FILE"},
			&cli.StringFlag{Name: "model", Aliases: []string{"o"},
				Usage: "write the model with the new observations to `FILE.json`, for gppl predict", Category: "RESULTS"},
			&cli.StringFlag{Name: "out",
				Usage: "write each new observation, its prediction and its probability to `FILE.csv`", Category: "RESULTS"},
			&cli.FloatFlag{Name: "anomaly", Value: 0.001,
				Usage:    "list observations with a `PROBABILITY` below this: so many of those that follow the model are listed by chance",
				Category: "RESULTS"},
			jsonFlag(),
		}...),
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.NArg() != 2 {
				return usageError{fmt.Errorf("update takes a saved model and a csv file, not %d names", c.NArg())}
			}
			path, rows := c.Args().Get(0), c.Args().Get(1)
			if p := c.Float("anomaly"); !(p > 0 && p < 1) {
				return usageError{fmt.Errorf("--anomaly %g: it takes a probability, such as 0.001", p)}
			}
			if err := cmp.Or(oneSeries(c), checkOutputs(c, "model", "out")); err != nil {
				return err
			}
			a, limit, err := loadModel(ctx, c, path)
			if err != nil {
				return err
			}
			o, err := readOptions(c)
			if err != nil {
				return err
			}
			o.Y, o.Pooled, o.Memory = c.String("y"), pooled(c), limit
			type result struct {
				after    *forecast.Analysis
				arrivals *forecast.Arrivals
			}
			r, err := interruptible(ctx, func() (r result, err error) {
				r.after, r.arrivals, err = a.Update(ctx, rows, o)
				return r, err
			})
			if err != nil {
				return memoryHint(c, err)
			}
			return writeUpdate(ctx, c, r.after, r.arrivals)
		},
	}
}

// loadModel reads a saved model within the limit of --memory, and returns that limit in bytes.
func loadModel(ctx context.Context, c *cli.Command, path string) (*forecast.Analysis, float64, error) {
	if isSums(path) {
		return nil, 0, usageError{fmt.Errorf("%s holds sums: gppl fit %s --at DATE predicts from them, and gppl sum adds observations",
			path, path)}
	}
	limit, err := memoryLimit(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	a, err := interruptible(ctx, func() (*forecast.Analysis, error) { return forecast.LoadWithin(path, limit) })
	if errors.Is(err, forecast.ErrModelAlone) {
		return nil, 0, fmt.Errorf("%w, as gppl fit saves of sums: gppl fit FILE.sums --at DATE predicts from these", err)
	}
	if err == nil {
		err = a.LimitMemory(limit)
	}
	return a, limit, memoryHint(c, err)
}

// writeUpdate writes the files of gppl update, then what it found.
func writeUpdate(ctx context.Context, c *cli.Command, after *forecast.Analysis, r *forecast.Arrivals) error {
	var written []string
	if out := c.String("out"); out != "" {
		if err := writeFile(ctx, out, func(w io.Writer) error { return r.WriteCSV(w, after.Series) }); err != nil {
			return err
		}
		written = append(written, out)
	}
	if model := c.String("model"); model != "" {
		if err := writePieces(ctx, model, after.Encode); err != nil {
			return err
		}
		written = append(written, model)
	}
	level := c.Float("anomaly")
	if c.Bool("json") {
		return writeJSON(ctx, c, report.DescribeArrivals(after, r, level))
	}
	arrivals := report.Arrivals(after, r, level)
	for _, path := range written {
		arrivals += fmt.Sprintf("written: %s\n", text.Printable(path))
	}
	if err := print(ctx, c, func(w io.Writer) error { _, err := io.WriteString(w, arrivals); return err }); err != nil {
		return err
	}
	if c.String("model") == "" && len(r.Y) > 0 {
		fmt.Fprintln(c.Root().ErrWriter, "The model was not written. --model FILE.json writes it with the new observations.")
	}
	return nil
}
