package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/report"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// task is a series to fit, and the files to write.
type task struct {
	path, y string            // y is "" for the second column
	files   map[string]string // maps a flag to its file; no entry for a file that is not requested
	alone   bool              // the only series: it shows its own progress bar

	key    []string // names a series of a long table, which has been read or has failed
	series *series.Series
	failed error
}

// fitted holds the results of gppl fit for a series.
type fitted struct {
	a *forecast.Analysis
	// constant is a series whose values are all equal, which has no analysis, residuals or tests; nil for any other.
	constant *series.Series
	f        *forecast.Forecast // nil if the regressors are not known ahead
	r        *judge.Residuals
	trust    *judge.Trust
	levels   []float64    // levels of the bands in --out
	program  *viz.Program // program of a report whose figure computes; nil for none
	missing  string       // why the report has no such figure, though one was requested
	written  []string
	notes    []string // which results are missing and why, for standard error
}

// fit reads, learns, tests, checks, forecasts and writes.
func (t task) fit(ctx context.Context, c *cli.Command) (out fitted, err error) {
	s, settings, err := prepare(ctx, c, t)
	if constant := (*series.ConstantError)(nil); errors.As(err, &constant) {
		return t.constant(ctx, c, constant)
	}
	if err != nil {
		return out, err
	}
	if s.Counting != nil && t.files["components"] != "" { // refused here, before the work of a fit
		return out, usageError{errors.New("--components: counts have none, since the terms of their model multiply the rate: " +
			"leave it out, or take --likelihood gaussian")}
	}
	steps, why, err := stepsAhead(c, s)
	if err != nil {
		return out, err
	}
	if why != "" {
		out.notes = append(out.notes, why)
	}
	past := newPastBar(c)
	if t.alone {
		settings.Progress = past.show
	}
	if out.a, err = trainSeries(ctx, c, s, settings, t.alone); err != nil {
		return out, err
	}
	out.trust, err = backtest(ctx, c, out.a, cmp.Or(steps, forecastSteps(c, len(s.X))))
	if past.end(cmp.Or(context.Cause(ctx), err)); err != nil {
		return out, err
	}
	if out.trust != nil {
		out.trust.Calibrate(out.a)
	}
	if out.levels = levels(c); steps > 0 {
		out.f, err = interruptible(ctx, func() (*forecast.Forecast, error) { return out.a.Forecast(ctx, steps) })
		if err != nil {
			return out, err
		}
	}
	out.r, err = interruptible(ctx, func() (*judge.Residuals, error) { return judge.CheckResiduals(ctx, out.a) })
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil && !errors.Is(err, judge.ErrCounts) {
		out.notes = append(out.notes, "no residual checks: "+message(err))
	}
	if c.Bool("live") {
		if out.program, err = loadProgram(); errors.Is(err, errNoProgram) {
			out.missing = dataset.Words(err, sumflags.Word)
			out.notes = append(out.notes, "no live figure in the report: "+out.missing)
		} else if err != nil {
			return out, err
		}
	}
	return out, out.write(ctx, t.files)
}

// constant forecasts a series whose values are all equal. Such a series has no model, so nothing is learnt, tested, saved or put
// on a page. A flag that asks for this is an error for a single series; for one of several series, a note says so.
func (t task) constant(ctx context.Context, c *cli.Command, constant *series.ConstantError) (out fitted, err error) {
	out.constant = constant.Series
	for _, flag := range []string{"report", "model", "components"} {
		if t.files[flag] == "" {
			continue
		}
		why := fmt.Sprintf("--%s: %s has one value in all %d rows, and no model to write: leave it out, or take --out or --figure",
			flag, out.constant.YName, len(out.constant.Y))
		if t.alone {
			return out, usageError{errors.New(why)}
		}
		out.notes = append(out.notes, why)
	}
	steps, why, err := stepsAhead(c, out.constant)
	if err != nil {
		return out, err
	}
	if why != "" {
		out.notes = append(out.notes, why)
	}
	if steps > 0 {
		if out.f, err = forecast.Constant(out.constant, steps); err != nil {
			return out, err
		}
	}
	out.levels = levels(c)
	files := map[string]string{"out": t.files["out"], "figure": t.files["figure"]}
	out.written, err = writeOutputs(ctx, files, map[string]func(io.Writer) error{
		"out": func(w io.Writer) error { return out.f.WriteCSV(w, out.constant.Axis, out.levels...) },
		"figure": drawn(files["figure"], func() (*viz.Figure, error) {
			return report.ConstantFigure(out.constant, out.f)
		}),
	})
	return out, err
}

// loadProgram returns the program of live figures; a test takes another.
var loadProgram = liveProgram

// report writes the page, without a live figure if one is impossible.
func (o *fitted) report(ctx context.Context, w io.Writer) error {
	if o.program != nil {
		if _, err := o.a.Learnt(ctx); errors.Is(err, forecast.ErrNotPlain) {
			o.program, o.missing = nil, message(err)
			o.notes = append(o.notes, "no live figure in the report: "+o.missing)
		} else if err != nil {
			return err
		}
	}
	return report.HTML(ctx, w, o.a, o.f, o.trust, report.Live{Program: o.program, Missing: o.missing}, sumflags.Word)
}

// write writes the requested files.
func (o *fitted) write(ctx context.Context, files map[string]string) error {
	writers := map[string]func(io.Writer) error{
		"report": func(w io.Writer) error { return o.report(ctx, w) },
		"model":  o.a.Encode,
		"out":    func(w io.Writer) error { return o.f.WriteCSV(w, o.a.Series.Axis, o.levels...) },
		"components": func(w io.Writer) error {
			d, err := o.a.Decompose(ctx, len(o.f.X))
			if err != nil {
				return err
			}
			return d.WriteCSV(w, o.a.Series.Axis)
		},
		"figure": drawn(files["figure"], func() (*viz.Figure, error) { return report.Forecast(o.a, o.f) }),
	}
	var err error
	o.written, err = writeOutputs(ctx, files, writers)
	return err
}

// drawn returns a function that writes a figure in the format of a file.
func drawn(path string, draw func() (*viz.Figure, error)) func(io.Writer) error {
	return func(w io.Writer) error {
		figure, err := draw()
		if err != nil {
			return err
		}
		return figure.Encode(w, filepath.Ext(path))
	}
}

// writeOutputs writes the requested files, by flag, and returns their names.
func writeOutputs(
	ctx context.Context, files map[string]string, writers map[string]func(io.Writer) error,
) (written []string, err error) {
	for _, flag := range outputs {
		path := files[flag]
		if path == "" {
			continue
		}
		write := writeFile
		if flag == "model" || flag == "components" { // these are as long as the series
			write = writePieces
		}
		if err := write(ctx, path, writers[flag]); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	return written, nil
}

// fitFile fits one series, and shows it.
func fitFile(ctx context.Context, c *cli.Command, t task) error {
	if err := checkOutputs(c, outputs...); err != nil {
		return err
	}
	t.files = outputFiles(c)
	o, err := t.fit(ctx, c)
	for _, note := range o.notes {
		say(c, "%s", note)
	}
	if err != nil && !errors.Is(err, forecast.ErrNoComponents) { // all else can be shown without components
		return err
	}
	failed := err
	describe := func() any { return report.Describe(o.a, o.f, o.r, o.trust, sumflags.Word) }
	text := func(w io.Writer) error { return report.Text(w, o.a, o.f, o.r, o.trust, o.written, sumflags.Word) }
	if o.constant != nil {
		describe = func() any { return report.DescribeConstant(o.constant, o.f, sumflags.Word) }
		text = func(w io.Writer) error { return report.ConstantText(w, o.constant, o.f, o.written, sumflags.Word) }
	}
	err = show(ctx, c, describe, text)
	if err = cmp.Or(err, failed); err == nil && o.written == nil && o.constant == nil && !c.Bool("json") {
		fmt.Fprintln(c.Root().ErrWriter, "No file was written. --report FILE.html writes a page with figures, "+
			"--figure FILE.svg a figure, --model FILE.json the model, --out FILE.csv the forecast.")
	}
	return err
}
