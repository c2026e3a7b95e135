package forecast

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// also returns the further columns to read: the errors first, then the regressors.
func (o ReadOptions) also() (columns []string) {
	if o.YError != "" {
		columns = append(columns, o.YError)
	}
	return append(columns, o.Regressors...)
}

// checkColumns returns an error if one column has two roles.
func (o ReadOptions) checkColumns(rep dataset.CSVReport) error {
	taken := map[int]string{rep.X: "x", rep.Y: "y"}
	for i, col := range rep.Also.Columns {
		role := "a regressor"
		if i == 0 && o.YError != "" {
			role = "the error of y"
		}
		if before, ok := taken[col]; ok {
			return fmt.Errorf("column %d (%q) is %s and cannot be %s too: choose another for one of them", col+1, rep.Also.Names[i], before, role)
		}
		taken[col] = role
	}
	return nil
}

// setErrors takes the standard deviations of the observations, in the given order.
func (s *Series) setErrors(m dataset.CSVMore, order []int) error {
	name := cmp.Or(m.Names[0], fmt.Sprintf("column %d", m.Columns[0]+1))
	for _, i := range order {
		v := m.Values[0][i]
		wrong := ""
		switch {
		case math.IsNaN(v):
			wrong = "is missing although the row has a y: fill it in, or leave y of that row empty too"
		case v < 0:
			wrong = fmt.Sprintf("is %v: a standard deviation is positive", v)
		case v == 0:
			wrong = "is 0, but no observation is exact: write the smallest possible error, or remove the row"
		}
		if wrong != "" {
			return fmt.Errorf("line %d: the error of y (%s) %s", m.Lines[i], name, wrong)
		}
		s.Errors = append(s.Errors, v)
	}
	s.ErrorName = name
	return nil
}

// setKnown takes the regressors: at the observations, from rows without y, and from the future file if there is one.
func (s *Series) setKnown(o ReadOptions, rep dataset.CSVReport, x []float64, place func(float64) float64) error {
	m := rep.Also
	first := len(m.Names) - len(o.Regressors)
	names := slices.Clone(m.Names[first:])
	for j := range names {
		names[j] = cmp.Or(names[j], fmt.Sprintf("column %d", m.Columns[first+j]+1))
	}
	var rows []knownRow
	add := func(x float64, line string, of [][]float64, i int, must bool) error {
		r := knownRow{x: place(x), line: line}
		for j, name := range names {
			v := of[first+j][i]
			if math.IsNaN(v) && !must {
				return nil // a row without all regressors is left out
			}
			if math.IsNaN(v) {
				return fmt.Errorf("%s: the regressor %s is missing although the row has a y: fill it in, or leave y of that row empty too", line, name)
			}
			r.values = append(r.values, v)
		}
		rows = append(rows, r)
		return nil
	}
	for i, at := range x {
		if err := add(at, fmt.Sprintf("line %d", m.Lines[i]), m.Values, i, true); err != nil {
			return err
		}
	}
	for i, at := range m.OpenX {
		before := len(rows)
		if err := add(at, fmt.Sprintf("line %d", m.OpenLines[i]), m.OpenValues, i, false); err != nil {
			return err
		}
		if len(rows) > before && rows[before].x > s.X[len(s.X)-1] {
			s.Source.Ahead++
		}
	}
	if o.Future != "" {
		if name := rep.Columns[rep.X]; name != "" && !o.NoHeader {
			o.X = name
		}
		future, err := readFuture(o, names, rep.Time, true)
		if err != nil {
			return futureError{err}
		}
		first = 0
		for i, at := range future.x {
			if err := add(at, fmt.Sprintf("%s, line %d", o.Future, future.lines[i]), future.values, i, true); err != nil {
				return err
			}
		}
	}
	var err error
	s.Known, err = newKnown(names, rows)
	return err
}

// AddFuture adds the values of the regressors in a csv file to the known ones. The options say how the file is written; o.X is the
// column of x, by default the one with the name of the axis.
func (s *Series) AddFuture(path string, o ReadOptions) error {
	k := s.Known
	if k == nil {
		return errors.New("forecast: the model has no regressors, so it needs no future values")
	}
	if o.NoHeader {
		return fmt.Errorf("forecast: %s needs a header: its columns are found by their names, %s and %s", path, s.Axis.Name, strings.Join(k.Names, ", "))
	}
	o.X, o.Regressors, o.Future = cmp.Or(o.X, s.Axis.Name), k.Names, path
	future, err := readFuture(o, k.Names, o.Time, s.Axis.Dates)
	if err != nil {
		return fmt.Errorf("forecast: %w", err)
	}
	if s.Axis.Dates && !future.dates {
		return fmt.Errorf("forecast: %s, line %d: x is %v, but the model has dates, such as %s", path, future.lines[0], future.x[0], s.Axis.Text(s.X[0]))
	}
	if !s.Axis.Dates && future.dates {
		return fmt.Errorf("forecast: %s, line %d: x is a date, but the model has numbers, such as %s", path, future.lines[0], s.Axis.Text(s.X[0]))
	}
	var rows []knownRow
	row := func(x float64, values [][]float64, i int, line string) {
		r := knownRow{x: x, line: line}
		for j := range k.Names {
			r.values = append(r.values, values[j][i])
		}
		rows = append(rows, r)
	}
	for i, x := range k.X {
		row(x, k.Values, i, "the model")
	}
	for i, x := range future.x {
		if s.Axis.Dates {
			x = s.Axis.fromSeconds(x)
		}
		row(x, future.values, i, fmt.Sprintf("%s, line %d", path, future.lines[i]))
	}
	added, err := newKnown(k.Names, rows)
	if err != nil {
		return fmt.Errorf("forecast: %w", err)
	}
	added.Centre, added.Scale = k.Centre, k.Scale
	s.Known = added
	return nil
}

// futureError is an error in the file of future values, not in that of the observations.
type futureError struct{ error }

// futureRows are the regressors in a file of future values.
type futureRows struct {
	x      []float64 // in seconds if they are dates
	lines  []int
	values [][]float64
	dates  bool
}

// readFuture reads regressors from a file without y: the column of x by its name or number as in o, the others by name.
// Without dates, numbers do not stand for dates.
func readFuture(o ReadOptions, names []string, format dataset.TimeFormat, dates bool) (futureRows, error) {
	opt := o.csv()
	if o.NoHeader {
		names = o.Regressors
	}
	opt.Y, opt.Also, opt.Time, opt.NumberDates = names[0], names, format, dates
	s, rep, err := dataset.ReadCSVReport(o.Future, opt)
	if err != nil {
		return futureRows{}, errors.New(strings.TrimPrefix(err.Error(), "dataset: "))
	}
	if s.Len() == 0 {
		return futureRows{}, errors.New("no rows")
	}
	f := futureRows{s.X, rep.Also.Lines, rep.Also.Values, rep.Time != dataset.TimeNumber}
	for j, values := range f.values {
		for i, v := range values {
			if math.IsNaN(v) {
				return f, fmt.Errorf("%s, line %d: the regressor %s is missing", o.Future, f.lines[i], names[j])
			}
		}
	}
	return f, nil
}
