package dataset

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// rowReader reads the rows of a table, each with as many fields as the first.
type rowReader struct {
	table  *csv.Reader
	width  int // of the first row; 0 before it
	before int // lines before those that table reads
}

// newRowReader decodes r. With find, it sets opt.Comma where that is 0.
func newRowReader(r io.Reader, opt *CSVOptions, find bool) (*rowReader, error) {
	r, err := tableText(r, opt, find)
	if err != nil {
		return nil, err
	}
	return rowsOf(r, opt), nil
}

// tableText decodes r to lines of fields with one character between them, and sets opt.Comma where that is 0: to what is found, or
// to a comma.
func tableText(r io.Reader, opt *CSVOptions, find bool) (io.Reader, error) {
	text, err := decoded(r)
	if err != nil {
		return nil, err
	}
	if find && opt.Comment == 0 {
		comments(text, opt)
	}
	switch {
	case opt.Comma == 0 && find:
		if opt.Comma = separator(text, *opt); opt.Comma == opt.Comment {
			return nil, fmt.Errorf("fields are separated by %q, which also starts comments", opt.Comma)
		}
	case opt.Comma == 0:
		opt.Comma = ','
	}
	if opt.Comma == ' ' {
		return &blankReader{r: text}, nil
	}
	return text, nil
}

// rowsOf reads rows from what tableText returned.
func rowsOf(r io.Reader, opt *CSVOptions) *rowReader {
	table := csv.NewReader(r)
	table.ReuseRecord, table.FieldsPerRecord = true, -1
	table.Comma, table.Comment = opt.Comma, opt.Comment
	return &rowReader{table: table}
}

// next returns the next row that is not blank, or io.EOF.
func (r *rowReader) next() ([]string, error) {
	for {
		row, err := r.table.Read()
		if err != nil {
			return nil, syntax(err, r.before)
		}
		if len(row) == 1 && strings.TrimSpace(row[0]) == "" {
			if r.width != 1 {
				continue
			}
		}
		if r.width == 0 {
			r.width = len(row)
		}
		if len(row) < r.width || strings.TrimSpace(strings.Join(row[r.width:], "")) != "" {
			return nil, r.ragged(row)
		}
		return row[:r.width], nil
	}
}

// ragged says which row has another number of fields than the first.
func (r *rowReader) ragged(row []string) error {
	line, _ := r.table.FieldPos(0)
	hint := ""
	if len(row) == 1 {
		for _, c := range ",;\t|" {
			if c != r.table.Comma && strings.ContainsRune(row[0], c) {
				hint = fmt.Sprintf(" (are fields separated by %q there, and by %q before?)", c, r.table.Comma)
				break
			}
		}
	}
	return rowError{line, fmt.Errorf("wrong number of fields: %d, where the first line has %d: %s%s",
		len(row), r.width, quoted(strings.Join(row, string(r.table.Comma))), hint)}
}

// rowError is an error of one row, after which the next can be read.
type rowError struct {
	line int // as the table counts them
	error
}

func (e rowError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.error) }
func (e rowError) Unwrap() error { return e.error }

// syntax puts an error of encoding/csv, which began to read after some lines, in words.
func syntax(err error, before int) error {
	var parse *csv.ParseError
	switch {
	case !errors.As(err, &parse):
		return err
	case errors.Is(err, csv.ErrBareQuote):
		return rowError{parse.Line, errors.New("a quotation mark \" within a field: remove it, or double it and quote the field")}
	case errors.Is(err, csv.ErrQuote):
		open := fmt.Errorf("a field that a quotation mark \" opens is not closed as it should be, up to line %d", parse.Line+before)
		if parse.StartLine == parse.Line {
			return rowError{parse.Line, open}
		}
		return fmt.Errorf("line %d: %w", parse.StartLine+before, open)
	}
	return err
}
