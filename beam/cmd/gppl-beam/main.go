// Command gppl-beam makes sums.Sums of csv and Parquet files on Apache Beam.
//
//	go run ./cmd/gppl-beam --input 'dir/*.csv' --output all.sums
//
// runs in this process. The flags of Beam choose another runner; docs/scale.md lists the flags for Flink and Dataflow. gppl sum
// with the same header writes a file of the same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	gpplbeam "github.com/projected-likelihood/gppl/beam"
	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

var (
	input    = flag.String("input", "", "csv files, and Parquet files, whose names end in .parquet: patterns, separated by commas")
	output   = flag.String("output", "", "file for the sums")
	header   = newHeader(flag.CommandLine)
	columns  = newColumns(flag.CommandLine)
	attempts = flag.Int("attempts", 3, "how often the job is sent to prism in all: prism ends it when a worker is lost; other "+
		"runners repeat the lost work themselves")
	strict = flag.Bool("strict", false, "fail at a row that cannot be read or is out of range, instead of leaving it out")
)

func main() {
	flag.Parse()
	beam.Init() // a worker does not return from it
	ctx := machine.UntilSignal()
	if err := run(ctx); err != nil {
		if s, ok := machine.EndedBy(ctx); ok { // Beam would hide the signal in an error of gRPC
			fmt.Fprintln(os.Stderr, "gppl-beam:", s)
			os.Exit(s.Code())
		}
		fmt.Fprintln(os.Stderr, "gppl-beam:", text.Printable(dataset.Words(err, sumflags.Word)))
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
	o := gpplbeam.Options{Strict: *strict}
	var err error
	if o.Columns, err = columns.Options(); err != nil {
		return err
	}
	if err := spared(patterns); err != nil {
		return err
	}
	limit, err := header.Memory()
	if err != nil {
		return err
	}
	o.PageBytes = pageBytes(limit - processBytes)
	if o.Header, err = header.Header(func() (sums.Range, error) { return look(ctx, patterns, o) }); err != nil {
		return err
	}
	if o.Header.LargestWeight != 0 {
		return fmt.Errorf("--like %s: these sums have weights, which are not read", header.Like)
	}
	if o.PageBytes, err = fits(o.Header, patterns, limit); err != nil {
		return err
	}
	again := gpplbeam.Again{Lost: func(attempt int, err error) {
		fmt.Fprintf(os.Stderr, "gppl-beam: a worker was lost, and with it attempt %d of %d: the job is sent again, with the same "+
			"bits (%v)\n", attempt, *attempts, err)
	}}
	if onPrism() {
		again.Attempts = *attempts
	}
	result, err := again.Run(ctx, beamx.RunWithMetrics, func() *beam.Pipeline {
		p, s := beam.NewPipelineWithRoot()
		gpplbeam.Write(s, *output, gpplbeam.Sum(s, patterns, o))
		return p
	})
	if err != nil {
		return err
	}
	tell(result)
	return nil
}

// processBytes is the memory of this process, in bytes in addition to the sums, when prism runs in it; sumsOfFile is the number
// of sums held for each file. Prism keeps what steps pass to each other, both as bytes and as sums: 10 or 11 times the sums, and
// more if garbage is collected late. TestProcessMemory measures it.
const (
	processBytes = 80e6
	sumsOfFile   = 14
)

// fits returns the largest page of a Parquet file that may be read, and an error if prism runs in this process and the sums of
// all files do not fit its memory. Other runners have their own memory, and the pages that arrow allows.
func fits(h sums.Header, patterns []string, limit float64) (page int64, err error) {
	if !ownRunner() || !gpplbeam.Local(patterns) {
		return 0, nil
	}
	files, err := matching(patterns)
	if err != nil {
		return 0, err
	}
	plan, err := h.Plan()
	if err != nil {
		return 0, err
	}
	needed := processBytes + sumsOfFile*float64(len(files))*float64(plan.Bytes)
	if needed > limit {
		err := &gppl.MemoryError{What: fmt.Sprintf("sums of %d frequencies for each of %d files, which prism keeps,", h.Highest,
			len(files)), Needed: needed, Limit: limit}
		return 0, fmt.Errorf("%w: --memory raises the limit, and gppl sum needs no more for many files than for one", err)
	}
	return pageBytes(limit - needed), nil
}

// atOnce is the number of files that prism reads at the same time, at most (runners/prism/internal/execute.go).
const atOnce = 8

// pageBytes is the largest page that is allowed if left bytes remain for pages.
func pageBytes(left float64) int64 { return int64(1<<20 + max(0, left)/(atOnce*gpplbeam.PagesHeld)) }

// onPrism reports whether prism is the runner, which is the default.
func onPrism() bool {
	runner := flag.Lookup("runner").Value.String()
	return runner == "" || strings.HasPrefix(strings.ToLower(runner), "prism")
}

// ownRunner reports whether prism runs in this process.
func ownRunner() bool { return onPrism() && flag.Lookup("endpoint").Value.String() == "" }

// spared returns an error if the output would overwrite an input file.
func spared(patterns []string) error {
	local := slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return !gpplbeam.Local([]string{p}) })
	inputs, err := matching(local)
	if err != nil {
		return fmt.Errorf("--input: %w", err)
	}
	if !gpplbeam.Local([]string{*output}) {
		return nil
	}
	return header.Apart(inputs, files.Name{Flag: "output", Path: *output})
}

// look returns the range of the files, as gppl sum does.
func look(ctx context.Context, patterns []string, o gpplbeam.Options) (r sums.Range, err error) {
	if !gpplbeam.Local(patterns) {
		return r, errors.New("--input is not on this machine, so its range is not known before it is read: give --from, --to, " +
			"--centre and --largest, or --like FILE.sums")
	}
	files, err := matching(patterns)
	if err != nil {
		return r, err
	}
	return gpplbeam.LookAt(ctx, files, o)
}

// tell prints the numbers of rows if the runner reports them.
func tell(result beam.PipelineResult) {
	if result == nil {
		return // other runners continue on their own
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
