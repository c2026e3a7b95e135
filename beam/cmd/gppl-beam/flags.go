package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/internal/files"
	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// headerFlags are the flags of the header and of memory.
type headerFlags struct {
	sumflags.Range
	memory string
}

// newHeader adds the flags to a set.
func newHeader(set *flag.FlagSet) *headerFlags {
	f := new(headerFlags)
	f.Given = func(name string) (given bool) {
		set.Visit(func(g *flag.Flag) { given = given || g.Name == name })
		return given
	}
	set.StringVar(&f.Like, "like", "", "take the header of this file of sums, to merge with it later")
	set.StringVar(&f.From, "from", "", "earliest x to come, a number or a date; from a look at the files if not given")
	set.StringVar(&f.To, "to", "", "latest x to come")
	set.Float64Var(&f.Lengthscale, "lengthscale", 0,
		"shortest lengthscale of SE to resolve, in the unit of x, seconds for dates; 0: a thousandth of the range")
	set.Float64Var(&f.Longest, "longest", 0, "longest lengthscale of interest, for smaller sums; 0: any")
	set.Float64Var(&f.Centre, "centre", 0, "a y near the mean; from a look at the files if not given")
	set.StringVar(&f.memory, "memory", "", "size of memory to use at most, such as 500MB or 8GB: what would take more is refused"+
		" before it begins; half of what is available if not given")
	set.Float64Var(&f.Largest, "largest", 0, "the largest distance of y from the centre; from a look at the files if not given")
	return f
}

// Header returns the header of the sums that the flags describe, whose workers stay within --memory.
func (f *headerFlags) Header(look func() (sums.Range, error)) (sums.Header, error) {
	return f.Range.Header(func() (*sums.Sums, error) {
		limit, err := f.Memory()
		if err != nil {
			return nil, err
		}
		return sumflags.Read(f.Like, limit)
	}, look)
}

// Memory returns the bytes that --memory allows, and has the runtime of the process keep to them.
func (f *headerFlags) Memory() (float64, error) {
	limit, err := machine.Limit(f.memory)
	if err == nil {
		machine.KeepTo(limit)
	}
	return limit, err
}

// columnFlags say which columns are read and how they are written.
type columnFlags struct {
	options                  series.ReadOptions
	time, comma, missing, by string
}

// newColumns adds the flags to a set.
func newColumns(set *flag.FlagSet) *columnFlags {
	c := new(columnFlags)
	set.StringVar(&c.options.X, "x", "", "column of x, numbers or dates, which become seconds since 1970; the first if not given")
	set.StringVar(&c.options.Y, "y", "", "column of y; the second if not given")
	set.StringVar(&c.time, "time", "",
		"how x is written, as in gppl sum: iso, dmy, unix, number and others; detected if not given")
	set.BoolVar(&c.options.DecimalComma, "decimal-comma", false, "numbers are written 1.025,10; without it, each column tells")
	set.BoolVar(&c.options.DecimalPoint, "decimal-point", false, "numbers are written 1,025.10")
	set.StringVar(&c.missing, "missing", "",
		"further texts for a missing value, separated by commas, in addition to NA and the like")
	set.StringVar(&c.by, "by", "", "none takes all rows of a table with several series for one; it is refused otherwise")
	set.StringVar(&c.comma, "comma", "", "the field separator; detected if not given")
	set.BoolVar(&c.options.NoHeader, "no-header", false, "the first row is data")
	return c
}

// Options returns what the flags say.
func (c *columnFlags) Options() (o series.ReadOptions, err error) {
	o = c.options
	o.Time = dataset.TimeFormat(c.time)
	if c.missing != "" {
		o.Missing = strings.Split(c.missing, ",")
	}
	if o.Pooled = c.by == "none"; !o.Pooled && c.by != "" {
		return o, fmt.Errorf("gppl-beam takes one series: gppl fit --by %s fits each, and --by none takes all rows for one", c.by)
	}
	if o.Comma, err = sumflags.Comma(c.comma); err != nil {
		return o, err
	}
	return o, sumflags.Check(o)
}

// matching returns the files that match the patterns or have these names, sorted. It is an error if a pattern matches none, or if
// two match the same file, whose rows would count twice.
func matching(patterns []string) (paths []string, err error) {
	for _, p := range patterns {
		if _, err := os.Stat(p); err == nil { // a name may have brackets
			paths = append(paths, p)
			continue
		}
		some, err := filepath.Glob(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		if len(some) == 0 {
			return nil, fmt.Errorf("%s: there is no such file", p)
		}
		paths = append(paths, some...)
	}
	slices.Sort(paths)
	return paths, files.Distinct(paths)
}

// Apart returns an error if the output is one of the paths or the one of --like.
func (f *headerFlags) Apart(paths []string, output files.Name) error {
	inputs := []files.Name{{Flag: "like", Path: f.Like}}
	for _, path := range paths {
		inputs = append(inputs, files.Name{Path: path})
	}
	return files.Apart(inputs, []files.Name{output})
}
