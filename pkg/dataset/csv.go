package dataset

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// CSVOptions says which columns of a csv file are read, and how. The zero value reads column 1 as x and column 2 as y, and treats
// a missing cell as an error. docs/data.md is the specification of the reader.
type CSVOptions struct {
	// X and Y each choose a column by its name in the header or, failing that, by its number from 1. An empty X is the first
	// column that Keys does not name, and an empty Y the next one, except a column that is named like a time and rises beside
	// dates. X may be RowNumber.
	X, Y string
	// Comma separates fields; a space stands for any run of blanks and tabs. With 0 the first lines decide.
	Comma rune
	// DecimalComma says that numbers are written 1.025,10, and DecimalPoint 1,025.10. Without either, each column must prove it.
	DecimalComma, DecimalPoint bool
	NoHeader                   bool // says that the first line is data
	// Missing lists texts for a missing value, besides an empty cell, NA, N/A, NaN and null. A number stands for its value in
	// columns of numbers other than x: -999 also matches -999.0.
	Missing     []string
	SkipMissing bool       // leaves out rows without x or y, which otherwise are errors
	Limit       float64    // largest allowed |x| or |y| unless 0; dates have no limit
	Time        TimeFormat // says how x is written; with "" the cells decide
	Backward    bool       // numbers x count back in time, as ages do: they are read as -x
	// Also are further columns of numbers that [ReadCSVReport] returns, and Keys columns of texts that tell series apart.
	// [StreamCSV] ignores both.
	Also, Keys []string
	MaxRows    int  // [ReadCSVReport] stops above it with [ErrTooManyRows]; 0 means no limit
	Seconds    bool // dates become seconds since 1970 (UTC) instead of decimal years, so that every day has the same length
	// NumberDates recognises numbers that all stand for dates: Unix times between 1973 and 2096, and days and months of 1800 to 2199
	// that are written 20240131, 202401, 2024.01 or 01.2024. CSVReport.Numbers says so.
	NumberDates bool
}

// RowNumber, as CSVOptions.X, takes the number of the row, from 1, for x, where no column has this name: for a file without a
// column of time. It is column 1 then, and the columns of the file follow.
const RowNumber = "row"

// CSVReport describes what was found in a csv file.
type CSVReport struct {
	Comma        rune     // separates the fields
	Comment      rune     // starts the lines that were left out; 0 if there are none
	Columns      []string // names in the header; empty ones without a header
	Numeric      []bool   // says of each column whether most of its first cells are numbers
	Headless     bool     // the first line was found to be data, though CSVOptions.NoHeader does not say so
	X, Y         int      // indices of the columns that were read
	Passed       string   // name of a column of times before y that was skipped when y was chosen; "" for none
	Time         TimeFormat
	Numbers      string   // says which dates the numbers x stand for (CSVOptions.NumberDates); they stay numbers if Time says so
	Period       string   // period that each date names if it has no day: month, quarter or week
	Local        bool     // the first date names no time zone: times are as clocks showed them, and read as if in UTC
	Offsets      Offsets  // UTC offsets of the dates
	ShortYears   bool     // years of two digits were met, and read as 1969 to 2068
	Unit         string   // currency sign or % that all y have
	DecimalComma bool     // y was found to be written 1.025,10
	Rows         int      // number of rows of data, with the rows that were left out
	Skipped      int      // number of rows left out because x or y is missing
	Bad          CSVError // rows that could not be read
	SHA256       string   // hexadecimal checksum of the file
	Also         CSVMore
	Several      CSVSeveral // columns that tell the series of a long table apart; looked for if CSVOptions.Keys names none
}

// Offsets are the least and the largest UTC offset that dates are written with, such as +01:00 and +02:00. Both are 0 if none is.
type Offsets struct {
	Least, Most time.Duration
	known       bool
}

// add adds dates with offsets from least to most.
func (o *Offsets) add(least, most time.Duration) {
	if !o.known {
		*o = Offsets{least, most, true}
	}
	o.Least, o.Most = min(o.Least, least), max(o.Most, most)
}

// Vary reports whether dates have different offsets, as clocks have in summer and in winter.
func (o Offsets) Vary() bool { return o.Least < o.Most }

// String returns the offsets, as in "+01:00 and +02:00".
func (o Offsets) String() string {
	write := func(d time.Duration) string {
		return time.Unix(0, 0).In(time.FixedZone("", int(d/time.Second))).Format("-07:00")
	}
	return write(o.Least) + " and " + write(o.Most)
}

// Dates reports whether x was read as dates.
func (r CSVReport) Dates() bool { return r.Time != TimeAuto && r.Time != TimeNumber }

// CSVMore holds the columns of CSVOptions.Also and of CSVOptions.Keys.
type CSVMore struct {
	Names      []string // names of the columns Also in the header
	Columns    []int    // indices of the columns Also
	KeyColumns []int    // indices of the columns Keys
	KeyTexts   [][]string
	CSVRows            // rows of the observations
	Open       CSVRows // rows that have an x and no y, with CSVOptions.SkipMissing
}

// CSVRows are some rows: X and Lines have a value for each row, Values for each column of CSVOptions.Also and each row, NaN for a
// missing one, and Keys for each column of CSVOptions.Keys and each row the index of its text in KeyTexts.
type CSVRows struct {
	X      []float64
	Lines  []int
	Values [][]float64
	Keys   [][]int32
}

// add adds row i of a block.
func (r *CSVRows) add(b *CSVBlock, i int) {
	r.X, r.Lines = append(r.X, b.X[i]), append(r.Lines, b.Lines[i])
	for j := range b.also {
		r.Values[j] = append(r.Values[j], b.also[j][i])
	}
	for j := range b.keys {
		r.Keys[j] = append(r.Keys[j], b.keys[j][i])
	}
}

// ErrTooManyRows is the error of a file with more than CSVOptions.MaxRows rows.
var ErrTooManyRows = errors.New("too many rows")

// ReadCSV reads two columns of a csv file as docs/data.md specifies. Y is a number, and x a number or a date. Dates become
// decimal years by [DecimalYear], and XUnit then is "decimal year" (seconds since 1970 with CSVOptions.Seconds); others are left
// empty. XName and YName are the names in the header. Rows keep their order.
//
// The error wraps a [*CSVError] with all that is wrong. A file without a single row is an error. ReadCSV panics if Comma
// cannot separate fields, or if Time is not one of [TimeFormats].
func ReadCSV(r io.Reader, opt CSVOptions) (Series, error) {
	s, _, err := readCSV(r, opt)
	if err != nil {
		return Series{}, fmt.Errorf("dataset: CSV: %w", err)
	}
	return s, nil
}

// ReadCSVFile is [ReadCSV] of a file, or of standard input for the path [StandardInput]. The base name of path becomes the
// series' Name, and path its Source; for standard input both are "standard input".
func ReadCSVFile(path string, opt CSVOptions) (Series, error) {
	s, _, err := ReadCSVReport(context.Background(), path, opt)
	return s, err
}

// ReadCSVReport is [ReadCSVFile] with a report. If rows have problems, its columns Also and Keys hold the rows that can be read.
func ReadCSVReport(ctx context.Context, path string, opt CSVOptions) (Series, CSVReport, error) {
	f, err := Open(path)
	if err != nil {
		return Series{}, CSVReport{}, fmt.Errorf("dataset: %w", err)
	}
	defer f.Close()
	path = Shown(path)
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return Series{}, CSVReport{}, fmt.Errorf("dataset: %s is a folder, not a file", path)
	}
	sum := sha256.New()
	s, rep, err := readCSV(endingReader{ctx, io.TeeReader(f, sum)}, opt)
	if err != nil {
		return Series{}, rep, fmt.Errorf("dataset: %s: %w", path, err)
	}
	s.Name, s.Source = filepath.Base(path), path
	rep.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return s, rep, nil
}

// endingReader reads until its context ends.
type endingReader struct {
	ctx context.Context
	io.Reader
}

func (r endingReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, fmt.Errorf("interrupted: %w", err)
	}
	return r.Reader.Read(p)
}

// readCSV reads a file as a whole.
func readCSV(r io.Reader, opt CSVOptions) (s Series, rep CSVReport, err error) {
	t := newTable(opt)
	m := &t.rep.Also
	for _, rows := range []*CSVRows{&m.CSVRows, &m.Open} {
		rows.Values, rows.Keys = make([][]float64, len(opt.Also)), make([][]int32, len(opt.Keys))
	}
	var mu sync.Mutex
	var blocks []*CSVBlock
	count := 0
	err = t.stream(r, runtime.GOMAXPROCS(0), func(_ int, b *CSVBlock) error {
		mu.Lock()
		defer mu.Unlock()
		blocks, count = append(blocks, b), count+len(b.X)
		if opt.MaxRows > 0 && count > opt.MaxRows {
			return ErrTooManyRows
		}
		return nil
	})
	slices.SortFunc(blocks, func(a, b *CSVBlock) int { return cmp.Compare(a.index, b.index) })
	s.Y, m.X, m.Lines = make([]float64, 0, count), make([]float64, 0, count), make([]int, 0, count)
	for _, b := range blocks {
		if len(b.also)+len(b.keys) == 0 { // no row is open
			s.Y, m.X, m.Lines = append(s.Y, b.Y...), append(m.X, b.X...), append(m.Lines, b.Lines...)
			continue
		}
		for i, y := range b.Y {
			if math.IsNaN(y) {
				m.Open.add(b, i)
			} else {
				m.CSVRows.add(b, i)
				s.Y = append(s.Y, y)
			}
		}
	}
	for _, k := range t.keys {
		m.KeyTexts = append(m.KeyTexts, k.texts)
	}
	switch {
	case err != nil:
	case len(t.rep.Bad.Problems) > 0:
		err = &t.rep.Bad
	case len(s.Y) == 0 && t.rep.Skipped > 0:
		err = problem("no rows with both x and y: one of them is missing in all %d", t.rep.Skipped).
			hint("%s and %s choose other columns", xAndY...).whole()
	case len(s.Y) == 0:
		err = errors.New("no rows with both x and y")
	}
	if err != nil {
		return Series{}, t.rep, err
	}
	s.X, s.XName, s.YName = m.X, t.rep.Columns[t.rep.X], t.rep.Columns[t.rep.Y]
	if s.XUnit = "decimal year"; opt.Seconds {
		s.XUnit = "s since 1970"
	}
	if !t.rep.Dates() {
		s.XUnit = ""
	}
	return s, t.rep, nil
}

// StreamCSV reads two columns of a csv file of any size as [ReadCSV] does. It calls visit for each block of rows from as many
// goroutines as there are workers, numbered from 0: in any order, or in the order of the file with one worker. A row that cannot
// be read does not end the reading: it is among the bad rows of its block, and of the report. Whether the rows belong to
// several series (CSVReport.Several) is known only at the end.
//
// The error is the first in the file, whatever the workers: of the file as a whole (no text, no such column, dates that are
// ambiguous in all rows), of visit, or of a row longer than 2 MiB. Memory is bounded: by the rows that prove how the file is
// written, some 1 MiB for each worker, and 8 MiB if columns may tell series apart.
func StreamCSV(r io.Reader, opt CSVOptions, workers int, visit func(worker int, b *CSVBlock) error) (CSVReport, error) {
	if workers < 1 {
		panic(fmt.Sprintf("dataset: StreamCSV: %d workers", workers))
	}
	opt.Also, opt.Keys = nil, nil
	t := newTable(opt)
	if err := t.stream(r, workers, visit); err != nil {
		return t.rep, fmt.Errorf("dataset: CSV: %w", err)
	}
	return t.rep, nil
}
