package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

func mergeCommand() *cli.Command {
	return &cli.Command{
		Name: "merge", Usage: "add sums, or subtract them", ArgsUsage: "FILE.sums …",
		Description: `The result does not depend on the order of the files: it has the same bytes as if ` +
			`all rows had been summed at once.

   gppl merge january.sums february.sums -o winter.sums
   gppl merge year.sums july.sums --subtract -o without-july.sums`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "subtract", Usage: "subtract all other files from the first"},
			memoryFlag(), outFlag(), jsonFlag(), quietFlag(),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			out, err := outOf(c)
			if err != nil {
				return err
			}
			paths := c.Args().Slice()
			if len(paths) == 0 {
				return usageError{errors.New("merge: a file of sums is missing")}
			}
			subtract, added := c.Bool("subtract"), paths
			if subtract { // a file may be subtracted from itself
				added = paths[1:]
			}
			if err := files.Distinct(added); err != nil {
				return usageError{err}
			}
			frugal(ctx)
			all, err := interruptible(ctx, func() (*sums.Sums, error) { return merged(ctx, c, paths, subtract) })
			if err != nil {
				return err
			}
			if err := writeSums(ctx, out, all); err != nil {
				return err
			}
			return tellSums(ctx, c, out, all)
		},
	}
}

// merged adds up files, or subtracts all but the first.
func merged(ctx context.Context, c *cli.Command, files []string, subtract bool) (*sums.Sums, error) {
	all, err := readSums(ctx, c, files[0])
	if err != nil {
		return nil, err
	}
	for _, file := range files[1:] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := readSums(ctx, c, file)
		if err != nil {
			return nil, err
		}
		switch {
		case subtract && s.Len() > all.Len() && s.Header().Difference(all.Header()) == "":
			return nil, fmt.Errorf("%s: its %s cannot be among the %d that %s has left",
				file, text.Count(s.Len(), "observation"), all.Len(), files[0])
		case subtract:
			err = all.Subtract(s)
		default:
			err = all.Merge(s)
		}
		if err != nil {
			remedy := ""
			if s.Header() != all.Header() {
				remedy = "; sum one again with --like the other"
			}
			return nil, fmt.Errorf("%s and %s: %s%s", files[0], file, message(err), remedy)
		}
	}
	return all, nil
}

func infoCommand() *cli.Command {
	return &cli.Command{
		Name: "info", Usage: "show what sums contain and what they resolve", ArgsUsage: "FILE.sums",
		Flags: []cli.Flag{memoryFlag(), jsonFlag()},
		Action: func(ctx context.Context, c *cli.Command) error {
			path, err := argument(c, "file of sums")
			if err != nil {
				return err
			}
			s, err := interruptible(ctx, func() (*sums.Sums, error) { return readSums(ctx, c, path) })
			if err != nil {
				return err
			}
			return tellSums(ctx, c, path, s)
		},
	}
}

// isSums reports whether a file begins as files of sums do.
func isSums(path string) bool {
	if info, err := os.Stat(path); path == dataset.StandardInput || err != nil || !info.Mode().IsRegular() {
		return false // a pipe can be read only once
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var b [len(sums.Magic)]byte
	_, err = io.ReadFull(f, b[:])
	return err == nil && string(b[:]) == sums.Magic
}

// readSums reads a file of sums that fits the memory.
func readSums(ctx context.Context, c *cli.Command, path string) (*sums.Sums, error) {
	limit, err := memoryLimit(ctx, c)
	if err != nil {
		return nil, err
	}
	s, err := sumflags.Read(path, limit)
	return s, memoryHint(c, err)
}

// writeSums writes sums, whole or not at all.
func writeSums(ctx context.Context, path string, s *sums.Sums) error {
	b, err := s.MarshalBinary()
	if err != nil {
		return err
	}
	return files.WriteBytes(ctx, path, b)
}

// sumsInfo describes sums.
type sumsInfo struct {
	File           string      `json:"file"`
	Observations   int         `json:"observations"`
	First          *float64    `json:"first,omitempty"`
	Last           *float64    `json:"last,omitempty"`
	FirstDate      string      `json:"first_date,omitempty"`
	LastDate       string      `json:"last_date,omitempty"`
	Mean           *float64    `json:"mean,omitempty"`
	Deviation      *float64    `json:"standard_deviation,omitempty"`
	Header         sums.Header `json:"header"`
	ShortestScale  float64     `json:"shortest_lengthscale"`
	LongestScale   float64     `json:"longest_lengthscale_in_linear_time"`
	MemoryBytes    int         `json:"memory_bytes"`
	SecondsGridded float64     `json:"seconds_likelihood_se"`
	SecondsDense   *float64    `json:"seconds_likelihood_dense,omitempty"`
}

// tellSums describes sums as text or JSON.
func tellSums(ctx context.Context, c *cli.Command, path string, s *sums.Sums) error {
	p := s.Plan()
	h := p.Header
	i := sumsInfo{File: path, Observations: s.Len(), Header: h, MemoryBytes: p.Bytes, SecondsGridded: p.Gridded}
	i.ShortestScale, i.LongestScale = h.Lengthscales()
	if !math.IsInf(p.Dense, 0) {
		i.SecondsDense = &p.Dense
	}
	if s.Len() > 0 {
		first, last := s.Extent()
		first, last = withoutRounding(first, h), withoutRounding(last, h)
		mean, deviation := s.Mean(), math.Sqrt(max(0, s.Variance()))
		i.First, i.Last, i.Mean, i.Deviation = &first, &last, &mean, &deviation
		if h.Dates {
			i.FirstDate, i.LastDate = h.Place(first), h.Place(last)
		}
	}
	return show(ctx, c, func() any { return i }, func(w io.Writer) error {
		fmt.Fprintf(w, "%s: %s\n", text.Printable(path), text.Count(s.Len(), "observation"))
		if i.First != nil {
			fmt.Fprintf(w, "  x         %s to %s, of %s to %s that it takes\n",
				sumflags.Place(h, *i.First), sumflags.Place(h, *i.Last), sumflags.Place(h, h.Lo), sumflags.Place(h, h.Hi))
			fmt.Fprintf(w, "  y         mean %.6g, standard deviation %.4g, up to %.4g from %.6g\n",
				*i.Mean, *i.Deviation, h.Largest, h.Centre)
			if *i.Deviation < 1e-6*h.Largest {
				fmt.Fprintf(w, "  warning   y varies by so little of what is taken that digits are lost: "+
					"sum again with --centre and --largest\n")
			}
		}
		fmt.Fprintf(w, "  resolves  %d frequencies of the period %s: SE lengthscales from %s, in linear time up to %s\n",
			h.Highest, lengthOf(h, h.Period, 6), lengthOf(h, i.ShortestScale, 4), lengthOf(h, i.LongestScale, 4))
		if h.LargestWeight > 0 {
			fmt.Fprintf(w, "  weights   up to %v\n", h.LargestWeight)
		}
		_, err := fmt.Fprintf(w, "  costs     %v\n", costs(p))
		return err
	})
}

// withoutRounding rounds an input to a billionth of the range of the sums: to 0 for a rounding error of 7e-15.
func withoutRounding(x float64, h sums.Header) float64 {
	digits := max(0, 9-int(math.Floor(math.Log10(h.Hi-h.Lo))))
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', digits, 64), 64)
	if err != nil { // x is not finite
		return x
	}
	return v + 0 // −0 becomes 0
}

// lengthOf writes a distance between inputs of sums, with its unit if inputs are dates.
func lengthOf(h sums.Header, d float64, digits int) string {
	if h.Dates {
		return sumflags.SumsAxis(h).Length(d)
	}
	return strconv.FormatFloat(d, 'g', digits, 64)
}

// costs describes the time and memory of an evaluation of a likelihood from sums.
func costs(p sums.Plan) string {
	text := fmt.Sprintf("%.3g MB of memory, about %.2g s a likelihood of SE", 1e-6*float64(p.Bytes), p.Gridded)
	if math.IsInf(p.Dense, 0) {
		return text + "; a kernel that needs all frequencies in a dense matrix is refused"
	}
	return text + fmt.Sprintf(", at most %.2g s of another kernel", p.Dense)
}
