package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

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
	for _, flag := range []struct {
		name  string
		known []string
	}{
		{"log", append(slices.Clone(search.Logs), "logit")}, {"trend", search.Trends}, {"likelihood", series.Likelihoods},
	} {
		if text := c.String(flag.name); !slices.Contains(flag.known, strings.ToLower(text)) {
			return o, usageError{fmt.Errorf("--%s %q: it is one of %s", flag.name, text, strings.Join(flag.known, ", "))}
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
