package series

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// setKnown sets the regressors: at the observations, from rows without y, and from the future file if there is one.
func (s *Series) setKnown(o ReadOptions, rep dataset.CSVReport, x []float64) error {
	m := rep.Also
	first, names := len(m.Names)-len(o.Regressors), o.regressorNames(m)
	var rows []knownRow
	add := func(x float64, line string, columns [][]float64, i int) {
		// Rows that lack a regressor are left out.
		if r := knownRowAt(s.Axis.place(x), columns, i, line); !slices.ContainsFunc(r.values, math.IsNaN) {
			rows = append(rows, r)
		}
	}
	for i, at := range x {
		add(at, fmt.Sprintf("line %d", m.Lines[i]), m.Values[first:], i)
	}
	for i, at := range m.Open.X {
		before := len(rows)
		add(at, fmt.Sprintf("line %d", m.Open.Lines[i]), m.Open.Values[first:], i)
		if len(rows) > before && rows[before].x > s.X[len(s.X)-1] {
			s.Source.Ahead++
		}
	}
	if o.Future != "" {
		future, err := o.futureOf(names, rep)
		if err != nil {
			return futureError{err}
		}
		for i, at := range future.x {
			add(at, fmt.Sprintf("%s, line %d", dataset.Shown(o.Future), future.lines[i]), future.values, i)
		}
	}
	var err error
	s.Known, err = newKnown(names, rows)
	return err
}

// futureOf returns the future values of regressors.
func (o ReadOptions) futureOf(names []string, rep dataset.CSVReport) (futureRows, error) {
	if o.future != nil {
		return *o.future, nil
	}
	if name := rep.Columns[rep.X]; name != "" && !o.NoHeader {
		o.X = name
	}
	if rep.Headless {
		names = o.Regressors // numbers of columns
	}
	return readFuture(o, names, rep.Time, true)
}

// AddFuture adds the values of the regressors in a csv file to the known ones; after the last observation they replace these. The
// options say how the file is written; o.X is the column of x, by default the one with the name of the axis.
func (s *Series) AddFuture(path string, o ReadOptions) error {
	k, name := s.Known, dataset.Shown(path)
	if k == nil {
		return errors.New("the model has no regressors, so it needs no future values")
	}
	if o.NoHeader {
		return fmt.Errorf("%s needs a header: its columns are found by their names, %s and %s",
			name, s.Axis.column(), strings.Join(k.Names, ", "))
	}
	o.By = nil
	o.X, o.Regressors, o.Future = cmp.Or(o.X, s.Axis.column()), k.Names, path
	o.Backward = s.Axis.Backward
	future, err := readFuture(o, k.Names, o.Time, s.Axis.Dates)
	if err != nil {
		return err
	}
	if err := s.checkDates(future.dates, future.lines[0], future.x[0]); err != nil {
		return fmt.Errorf("%s, %w", name, err)
	}
	var rows []knownRow
	for i, x := range future.x {
		rows = append(rows, knownRowAt(s.Axis.place(x), future.values, i, fmt.Sprintf("%s, line %d", name, future.lines[i])))
	}
	added, err := k.join(rows, s.X[len(s.X)-1])
	if err != nil {
		return err
	}
	s.Known = added
	return nil
}

// futureError is an error in the file of future values, as opposed to the file of the observations.
type futureError struct{ error }

// readFuture reads regressors from a file without y. o names the column of x or gives its number; the others have the given
// names. Unless dates is set, numbers do not stand for dates.
func readFuture(o ReadOptions, names []string, format dataset.TimeFormat, dates bool) (futureRows, error) {
	opt := o.csv()
	if o.NoHeader {
		names = o.Regressors
	}
	opt.Y, opt.Also, opt.Time, opt.NumberDates = names[0], names, format, dates
	s, rep, err := dataset.ReadCSVReport(context.Background(), o.Future, opt)
	if err != nil {
		return futureRows{}, errors.New(strings.TrimPrefix(err.Error(), "dataset: "))
	}
	if s.Len() == 0 {
		return futureRows{}, errors.New("no rows")
	}
	if len(o.By) == 0 {
		if err := o.OneSeries(rep); err != nil {
			return futureRows{}, fmt.Errorf("%s: %w", dataset.Shown(o.Future), err)
		}
	}
	f := futureRows{s.X, rep.Also.Lines, rep.Also.Values, rep.Time != dataset.TimeNumber,
		rowsOf(rep.Also.KeyTexts, rep.Also.Keys, s.Len()).of}
	for j, values := range f.values {
		for i, v := range values {
			if math.IsNaN(v) {
				return f, fmt.Errorf("%s, line %d: the regressor %s is missing", dataset.Shown(o.Future), f.lines[i], names[j])
			}
		}
	}
	return f, nil
}
