package dataset

import (
	"math"
	"strings"
)

// CSVMore holds the columns of CSVOptions.Also. A missing value is NaN.
type CSVMore struct {
	Names   []string    // in the header
	Columns []int       // from 0
	Lines   []int       // of each observation
	Values  [][]float64 // of each column, at each observation
	// Open are the rows that have an x and no y, with CSVOptions.SkipMissing.
	OpenX      []float64
	OpenLines  []int
	OpenValues [][]float64
}

// newMore finds the columns.
func newMore(names, also []string) (m CSVMore, err error) {
	for _, spec := range also {
		i, err := column(names, spec, len(names)+1)
		if err != nil {
			return m, err
		}
		m.Columns, m.Names = append(m.Columns, i), append(m.Names, names[i])
	}
	m.Values, m.OpenValues = make([][]float64, len(also)), make([][]float64, len(also))
	return m, nil
}

// add reads the columns of a row by what reads a number, NaN if it is missing. An error is of the column with the index col.
func (m *CSVMore) add(number func(string) (float64, error), line int, row []string) (col int, err error) {
	if len(m.Columns) == 0 {
		return 0, nil
	}
	m.Lines = append(m.Lines, line)
	for j, col := range m.Columns {
		v, err := number(strings.TrimSpace(row[col]))
		if err != nil {
			return col, err
		}
		m.Values[j] = append(m.Values[j], v)
	}
	return 0, nil
}

// split takes the rows without y out of s.
func (m *CSVMore) split(s *Series) CSVMore {
	if len(m.Columns) == 0 {
		return CSVMore{}
	}
	n := 0
	for i, y := range s.Y {
		if math.IsNaN(y) {
			m.OpenX, m.OpenLines = append(m.OpenX, s.X[i]), append(m.OpenLines, m.Lines[i])
			for j := range m.Columns {
				m.OpenValues[j] = append(m.OpenValues[j], m.Values[j][i])
			}
			continue
		}
		s.X[n], s.Y[n], m.Lines[n] = s.X[i], y, m.Lines[i]
		for j := range m.Columns {
			m.Values[j][n] = m.Values[j][i]
		}
		n++
	}
	s.X, s.Y, m.Lines = s.X[:n], s.Y[:n], m.Lines[:n]
	for j := range m.Columns {
		m.Values[j] = m.Values[j][:n]
	}
	return *m
}
