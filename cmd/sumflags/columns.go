package sumflags

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// Check returns an error if the value of --time does not exist, or if --decimal-comma and --decimal-point are both set.
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

// goneFormats maps the values of --time of the release before to what replaced them.
var goneFormats = map[dataset.TimeFormat]string{
	"yyyymmdd": "--time iso reads it", "yyyymmddhh": "--time iso reads it", "yyyymmddhhmm": "--time iso reads it",
	"yyyymmddhhmmss": "--time iso reads it", "yyyymm": "--time month reads it", "mm.yyyy": "--time month reads it",
	"yyyy.mm": "--time month reads it", "yyyyddd": "write 2024-031 for 2024031, and --time iso reads it",
	"half": "write the first month of each half-year, as 2000-07", "yyyy.q": "write quarters as 2000Q3",
	"fiscal":  "write the first day of each year, as 2000-07-01",
	"excel":   "format the days as dates in the spreadsheet, and save again",
	"unix-ns": "divide by 1000, and --time unix-us reads them",
}

// Comma returns the separator of --comma, 0 for "".
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
