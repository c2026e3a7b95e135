package sumflags

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// Columns are the flags that say which columns are read and how they are written.
type Columns struct {
	options              series.ReadOptions
	time, comma, missing string
}

// NewColumns adds the flags to a set; those of csv files alone if csv is set.
func NewColumns(set *flag.FlagSet, csv bool) *Columns {
	c := new(Columns)
	set.StringVar(&c.options.X, "x", "", "column of x, numbers or dates, which become seconds since 1970; the first if not given")
	set.StringVar(&c.options.Y, "y", "", "column of y; the second if not given")
	set.StringVar(&c.time, "time", "",
		"how x is written, as in gppl sum: iso, dmy, unix, number and others; detected if not given")
	set.BoolVar(&c.options.DecimalComma, "decimal-comma", false, "numbers are written 1.025,10; without it, each column tells")
	set.BoolVar(&c.options.DecimalPoint, "decimal-point", false, "numbers are written 1,025.10")
	set.StringVar(&c.missing, "missing", "",
		"further texts for a missing value, separated by commas, in addition to NA and the like")
	if csv {
		set.StringVar(&c.comma, "comma", "", "the field separator; detected if not given")
		set.BoolVar(&c.options.NoHeader, "no-header", false, "the first row is data")
	}
	return c
}

// Options returns what the flags say.
func (c *Columns) Options() (o series.ReadOptions, err error) {
	o = c.options
	o.Time = dataset.TimeFormat(c.time)
	if c.missing != "" {
		o.Missing = strings.Split(c.missing, ",")
	}
	if o.Comma, err = Comma(c.comma); err != nil {
		return o, err
	}
	return o, Check(o)
}

// Check returns an error if what --time, --decimal-comma and --decimal-point say does not exist or exclude each other.
func Check(o series.ReadOptions) error {
	if o.DecimalComma && o.DecimalPoint {
		return errors.New("--decimal-comma and --decimal-point: numbers have one of the two")
	}
	if o.Time == dataset.TimeAuto || slices.Contains(dataset.TimeFormats, o.Time) {
		return nil
	}
	if instead, gone := goneFormats[o.Time]; gone {
		return fmt.Errorf("--time %s is no longer read: %s", o.Time, instead)
	}
	var known []string
	for _, f := range dataset.TimeFormats {
		known = append(known, string(f))
	}
	last := len(known) - 1
	return fmt.Errorf("--time %q: it is %s or %s", o.Time, strings.Join(known[:last], ", "), known[last])
}

// goneFormats are the values of --time of the release before, and what replaced them.
var goneFormats = map[dataset.TimeFormat]string{
	"yyyymmdd": "--time iso reads it", "yyyymmddhh": "--time iso reads it", "yyyymmddhhmm": "--time iso reads it",
	"yyyymmddhhmmss": "--time iso reads it", "yyyymm": "--time month reads it", "mm.yyyy": "--time month reads it",
	"yyyy.mm": "--time month reads it", "yyyyddd": "write 2024-031 for 2024031, and --time iso reads it",
	"half": "write the first month of each half-year, as 2000-07", "yyyy.q": "write quarters as 2000Q3",
	"fiscal":  "write the first day of each year, as 2000-07-01",
	"excel":   "format the days as dates in the spreadsheet, and save again",
	"unix-ns": "divide by 1000, and --time unix-us reads them",
}

// Comma returns the separator that --comma says, 0 for "".
func Comma(text string) (rune, error) {
	switch text {
	case "":
		return 0, nil
	case `\t`, "tab":
		return '\t', nil
	case "space":
		return ' ', nil
	}
	r, size := utf8.DecodeRuneInString(text)
	if size != len(text) || r == utf8.RuneError || r == '"' || r == '\r' || r == '\n' {
		return 0, fmt.Errorf("--comma %q: it takes one character, tab or space", text)
	}
	return r, nil
}
