package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Bounds of what is told of a file that cannot be read.
const (
	mostBad  = 10      // rows that are told
	fewBad   = 1       // of them if no row can be read: then the column is wrong, or its form
	mostLine = 100_000 // rows whose lines are remembered, for those with equal x
)

// CSVRowsError is all that is wrong with the rows of a file: the first of them, in their order, and the number of the others.
type CSVRowsError struct {
	Rows []CSVRowError
	More int
	// End is an error that ended the reading below these rows; nil if all rows were read.
	End error
}

// Error is that of the row if there is one, or names all on one line.
func (e *CSVRowsError) Error() string {
	title, lines := e.Lines()
	if title == "" {
		return lines[0]
	}
	return title + " " + strings.Join(lines, "; ")
}

// Lines returns a title and an entry for each row, and for what else there is; no title for one row alone. A hint in parentheses
// is given once.
func (e *CSVRowsError) Lines() (title string, lines []string) {
	hints := map[string]bool{}
	for _, row := range e.Rows {
		line := row.Error()
		if at := strings.LastIndex(line, " ("); at > 0 && strings.HasSuffix(line, ")") {
			if hint := line[at:]; hints[hint] {
				line = line[:at]
			} else {
				hints[hint] = true
			}
		}
		lines = append(lines, line)
	}
	if e.End != nil {
		lines = append(lines, e.End.Error())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	if len(e.Rows)+e.More > 1 || e.End != nil {
		n := len(e.Rows) + e.More
		if e.End != nil {
			n++
		}
		title = fmt.Sprintf("%d things are wrong:", n)
	}
	return title, lines
}

// Unwrap returns the error of the first row.
func (e *CSVRowsError) Unwrap() error { return e.Rows[0] }

// Add adds rows, of which the first mostBad are told.
func (e *CSVRowsError) Add(rows ...CSVRowError) {
	e.Rows = append(e.Rows, rows...)
	slices.SortStableFunc(e.Rows, func(a, b CSVRowError) int { return cmp.Compare(a.Line, b.Line) })
	e.cut(mostBad)
}

// Words is the text of a line below the table that is no row of it.
func (e CSVRowError) Words() string { return e.words }

func (e *CSVRowsError) cut(most int) {
	if more := len(e.Rows) - most; more > 0 {
		e.Rows, e.More = e.Rows[:most], e.More+more
	}
}

// withRepeats adds the rows whose x is that of another row, if they are few: they are no errors, but whoever edits the file looks
// at them. Where dates are read in the wrong order, equal ones tell nothing.
func (e *CSVRowsError) withRepeats(x []float64, lines []int, column string) {
	if slices.ContainsFunc(e.Rows, func(r CSVRowError) bool { return r.turn }) {
		return
	}
	x = x[:min(len(x), len(lines))]
	first := map[float64]int{}
	var repeats []CSVRowError
	for i, v := range x {
		if line, met := first[v]; met {
			err := fmt.Errorf("the x of line %d once more (both are used; remove one if they are the same observation)", line)
			repeats = append(repeats, CSVRowError{Line: lines[i], Err: cellError{column, err}})
		} else {
			first[v] = lines[i]
		}
	}
	if len(repeats) <= max(1, len(x)/10) {
		e.Add(repeats...)
	}
}

// severalErrors are errors that are told together, on one line.
type severalErrors []error

// add takes an error; nil is none.
func (all *severalErrors) add(err error) {
	if err != nil {
		*all = append(*all, err)
	}
}

func (all severalErrors) Unwrap() []error { return all }

func (all severalErrors) Error() string {
	var texts []string
	for _, err := range all {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "; ")
}
