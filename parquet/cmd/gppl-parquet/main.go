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

	"github.com/projected-likelihood/gppl/internal/wholefile"
	gpplparquet "github.com/projected-likelihood/gppl/parquet"
	"github.com/projected-likelihood/gppl/pkg/analysis"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

var (
	output      = flag.String("o", "", "file for the sums")
	x           = flag.String("x", "", "column of x, numbers or timestamps, which become seconds since 1970; the first if not given")
	y           = flag.String("y", "", "column of y; the second if not given")
	like        = flag.String("like", "", "take the header of this file of sums, to merge with it later")
	from        = flag.String("from", "", "earliest x to come, a number or a date; from the statistics of the files if not given")
	to          = flag.String("to", "", "latest x to come")
	lengthscale = flag.Float64("lengthscale", 0, "shortest lengthscale of SE to resolve, in the unit of x, seconds for dates; 0: a thousandth of the range")
	longest     = flag.Float64("longest", 0, "longest lengthscale of interest, for smaller sums; 0: any")
	centre      = flag.Float64("centre", 0, "a y near the mean; from the statistics of the files if not given")
	largest     = flag.Float64("largest", 0, "the largest distance of y from the centre; from the statistics of the files if not given")
	strict      = flag.Bool("strict", false, "make an error of a row that is out of range, rather than leave it out")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gppl-parquet:", err)
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
	o := gpplparquet.Options{X: *x, Y: *y, Strict: *strict}
	h, err := plan(files, o)
	if err != nil {
		return err
	}
	began := time.Now()
	sums, rep, err := gpplparquet.Sum(ctx, files, h, o, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	seconds := time.Since(began).Seconds()
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
	if err := wholefile.WriteBytes(*output, b); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "gppl-parquet: %d rows in %d row groups in %.3g s, %.3g a second\n", rep.Rows, rep.RowGroups, seconds, float64(rep.Rows)/seconds)
	fmt.Printf("%s: %v\n", *output, sums)
	return nil
}

// plan returns the header: that of another file, or from the flags and the statistics of the files.
func plan(files []string, o gpplparquet.Options) (h gppl.SumsHeader, err error) {
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
	for _, name := range ends {
		if !set[name] {
			if r, err = gpplparquet.Look(files, o); err != nil {
				return h, fmt.Errorf("%w: say --from, --to, --centre and --largest, or --like FILE.sums", err)
			}
			break
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
