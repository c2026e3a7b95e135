package dataset

import (
	"slices"
	"strings"
	"testing"
)

// TestRowNumber: a file without a column of time has the number of the row for x, with a header and without, in one column and in
// several; a column of this name stays what it is.
func TestRowNumber(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		opt  CSVOptions
		x, y []float64
	}{
		"one column":            {"level\n3\n5\n4\n", CSVOptions{X: RowNumber}, []float64{1, 2, 3}, []float64{3, 5, 4}},
		"no header":             {"3\n5\n4\n", CSVOptions{X: RowNumber, NoHeader: true}, []float64{1, 2, 3}, []float64{3, 5, 4}},
		"by name":               {"a,b\n3,0\n5,1\n\n4,0\n", CSVOptions{X: RowNumber, Y: "b"}, []float64{1, 2, 3}, []float64{0, 1, 0}},
		"missing":               {"a,b\n3,0\n,1\n4,0\n", CSVOptions{X: RowNumber, SkipMissing: true}, []float64{1, 3}, []float64{3, 4}},
		"a column of this name": {"row,a\n7,3\n8,5\n9,4\n", CSVOptions{X: RowNumber}, []float64{7, 8, 9}, []float64{3, 5, 4}},
	} {
		s, err := ReadCSV(strings.NewReader(c.text), c.opt)
		if err != nil || !slices.Equal(s.X, c.x) || !slices.Equal(s.Y, c.y) {
			t.Errorf("%s: %v, %v, %v; want %v, %v", name, s.X, s.Y, err, c.x, c.y)
		}
	}
	long := "v\n" + strings.Repeat("1\n", 5000)
	s, err := ReadCSV(strings.NewReader(long), CSVOptions{X: RowNumber})
	if err != nil || s.Len() != 5000 || s.X[4999] != 5000 || s.X[2500] != 2501 {
		t.Errorf("of 5000 rows: %d, %v", s.Len(), err)
	}
}

// TestTitleOfCommas: a title with commas is refused by its line, not by all lines below it.
func TestTitleOfCommas(t *testing.T) {
	_, err := ReadCSV(strings.NewReader("Sales, all stores, 2024\ndate,sales\n2024-01-01,3\n2024-01-02,4\n2024-01-03,5\n"), CSVOptions{})
	if err == nil || !strings.Contains(err.Error(), `line 1: "Sales" has 3 fields, and the rows below have 2 (if it is a title, tail -n +2 FILE`) {
		t.Error(err)
	}
}

// TestTwoLinesAbove: a file is refused with the number of the line if a title has as many commas as the table, or if units stand
// below the header.
func TestTwoLinesAbove(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Report, site 7, 2024\ndate,a,b\n2024-01-01,3,1\n2024-01-02,4,1\n", `line 1: two lines stand above the values, with "Report" and "date" (if ` +
			`it is a title, tail -n +2 FILE leaves it out; if line 2 has units, sed 2d FILE does`},
		{"date,a\nd,m\n2024-01-01,3\n2024-01-02,4\n", `with "date" and "d"`},
	} {
		if _, err := ReadCSV(strings.NewReader(c.text), CSVOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	if _, err := ReadCSV(strings.NewReader("date,a\n2024-01-01,.\n2024-01-02,4\n"), CSVOptions{Missing: []string{"."}, SkipMissing: true}); err != nil {
		t.Error(err)
	}
}

// TestPassedTime: the second column is no y if it says when, as the dates beside it do; it is one by name, beside numbers, or if
// it does not rise.
func TestPassedTime(t *testing.T) {
	const file = "date,decimal_year,co2\n2024-01-07,2024.016,5\n2024-01-14,2024.036,6\n"
	for _, c := range []struct {
		text, y, want, passed string
	}{
		{file, "", "co2", "decimal_year"},
		{file, "decimal_year", "decimal_year", ""},
		{strings.ReplaceAll(file, "decimal_year", "level"), "", "level", ""},
		{strings.ReplaceAll(file, "2024.036", "2024.016"), "", "decimal_year", ""},
		{"t,year,v\n1,2001,5\n2,2002,6\n", "", "year", ""},
		{"date,year\n2024-01-07,1\n2024-01-14,2\n", "", "year", ""},
	} {
		s, rep, err := readCSV(strings.NewReader(c.text), CSVOptions{Y: c.y})
		if err != nil || s.YName != c.want || rep.Passed != c.passed {
			t.Errorf("%q: y is %q, passed %q, %v", c.text, s.YName, rep.Passed, err)
		}
	}
}
