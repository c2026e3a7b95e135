package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/report"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// channelFlags say how the rows of a file are channels of one function.
func channelFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "channel",
			Usage: "`COLUMN` whose texts say which channel a row belongs to: channels see one function, each with its own offset and " +
				"noise, as instruments do, or a velocity and its indices of activity; kernels are named (--kernel)", Category: "THE FILE"},
		&cli.StringFlag{Name: "exposure",
			Usage: "observations are averages over this length of time about x: a number, or the name of a `COLUMN` of numbers, in " +
				"the unit of x, in seconds for dates; kernels are named (--kernel)", Category: "THE FILE"},
		&cli.StringFlag{Name: "channel-view", Value: "auto",
			Usage: "how channels see the function: `VIEW` is " + strings.Join(forecast.ChannelViews, ", ") + " (a·f + b·f′), or " +
				"auto for the best by BIC", Category: "THE MODEL"},
	}
}

// notOfChannels are the flags that do not go with --channel and --exposure.
var notOfChannels = []string{
	"by", "size", "regressor", "future", "holidays", "log", "likelihood", "bounds", "period", "trend", "prior", "starts",
	"seed", "budget", "max-exact", "live", "at",
}

// channelOptions reads the flags on channels.
func channelOptions(c *cli.Command) (o forecast.ChannelOptions, err error) {
	asked := "channel"
	if !c.IsSet(asked) {
		asked = "exposure"
	}
	for _, flag := range notOfChannels {
		if c.IsSet(flag) {
			return o, usageError{fmt.Errorf("--%s does not go with --%s: leave out one of them", flag, asked)}
		}
	}
	if len(yColumns(c)) > 1 {
		return o, usageError{fmt.Errorf("--%s takes one --y: the values of all channels stand in one column", asked)}
	}
	if strings.EqualFold(strings.TrimSpace(c.String("kernel")), "auto") {
		return o, usageError{fmt.Errorf("--%s needs named kernels: --kernel Matern32, --kernel SHO or --kernel \"SHO, Rotation\"",
			asked)}
	}
	if o.Kernels, err = forecast.ParseKernels(c.String("kernel")); err != nil {
		return o, usageError{errors.New(message(err))}
	}
	if view := strings.ToLower(c.String("channel-view")); slices.Contains(forecast.ChannelViews, view) {
		o.Views = []string{view}
	} else if view != "auto" {
		return o, usageError{fmt.Errorf("--channel-view %q: it is one of %s or auto",
			c.String("channel-view"), strings.Join(forecast.ChannelViews, ", "))}
	}
	return o, nil
}

// fitChannels is gppl fit with --channel or --exposure.
func fitChannels(ctx context.Context, c *cli.Command) error {
	path, err := argument(c, "csv file with channels")
	if err != nil {
		return err
	}
	o, err := channelOptions(c)
	if err = cmp.Or(err, checkOutputs(c, outputs...)); err != nil {
		return err
	}
	read, err := seriesOptions(ctx, c, yColumn(c))
	if err != nil {
		return err
	}
	s, err := interruptible(ctx, func() (*forecast.Channels, error) {
		return forecast.ReadChannels(path, c.String("channel"), c.String("exposure"), read)
	})
	if err != nil {
		return memoryHint(c, err)
	}
	bar := progress(c, "models", 1)
	o.Progress = func(kernel, view string, index, count int) {
		bar.Message("%s, %s: %d of %d", kernel, view, index+1, count)
	}
	a, err := interruptible(ctx, func() (*forecast.ChannelAnalysis, error) { return forecast.FitChannels(ctx, s, o) })
	bar.Fail(err)
	if err != nil {
		return memoryHint(c, err)
	}
	steps := forecastSteps(c, len(s.Series.X))
	trust, err := backtest(ctx, c, a, steps)
	if err != nil {
		return err
	}
	if trust != nil {
		a.Calibrate(trust)
	}
	all, err := a.Forecast(steps)
	if err != nil {
		return err
	}
	writers := map[string]func(io.Writer) error{
		"out":        func(w io.Writer) error { return a.WriteChannels(w, all, levels(c)...) },
		"report":     func(w io.Writer) error { return report.ChannelHTML(w, a, all, trust) },
		"model":      a.Encode,
		"components": a.WriteComponents,
		"figure":     drawn(c.String("figure"), func() (*viz.Figure, error) { return report.Channels(a, all) }),
	}
	written, err := writeOutputs(ctx, outputFiles(c), writers)
	if err != nil {
		return err
	}
	return show(ctx, c, func() any { return report.DescribeChannels(a, all, trust) },
		func(w io.Writer) error { return report.ChannelText(w, a, all, trust, written) })
}

// predictChannels is gppl predict with a model of channels.
func predictChannels(ctx context.Context, c *cli.Command, path string) error {
	for _, flag := range []string{"future", "until"} {
		if c.IsSet(flag) {
			return usageError{fmt.Errorf("--%s: %s is a model of several channels, which do not have it", flag, path)}
		}
	}
	limit, err := memoryLimit(ctx, c)
	if err != nil {
		return err
	}
	a, err := interruptible(ctx, func() (*forecast.ChannelAnalysis, error) { return forecast.LoadChannels(path, limit) })
	if err != nil {
		return memoryHint(c, err)
	}
	x, err := places(a.Channels.Series.Axis, c)
	if err != nil {
		return err
	}
	var all []forecast.ChannelPrediction
	if x == nil {
		all, err = a.Forecast(forecastSteps(c, len(a.Channels.Series.X)))
	} else {
		all, err = a.Predict(x)
	}
	if err != nil {
		return err
	}
	count := 0
	for _, p := range all {
		count += len(p.X)
	}
	return printPredictions(ctx, c, count, func(w io.Writer) error { return a.WriteChannels(w, all, levels(c)...) },
		report.DescribeChannels(a, all, nil))
}
