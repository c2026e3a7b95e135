package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Setting is a field of [CSVOptions], or of the options that a [Message] names, with a value if one is meant.
type Setting struct{ Field, Value string }

// String writes a setting as Go does: CSVOptions.Time: "dmy".
func (s Setting) String() string {
	if s.Value == "" {
		return "CSVOptions." + s.Field
	}
	return "CSVOptions." + s.Field + ": " + strconv.Quote(s.Value)
}

// Message is a sentence, or an error, that names settings: Format and Args are as for [fmt.Sprintf]. A [Setting] among Args is a
// field of the options Of. Errors among Args, a Message too, are part of the text, and Unwrap returns them.
type Message struct {
	Of     string // type of the options: ReadOptions; "" for CSVOptions
	Format string
	Args   []any
}

// Words returns the sentence, with settings written by word.
func (m Message) Words(word func(Setting) string) string {
	args := slices.Clone(m.Args)
	for i, arg := range args {
		switch arg := arg.(type) {
		case Setting:
			args[i] = word(arg)
		case error:
			args[i] = Words(arg, word)
		}
	}
	return fmt.Sprintf(m.Format, args...)
}

// String names settings as Go does: ReadOptions.Time: "dmy".
func (m Message) String() string {
	args := slices.Clone(m.Args)
	for i, arg := range args {
		if s, is := arg.(Setting); is && m.Of != "" {
			args[i] = m.Of + strings.TrimPrefix(s.String(), "CSVOptions")
		}
	}
	return fmt.Sprintf(m.Format, args...)
}

func (m Message) Error() string { return m.String() }

// Unwrap returns the errors among the arguments.
func (m Message) Unwrap() (all []error) {
	for _, arg := range m.Args {
		if err, is := arg.(error); is {
			all = append(all, err)
		}
	}
	return all
}

// Words returns the text of an error, with settings written by word, however often the error was wrapped by %w.
func Words(err error, word func(Setting) string) string {
	var inner []error
	switch e := err.(type) {
	case interface {
		Words(func(Setting) string) string
	}:
		return e.Words(word)
	case interface{ Unwrap() error }:
		inner = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		inner = e.Unwrap()
	}
	text := err.Error()
	for _, e := range inner {
		if e != nil {
			text = strings.Replace(text, e.Error(), Words(e, word), 1)
		}
	}
	return text
}

// CSVProblem is one fault of a csv file.
type CSVProblem struct {
	Line   int    // number of the line, from 1; 0 for the file as a whole
	Column string // number and name: column 2 ("y"); "" for a row or the file
	Cell   string // text of the cell in the file
	Err    error  // the problem
	Hint   Message
}

// Words names line and column, and says what is wrong and what to do, with settings written by word.
func (p CSVProblem) Words(word func(Setting) string) string {
	what, do := p.parts(word)
	return what + do
}

// parts returns where the problem is and what is wrong, and what to do.
func (p CSVProblem) parts(word func(Setting) string) (what, do string) {
	what = Words(p.Err, word)
	if p.Column != "" {
		what = p.Column + ": " + what
	}
	switch {
	case p.Line > 0 && p.Column != "":
		what = fmt.Sprintf("line %d, %s", p.Line, what)
	case p.Line > 0:
		what = fmt.Sprintf("line %d: %s", p.Line, what)
	}
	if p.Hint.Format != "" {
		do = " (" + p.Hint.Words(word) + ")"
	}
	return what, do
}

func (p CSVProblem) Error() string { return p.Words(Setting.String) }
func (p CSVProblem) Unwrap() error { return p.Err }

// problem returns a problem without a place, which its finder adds.
func problem(format string, args ...any) *CSVProblem {
	return &CSVProblem{Err: fmt.Errorf(format, args...)}
}

// hint adds what to do.
func (p *CSVProblem) hint(format string, args ...any) *CSVProblem {
	p.Hint = Message{Format: format, Args: args}
	return p
}

// whole returns the error of a problem of the file as a whole.
func (p *CSVProblem) whole() error { return &CSVError{Problems: []CSVProblem{*p}} }

// CSVError holds the first ten problems of a csv file in the order of their lines, and the number of the others.
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

// Lines returns a title and a line for each problem; no title for one problem alone. A hint is given once. word writes settings.
func (e *CSVError) Lines(word func(Setting) string) (title string, lines []string) {
	given := map[string]bool{}
	for _, p := range e.Problems {
		line, do := p.parts(word)
		if !given[do] {
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

// Words names all problems on one line.
func (e *CSVError) Words(word func(Setting) string) string {
	title, lines := e.Lines(word)
	return strings.TrimSpace(title + " " + strings.Join(lines, "; "))
}

func (e *CSVError) Error() string { return e.Words(Setting.String) }

// Unwrap returns the problems.
func (e *CSVError) Unwrap() (all []error) {
	for _, p := range e.Problems {
		all = append(all, p)
	}
	return all
}

// quoted quotes the beginning of a text for a message: text may be long, as binary data read by mistake tends to be.
func quoted(text string) string {
	const most = 40 // bytes
	if len(text) <= most {
		return strconv.Quote(text)
	}
	return strconv.Quote(strings.ToValidUTF8(text[:most], "")) + "…"
}
