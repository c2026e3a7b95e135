package dataset

import (
	"fmt"
	"slices"
	"strings"
)

// Message is a sentence, or an error, that names settings: Format and Args are as for [fmt.Sprintf]. A [Setting] among Args is a
// field of the options Of. Errors among Args, a Message too, are part of the text, and Unwrap returns them.
type Message struct {
	Of     string // the type of the options: ReadOptions
	Format string
	Args   []any
}

// Words returns the sentence; word names its settings.
func (m Message) Words(word func(Setting) string) string {
	return m.text(word, func(err error) string { return Words(err, word) })
}

// String names settings as Go does: ReadOptions.Time: "dmy".
func (m Message) String() string {
	return m.text(func(s Setting) string { return m.Of + strings.TrimPrefix(s.String(), "CSVOptions") }, error.Error)
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

func (m Message) text(word func(Setting) string, inner func(error) string) string {
	args := slices.Clone(m.Args)
	for i, arg := range args {
		switch arg := arg.(type) {
		case Setting:
			args[i] = word(arg)
		case error:
			args[i] = inner(arg)
		}
	}
	return fmt.Sprintf(m.Format, args...)
}

// Words returns the text of an error in which word names the settings, as [CSVError.Lines] and [Message.Words] do, however often
// the error was wrapped by %w.
func Words(err error, word func(Setting) string) string {
	text := err.Error()
	switch e := err.(type) {
	case *CSVError:
		title, lines := e.Lines(word)
		return strings.TrimSpace(title + " " + strings.Join(lines, "; "))
	case CSVProblem:
		return e.Text(word)
	case interface {
		Words(func(Setting) string) string
	}:
		return e.Words(word)
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return strings.Replace(text, inner.Error(), Words(inner, word), 1)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			text = strings.Replace(text, inner.Error(), Words(inner, word), 1)
		}
	}
	return text
}
