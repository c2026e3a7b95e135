package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// inputFlags choose what is read and how it is modelled.
func inputFlags() []cli.Flag {
	const file, model = "THE FILE", "THE MODEL"
	return []cli.Flag{
		&cli.StringFlag{Name: "x", Value: "1", Category: file,
			Usage: "`COLUMN` of dates or numbers, by name or by number from 1; row takes the number of the row"},
		&listFlag{Name: "y", Value: []string{"2"},
			Usage: "`COLUMN` of values, by name or by number from 1; may be repeated for gppl fit", Category: file},
		timeFlag(file),
		&cli.BoolFlag{Name: "backward",
			Usage: "x counts back in time, as ages and years before present do: it is taken as -x", Category: file},
		&cli.StringFlag{Name: "y-error",
			Usage: "`COLUMN` of known standard deviations of the observations (error bars)", Category: file},
		&cli.BoolFlag{Name: "relative-errors",
			Usage: "the errors in --y-error are relative to one another; their common scale is learnt", Category: file},
		&cli.StringFlag{Name: "size",
			Usage: "`COLUMN` of the exposure of a count, or of the number of trials of a share (--likelihood)", Category: file},
		&listFlag{Name: "regressor",
			Usage: "`COLUMN` that y depends on linearly; may be repeated; a forecast needs its future values, in rows with an empty y " +
				"after the last y, or in --future", Category: file},
		&cli.StringFlag{Name: "future",
			Usage: "`FILE.csv` with future x and regressors, for the forecast; - is standard input", Category: file},
		&cli.StringFlag{Name: "x-unit", Usage: "`UNIT` of x, for axes; dates need none", Category: file},
		&cli.StringFlag{Name: "y-unit", Usage: "`UNIT` of y, for axes", Category: file},
		&cli.StringFlag{Name: "comma",
			Usage: "the `CHARACTER` between fields, tab, or space (any number of blanks); detected if not given", Category: file},
		&cli.BoolFlag{Name: "decimal-comma", Usage: "numbers are written 1.025,10; without it, each column tells", Category: file},
		&cli.BoolFlag{Name: "decimal-point", Usage: "numbers are written 1,025.10", Category: file},
		&cli.BoolFlag{Name: "no-header", Usage: "the first line is data; columns are chosen by number", Category: file},
		&cli.StringSliceFlag{Name: "missing",
			Usage: "`TEXT` that stands for a missing value, in addition to an empty cell, NA, NaN and null; a number for its " +
				"value: -999 for -999.0 too; may be repeated", Category: file},
		&listFlag{Name: "by",
			Usage: "`COLUMN` whose texts tell the series of a long table apart: gppl fit fits each; may be repeated, for texts of " +
				"several columns; none takes all rows for one series", Category: file},
		&cli.StringFlag{Name: "holidays",
			Usage: "`COUNTRY`, as US, GB or DE-BY, whose holidays y may depend on, and the days before and after: daily or finer " +
				"series", Category: model},
		&listFlag{Name: "event",
			Usage: "`NAME=FROM..TO`, an event with an effect of its own, such as lockdown=2020-03-15..2020-06-30; the name may be left " +
				"out; may be repeated, and those of one name have one effect", Category: model},
		&cli.StringFlag{Name: "shifts", Value: "auto",
			Usage: "changes of level and of slope: `WHEN` is use (those that are clear are found, and the forecast has them), report " +
				"(found, and not in the forecast), auto (use up to 400 observations; report for more, and for a named kernel), never, or " +
				"DATE,DATE of changes of level that are known", Category: model},
		&cli.IntFlag{Name: "last", Usage: "use only the latest `N` observations", HideDefault: true, Category: file},
		&cli.StringFlag{Name: "kernel", Value: "auto",
			Usage: "`KERNELS` to compare, separated by commas: " + strings.Join(search.KernelNames(), ", ") + ", sums (+) and " +
				"products (*) of them; auto finds structure and parameters by itself", Category: model},
		&cli.StringFlag{Name: "log", Value: "auto",
			Usage: "model the logarithm of y: `WHEN` is never, always, auto (if it is more likely), or logit (the log odds of y " +
				"between 0 and 1, or between --bounds)", Category: model},
		&cli.StringFlag{Name: "likelihood", Value: "auto",
			Usage: "how y arises: `DISTRIBUTION` is " + strings.Join(series.Likelihoods[1:], ", ") + ", or auto, which recognises " +
				"plain counts and series of 0 and 1, whose bands are whole numbers; student is for wrong readings", Category: model},
		&cli.BoolFlag{Name: "robust", Usage: "wrong readings count for less: --likelihood student", Category: model},
		&cli.StringFlag{Name: "bounds",
			Usage: "`LO,HI` that y cannot leave, such as 0,100 for per cent: models are of the log odds between them or, where several " +
				"values are at a bound, of y that is censored there; 0, is for amounts, which may be exactly 0", Category: model},
		&cli.StringSliceFlag{Name: "period",
			Usage: "fixed `PERIOD` of the season: 1y, 7d, 24h, or a number (of steps if x are dates, else in the unit of x); may be " +
				"repeated; none for no season; if not given, from the calendar or detected", Category: model},
		&cli.StringFlag{Name: "trend", Value: "auto",
			Usage: "`TREND` of the mean: none, linear, quadratic, or auto for the most likely one with the best kernel", Category: model},
		&listFlag{Name: "prior",
			Usage: "`NAME=DISTRIBUTION`, the prior of a parameter, as in lengthscale=within(1, 10); NAME is its name or its role " +
				"(variance, lengthscale, period, shape, noise); names and units are those of the table of parameters; it applies to " +
				"every candidate that has the parameter; may be repeated; " + search.Distributions, Category: model},
		&cli.IntFlag{Name: "starts", Usage: "for sums: `N` further random starts of each kernel", Category: model},
		&cli.UintFlag{Name: "seed", Value: 1, Usage: "`SEED` of random starts and draws", Category: model},
		&cli.DurationFlag{Name: "budget",
			Usage: "predicted `TIME` of training at most, such as 10s or 5m; predictions use no clock, so the search is the same on " +
				"every machine; if not given, a minute", HideDefault: true, Category: model},
		memoryFlag(), jsonFlag(), quietFlag(),
	}
}

// timeFlag is the flag that says how x is written.
func timeFlag(category string) cli.Flag {
	return &cli.StringFlag{Name: "time", Aliases: []string{"dates"}, Category: category,
		Usage: "`FORMAT` of x: iso (2000-01-31, 20000131), ymd (2000/1/31), dmy (31/1/2000), mdy (1/31/2000), named (31 Jan 2000), " +
			"month (01/2000, 200001), quarter (2000Q1), week (2000-W05), unix (seconds since 1970), unix-ms, unix-us or number; " +
			"detected if not given"}
}

// formatFlags returns the flags of inputFlags that say how a file is written.
func formatFlags() []cli.Flag {
	return flagsOf("x", "time", "comma", "decimal-comma", "decimal-point", "no-header", "missing", "memory")
}

// flagsOf returns the flags of inputFlags with one of the names.
func flagsOf(names ...string) (flags []cli.Flag) {
	for _, f := range inputFlags() {
		if slices.Contains(names, f.Names()[0]) {
			flags = append(flags, f)
		}
	}
	return flags
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "write the result as JSON"}
}

func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no progress"}
}

// yColumns returns the columns of --y; nil if the flag is not set.
func yColumns(c *cli.Command) []string {
	if !c.IsSet("y") { // the default means the second column, not one named 2
		return nil
	}
	return listOf(c, "y")
}

// keyColumns returns the columns of --by; nil if the flag is not set, or is none.
func keyColumns(c *cli.Command) []string {
	if pooled(c) {
		return nil
	}
	return listOf(c, "by")
}

// pooled reports whether --by is none.
func pooled(c *cli.Command) bool {
	columns := listOf(c, "by")
	return len(columns) == 1 && columns[0] == "none"
}

// oneSeries returns an error if --y or --by choose more than one series.
func oneSeries(c *cli.Command) error {
	if columns := yColumns(c); len(columns) > 1 {
		return usageError{fmt.Errorf("%s takes one --y, not %d; gppl fit takes several", c.Name, len(columns))}
	}
	if columns := keyColumns(c); columns != nil {
		return usageError{fmt.Errorf("%s takes one series: gppl fit --by %s fits each, and --by none takes all rows for one",
			c.Name, columns[0])}
	}
	return nil
}

// yColumn returns the last of yColumns, "" if there is none.
func yColumn(c *cli.Command) string {
	columns := yColumns(c)
	if len(columns) == 0 {
		return ""
	}
	return columns[len(columns)-1]
}

// readOptions returns the options for reading a csv file from the flags.
func readOptions(c *cli.Command) (o series.ReadOptions, err error) {
	o = series.ReadOptions{
		NoHeader: c.Bool("no-header"), DecimalComma: c.Bool("decimal-comma"), DecimalPoint: c.Bool("decimal-point"),
		Missing: c.StringSlice("missing"), Time: dataset.TimeFormat(c.String("time")),
	}
	// Without --x the first column is meant, not one named 1.
	if c.IsSet("x") {
		o.X = c.String("x")
	}
	o.Y = yColumn(c)
	if o.Comma, err = sumflags.Comma(c.String("comma")); err == nil {
		err = sumflags.Check(o)
	}
	if err != nil {
		return o, usageError{err}
	}
	return o, nil
}

// argument returns the only argument of a command.
func argument(c *cli.Command, what string) (string, error) {
	if c.NArg() == 1 {
		return c.Args().First(), nil
	}
	if c.NArg() == 0 {
		return "", usageError{fmt.Errorf("%s: %s is missing", c.Name, what)}
	}
	return "", usageError{fmt.Errorf("%s takes one %s, not %d: %s", c.Name, what, c.NArg(), strings.Join(c.Args().Slice(), " "))}
}

// progress returns a bar on standard error, lines on any other writer, or nil with --quiet.
func progress(c *cli.Command, title string, total int) *viz.Progress {
	switch w := c.Root().ErrWriter; {
	case c.Bool("quiet"):
		return nil
	case w == os.Stderr:
		return viz.NewProgress(title, total)
	default:
		return viz.NewProgressTo(w, title, total)
	}
}

// logit reports whether models are of log odds: between --bounds, or 0 and 1 without them.
func logit(c *cli.Command) bool { return strings.EqualFold(c.String("log"), "logit") }
