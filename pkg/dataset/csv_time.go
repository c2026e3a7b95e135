package dataset

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// TimeFormat is how the x of a CSV file is written.
type TimeFormat string

// The formats. TimeAuto takes the first row for an ISO date if it is one, and else for a number: seconds since 1970 look like
// any other number, so that TimeUnix has to be asked for.
const (
	TimeAuto   TimeFormat = ""
	TimeISO    TimeFormat = "iso"    // 2006-01-02, 2006-01, 2006-01-02T15:04:05+02:00, …
	TimeUnix   TimeFormat = "unix"   // seconds since 1970-01-01 UTC, with or without a fraction
	TimeNumber TimeFormat = "number" // decimal years, seconds of an experiment, …
)

// UnixSeconds is the XUnit of a date that was read with CSVOptions.Seconds.
const UnixSeconds = "s since 1970"

// CSVReport says what reading a CSV file met.
type CSVReport struct {
	Comma   rune     // what separates the fields
	Columns []string // the header; empty names where there is none
	X, Y    int      // the columns that were read, from 0
	Time    TimeFormat
	Rows    int    // of data, those left out included
	Skipped int    // rows left out because x or y is missing
	SHA256  string // of the file, hexadecimal
}

// ReadCSVReport is [ReadCSVFile] with a report. If CSVOptions.Comma is 0, the first line decides whether ',', ';' or a
// tabulator separates the fields.
func ReadCSVReport(path string, opt CSVOptions) (Series, CSVReport, error) {
	opt.check()
	f, err := os.Open(path)
	if err != nil {
		return Series{}, CSVReport{}, fmt.Errorf("dataset: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	r := bufio.NewReaderSize(io.TeeReader(f, sum), 64<<10)
	if opt.Comma == 0 {
		opt.Comma = separator(r)
	}
	if opt.Comma == opt.Comment {
		return Series{}, CSVReport{}, fmt.Errorf("dataset: %s: fields are separated by %q, which also starts comments", path, opt.Comma)
	}
	s, rep, err := readCSV(r, opt)
	if err != nil {
		return Series{}, rep, fmt.Errorf("dataset: %s: %w", path, err)
	}
	s.Name, s.Source = filepath.Base(path), path
	rep.Comma, rep.SHA256 = opt.Comma, hex.EncodeToString(sum.Sum(nil))
	return s, rep, nil
}

// separator returns what separates the fields of the first line: the one that occurs most often, a comma if none does.
func separator(r *bufio.Reader) rune {
	head, _ := r.Peek(8 << 10) // an error is met again by the first read
	first, _, _ := strings.Cut(string(head), "\n")
	comma, most := ',', strings.Count(first, ",")
	for _, c := range ";\t" {
		if n := strings.Count(first, string(c)); n > most {
			comma, most = c, n
		}
	}
	return comma
}

// parser returns what reads an x of the given format, and sets the unit of s; nil for TimeAuto.
func (opt CSVOptions) parser(format TimeFormat, s *Series) func(string) (float64, error) {
	of := DecimalYear
	unit := "decimal year"
	if opt.Seconds {
		unit = UnixSeconds
		of = func(t time.Time) float64 { return float64(t.Unix()) + 1e-9*float64(t.Nanosecond()) }
	}
	switch format {
	case TimeAuto:
		return nil
	case TimeNumber:
		return opt.number
	case TimeISO:
		s.XUnit = unit
		return func(text string) (float64, error) {
			t, err := parseTime(text)
			if err != nil {
				return 0, err
			}
			return of(t), nil
		}
	case TimeUnix:
		s.XUnit = unit
		return func(text string) (float64, error) {
			v, err := opt.number(text)
			if err != nil {
				return 0, err
			}
			const years10000 = 3e11
			if v < -years10000 || v > years10000 {
				return 0, fmt.Errorf("%s is not a number of seconds since 1970 (are they milliseconds?)", quoted(text))
			}
			whole := int64(v)
			t := time.Unix(whole, int64(1e9*(v-float64(whole))))
			return of(t), nil
		}
	}
	panic(fmt.Sprintf("dataset: CSVOptions.Time = %q is not a format", format))
}

// dateLayouts are the forms of ISO 8601 that are met in practice; time.Parse adds fractions of a second to each.
var dateLayouts = []string{
	time.DateOnly, time.RFC3339, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04",
	"2006-01-02 15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01",
}

// ParseTime reads a date in ISO 8601 form, with or without a time of day and a zone; without a zone it is UTC.
func ParseTime(text string) (time.Time, error) {
	t, err := parseTime(text)
	if err != nil {
		return t, fmt.Errorf("dataset: %w", err)
	}
	return t, nil
}

func parseTime(text string) (time.Time, error) {
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%s is not an ISO date", quoted(text))
}
