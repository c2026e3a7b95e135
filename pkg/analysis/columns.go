package analysis

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// also are the further columns that the options ask for: the errors first, then the regressors.
func (o ReadOptions) also() (columns []string) {
	if o.YError != "" {
		columns = append(columns, o.YError)
	}
	return append(columns, o.Regressors...)
}

// checkColumns refuses columns that are asked for twice.
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
	name := orElse(m.Names[0], fmt.Sprintf("column %d", m.Columns[0]+1))
	for _, i := range order {
		v := m.Values[0][i]
		wrong := ""
		switch {
		case math.IsNaN(v):
			wrong = "is missing where y is there: leave y of that row empty too, or fill it in"
		case v < 0:
			wrong = fmt.Sprintf("is %v: a standard deviation is positive", v)
		case v == 0:
			wrong = "is 0: no observation is exact; write the smallest error that is possible, or leave the row out"
		}
		if wrong != "" {
			return fmt.Errorf("line %d: the error of y (%s) %s", m.Lines[i], name, wrong)
		}
		s.Errors = append(s.Errors, v)
	}
	s.ErrorName = name
	return nil
}

// setKnown takes the regressors: at the observations, in rows without y, and in the future file if there is one. seconds, unless nil,
// makes dates of x that are numbers.
func (s *Series) setKnown(o ReadOptions, rep dataset.CSVReport, x []float64, place func(float64) float64, seconds func(float64) float64) error {
	m := rep.Also
	first := len(m.Names) - len(o.Regressors)
	names := slices.Clone(m.Names[first:])
	for j := range names {
		names[j] = orElse(names[j], fmt.Sprintf("column %d", m.Columns[first+j]+1))
	}
	var rows []knownRow
	add := func(x float64, line string, of [][]float64, i int, must bool) error {
		r := knownRow{x: place(x), line: line}
		for j, name := range names {
			v := of[first+j][i]
			if math.IsNaN(v) && !must {
				return nil // nothing is known there
			}
			if math.IsNaN(v) {
				return fmt.Errorf("%s: the regressor %s is missing where y is there: leave y of that row empty too, or fill it in", line, name)
			}
			r.values = append(r.values, v)
		}
		if math.IsNaN(r.x) {
			return fmt.Errorf("%s: x is not a date like the others", line)
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
		if seconds != nil {
			at = seconds(at)
		}
		before := len(rows)
		if err := add(at, fmt.Sprintf("line %d", m.OpenLines[i]), m.OpenValues, i, false); err != nil {
			return err
		}
		if len(rows) > before && rows[before].x > s.X[len(s.X)-1] {
			s.Source.Ahead++
		}
	}
	if o.Future != "" {
		format := rep.Time
		if seconds != nil {
			format = dataset.TimeNumber
		}
		future, err := readFuture(o, names, format)
		if err != nil {
			return err
		}
		first = 0
		for i, at := range future.x {
			if seconds != nil {
				at = seconds(at)
			}
			if err := add(at, fmt.Sprintf("%s, line %d", o.Future, future.lines[i]), future.values, i, true); err != nil {
				return err
			}
		}
	}
	var err error
	s.Known, err = newKnown(names, rows)
	return err
}

// futureRows are what a file says of regressors.
type futureRows struct {
	x      []float64 // seconds where they are dates
	lines  []int
	values [][]float64
}

// readFuture reads regressors from a file without y: the column of x by its name or number as in o, the others by name.
func readFuture(o ReadOptions, names []string, format dataset.TimeFormat) (futureRows, error) {
	opt := o.csv()
	if o.NoHeader {
		names = o.Regressors
	}
	opt.Y, opt.Also, opt.Time = names[0], names, format
	s, rep, err := dataset.ReadCSVReport(o.Future, opt)
	if err != nil {
		return futureRows{}, err
	}
	if s.Len() == 0 {
		return futureRows{}, errors.New("no rows")
	}
	return futureRows{s.X, rep.Also.Lines, rep.Also.Values}, nil
}
