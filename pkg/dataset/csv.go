package dataset

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// CSVOptions says which columns of a CSV file are read, and how. The zero value reads column 1 as x and column 2 as y of a
// comma-separated file with a header, and takes a missing cell for an error.
type CSVOptions struct {
	// X and Y each choose a column by its name in the header or, failing that, by its number, counted from 1.
	// Empty: "1" for X, "2" for Y.
	X, Y string
	// Comma separates fields; 0 means ','.
	Comma rune
	// Comment, if not 0, starts the lines that are ignored.
	Comment rune
	// DecimalComma says that numbers are written 3,14; a point is then no part of a number.
	DecimalComma bool
	// NoHeader says that the first line is data already; columns are then chosen by number only.
	NoHeader bool
	// Missing lists texts that, as an empty cell does, stand for a missing value: "NA", "NaN", "-99.99".
	Missing []string
	// SkipMissing leaves out the rows whose x or y is missing, rather than returning an error.
	SkipMissing bool
	// Time says how x is written; "" finds out from the first row whether it is a date or a number.
	Time TimeFormat
	// Seconds makes a date the seconds since 1970 (UTC), with the XUnit [UnixSeconds], rather than a decimal year: every day
	// then has one length, whatever the year.
	Seconds bool
}

// ReadCSV reads two columns of a CSV file with a header. Spaces around a field, a byte order mark and CRLF line ends are
// ignored; every row must have as many fields as the first.
//
// Y is numeric and finite. X is numeric and finite, or a date in ISO 8601 form, with or without a time of day (2006-01-02,
// 2006-01-02T15:04:05Z): the first row decides which, for all, unless CSVOptions.Time does. Dates become decimal years by
// [DecimalYear], and XUnit then is "decimal year" (seconds since 1970 with CSVOptions.Seconds); all other units are left empty,
// for the caller to set. XName and YName are the names in the header. Rows keep their order.
//
// An error names line, column and offending text; a file without a single row is an error. ReadCSV panics if Comma or Comment
// is not a possible separator.
func ReadCSV(r io.Reader, opt CSVOptions) (Series, error) {
	opt.check()
	s, _, err := readCSV(r, opt)
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
	valid := func(r rune) bool {
		return r == 0 || r != '"' && r != '\r' && r != '\n' && utf8.ValidRune(r) && r != utf8.RuneError
	}
	if !valid(opt.Comma) {
		panic(fmt.Sprintf("dataset: CSVOptions.Comma = %q cannot separate fields", opt.Comma))
	}
	if !valid(opt.Comment) || opt.Comment != 0 && (opt.Comment == opt.Comma || opt.Comma == 0 && opt.Comment == ',') {
		panic(fmt.Sprintf("dataset: CSVOptions.Comment = %q cannot start a comment", opt.Comment))
	}
}

func readCSV(r io.Reader, opt CSVOptions) (Series, CSVReport, error) {
	var rep CSVReport
	table := csv.NewReader(withoutBOM(r))
	table.ReuseRecord = true
	table.Comment = opt.Comment
	if opt.Comma != 0 {
		table.Comma = opt.Comma
	}
	row, err := table.Read()
	if err == io.EOF {
		return Series{}, rep, errors.New("the file is empty")
	}
	if err != nil {
		return Series{}, rep, err
	}
	names := make([]string, len(row))
	if !opt.NoHeader {
		for i, name := range row {
			names[i] = strings.TrimSpace(name)
		}
	}
	xcol, err := column(names, opt.X, 1)
	if err != nil {
		return Series{}, rep, fmt.Errorf("x: %w", err)
	}
	ycol, err := column(names, opt.Y, 2)
	if err != nil {
		return Series{}, rep, fmt.Errorf("y: %w", err)
	}
	if !opt.NoHeader {
		row, err = table.Read()
	}

	s := Series{XName: names[xcol], YName: names[ycol]}
	rep.Columns, rep.X, rep.Y = names, xcol, ycol
	parseX := opt.parser(opt.Time, &s)
	rep.Time = opt.Time
	for ; err != io.EOF; row, err = table.Read() {
		if err != nil {
			return Series{}, rep, err
		}
		xtext, ytext := strings.TrimSpace(row[xcol]), strings.TrimSpace(row[ycol])
		bad := func(col int, err error) (Series, CSVReport, error) {
			line, _ := table.FieldPos(col)
			return Series{}, rep, fmt.Errorf("line %d, %s: %w", line, columnName(names, col), err)
		}
		if noX, noY := opt.missing(xtext), opt.missing(ytext); noX || noY {
			if opt.SkipMissing {
				rep.Skipped++
				continue
			}
			col, text := ycol, ytext
			if noX {
				col, text = xcol, xtext
			}
			return bad(col, fmt.Errorf("missing value %s (CSVOptions.SkipMissing leaves such rows out)", quoted(text)))
		}
		if parseX == nil {
			rep.Time = TimeNumber
			if _, err := parseTime(xtext); err == nil {
				rep.Time = TimeISO
			}
			parseX = opt.parser(rep.Time, &s)
		}
		x, err := parseX(xtext)
		if err != nil {
			if len(s.X) == 0 && opt.Time == TimeAuto {
				err = fmt.Errorf("%w, nor an ISO date", err)
			}
			return bad(xcol, err)
		}
		y, err := opt.number(ytext)
		if err != nil {
			return bad(ycol, err)
		}
		s.X, s.Y = append(s.X, x), append(s.Y, y)
	}
	if len(s.X) == 0 {
		return Series{}, rep, errors.New("no rows with both x and y")
	}
	rep.Rows = len(s.X) + rep.Skipped
	return s, rep, nil
}

// number reads a number as it is written in the file.
func (opt CSVOptions) number(text string) (float64, error) {
	pointed := strings.Replace(text, ",", ".", 1)
	if opt.DecimalComma {
		if strings.Contains(text, ".") {
			return 0, fmt.Errorf("%s is not a finite number with a decimal comma", quoted(text))
		}
		v, err := parseFinite(pointed)
		if err != nil {
			return 0, fmt.Errorf("%s is not a finite number with a decimal comma", quoted(text))
		}
		return v, nil
	}
	v, err := parseFinite(text)
	if err != nil && pointed != text {
		if _, problem := parseFinite(pointed); problem == nil {
			err = fmt.Errorf("%w (is it a decimal comma?)", err)
		}
	}
	return v, err
}

func (opt CSVOptions) missing(text string) bool {
	return text == "" || slices.Contains(opt.Missing, text)
}

// column returns the index of the column that spec names or, if no name fits, numbers from 1.
func column(names []string, spec string, otherwise int) (int, error) {
	if spec == "" {
		spec = strconv.Itoa(otherwise)
	}
	if i := slices.Index(names, spec); i >= 0 {
		if slices.Index(names[i+1:], spec) >= 0 {
			return 0, fmt.Errorf("more than one column is named %s: choose it by number", quoted(spec))
		}
		return i, nil
	}
	if n, err := strconv.Atoi(spec); err == nil && 1 <= n && n <= len(names) {
		return n - 1, nil
	}
	have := make([]string, len(names))
	for i := range names {
		have[i] = columnName(names, i)
	}
	return 0, fmt.Errorf("no column %s; there are %s", quoted(spec), strings.Join(have, ", "))
}

func columnName(names []string, i int) string {
	if names[i] == "" {
		return fmt.Sprintf("column %d", i+1)
	}
	return fmt.Sprintf("column %d (%s)", i+1, quoted(names[i]))
}

// DecimalYear returns t, in UTC, as its year plus the part of that year which has passed: 2 July 2023, 12:00 is 2023.5.
func DecimalYear(t time.Time) float64 {
	t = t.UTC()
	start := time.Date(t.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	end := time.Date(t.Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC)
	return float64(t.Year()) + t.Sub(start).Seconds()/end.Sub(start).Seconds()
}
