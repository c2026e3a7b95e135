package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

func sumCommand() *cli.Command {
	const header = "THE SUMS"
	return &cli.Command{
		Name: "sum", Usage: "reduce csv files of any size to the sums that a likelihood needs", ArgsUsage: "FILE.csv …",
		Description: `For smooth kernels, such as SE, a likelihood needs only sums over the data. ` +
			`Their size does not grow with the number of rows,
and sums of parts merge exactly. Dates become seconds since 1970. "-" reads standard input.

   gppl sum 2023.csv 2024.csv --x time --y level --to 2026-03-31 -o two.sums
   gppl sum 2025.csv --x time --y level --like two.sums -o third.sums
   gppl merge two.sums third.sums -o all.sums
   gppl fit all.sums`,
		Flags: append(append(formatFlags(), flagsOf("y", "by")...),
			&cli.StringFlag{Name: "like", Usage: "take the header of `FILE.sums`, to merge with it later", Category: header},
			&cli.StringFlag{Name: "from",
				Usage: "earliest `X`, of files to come too: a number or a date; taken from the files if not given", Category: header},
			&cli.StringFlag{Name: "to", Usage: "latest `X`, of files to come too; taken from the files if not given", Category: header},
			&cli.FloatFlag{Name: "lengthscale",
				Usage: "shortest `LENGTHSCALE` of SE to resolve, in the unit of x (seconds for dates); a thousandth of the range if not " +
					"given", HideDefault: true, Category: header},
			&cli.FloatFlag{Name: "longest",
				Usage:       "longest `LENGTHSCALE` of interest, which makes the sums smaller; no limit if not given",
				HideDefault: true, Category: header},
			&cli.FloatFlag{Name: "centre",
				Usage: "a `Y` near the mean; taken from the files if not given", HideDefault: true, Category: header},
			&cli.FloatFlag{Name: "largest",
				Usage: "the largest `DISTANCE` of y from the centre; taken from the files if not given", HideDefault: true, Category: header},
			&cli.BoolFlag{Name: "strict",
				Usage: "fail at a row that cannot be read or is out of range, instead of leaving it out", Category: "THE FILE"},
			outFlag(), jsonFlag(), quietFlag(),
		),
		Action: func(ctx context.Context, c *cli.Command) error {
			s, err := newSummer(c)
			if err != nil {
				return err
			}
			sums, err := s.run(ctx)
			if err != nil {
				return err
			}
			if err := writeSums(ctx, c.String("out"), sums); err != nil {
				return err
			}
			s.tell(sums)
			return tellSums(ctx, c, c.String("out"), sums)
		},
	}
}

// summer adds up files.
type summer struct {
	command *cli.Command
	files   []string
	options series.ReadOptions
	strict  bool
	header  sums.Header
	parts   []*sums.Sums // sums of each worker
	axis    sumflags.OneAxis

	rows, skipped, bad int
	first              []badRow // first of the rows that were left out, at most mostShown
	seconds            float64
	bar                *viz.Progress
	began              time.Time
	done, read         atomic.Int64 // numbers of bytes and of rows
	total              int64        // bytes; 0 if not known
}

// badRow is a row that was left out.
type badRow struct {
	file string
	dataset.CSVProblem
}

// mostShown is the number of bad rows that are shown.
const mostShown = 10

func newSummer(c *cli.Command) (*summer, error) {
	s := &summer{command: c, files: c.Args().Slice(), strict: c.Bool("strict")}
	if len(s.files) == 0 {
		return nil, usageError{errors.New("sum: a csv file is missing")}
	}
	if _, err := outOf(c); err != nil {
		return nil, err
	}
	if err := oneSeries(c); err != nil {
		return nil, err
	}
	for _, f := range s.files {
		if f == dataset.StandardInput {
			continue
		}
		info, err := os.Stat(f)
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			return nil, fmt.Errorf("%s is a folder, not a file", f)
		}
		s.total += info.Size()
	}
	if err := files.Distinct(s.files); err != nil {
		return nil, usageError{err}
	}
	if slices.Contains(s.files, dataset.StandardInput) {
		s.total = 0
	}
	var err error
	s.options, err = readOptions(c)
	s.options.Pooled = pooled(c)
	return s, err
}

func (s *summer) run(ctx context.Context) (*sums.Sums, error) {
	var err error
	if s.header, err = s.plan(ctx); err != nil {
		return nil, err
	}
	workers, err := s.workers(ctx)
	if err != nil {
		return nil, err
	}
	frugal(ctx)
	for range workers {
		part, err := sums.New(s.header)
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, part)
	}
	s.began = time.Now()
	if megabytes := int(s.total >> 20); megabytes > 0 || slices.Contains(s.files, dataset.StandardInput) {
		s.bar = progress(s.command, "MB", megabytes)
	}
	for _, file := range s.files {
		if err := s.add(ctx, file); err != nil {
			s.bar.Fail(err)
			return nil, err
		}
	}
	s.bar.Done()
	s.seconds = time.Since(s.began).Seconds()
	all := s.parts[0]
	for _, part := range s.parts[1:] {
		if err := all.Merge(part); err != nil {
			return nil, err
		}
	}
	s.parts = nil // they may be large, and what follows needs memory of its own
	if all.Len() == 0 {
		s.tell(all)
		return nil, errors.New("no row could be added: nothing is written")
	}
	return all, nil
}

// workers returns how many workers may add up rows at the same time: one for each processor, as far as their sums fit the memory.
func (s *summer) workers(ctx context.Context) (int, error) {
	limit, err := memoryLimit(ctx, s.command)
	if err != nil {
		return 0, err
	}
	const perWorker = 30e6 // bytes of blocks of text and numbers
	n, _, err := sumflags.Workers(s.header, runtime.GOMAXPROCS(0), perWorker, limit)
	return n, memoryHint(s.command, err)
}

// plan returns the header: from the file of --like, or from the flags and a first look at the files.
func (s *summer) plan(ctx context.Context) (h sums.Header, err error) {
	c := s.command
	r := sumflags.Range{Like: c.String("like"), From: c.String("from"), To: c.String("to"), Lengthscale: c.Float("lengthscale"),
		Longest: c.Float("longest"), Centre: c.Float("centre"), Largest: c.Float("largest"), Given: c.IsSet}
	like := func() (*sums.Sums, error) {
		return interruptible(ctx, func() (*sums.Sums, error) { return readSums(ctx, c, r.Like) })
	}
	h, err = r.Header(like, func() (found sums.Range, err error) {
		if !slices.Contains(s.files, dataset.StandardInput) {
			return interruptible(ctx, func() (sums.Range, error) { return sumflags.LookAt(ctx, s.files, s.options) })
		}
		if r.From == "" || r.To == "" || r.Largest == 0 {
			err = usageError{errors.New("sum: the range of standard input is not known before it is read: " +
				"give --from, --to and --largest (and --centre), or --like FILE.sums")}
		}
		return found, err
	})
	if wrong := (sumflags.Wrong{}); errors.As(err, &wrong) {
		err = usageError{err}
	}
	return h, err
}

// add adds the rows of a file.
func (s *summer) add(ctx context.Context, file string) error {
	var mu sync.Mutex
	var bad dataset.CSVError
	stopped := errors.New("a bad row")
	visit := func(worker int, b *dataset.CSVBlock) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !s.strict {
			b.Bad = b.Bad[:0] // the report lists these
		}
		x, y := sumflags.Taken(s.header, b)
		s.show(b)
		if len(b.Bad) > 0 {
			mu.Lock()
			bad.Add(b.Bad...)
			mu.Unlock()
			if s.strict {
				return stopped
			}
		}
		return s.parts[worker].Add(x, y)
	}
	rep, err := interruptible(ctx, func() (rep dataset.CSVReport, err error) {
		in, err := dataset.Open(file)
		if err != nil {
			return rep, err
		}
		defer in.Close()
		return series.Stream(in, s.options, len(s.parts), visit)
	})
	name := dataset.Shown(file)
	if !s.strict {
		bad.Add(rep.Bad.Problems...)
		bad.More += rep.Bad.More
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.strict && len(bad.Problems) > 0:
		return fmt.Errorf("%s, %w", name, bad.Problems[0])
	case err != nil:
		return fmt.Errorf("%s: %s", name, message(err))
	case rep.X == rep.Y:
		return fmt.Errorf("%s: x and y are both column %d: choose another for one of them", name, rep.X+1)
	}
	if err := s.axis.Add(name, rep); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, remark := range series.Remarks(rep) {
		say(s.command, "warning: %s: %s", name, remark.Words(sumflags.Word))
	}
	s.rows += rep.Rows
	s.skipped += rep.Skipped
	s.bad += len(bad.Problems) + bad.More
	for _, row := range bad.Problems[:min(len(bad.Problems), mostShown-len(s.first))] {
		s.first = append(s.first, badRow{name, row})
	}
	return nil
}

// show moves the bar.
func (s *summer) show(b *dataset.CSVBlock) {
	rows, size := s.read.Add(int64(len(b.X))), s.done.Add(int64(b.Bytes))
	s.bar.Set(int(size >> 20))
	s.bar.Message("%d rows, %.2g a second", rows, float64(rows)/time.Since(s.began).Seconds())
}

// tell prints which rows were left out, and the speed.
func (s *summer) tell(sums *sums.Sums) {
	for _, row := range s.first {
		say(s.command, "%s, %s", row.file, row.Words(sumflags.Word))
	}
	if more := s.bad - len(s.first); more > 0 {
		say(s.command, "and %d more", more)
	}
	if s.bad > 0 {
		remedy := "--from, --to, --centre and --largest set the range"
		if like := s.command.String("like"); like != "" {
			remedy = fmt.Sprintf("the range is that of %s: to change it, make %s again with --from, --to, --centre and --largest",
				like, like)
		}
		say(s.command, "warning: %s %s left out (--strict makes that an error); %s",
			text.Count(s.bad, "row"), text.Was(s.bad), remedy)
	}
	if s.skipped > 0 {
		say(s.command, "%s %s left out for lack of a value", text.Count(s.skipped, "row"), text.Was(s.skipped))
	}
	if s.seconds > 0 && !s.command.Bool("quiet") {
		say(s.command, "%d rows of %s in %.3g s, %.3g a second",
			sums.Len()+s.bad+s.skipped, text.Count(len(s.files), "file"), s.seconds, float64(s.rows)/s.seconds)
	}
}
