package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/sumflags"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/report"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

// outputs are the flags of gppl fit that name files to write.
var outputs = []string{"report", "model", "out", "figure", "components"}

// outputFiles returns the files that outputs name, by flag; "" for one that is not requested.
func outputFiles(c *cli.Command) map[string]string {
	files := map[string]string{}
	for _, flag := range outputs {
		files[flag] = c.String(flag)
	}
	return files
}

// inputFiles are the flags, of any command, that name files to read besides the arguments.
var inputFiles = []string{"future", "like"}

// timeOfDay is what the shell makes a file of where a date and its time are not quoted.
var timeOfDay = regexp.MustCompile(`^\d{1,2}:\d{2}`)

// readsCSV are the commands whose arguments are csv files.
var readsCSV = []string{"fit", "compare", "backtest", "update", "sum"}

// apart returns an error if standard input is named twice, or if a file that the command writes (by flag, for each series) or
// standard output is one that it reads or another that it writes.
func apart(c *cli.Command, written ...map[string]string) error {
	var read, write []files.Name
	standard := 0
	add := func(flag, path string, csv bool) {
		name := files.Name{Flag: flag, Path: path}
		if path == dataset.StandardInput && csv {
			name.File = os.Stdin
			standard++
		}
		read = append(read, name)
	}
	for _, path := range c.Args().Slice() {
		if _, err := os.Stat(path); err != nil && timeOfDay.MatchString(path) {
			return usageError{fmt.Errorf("%s is no file but a time of day: write a date and its time between quotation marks, "+
				"as --shifts \"2021-05-06 14:00\"", path)}
		}
		add("", path, slices.Contains(readsCSV, c.Name))
	}
	for _, flag := range inputFiles {
		add(flag, c.String(flag), flag == "future")
	}
	if standard > 1 {
		return usageError{fmt.Errorf("%s: - stands for standard input, which can be read only once", c.Name)}
	}
	for _, paths := range written {
		for _, flag := range outputs {
			write = append(write, files.Name{Flag: flag, Path: paths[flag]})
		}
	}
	for i, w := range []io.Writer{c.Root().Writer, c.Root().ErrWriter} {
		if first, ok := w.(*firstError); ok {
			w = first.Writer
		}
		if f, ok := w.(*os.File); ok { // what >> adds to
			write = append(write, files.Name{Path: []string{"standard output", "standard error"}[i], File: f})
		}
	}
	err := files.Apart(read, write)
	if conflict := (*files.ConflictError)(nil); errors.As(err, &conflict) && !conflict.Input {
		return usageError{err}
	}
	return err
}

// task is a series to fit, and the files to write.
type task struct {
	path, y string            // y is "" for the second column
	files   map[string]string // by flag; no entry for a file that is not requested
	alone   bool              // the only series: it shows its own progress bar

	key    []string // of a series of a long table, which has been read, or has failed
	series *series.Series
	failed error
}

// fitted holds the results of gppl fit for a series.
type fitted struct {
	a       *forecast.Analysis
	f       *forecast.Forecast // nil if the regressors are not known ahead
	r       *judge.Residuals
	trust   *judge.Trust
	levels  []float64    // of the bands in --out
	program *viz.Program // of a report whose figure computes; nil for none
	written []string
	notes   []string // which results are missing and why, for standard error
}

// fit reads, learns, tests, checks, forecasts and writes.
func (t task) fit(ctx context.Context, c *cli.Command) (out fitted, err error) {
	s, settings, err := prepare(ctx, c, t)
	if err != nil {
		return out, err
	}
	if s.Counting != nil && t.files["components"] != "" { // before the work of a fit
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
			out.notes = append(out.notes, "no live figure in the report: "+dataset.Words(err, sumflags.Word))
		} else if err != nil {
			return out, err
		}
	}
	return out, out.write(ctx, t.files)
}

// loadProgram returns the program of live figures; a test takes another.
var loadProgram = liveProgram

// report writes the page, without a live figure if one is impossible.
func (o *fitted) report(ctx context.Context, w io.Writer) error {
	if o.program != nil {
		if _, err := o.a.Learnt(ctx); errors.Is(err, forecast.ErrNotPlain) {
			o.program, o.notes = nil, append(o.notes, "no live figure in the report: "+message(err))
		} else if err != nil {
			return err
		}
	}
	return report.HTML(ctx, w, o.a, o.f, o.trust, o.program, sumflags.Word)
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

// drawn writes a figure in the format of a file.
func drawn(path string, draw func() (*viz.Figure, error)) func(io.Writer) error {
	return func(w io.Writer) error {
		figure, err := draw()
		if err != nil {
			return err
		}
		return figure.Encode(w, filepath.Ext(path))
	}
}

// writeOutputs writes the requested files, by flag, and returns those that it has written.
func writeOutputs(
	ctx context.Context, files map[string]string, writers map[string]func(io.Writer) error,
) (written []string, err error) {
	for _, flag := range outputs {
		path := files[flag]
		if path == "" {
			continue
		}
		write := writeFile
		if flag == "model" || flag == "components" { // as long as the series
			write = writePieces
		}
		if err := write(ctx, path, writers[flag]); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	return written, nil
}

// otherFormats maps extensions that --report, --model and --out do not write to what to do instead.
var otherFormats = map[string]string{
	".pdf": "print the page of --report FILE.html to pdf, or draw the forecast with --figure FILE.pdf",
	".png": "--figure writes this format", ".svg": "--figure writes this format", ".jpg": "--figure writes .svg, .png and .pdf",
	".xlsx": "--out FILE.csv writes a file that spreadsheets read", ".xls": "--out FILE.csv writes a file that spreadsheets read",
	".docx": "--report FILE.html writes a page", ".parquet": "--out FILE.csv writes the forecast",
}

// formatKnown returns an error, before any work is done, if a name ends in a format that the flag does not write.
func formatKnown(flag, path string) error {
	ext := strings.ToLower(filepath.Ext(path))
	switch instead, other := otherFormats[ext]; {
	case path == "":
	case flag == "figure" && !slices.Contains(viz.Extensions, ext):
		return usageError{fmt.Errorf("--figure %s: the name must end with one of %s", path, strings.Join(viz.Extensions, ", "))}
	case flag != "figure" && other:
		return usageError{fmt.Errorf("--%s %s: this flag does not write %s; %s", flag, path, ext, instead)}
	case flag == "out" && ext == ".json":
		return usageError{fmt.Errorf("--out %s: this flag writes csv; --json writes the forecast to standard output as JSON", path)}
	}
	return nil
}

// checkOutputs returns an error, before any work is done, if a file that a flag names cannot be written, or not in its format.
func checkOutputs(c *cli.Command, flags ...string) error {
	for _, flag := range flags {
		if err := formatKnown(flag, c.String(flag)); err != nil {
			return err
		}
	}
	return writable(c, flags...)
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
	if err != nil && !errors.Is(err, forecast.ErrNoComponents) { // which leaves all else to show
		return err
	}
	failed := err
	err = show(ctx, c, func() any { return report.Describe(o.a, o.f, o.r, o.trust, sumflags.Word) },
		func(w io.Writer) error { return report.Text(w, o.a, o.f, o.r, o.trust, o.written, sumflags.Word) })
	if err = cmp.Or(err, failed); err == nil && o.written == nil && !c.Bool("json") {
		fmt.Fprintln(c.Root().ErrWriter, "No file was written. --report FILE.html writes a page with figures, "+
			"--figure FILE.svg a figure, --model FILE.json the model, --out FILE.csv the forecast.")
	}
	return err
}
