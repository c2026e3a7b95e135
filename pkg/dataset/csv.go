package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// CSVOptions says which columns of a CSV file are read, and how. The zero value reads column 1 as x and column 2 as y of a
// file with a header, and treats a missing cell as an error.
type CSVOptions struct {
	// X and Y each choose a column by its name in the header or, failing that, by its number, counted from 1.
	// Empty: "1" for X, or the first that Keys does not name, or where the dates are, and for Y the first column behind it that Keys
	// does not name.
	X, Y string
	// Comma separates fields. If it is 0, the first line decides whether ',', ';', a tabulator, '|' or blanks do. A space stands for
	// any run of blanks and tabulators.
	Comma rune
	// Comment, if not 0, starts the lines that are ignored. If it is 0, lines with #, or with %, above the header are ignored; if
	// rows of values follow several such lines, the last of them is the header.
	Comment rune
	// DecimalComma says that numbers are written 1.025,10, and DecimalPoint that they are written 1,025.10. Without either, the
	// numbers of each column tell; see docs/data.md.
	DecimalComma, DecimalPoint bool
	// NoHeader says that the first line is data already; columns are then chosen by number only. It need not be said where the first
	// line is a row like those below it.
	NoHeader bool
	// Missing lists texts that, as an empty cell does, stand for a missing value: "NA", "NaN", "-99.99". In columns of numbers but x
	// a number stands for its value, however a cell writes it: -999 for -999.0, "-999,00" and "−999" too. Without a number here,
	// those that the head of the file declares count, as "# missing value: -99.9" does; CSVReport.Declared has them.
	Missing []string
	// SkipMissing leaves out the rows whose x or y is missing, which are bad rows otherwise.
	SkipMissing bool
	// Limit, unless 0, is the largest allowed |x| or |y|; a larger number is an error. Dates
	// have no limit.
	Limit float64
	// Time says how x is written; "" means that the first row determines whether x is a number or a date, and of
	// which form.
	Time TimeFormat
	// Also are further columns of numbers, chosen as X and Y are, that [ReadCSVReport] returns; [StreamCSV] ignores it.
	Also []string
	// Keys are columns of texts that tell series apart, chosen as X and Y are; [ReadCSVReport] numbers their texts, and [StreamCSV]
	// ignores them.
	Keys []string
	// PassLabels lets Y, if it is empty, be the first column of numbers behind columns of words, as labels of rows are, where the
	// first rows have different x. Words may tell several series apart: the caller looks whether x repeats.
	PassLabels bool
	// MaxRows, unless 0, is the number of rows above which [ReadCSVReport] stops, with [ErrTooManyRows].
	MaxRows int
	// Seconds converts dates to seconds since 1970 (UTC), with the XUnit "s since 1970", instead of decimal years: every day
	// then has the same length.
	Seconds bool

	// NumberDates recognises, with TimeAuto, numbers x that all stand for dates: times since 1970 in one unit, between 1973 and
	// 2096, and 20240131 or 202401, between 1800 and 2200. The report says so. All rows decide, or those of the first 32 MiB of
	// text.
	NumberDates bool
	// Within, unless it is zero, is the range, in seconds for dates, that x is wanted in: if it holds the plain numbers and not
	// the dates that NumberDates sees in them, they stay numbers.
	Within [2]float64

	declared []string // what the file itself says to be missing, and where

	names []string // of the columns, where a comment has them
	title int      // lines above the header

	coarser string     // what was left out above the months: years and quarters
	head    [][]string // the cells of the first rows, the header among them

	merged   merged // cells
	anyOrder bool   // of the times of a wide table: its header is of two rows
	shortest int    // fields of a row, where most end before the header does
	rowNames bool   // the header has no name for the first column
	unnamed  bool   // nor for the last one (lacksName)
	headless bool   // found, where NoHeader was not given
}

// ErrTooManyRows is the error of a file with more than CSVOptions.MaxRows rows.
var ErrTooManyRows = errors.New("too many rows")

// ReadCSV reads two columns of a CSV file with a header. The text is UTF-8, or UTF-16, with or without a byte order
// mark; names in the header that are not UTF-8 are read as Latin-1. Lines end with LF, CRLF or CR. Spaces around a field and
// blank lines are ignored. Of a table with a column for each time, each cell of these is a row: its y is in a column "value",
// or what the names of the columns have before the time, and its x, if names are all of it, in a column "time". Every row must
// have as many fields as the first; empty ones beyond those do not count. Up to ten lines of words below the last row, a total or
// a source, are left out, and so is another table there with less than half as many rows. A row longer than 2 MiB is an error.
//
// Y is a number and x a number or a date, as docs/data.md lists them ([TimeFormat] names the forms of dates): the first row
// decides which for all, unless CSVOptions.Time does. Where days and months are both numbers, the first row that tells them apart
// decides. Dates become decimal years by [DecimalYear], and XUnit then is "decimal year" (seconds since 1970 with
// CSVOptions.Seconds); all other units are left empty, for the caller to set. XName and YName are the names in the header. Rows
// keep their order.
//
// An error names line, column and offending text. Where several rows cannot be read, a [CSVRowsError] tells of the first ten, and
// of rows among them whose x is that of another one. A file without a single row is an error. ReadCSV panics if Comma or Comment
// is not a possible separator.
func ReadCSV(r io.Reader, opt CSVOptions) (Series, error) {
	opt.check()
	s, _, err := readCSV(r, opt)
	if err != nil {
		return Series{}, fmt.Errorf("dataset: CSV: %w", err)
	}
	return s, nil
}

// ReadCSVFile is [ReadCSV] on a file, or on standard input for the path [StandardInput]. The base name of path becomes the
// series' Name, and path its Source; both are "standard input" there.
func ReadCSVFile(path string, opt CSVOptions) (Series, error) {
	s, _, err := ReadCSVReport(path, opt)
	return s, err
}

// ReadCSVReport is [ReadCSVFile] with a report. With an error of rows, the further columns in it are those of the rows that can
// be read.
func ReadCSVReport(path string, opt CSVOptions) (Series, CSVReport, error) {
	opt.check()
	f, err := Open(path)
	if err != nil {
		return Series{}, CSVReport{}, fmt.Errorf("dataset: %w", err)
	}
	defer f.Close()
	path = Shown(path)
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		return Series{}, CSVReport{}, fmt.Errorf("dataset: %s is a folder, not a file", path)
	}
	sum := sha256.New()
	var head headWriter
	var read io.Writer = sum
	if err == nil && !info.Mode().IsRegular() || f.File == os.Stdin {
		read = io.MultiWriter(sum, &head)
	}
	s, rep, err := readCSV(io.TeeReader(f, read), opt)
	rep.Head = head.lines()
	if err != nil {
		return Series{}, rep, fmt.Errorf("dataset: %s: %w", path, err)
	}
	s.Name, s.Source = filepath.Base(path), path
	rep.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return s, rep, nil
}

// keptHead is how much is kept of what can be read once, for [KeyColumns].
const keptHead = 4 << 20

// headWriter keeps the first keptHead bytes that are written.
type headWriter struct{ text []byte }

func (h *headWriter) Write(b []byte) (int, error) {
	h.text = append(h.text, b[:min(len(b), keptHead-len(h.text))]...)
	return len(b), nil
}

// lines returns the whole lines, or all if there is no more.
func (h *headWriter) lines() []byte {
	if len(h.text) < keptHead {
		return h.text
	}
	return h.text[:bytes.LastIndexByte(h.text, '\n')+1]
}

// StreamCSV reads two columns of a CSV file of any size as [ReadCSV] does, with the same values and the same errors. It calls
// visit for each block of rows from as many goroutines as there are workers, numbered from 0: in any order, or in the order of
// the file with one worker. visit must not keep a block. A row that cannot be read does not end the reading: it is among the bad
// rows of its block. The report tells those that are wrong (CSVReport.Bad) from totals between the rows and from what stands
// below the table. Rows between totals whose x are within the range of others begin the table once more: then these totals are
// wrong, too.
//
// The error is that of the file as a whole (no text, no such column, dates that are ambiguous in all rows), of visit, of a row
// longer than 2 MiB, or of a quoted field that is never closed: the first in the file, whatever the workers. Memory is bounded:
// some 256 KiB for each worker, and at most 32 MiB while the order of day and month is open. The report has no SHA256.
func StreamCSV(r io.Reader, opt CSVOptions, workers int, visit func(worker int, b *CSVBlock) error) (CSVReport, error) {
	opt.check()
	if workers < 1 {
		panic(fmt.Sprintf("dataset: StreamCSV: %d workers", workers))
	}
	opt.Also, opt.Keys = nil, nil
	s := &csvStream{opt: opt, visit: visit, size: blockSize}
	if err := s.run(r, workers); err != nil {
		return s.rep, fmt.Errorf("dataset: CSV: %w", err)
	}
	return s.rep, nil
}

// readCSV collects a stream.
func readCSV(r io.Reader, opt CSVOptions) (s Series, rep CSVReport, err error) {
	stream := &csvStream{opt: opt, size: blockSize}
	var lines []int
	stream.visit = func(_ int, b *CSVBlock) error {
		if len(stream.also)+len(stream.keys) == 0 {
			lines = append(lines, b.Lines[:min(len(b.Lines), max(0, mostLine-len(lines)))]...)
			s.X, s.Y = append(s.X, b.X...), append(s.Y, b.Y...)
		} else {
			stream.more.add(&s, b)
		}
		if opt.MaxRows > 0 && s.Len() > opt.MaxRows {
			return ErrTooManyRows
		}
		return nil
	}
	err = stream.run(r, 1)
	rep = stream.rep
	rep.Also = stream.more
	if rep.Also.Lines == nil {
		rep.Also.Lines = lines
	}
	for _, k := range stream.keys {
		rep.Also.KeyTexts = append(rep.Also.KeyTexts, k.texts)
	}
	bad := rep.Bad
	if err != nil && errors.As(err, new(tableBelowError)) {
		return Series{}, rep, err
	}
	if len(bad.Rows) > 0 && !errors.Is(err, ErrTooManyRows) {
		bad.End = err
		if s.Len() == 0 {
			bad.cut(fewBad)
		}
		if len(stream.also) > 0 {
			lines = stream.more.Lines
		}
		if len(stream.keys) == 0 {
			bad.withRepeats(s.X, lines, columnName(rep.Columns, rep.X))
		}
		return Series{}, rep, &bad
	}
	if err == nil && s.Len() == 0 {
		if err = errors.New("no rows with both x and y"); rep.Skipped > 0 {
			err = fmt.Errorf("%w: one of them is missing in all %d (CSVOptions.X and CSVOptions.Y choose other columns; %s)",
				err, rep.Skipped, eventsAdvice)
		}
	}
	if err == nil {
		err = stream.checkX(s.X)
	}
	if err != nil {
		return Series{}, rep, err
	}
	s.XName, s.YName, s.XUnit = rep.Columns[rep.X], rep.Columns[rep.Y], opt.unit(rep.Time)
	return s, rep, nil
}

// checkX returns an error if x cannot be what the column says: most rows with a y have none, as where a value stands once for
// several rows, or years of two digits pass a century.
func (s *csvStream) checkX(x []float64) error {
	var names []string
	for _, place := range s.parts.columns {
		names = append(names, columnName(s.rep.Columns, s.columns[place]))
	}
	if s.noX > len(x) {
		return fmt.Errorf("%s: %d of %d rows with a y have no x: where a value stands once for several rows, write it in each",
			strings.Join(names, ", "), s.noX, s.noX+len(x))
	}
	for i := 1; i < len(x) && s.rep.Time == TimeNumber && partNames["year"].MatchString(s.rep.Columns[s.rep.X]); i++ {
		if x[i-1] == 99 && x[i] == 0 {
			return fmt.Errorf("%s: 0 follows 99: write years with four digits", names[0])
		}
	}
	return nil
}

// CSVMore holds the columns of CSVOptions.Also and of CSVOptions.Keys. A missing value is NaN.
type CSVMore struct {
	Names   []string    // in the header
	Columns []int       // from 0
	Lines   []int       // of each observation
	Values  [][]float64 // of each column, at each observation
	// Open are the rows that have an x and no y, with CSVOptions.SkipMissing.
	OpenX      []float64
	OpenLines  []int
	OpenValues [][]float64
	// Of each column of CSVOptions.Keys: its place from 0, the number of its text at each observation and in each open row, and the
	// texts.
	KeyColumns     []int
	Keys, OpenKeys [][]int32
	KeyTexts       [][]string
}

// add adds a block: the rows with y to s too.
func (m *CSVMore) add(s *Series, b *CSVBlock) {
	if m.Values == nil {
		m.Values, m.OpenValues = make([][]float64, len(b.also)), make([][]float64, len(b.also))
		if len(b.keys) > 0 {
			m.Keys, m.OpenKeys = make([][]int32, len(b.keys)), make([][]int32, len(b.keys))
		}
	}
	for i, y := range b.Y {
		x, lines, values, keys := &s.X, &m.Lines, m.Values, m.Keys
		if math.IsNaN(y) {
			x, lines, values, keys = &m.OpenX, &m.OpenLines, m.OpenValues, m.OpenKeys
		} else {
			s.Y = append(s.Y, y)
		}
		*x, *lines = append(*x, b.X[i]), append(*lines, b.Lines[i])
		for j := range values {
			values[j] = append(values[j], b.also[j][i])
		}
		for j := range keys {
			keys[j] = append(keys[j], b.keys[j][i])
		}
	}
}

// check panics on what no file can have: a mistake of the caller.
func (opt CSVOptions) check() {
	if opt.DecimalComma && opt.DecimalPoint {
		panic("dataset: CSVOptions.DecimalComma and CSVOptions.DecimalPoint are both set")
	}
	if opt.Comma != 0 && !possible(opt.Comma) {
		panic(fmt.Sprintf("dataset: CSVOptions.Comma = %q cannot separate fields", opt.Comma))
	}
	if opt.Comment != 0 && (!possible(opt.Comment) || opt.Comment == opt.Comma || opt.Comma == 0 && opt.Comment == ',') {
		panic(fmt.Sprintf("dataset: CSVOptions.Comment = %q cannot start a comment", opt.Comment))
	}
}

// explain adds to the error of an x what may help: format is what it was read as, first says that no row was read before.
func (opt CSVOptions) explain(err error, text string, format TimeFormat, first bool) error {
	if errors.As(err, new(styleError)) {
		return err
	}
	hint := dateHints.of(text)
	written := dateFormat(text)
	form, isDate := formOf(format)
	isDate = isDate || format == timeSlashes
	words := !strings.ContainsAny(text, "0123456789") && !infinite.MatchString(text)
	switch {
	case !isDate && format != TimeNumber:
	case opt.Time != TimeAuto:
		if written != TimeAuto {
			if form, _ = formOf(written); written == timeSlashes {
				form, _ = formOf(TimeDMY)
			}
			hint = fmt.Sprintf(" (it is one written as %s)", form.like)
		} else if format == TimeNumber {
			hint = numberHint(text)
		}
	case first:
		err = fmt.Errorf("%w, nor a date", err)
		if hint == "" && !isDecimal(text) {
			hint = numberHint(text)
		}
	case isDate && written != TimeAuto:
		hint = ", as the first row is: write all dates in one way"
	case !first && hint == "" && (isDate && barePart.MatchString(text) || words):
		hint = totalHint
	case isDate && hint == "" && isDecimal(text):
		hint = ", as the first row is"
	case format == TimeNumber && written != TimeAuto:
		hint = ", as the first row is (write all x in one way, or leave the rows of one kind)"
	case format == TimeNumber && hint != totalHint:
		hint = numberHint(text)
	}
	return fmt.Errorf("%w%s", err, hint)
}

// barePart is what a subtotal between months is called: Q1, H2.
var barePart = regexp.MustCompile(`^[QqTtHhSs][1-4]$`)

func (opt CSVOptions) beyond(v float64) bool { return opt.Limit != 0 && math.Abs(v) > opt.Limit }

func (opt CSVOptions) limitError(text string) error {
	const hint = "(if it stands for a missing value, name it as one: CSVOptions.Missing; else scale the column)"
	return fmt.Errorf("%s is beyond ±%g "+hint, quoted(text), opt.Limit)
}

// ParseNumber reads a number as ReadCSV does: decimal digits, with or without a point and an exponent, and finite.
func ParseNumber(text string) (float64, error) {
	v, err := parseFinite(text)
	if err != nil {
		hint := numberHint(text)
		switch hint { // there is no column here
		case missingHint, nameInstead, timeInstead:
			hint = ""
		case dateInstead:
			hint = " (it is a date)"
		}
		return 0, fmt.Errorf("dataset: %w%s", err, hint)
	}
	return v, nil
}

// DecimalYear returns t, in UTC, as its year plus the part of that year which has passed: 2 July 2023, 12:00 is 2023.5.
func DecimalYear(t time.Time) float64 {
	t = t.UTC()
	start := time.Date(t.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	end := time.Date(t.Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC)
	return float64(t.Year()) + t.Sub(start).Seconds()/end.Sub(start).Seconds()
}
