package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// seriesReader reads the columns of a table into a series, row by row.
type seriesReader struct {
	opt     CSVOptions
	rows    *rowReader
	s       Series
	rep     CSVReport
	missing map[string]bool
	parseX  func(string) (float64, error) // nil until the form of x is known
	order   orderColumn
	more    CSVMore
}

// readCSV reads a table whose separator is found if find is set and Comma is 0.
func readCSV(text io.Reader, opt CSVOptions, find bool) (Series, CSVReport, error) {
	r := seriesReader{missing: map[string]bool{"": true}}
	for _, m := range opt.Missing {
		r.missing[m] = true
	}
	var err error
	r.rows, err = newRowReader(text, &opt, find)
	r.opt, r.rep.Comma, r.rep.Comment = opt, opt.Comma, opt.Comment
	if err == nil {
		err = r.read()
	}
	if err != nil {
		return Series{}, r.rep, err
	}
	return r.s, r.rep, nil
}

func (r *seriesReader) read() error {
	row, err := r.rows.next()
	if err == io.EOF {
		return errors.New("the file is empty")
	}
	if err != nil {
		return err
	}
	if err := r.header(row); err != nil {
		return err
	}
	if !r.opt.NoHeader {
		row, err = r.rows.next()
	}
	for ; err != io.EOF; row, err = r.rows.next() {
		if err != nil {
			return err
		}
		if col, err := r.add(row); err != nil {
			line, _ := r.rows.table.FieldPos(col)
			return r.at(line, col, err)
		}
	}
	return r.finish()
}

// at says where an error is.
func (r *seriesReader) at(line, col int, err error) error {
	return fmt.Errorf("line %d, %s: %w", line, columnName(r.rep.Columns, col), err)
}

// header finds the columns.
func (r *seriesReader) header(row []string) (err error) {
	names := make([]string, len(row))
	r.opt.header(names, row)
	x, err := column(names, r.opt.X, 1)
	if err != nil {
		return fmt.Errorf("x: %w", err)
	}
	y, err := column(names, r.opt.Y, 2)
	if err != nil {
		return fmt.Errorf("y: %w", err)
	}
	r.rep.X, r.rep.Y, r.rep.Columns, r.rep.Time = x, y, names, r.opt.Time
	r.s.XName, r.s.YName = names[x], names[y]
	r.parseX = r.opt.parser(r.opt.Time, &r.s)
	r.more, err = newMore(names, r.opt.Also)
	return err
}

// header fills in the names of the columns, of which row is the first line of the table.
func (opt CSVOptions) header(names, row []string) {
	from := row
	if opt.NoHeader {
		from = opt.names
	}
	for i, name := range from {
		if i < len(names) {
			names[i] = nameText(name)
		}
	}
}

// add reads a row. An error is of the column with the index col.
func (r *seriesReader) add(row []string) (col int, err error) {
	x, y := strings.TrimSpace(row[r.rep.X]), strings.TrimSpace(row[r.rep.Y])
	if noX, noY := r.missing[x], r.missing[y]; noX || noY {
		if !r.opt.SkipMissing {
			col, text := r.rep.Y, y
			if noX {
				col, text = r.rep.X, x
			}
			return col, fmt.Errorf("missing value %s (CSVOptions.SkipMissing leaves such rows out)", quoted(text))
		}
		r.rep.Skipped++
		if noX || len(r.opt.Also) == 0 {
			return 0, nil
		}
	}
	at, err := r.x(x)
	if err != nil {
		return r.rep.X, err
	}
	value, err := r.y(y)
	if err != nil {
		return r.rep.Y, err
	}
	if r.opt.MaxRows > 0 && len(r.s.X) >= r.opt.MaxRows {
		return r.rep.X, ErrTooManyRows
	}
	r.s.X, r.s.Y = append(r.s.X, at), append(r.s.Y, value)
	line, _ := r.rows.table.FieldPos(0)
	return r.more.add(r.y, line, row)
}

// x reads an x; of dates that may have the day or the month first it is 0 until finish.
func (r *seriesReader) x(text string) (v float64, err error) {
	if r.rep.Time == TimeAuto {
		if r.rep.Time = dateFormat(text); r.rep.Time == TimeAuto {
			r.rep.Time = TimeNumber
		}
	}
	if r.rep.Time == timeSlashes {
		if r.rep.Time, err = orderOf(text); err != nil {
			return 0, r.opt.explain(err, text, timeSlashes, false)
		}
	}
	if r.rep.Time == timeSlashes {
		line, _ := r.rows.table.FieldPos(r.rep.X)
		r.order.waiting = append(r.order.waiting, waitingDate{len(r.s.X), line, strings.Clone(text)})
		return 0, nil
	}
	if r.parseX == nil {
		r.parseX = r.opt.parser(r.rep.Time, &r.s)
	}
	if v, err = r.parseX(text); err != nil {
		return 0, r.opt.explain(err, text, r.rep.Time, len(r.s.X) == 0)
	}
	if r.rep.Time == TimeNumber && r.opt.beyond(v) {
		return 0, r.opt.limitError(text)
	}
	r.rep.ShortYears = r.rep.ShortYears || r.rep.Time == TimeNamed && hasShortYear(text)
	return v, nil
}

// y reads a y; NaN if it is missing.
func (r *seriesReader) y(text string) (float64, error) {
	if r.missing[text] {
		return math.NaN(), nil
	}
	v, err := r.opt.number(text)
	if err != nil {
		return 0, fmt.Errorf("%w%s", err, r.opt.numberHint(text))
	}
	if r.opt.beyond(v) {
		return 0, r.opt.limitError(text)
	}
	return v, nil
}

// finish settles what only the whole column tells.
func (r *seriesReader) finish() (err error) {
	if r.rep.Time == timeSlashes {
		if r.rep.Time, err = r.order.undecided(columnName(r.rep.Columns, r.rep.X)); err != nil {
			return err
		}
		r.parseX = r.opt.parser(r.rep.Time, &r.s)
	}
	for _, w := range r.order.waiting {
		if r.s.X[w.index], err = r.parseX(w.text); err != nil {
			return r.at(w.line, r.rep.X, err)
		}
	}
	r.rep.Also = r.more.split(&r.s)
	if r.s.Len() == 0 {
		return errors.New("no rows with both x and y")
	}
	if r.rep.ShortYears {
		if err := checkShort(r.s.X, r.opt.Seconds); err != nil {
			return err
		}
	}
	r.rep.Rows = r.s.Len() + r.rep.Skipped
	return nil
}
