package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/report"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/viz"
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

// announced is the shortest predicted time of a search with its tests of the past that is announced, in seconds.
const announced = 3

// learnFile reads the file of the argument and trains by the flags. past, unless it is nil, shows later tests of the past.
func learnFile(ctx context.Context, c *cli.Command, past *pastBar) (*forecast.Analysis, error) {
	path, err := argument(c, "csv file")
	if err != nil {
		return nil, err
	}
	if err := oneSeries(c); err != nil {
		return nil, err
	}
	s, settings, err := prepare(ctx, c, task{path: path, y: yColumn(c)})
	if err != nil {
		return nil, err
	}
	if past != nil {
		settings.Progress = past.show
	}
	return trainSeries(ctx, c, s, settings, true)
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

// prepare reads the series of a task, unless it has been read, and the flags on training.
func prepare(ctx context.Context, c *cli.Command, t task) (*series.Series, forecast.Options, error) {
	settings, err := trainOptions(c)
	if err != nil {
		return nil, settings, err
	}
	if isSums(t.path) {
		return nil, settings, usageError{fmt.Errorf("%s holds sums, and %s needs observations: gppl fit %s learns from sums alone",
			t.path, c.Name, t.path)}
	}
	if settings.Memory, err = memoryLimit(ctx, c); err != nil {
		return nil, settings, err
	}
	s, err := t.series, t.failed
	if s == nil && err == nil {
		s, err = readSeries(ctx, c, t.path, t.y)
	}
	if err != nil {
		return nil, settings, memoryHint(c, err)
	}
	if err := suits(c, s, settings); err != nil {
		return nil, settings, usageError{err}
	}
	if s, err = setEvents(c, s, t.series != nil); err != nil {
		return nil, settings, usageError{err}
	}
	if s, err = setShifts(c, s, &settings); err != nil {
		return nil, settings, usageError{err}
	}
	return s, settings, setPeriods(ctx, c, s, &settings)
}

// setEvents reads the events. Of those that no observation shows, a series of a panel has none.
func setEvents(c *cli.Command, s *series.Series, panel bool) (*series.Series, error) {
	texts := listOf(c, "event")
	if len(texts) == 0 {
		return s, nil
	}
	events, err := s.Axis.ParseEvents(texts)
	if panel {
		events = slices.DeleteFunc(events, func(e series.Event) bool {
			_, err := s.WithEvents([]series.Event{e})
			return err != nil
		})
	}
	if err == nil {
		s, err = s.WithEvents(events)
	}
	if err != nil {
		return nil, fmt.Errorf("--event: %s", message(err))
	}
	return s, nil
}

// setShifts reads what to do with changes of level: one of the modes, or their places.
func setShifts(c *cli.Command, s *series.Series, o *forecast.Options) (*series.Series, error) {
	text := strings.TrimSpace(c.String("shifts"))
	if slices.Contains(forecast.ShiftModes, strings.ToLower(text)) {
		if c.IsSet("shifts") {
			o.Shifts = strings.ToLower(text)
		}
		return s, nil
	}
	var at []float64
	for _, one := range strings.Split(text, ",") {
		x, err := s.Axis.Parse(strings.TrimSpace(one))
		if err != nil {
			return nil, fmt.Errorf("--shifts %q: it is %s, or the places of changes of level, separated by commas: %s",
				text, strings.Join(forecast.ShiftModes, ", "), message(err))
		}
		at = append(at, x)
	}
	o.Shifts = "never"
	shifted, err := s.Shifted(at...)
	if err != nil {
		return nil, fmt.Errorf("--shifts: %s", message(err))
	}
	return shifted, nil
}

// suits returns an error if a flag asks for what the series does not allow, before any work is done.
func suits(c *cli.Command, s *series.Series, o forecast.Options) error {
	if n, held := len(s.X), c.Int("holdout"); held >= n {
		return fmt.Errorf("--holdout %d: there are %d observations, and some must be left to learn from", held, n)
	}
	if strings.EqualFold(o.Log, "always") {
		for i, y := range s.Y {
			if !(y > 0) {
				return fmt.Errorf("--log always: %s is %v at %s, and only positive values have a logarithm", s.YName, y, s.Axis.Text(s.X[i]))
			}
		}
	}
	return nil
}

// trainOptions returns the options of training from the flags, except the periods, which need the series.
func trainOptions(c *cli.Command) (o forecast.Options, err error) {
	var kernels []string
	if !strings.EqualFold(strings.TrimSpace(c.String("kernel")), "auto") {
		if kernels, err = search.ParseKernels(c.String("kernel")); err != nil {
			return o, usageError{errors.New(message(err))}
		}
	}
	for flag, known := range map[string][]string{
		"log": append(slices.Clone(search.Logs), "logit"), "trend": search.Trends, "likelihood": series.Likelihoods,
	} {
		if !slices.Contains(known, strings.ToLower(c.String(flag))) {
			return o, usageError{fmt.Errorf("--%s %q: it is one of %s", flag, c.String(flag), strings.Join(known, ", "))}
		}
	}
	o = forecast.Options{Kernels: kernels, Log: c.String("log"), Trend: c.String("trend"),
		Seed: uint64(c.Uint("seed"))}
	if logit(c) {
		o.Log = "auto" // the bounds imply log odds
	}
	for _, text := range listOf(c, "prior") {
		p, err := search.ParsePrior(text)
		if err != nil {
			return o, usageError{fmt.Errorf("--prior: %s", message(err))}
		}
		o.Priors = append(o.Priors, p)
	}
	if c.IsSet("starts") {
		return o, usageError{errors.New("--starts is for sums: a search of a csv file begins where it finds optima")}
	}
	if origins, held := c.Int("origins"), c.Int("holdout"); origins < 0 || held < 0 {
		return o, usageError{fmt.Errorf("--origins %d --holdout %d: neither may be negative", origins, held)}
	}
	if o.Budget = c.Duration("budget"); c.IsSet("budget") && o.Budget <= 0 {
		return o, usageError{fmt.Errorf("--budget %v: it takes a time above 0, such as 60s or 5m", o.Budget)}
	}
	return o, nil
}

// mostStarts is the largest number of --starts. Much smaller numbers find the optimum of a kernel of ten parameters.
const mostStarts = 1000

func checkStarts(c *cli.Command) error {
	switch n := c.Int("starts"); {
	case n < 0:
		return usageError{fmt.Errorf("--starts %d: it takes a whole number from 0", n)}
	case n > mostStarts:
		return usageError{fmt.Errorf("--starts %d: at most %d", n, mostStarts)}
	}
	return nil
}

// readSeries reads the column y of a file; "" is its second column.
func readSeries(ctx context.Context, c *cli.Command, path, y string) (*series.Series, error) {
	o, err := seriesOptions(ctx, c, y)
	if err != nil {
		return nil, err
	}
	return interruptible(ctx, func() (*series.Series, error) { return series.Read(ctx, path, o) })
}

// seriesOptions returns the options for reading a column of a file from the flags.
func seriesOptions(ctx context.Context, c *cli.Command, y string) (series.ReadOptions, error) {
	o, err := readOptions(c)
	if err != nil {
		return o, err
	}
	o.Y, o.By, o.Pooled, o.Backward, o.Holidays = y, keyColumns(c), pooled(c), c.Bool("backward"), c.String("holidays")
	o.YError, o.RelativeErrors, o.Regressors, o.Future =
		c.String("y-error"), c.Bool("relative-errors"), listOf(c, "regressor"), c.String("future")
	if o.RelativeErrors && o.YError == "" {
		return o, usageError{errors.New("--relative-errors says how to read the errors in a column: name the column with --y-error")}
	}
	text := c.String("bounds")
	if text == "" && logit(c) {
		text = "0,1"
	}
	if text != "" {
		if o.Bounds, err = series.ParseBounds(text); err != nil {
			return o, usageError{fmt.Errorf("--bounds: %s", message(err))}
		}
	}
	if o.Likelihood, o.Size, err = likelihoodOf(c); err != nil {
		return o, err
	}
	if o.Future != "" && len(o.Regressors) == 0 {
		return o, usageError{errors.New("--future is a file with values of regressors: name their columns with --regressor")}
	}
	if o.Memory, err = memoryLimit(ctx, c); err != nil {
		return o, err
	}
	o.XUnit, o.YUnit, o.Last = c.String("x-unit"), c.String("y-unit"), c.Int("last")
	if o.Last < 0 {
		return o, usageError{fmt.Errorf("--last %d: it takes a number of observations, or 0 for all", o.Last)}
	}
	return o, nil
}

// likelihoodOf returns the distribution of y, and the column of its sizes, by the flags. Flags for a normal distribution imply
// one.
func likelihoodOf(c *cli.Command) (likelihood, size string, err error) {
	likelihood, size = strings.ToLower(c.String("likelihood")), c.String("size")
	if c.Bool("robust") {
		if likelihood != "auto" && likelihood != "student" {
			return "", "", usageError{fmt.Errorf("--robust is --likelihood student, not %s: leave out one of them", likelihood)}
		}
		likelihood = "student"
	}
	var normal []string
	for _, name := range []string{"y-error", "relative-errors"} {
		if c.IsSet(name) {
			normal = append(normal, name)
		}
	}
	if c.IsSet("bounds") {
		if normal = append(normal, "bounds"); c.IsSet("log") && !logit(c) {
			return "", "", usageError{errors.New("--bounds model the log odds between them, " +
				"and --log the logarithm: leave out one of them")}
		}
	}
	if !slices.Contains([]string{"auto", "never"}, strings.ToLower(c.String("log"))) {
		normal = append(normal, "log")
	}
	counts := likelihood != "auto" && likelihood != "gaussian" && likelihood != "student" || size != ""
	switch {
	case likelihood == "student" && (size != "" || len(normal) > 0):
		return "", "", usageError{fmt.Errorf("--likelihood student is of values on their own scale, with errors that are learnt: "+
			"leave out --%s", append(normal, "size")[0])}
	case counts && len(normal) > 0:
		return "", "", usageError{fmt.Errorf("--%s is of a normal distribution, and counts have another: "+
			"leave it out, or take --likelihood gaussian without --size", normal[0])}
	case size != "" && likelihood == "gaussian":
		return "", "", usageError{errors.New("--size is the exposure of a count or the number of trials of a share: " +
			"take --likelihood poisson, negbinomial or binomial")}
	case likelihood == "binomial" && size == "":
		return "", "", usageError{errors.New("--likelihood binomial needs the number of trials of each row: " +
			"name their column with --size; of single trials, 0 or 1, it is --likelihood bernoulli")}
	case likelihood == "auto" && !counts && (len(normal) > 0 || c.IsSet("prior") || c.IsSet("log") ||
		!strings.EqualFold(strings.TrimSpace(c.String("kernel")), "auto")):
		likelihood = "gaussian"
	}
	return likelihood, size, nil
}

// setPeriods reads the flags on periods, in the unit of the series.
func setPeriods(ctx context.Context, c *cli.Command, s *series.Series, o *forecast.Options) error {
	for _, text := range c.StringSlice("period") {
		if strings.EqualFold(text, "none") {
			o.NoSeason = true
			continue
		}
		period, err := s.ParsePeriod(text)
		if err != nil {
			return usageError{errors.New(message(err))}
		}
		o.Periods = append(o.Periods, period)
	}
	if o.NoSeason && len(o.Periods) > 0 {
		return usageError{errors.New("--period none is no season, and another --period is one: leave out one of them")}
	}
	for _, period := range o.Periods {
		if o.Kernels != nil { // named kernels take any period
			break
		}
		if err := search.CheckPeriod(ctx, s, period, *o); err != nil {
			return usageError{fmt.Errorf("--period: %s", message(err))}
		}
	}
	return nil
}

// pastBar shows how many origins of the test of the past are done, from its first report to its end.
type pastBar struct {
	begin func(origins int) *viz.Progress

	mu    sync.Mutex // guards the rest: after an interrupt the test may go on and report
	bar   *viz.Progress
	ended bool
}

func newPastBar(c *cli.Command) *pastBar {
	return &pastBar{begin: func(origins int) *viz.Progress { return progress(c, "tests of the past", origins) }}
}

// show takes reports about the test, as forecast.Options.Progress.
func (b *pastBar) show(p forecast.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return
	}
	if b.bar == nil {
		b.bar = b.begin(p.Count)
	}
	b.bar.Set(p.Index)
}

// end ends the bar, with the error that ended the test early.
func (b *pastBar) end(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.bar.Fail(err)
}

// trainSeries learns a model of the series. If tell is set, it shows its progress; settings.Progress takes the reports of later
// tests of the past.
func trainSeries(
	ctx context.Context, c *cli.Command, s *series.Series, settings forecast.Options, tell bool,
) (*forecast.Analysis, error) {
	planner, err := search.NewPlanner(ctx, s, settings)
	if err != nil {
		return nil, err
	}
	plan := planner.Plan()
	if tests, _, none := testOptions(c, forecastSteps(c, len(s.X))); !none {
		plan = judge.WithTests(ctx, plan, s, settings, tests)
	}
	if tell && !c.Bool("quiet") && (plan.Seconds+plan.Tests >= announced || plan.Over) {
		say(c, "%v.", plan)
	}
	if !tell {
		return interruptible(ctx, func() (*forecast.Analysis, error) { return fitWithin(ctx, c, s, settings) })
	}
	const shares = 100 // the bar counts hundredths of the work
	bar := progress(c, "models", shares)
	var drawing sync.Mutex // guards the bar, which is not drawn once ctx has ended, though training may go on
	tests := settings.Progress
	settings.Progress = func(p forecast.Progress) {
		if p.Stage == search.TestOfPast {
			if tests != nil {
				tests(p)
			}
			return
		}
		drawing.Lock()
		defer drawing.Unlock()
		if ctx.Err() == nil {
			bar.Set(p.Index * shares / max(1, p.Count))
			at := ""
			if !math.IsInf(p.Best, 1) {
				at = fmt.Sprintf("%.2f nats, ", p.Best)
			}
			bar.Message("%s, %s: %s%d evaluations", p.Candidate, p.Stage, at, p.Evaluations)
		}
	}
	a, err := interruptible(ctx, func() (*forecast.Analysis, error) { return fitWithin(ctx, c, s, settings) })
	drawing.Lock()
	defer drawing.Unlock()
	if ctx.Err() != nil {
		bar.Fail(context.Cause(ctx))
	} else {
		bar.Fail(err)
	}
	return a, err
}

// fitWithin calls forecast.Fit, and names the flags that raise its limits.
func fitWithin(ctx context.Context, c *cli.Command, s *series.Series, settings forecast.Options) (*forecast.Analysis, error) {
	if ownProcess(ctx) {
		machine.CollectFor(len(s.X))
	}
	a, err := forecast.Fit(ctx, s, settings)
	return a, memoryHint(c, err)
}
