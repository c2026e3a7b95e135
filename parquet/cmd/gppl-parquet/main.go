// Command gppl-parquet makes gppl.Sums of Parquet files: gppl sum for that format, with the same bytes for the same numbers.
//
//	go run ./cmd/gppl-parquet --x time --y level -o all.sums 'part-*.parquet'
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"time"

	"github.com/projected-likelihood/gppl/internal/flagwords"
	"github.com/projected-likelihood/gppl/internal/sumflags"
	"github.com/projected-likelihood/gppl/internal/wholefile"
	gpplparquet "github.com/projected-likelihood/gppl/parquet"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

var (
	output = flag.String("o", "", "file for the sums")
	x      = flag.String("x", "", "column of x, numbers or timestamps, which become seconds since 1970; the first if not given")
	y      = flag.String("y", "", "column of y; the second if not given")
	header = sumflags.New(flag.CommandLine, "the statistics of the files")
	strict = flag.Bool("strict", false, "make an error of a row that is out of range, rather than leave it out")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gppl-parquet:", flagwords.Of(err.Error()))
		os.Exit(1)
	}
}

func run(ctx context.Context, patterns []string) error {
	if *output == "" || len(patterns) == 0 {
		return errors.New("-o FILE.sums and a Parquet file are needed; flags come before files")
	}
	var files []string
	for _, p := range patterns {
		some, err := filepath.Glob(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if len(some) == 0 {
			return fmt.Errorf("%s: there is no such file", p)
		}
		files = append(files, some...)
	}
	inputs := []wholefile.Name{{Flag: "like", Path: header.Like}}
	for _, f := range files {
		inputs = append(inputs, wholefile.Name{Path: f})
	}
	if err := wholefile.Apart(inputs, []wholefile.Name{{Flag: "o", Path: *output}}); err != nil {
		return err
	}
	o := gpplparquet.Options{X: *x, Y: *y, Strict: *strict}
	h, err := header.Header(func() (gppl.SumsRange, error) {
		r, err := gpplparquet.Look(files, o)
		if err != nil {
			err = fmt.Errorf("%w: %s", err, flagwords.Range)
		}
		return r, err
	})
	if err != nil {
		return err
	}
	began := time.Now()
	sums, rep, err := gpplparquet.Sum(ctx, files, h, o, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	seconds := time.Since(began).Seconds()
	for _, remark := range rep.Remarks {
		fmt.Fprintf(os.Stderr, "gppl-parquet: warning: %q\n", flagwords.Of(remark))
	}
	if rep.Bad > 0 {
		fmt.Fprintf(os.Stderr, "gppl-parquet: %v\ngppl-parquet: warning: %d rows like that were left out\n", rep.First, rep.Bad)
	}
	if rep.Missing > 0 {
		fmt.Fprintf(os.Stderr, "gppl-parquet: %d rows without a value left out\n", rep.Missing)
	}
	if sums.Len() == 0 {
		return errors.New("no row could be added: nothing is written")
	}
	b, err := sums.MarshalBinary()
	if err != nil {
		return err
	}
	if err := wholefile.WriteBytesContext(ctx, *output, b); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "gppl-parquet: %d rows in %d row groups in %.3g s, %.3g a second\n", rep.Rows, rep.RowGroups, seconds, float64(rep.Rows)/seconds)
	_, err = fmt.Printf("%s: %v\n", *output, sums)
	return err
}
