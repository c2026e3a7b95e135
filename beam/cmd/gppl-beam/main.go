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
	"github.com/projected-likelihood/gppl/pkg/analysis"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

var (
	input        = flag.String("input", "", "csv files: patterns, separated by commas")
	output       = flag.String("output", "", "file for the sums")
	like         = flag.String("like", "", "take the header of this file of sums, to merge with it later")
	from         = flag.String("from", "", "earliest x to come, a number or a date; from a look at the files if not given")
	to           = flag.String("to", "", "latest x to come")
	lengthscale  = flag.Float64("lengthscale", 0, "shortest lengthscale of SE to resolve, in the unit of x, seconds for dates; 0: a thousandth of the range")
	longest      = flag.Float64("longest", 0, "longest lengthscale of interest, for smaller sums; 0: any")
	centre       = flag.Float64("centre", 0, "a y near the mean; from a look at the files if not given")
	largest      = flag.Float64("largest", 0, "the largest distance of y from the centre; from a look at the files if not given")
	x            = flag.String("x", "", "column of x, by name or by number; the first if not given")
	y            = flag.String("y", "", "column of y, by name or by number; the second if not given")
	timeFormat   = flag.String("time", "", "how x is written: iso, unix, unix-ms, unix-us, unix-ns or number; detected if not given")
	comma        = flag.String("comma", "", "what separates the fields; detected if not given")
	decimalComma = flag.Bool("decimal-comma", false, "numbers are written 3,14")
	noHeader     = flag.Bool("no-header", false, "the first row is data")
	missing      = flag.String("missing", "", "texts for a missing value, separated by commas, beside NA and the like")
	strict       = flag.Bool("strict", false, "make an error of a row that cannot be read or is out of range, rather than leave it out")
)

func main() {
	flag.Parse()
	beam.Init() // a worker does not return from it
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "gppl-beam:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is no flag: put patterns in quotation marks, --input 'dir/*.csv'", flag.Arg(0))
	}
	if *input == "" || *output == "" {
		return errors.New("--input and --output are needed")
	}
	patterns := strings.Split(*input, ",")
	columns, err := readOptions()
	if err != nil {
		return err
	}
	if err := spared(patterns); err != nil {
		return err
	}
	header, err := plan(ctx, patterns, columns)
	if err != nil {
		return err
	}
	if header.LargestWeight != 0 {
		return fmt.Errorf("--like %s: these sums have weights, and csv files have none", *like)
	}
	p, s := beam.NewPipelineWithRoot()
	gpplbeam.Write(s, *output, gpplbeam.Sum(s, patterns, gpplbeam.Options{Header: header, Columns: columns, Strict: *strict}))
	result, err := beamx.RunWithMetrics(ctx, p)
	if err != nil {
		return err
	}
	tell(result)
	return nil
}

func readOptions() (o analysis.ReadOptions, err error) {
	o = analysis.ReadOptions{X: *x, Y: *y, NoHeader: *noHeader, DecimalComma: *decimalComma, Time: dataset.TimeFormat(*timeFormat)}
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
			return o, fmt.Errorf("--comma %q: one character, tab or space", *comma)
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
	for i, f := range files[1:] {
		if f == files[i] {
			return nil, fmt.Errorf("--input: %s matches twice, and would count twice", f)
		}
	}
	return files, nil
}

// spared is an error if the result would replace what is read.
func spared(patterns []string) error {
	if !gpplbeam.Local(append(slices.Clone(patterns), *output)) {
		return nil
	}
	files, err := matches(patterns)
	if err != nil {
		return err
	}
	out, err := os.Stat(*output)
	if err != nil {
		return nil
	}
	for _, f := range files {
		if in, err := os.Stat(f); err == nil && os.SameFile(in, out) {
			return fmt.Errorf("--output %s: that is a file that is read", *output)
		}
	}
	return nil
}

// plan returns the header as gppl sum does: that of another file, or from a first look.
func plan(ctx context.Context, patterns []string, columns analysis.ReadOptions) (h gppl.SumsHeader, err error) {
	set := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { set[f.Name] = true })
	ends := []string{"from", "to", "centre", "largest"}
	if *like != "" {
		for _, name := range append(ends, "lengthscale", "longest") {
			if set[name] {
				return h, fmt.Errorf("--%s: --like %s says that", name, *like)
			}
		}
		b, err := os.ReadFile(*like)
		if err != nil {
			return h, err
		}
		other := new(gppl.Sums)
		if err := other.UnmarshalBinary(b); err != nil {
			return h, fmt.Errorf("%s: %w", *like, err)
		}
		return other.Header(), nil
	}
	var r gppl.SumsRange
	if slices.ContainsFunc(ends, func(name string) bool { return !set[name] }) {
		if !gpplbeam.Local(patterns) {
			return h, errors.New("--input is not on this machine, and cannot be looked at first: say --from, --to, --centre and --largest, or --like FILE.sums")
		}
		files, err := matches(patterns)
		if err != nil {
			return h, err
		}
		if r, err = analysis.LookAt(ctx, files, columns); err != nil {
			return h, err
		}
	}
	for _, end := range []struct {
		name, text string
		at         *float64
	}{{"from", *from, &r.Lo}, {"to", *to, &r.Hi}} {
		if set[end.name] {
			if *end.at, err = analysis.ParsePlace(end.text); err != nil {
				return h, fmt.Errorf("--%s: %w", end.name, err)
			}
		}
	}
	if set["centre"] {
		r.Centre = *centre
	}
	if set["largest"] {
		r.Largest = *largest
	}
	r.Shortest, r.Longest = *lengthscale, *longest
	planned, err := gppl.PlanSums(r)
	return planned.Header, err
}

// tell says how many rows there were, if the runner does.
func tell(result beam.PipelineResult) {
	if result == nil {
		return // another runner goes on by itself
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
