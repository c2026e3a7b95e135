package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
)

// CSVOptions says which columns of a CSV file are read, and how. The zero value reads column 1 as x and column 2 as y of a
// comma-separated file with a header, and treats a missing cell as an error.
type CSVOptions struct {
	// X and Y each choose a column by its name in the header or, failing that, by its number, counted from 1.
	// Empty: "1" for X, "2" for Y.
	X, Y string
	// Comma separates fields; 0 means ','. A space stands for any run of blanks and tabulators.
	Comma rune
	// Comment, if not 0, starts the lines that are ignored. If it is 0, [ReadCSVReport] and [StreamCSV] ignore lines with # above
	// the header; if rows of values follow several such lines, the last of them is the header.
	Comment rune
	// DecimalComma says that numbers are written 3,14; a point is then no part of a number.
	DecimalComma bool
	// NoHeader says that the first line is data already; columns are then chosen by number only.
	NoHeader bool
	// Missing lists texts that, as an empty cell does, stand for a missing value: "NA", "NaN", "-99.99".
	Missing []string
	// SkipMissing leaves out the rows whose x or y is missing, rather than returning an error.
	SkipMissing bool
	// Limit, unless 0, is the largest allowed |x| or |y|; a larger number is an error. Dates
	// have no limit.
	Limit float64
	// Time says how x is written; "" means that the first row determines whether x is a number or a date, and of
	// which form.
	Time TimeFormat
	// Also are further columns of numbers, chosen as X and Y are, that [ReadCSVReport] reads too; [StreamCSV] does not.
	Also []string
	// MaxRows, unless 0, is the number of rows above which [ReadCSVReport] stops, with [ErrTooManyRows].
	MaxRows int
	// Seconds converts dates to seconds since 1970 (UTC), with the XUnit [UnixSeconds], instead of decimal years: every day
	// then has the same length.
	Seconds bool

	names []string // of the columns, where a comment has them
}

// ErrTooManyRows is the error of a file with more than CSVOptions.MaxRows rows.
var ErrTooManyRows = errors.New("too many rows")

// ReadCSV reads two columns of a CSV file with a header. The text is UTF-8, with or without a byte order mark, or UTF-16 with one;
// names in the header that are not UTF-8 are read as Latin-1. Lines end with LF, CRLF or CR. Spaces around a field and blank lines
// are ignored. Every row must have as many fields as the first; empty ones beyond those do not count.
//
// Y is numeric and finite: decimal digits, with or without a point and an exponent. X is that too, or a date in ISO 8601 form, with
// or without a time of day (2006-01-02, 2006-01-02T15:04:05Z; see [ParseTime]), or in another of the forms of [TimeFormat]: the
// first row decides which, for all, unless CSVOptions.Time does. Dates become decimal years by
// [DecimalYear], and XUnit then is "decimal year" (seconds since 1970 with CSVOptions.Seconds); all other units are left empty,
// for the caller to set. XName and YName are the names in the header. Rows keep their order.
//
// An error names line, column and offending text; a file without a single row is an error. ReadCSV panics if Comma or Comment
// is not a possible separator.
func ReadCSV(r io.Reader, opt CSVOptions) (Series, error) {
	opt.check()
	s, _, err := readCSV(r, opt, false)
	if err != nil {
		return Series{}, fmt.Errorf("dataset: CSV: %w", err)
	}
	return s, nil
}

// ReadCSVFile is [ReadCSV] on a file. The base name of path becomes the series' Name, and path its Source.
func ReadCSVFile(path string, opt CSVOptions) (Series, error) {
	s, _, err := ReadCSVReport(path, opt)
	return s, err
}

// check panics on runes that encoding/csv refuses: a mistake of the caller, not of the file.
func (opt CSVOptions) check() {
	if opt.Comma != 0 && !possible(opt.Comma) {
		panic(fmt.Sprintf("dataset: CSVOptions.Comma = %q cannot separate fields", opt.Comma))
	}
	if opt.Comment != 0 && (!possible(opt.Comment) || opt.Comment == opt.Comma || opt.Comma == 0 && opt.Comment == ',') {
		panic(fmt.Sprintf("dataset: CSVOptions.Comment = %q cannot start a comment", opt.Comment))
	}
}

// explain adds to the error of an x what may help: format is what it was read as, first says that no row was read before.
func (opt CSVOptions) explain(err error, text string, format TimeFormat, first bool) error {
	hint := dateHint(text)
	written := dateFormat(text)
	_, isDate := dateExamples[format]
	switch {
	case !isDate && format != TimeNumber:
	case opt.Time != TimeAuto:
		if written != TimeAuto {
			hint = fmt.Sprintf(" (it is one written as %s)", dateExamples[written])
		} else if format == TimeNumber {
			hint = opt.numberHint(text)
		}
	case first:
		err = fmt.Errorf("%w, nor a date", err)
		if hint == "" && !isDecimal(text) {
			hint = opt.numberHint(text)
		}
	case isDate && written != TimeAuto:
		hint = ", as the first row is: write all dates in one way"
	case !first && hint == "" && !strings.ContainsAny(text, "0123456789") && !infinite.MatchString(text):
		hint = " (the header once more, or a total? remove the line)"
	case isDate && hint == "" && isDecimal(text):
		hint = ", as the first row is"
	case format == TimeNumber && written != TimeAuto:
		hint = ", as the first row is"
	case format == TimeNumber:
		hint = opt.numberHint(text)
	}
	return fmt.Errorf("%w%s", err, hint)
}

func (opt CSVOptions) beyond(v float64) bool { return opt.Limit != 0 && math.Abs(v) > opt.Limit }

func (opt CSVOptions) limitError(text string) error {
	return fmt.Errorf("%s is beyond ±%g (if it stands for a missing value, name it as one: Missing, --missing; else scale the column)", quoted(text), opt.Limit)
}

// ParseNumber reads a number as ReadCSV does: decimal digits, with or without a point and an exponent, and finite.
func ParseNumber(text string) (float64, error) {
	v, err := parseFinite(text)
	if err != nil {
		hint := CSVOptions{}.numberHint(text)
		switch hint { // there is no column here
		case missingHint:
			hint = ""
		case dateInstead:
			hint = " (it is a date)"
		}
		return 0, fmt.Errorf("dataset: %w%s", err, hint)
	}
	return v, nil
}

// number reads a number as it is written in the file.
func (opt CSVOptions) number(text string) (float64, error) {
	if !opt.DecimalComma {
		return parseFinite(text)
	}
	if v, err := parseFinite(strings.Replace(text, ",", ".", 1)); err == nil && !strings.Contains(text, ".") {
		return v, nil
	}
	return 0, fmt.Errorf("%s is not a finite number with a decimal comma", quoted(text))
}

// DecimalYear returns t, in UTC, as its year plus the part of that year which has passed: 2 July 2023, 12:00 is 2023.5.
func DecimalYear(t time.Time) float64 {
	t = t.UTC()
	start := time.Date(t.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	end := time.Date(t.Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC)
	return float64(t.Year()) + t.Sub(start).Seconds()/end.Sub(start).Seconds()
}
