package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Setting is a field of [CSVOptions], with a value if one is meant.
type Setting struct{ Field, Value string }

// String writes a setting as Go does: CSVOptions.Time: "dmy".
func (s Setting) String() string {
	if s.Value == "" {
		return "CSVOptions." + s.Field
	}
	return "CSVOptions." + s.Field + ": " + strconv.Quote(s.Value)
}

// CSVProblem is one thing that is wrong with a csv file.
type CSVProblem struct {
	Line     int    // from 1; 0 for the file as a whole
	Column   string // number and name: column 2 ("y"); "" for a row or the file
	Cell     string // as it is in the file
	Err      error  // what is wrong
	Hint     string // what to do, with a %s for each of Settings; "" for no idea
	Settings []Setting
}

// Text names line and column, what is wrong and what to do; word names the settings.
func (p CSVProblem) Text(word func(Setting) string) string { return p.what() + p.do(word) }

func (p CSVProblem) what() string {
	var where []string
	if p.Line > 0 {
		where = append(where, "line "+strconv.Itoa(p.Line))
	}
	if p.Column != "" {
		where = append(where, p.Column)
	}
	if len(where) == 0 {
		return p.Err.Error()
	}
	return strings.Join(where, ", ") + ": " + p.Err.Error()
}

func (p CSVProblem) do(word func(Setting) string) string {
	if p.Hint == "" {
		return ""
	}
	var words []any
	for _, s := range p.Settings {
		words = append(words, word(s))
	}
	return " (" + fmt.Sprintf(p.Hint, words...) + ")"
}

func (p CSVProblem) Error() string { return p.Text(Setting.String) }
func (p CSVProblem) Unwrap() error { return p.Err }

// CSVError is all that is wrong with a csv file: the first ten problems in the order of their lines, and the number of others.
type CSVError struct {
	Problems []CSVProblem
	More     int
}

// Add adds problems.
func (e *CSVError) Add(problems ...CSVProblem) {
	const most = 10
	e.Problems = append(e.Problems, problems...)
	slices.SortStableFunc(e.Problems, func(a, b CSVProblem) int { return cmp.Compare(a.Line, b.Line) })
	e.More += max(0, len(e.Problems)-most)
	e.Problems = e.Problems[:min(len(e.Problems), most)]
}

// Error names all problems on one line.
func (e *CSVError) Error() string {
	title, lines := e.Lines(Setting.String)
	return strings.TrimSpace(title + " " + strings.Join(lines, "; "))
}

// Lines returns a title and a line for each problem; no title for one problem alone. A hint is given once; word names settings.
func (e *CSVError) Lines(word func(Setting) string) (title string, lines []string) {
	given := map[string]bool{}
	for _, p := range e.Problems {
		line := p.what()
		if do := p.do(word); !given[do] {
			line, given[do] = line+do, true
		}
		lines = append(lines, line)
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	if n := len(e.Problems) + e.More; n > 1 {
		title = fmt.Sprintf("%d things are wrong:", n)
	}
	return title, lines
}

// Unwrap returns the problems.
func (e *CSVError) Unwrap() (all []error) {
	for _, p := range e.Problems {
		all = append(all, p)
	}
	return all
}

// problem is one whose place its finder adds.
func problem(format string, args ...any) *CSVProblem {
	return &CSVProblem{Err: fmt.Errorf(format, args...)}
}

// hint adds what to do.
func (p *CSVProblem) hint(text string, settings ...Setting) *CSVProblem {
	p.Hint, p.Settings = text, settings
	return p
}

// whole is the error of a problem of the file as a whole.
func (p *CSVProblem) whole() error { return &CSVError{Problems: []CSVProblem{*p}} }
