// Command gppl-beam makes gppl.Sums of csv files on Apache Beam.
//
//	go run ./cmd/gppl-beam --input 'dir/*.csv' --output all.sums
//
// runs in this process. The flags of Beam choose another runner; docs/scale.md has those for Flink and Dataflow. The file has the same
// bytes as that of gppl sum with the same header.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	gpplbeam "github.com/projected-likelihood/gppl/beam"
	"github.com/projected-likelihood/gppl/internal/flagwords"
	"github.com/projected-likelihood/gppl/internal/sumflags"
	"github.com/projected-likelihood/gppl/internal/wholefile"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

var (
	input        = flag.String("input", "", "csv files: patterns, separated by commas")
	output       = flag.String("output", "", "file for the sums")
	header       = sumflags.New(flag.CommandLine, "a look at the files")
	x            = flag.String("x", "", "column of x, by name or by number; the first if not given")
	y            = flag.String("y", "", "column of y, by name or by number; the second if not given")
	timeFormat   = flag.String("time", "", "how x is written, as in gppl sum: iso, unix, yyyymmdd, number and others; detected if not given")
	comma        = flag.String("comma", "", "the field separator; detected if not given")
	decimalComma = flag.Bool("decimal-comma", false, "numbers are written 1.025,10; without it, each column tells")
	decimalPoint = flag.Bool("decimal-point", false, "numbers are written 1,025.10")
	noHeader     = flag.Bool("no-header", false, "the first row is data")
	missing      = flag.String("missing", "", "further texts for a missing value, separated by commas, in addition to NA and the like")
	attempts     = flag.Int("attempts", 3, "how often the job is sent to prism in all: prism ends it when a worker is lost; other runners repeat the lost work themselves")
	strict       = flag.Bool("strict", false, "fail at a row that cannot be read or is out of range, instead of leaving it out")
)

func main() {
	flag.Parse()
	beam.Init() // a worker does not return from it
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "gppl-beam:", flagwords.Of(err.Error()))
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is not a flag: put patterns in quotation marks, --input 'dir/*.csv'", flag.Arg(0))
	}
	if *input == "" || *output == "" {
		return errors.New("--input and --output are needed")
	}
	if *attempts < 1 {
		return fmt.Errorf("--attempts %d: at least one is needed", *attempts)
	}
	patterns := strings.Split(*input, ",")
	columns, err := readOptions()
	if err != nil {
		return err
	}
	if err := spared(patterns); err != nil {
		return err
	}
	h, err := header.Header(func() (gppl.SumsRange, error) { return look(ctx, patterns, columns) })
	if err != nil {
		return err
	}
	if h.LargestWeight != 0 {
		return fmt.Errorf("--like %s: these sums have weights, and csv files have none", header.Like)
	}
	again := gpplbeam.Again{Lost: func(attempt int, err error) {
		fmt.Fprintf(os.Stderr, "gppl-beam: a worker was lost, and with it attempt %d of %d: the job is sent again, with the same bits (%v)\n", attempt, *attempts, err)
	}}
	if runner := flag.Lookup("runner").Value.String(); runner == "" || strings.HasPrefix(strings.ToLower(runner), "prism") {
		again.Attempts = *attempts
	}
	result, err := again.Run(ctx, beamx.RunWithMetrics, func() *beam.Pipeline {
		p, s := beam.NewPipelineWithRoot()
		gpplbeam.Write(s, *output, gpplbeam.Sum(s, patterns, gpplbeam.Options{Header: h, Columns: columns, Strict: *strict}))
		return p
	})
	if err != nil {
		return err
	}
	tell(result)
	return nil
}

func readOptions() (o forecast.ReadOptions, err error) {
	o = forecast.ReadOptions{X: *x, Y: *y, NoHeader: *noHeader, DecimalComma: *decimalComma, DecimalPoint: *decimalPoint, Time: dataset.TimeFormat(*timeFormat)}
	if o.DecimalComma && o.DecimalPoint {
		return o, errors.New("--decimal-comma and --decimal-point: numbers have one of the two")
	}
	if o.Time != dataset.TimeAuto && !slices.Contains(dataset.TimeFormats, o.Time) {
		return o, fmt.Errorf("--time %q: it is one of %q", o.Time, dataset.TimeFormats)
	}
	if *missing != "" {
		o.Missing = strings.Split(*missing, ",")
	}
	switch *comma {
	case "":
	case `\t`, "tab":
		o.Comma = '\t'
	case "space":
		o.Comma = ' '
	default:
		r, size := utf8.DecodeRuneInString(*comma)
		if size != len(*comma) || r == utf8.RuneError || r == '"' || r == '\n' || r == '\r' {
			return o, fmt.Errorf("--comma %q: it takes one character, tab or space", *comma)
		}
		o.Comma = r
	}
	return o, nil
}

// matches returns the local files that are to be read.
func matches(patterns []string) (files []string, err error) {
	for _, p := range patterns {
		some, err := filepath.Glob(p)
		if err != nil {
			return nil, fmt.Errorf("--input %s: %w", p, err)
		}
		if len(some) == 0 {
			return nil, fmt.Errorf("--input %s: there is no such file", p)
		}
		files = append(files, some...)
	}
	slices.Sort(files)
	for i, f := range files {
		if i > 0 && f == files[i-1] {
			return nil, fmt.Errorf("--input: %s matches twice, and would count twice", f)
		}
	}
	return files, nil
}

// spared returns an error if the result would overwrite an input file.
func spared(patterns []string) error {
	var local []string
	for _, p := range patterns {
		if gpplbeam.Local([]string{p}) {
			local = append(local, p)
		}
	}
	files, err := matches(local)
	if err != nil || !gpplbeam.Local([]string{*output}) {
		return err
	}
	inputs := []wholefile.Name{{Flag: "like", Path: header.Like}}
	for _, f := range files {
		inputs = append(inputs, wholefile.Name{Path: f})
	}
	return wholefile.Apart(inputs, []wholefile.Name{{Flag: "output", Path: *output}})
}

// look returns the range of the files, as gppl sum does.
func look(ctx context.Context, patterns []string, columns forecast.ReadOptions) (r gppl.SumsRange, err error) {
	if !gpplbeam.Local(patterns) {
		return r, errors.New("--input is not on this machine, so its range is not known before it is read: give --from, --to, --centre and --largest, or --like FILE.sums")
	}
	files, err := matches(patterns)
	if err != nil {
		return r, err
	}
	return forecast.LookAt(ctx, files, columns)
}

// tell prints the numbers of rows, if the runner reports them.
func tell(result beam.PipelineResult) {
	if result == nil {
		return // other runners continue by themselves
	}
	rows := map[string]int64{}
	counters := result.Metrics().Query(func(r beam.MetricResult) bool { return r.Namespace() == gpplbeam.Namespace }).Counters()
	for _, c := range counters {
		rows[c.Name()] += c.Result()
	}
	if len(counters) == 0 {
		return
	}
	fmt.Fprintf(os.Stderr, "gppl-beam: %s: %d observations", *output, rows[gpplbeam.RowsAdded])
	for _, name := range []string{gpplbeam.RowsMissing, gpplbeam.RowsBad} {
		if rows[name] > 0 {
			fmt.Fprintf(os.Stderr, ", %d %s left out", rows[name], name)
		}
	}
	fmt.Fprintln(os.Stderr)
}
