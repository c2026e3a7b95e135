// Command gppl-parquet makes sums.Sums of Parquet files. It is gppl sum for that format, with the same bytes for the same
// numbers.
//
//	go run ./cmd/gppl-parquet --x time --y level -o all.sums 'part-*.parquet'
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/projected-likelihood/gppl/internal/atomicfile"
	"github.com/projected-likelihood/gppl/internal/ended"
	"github.com/projected-likelihood/gppl/internal/flagwords"
	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/internal/sumflags"
	gpplparquet "github.com/projected-likelihood/gppl/parquet"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

var (
	output  = flag.String("o", "", "file for the sums")
	header  = sumflags.New(flag.CommandLine, "the statistics of the files")
	columns = sumflags.NewColumns(flag.CommandLine, false)
	strict  = flag.Bool("strict", false, "make an error of a row that is out of range, rather than leave it out")
)

func main() {
	flag.Parse()
	ctx := ended.Context()
	if err := run(ctx, flag.Args()); err != nil {
		if s, ok := ended.By(ctx); ok {
			say("%v", s)
			os.Exit(s.Code())
		}
		say("%s", flagwords.Of(err.Error()))
		os.Exit(1)
	}
}

// say writes a line to standard error.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "gppl-parquet: %s\n", flagwords.Printable(fmt.Sprintf(format, args...)))
}

// perWorker is the memory of a worker besides its sums, in bytes: blocks of numbers and texts, and pages of the usual size.
const perWorker = 30e6 + gpplparquet.PagesHeld<<20

// pageBytes is the largest page that is allowed if a worker has left bytes besides perWorker.
func pageBytes(left float64) int64 { return int64(1<<20 + max(0, left)/gpplparquet.PagesHeld) }

// largePage adds to an error what to do about a page that is larger than pageBytes.
func largePage(err error) error {
	if strings.Contains(err.Error(), "exceeds configured limit") { // arrow has no type for this error
		return fmt.Errorf("%w bytes: --memory raises the limit, and pages of 1 MB need little", err)
	}
	return err
}

func run(ctx context.Context, patterns []string) error {
	if *output == "" || len(patterns) == 0 {
		return errors.New("-o FILE.sums and a Parquet file are needed; flags come before files")
	}
	files, err := sumflags.Files(patterns)
	if err != nil {
		return err
	}
	if err := header.Apart(files, atomicfile.Name{Flag: "o", Path: *output}); err != nil {
		return err
	}
	o := gpplparquet.Options{Strict: *strict}
	if o.Columns, err = columns.Options(); err != nil {
		return err
	}
	limit, err := header.Memory()
	if err != nil {
		return err
	}
	o.PageBytes = pageBytes(limit - machine.Least - perWorker)
	h, err := header.Header(func() (sums.Range, error) {
		r, err := gpplparquet.Look(files, o)
		if err != nil {
			err = fmt.Errorf("%w: %s", err, flagwords.Range)
		}
		return r, err
	})
	if err != nil {
		return err
	}
	workers, left, err := sumflags.Workers(h, runtime.GOMAXPROCS(0), perWorker, limit)
	if err != nil {
		return fmt.Errorf("%w: --memory raises the limit", err)
	}
	o.PageBytes = pageBytes(left)
	began := time.Now()
	sums, rep, err := gpplparquet.Sum(ctx, files, h, o, workers)
	if err != nil {
		return largePage(err)
	}
	seconds := time.Since(began).Seconds()
	for _, remark := range rep.Remarks {
		say("warning: %s", flagwords.Of(remark))
	}
	if rep.Bad > 0 {
		say("%v", rep.First)
		say("warning: %d rows like that were left out", rep.Bad)
	}
	if rep.Missing > 0 {
		say("%d rows without a value left out", rep.Missing)
	}
	if sums.Len() == 0 {
		return errors.New("no row could be added: nothing is written")
	}
	b, err := sums.MarshalBinary()
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytesContext(ctx, *output, b); err != nil {
		return err
	}
	say("%d rows in %d row groups in %.3g s, %.3g a second", rep.Rows, rep.RowGroups, seconds, float64(rep.Rows)/seconds)
	_, err = fmt.Println(flagwords.Printable(fmt.Sprintf("%s: %v", *output, sums)))
	return err
}
