package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// usageError is an error in how the command was called, as opposed to a failure of its work.
type usageError struct{ error }

// message returns the text of an error with flags for settings, without the names of packages and functions in front, on one line
// of at most 500 characters unless it lists the places where a recording was searched.
func message(err error) string {
	sentence := dataset.Words(err, sumflags.Word)
	for {
		rest := sentence
		for _, name := range functions {
			rest = strings.TrimPrefix(rest, name)
		}
		if rest == sentence {
			break
		}
		sentence = rest
	}
	if list := (*dataset.NotFoundError)(nil); errors.As(err, &list) {
		return sentence
	}
	const most = 500
	sentence = text.Printable(strings.ReplaceAll(sentence, "\n", "; "))
	if runes := []rune(sentence); len(runes) > most {
		sentence = string(runes[:most-1]) + "…"
	}
	return sentence
}

// functions are the prefixes that name packages and functions in errors, for callers in Go; message removes them.
var functions = []string{
	"dataset: ", "viz: ", "gppl: ", "CSV: ", "sums.NewPlan: ", "sums.SampleRange: ", "Sums: ",
	"Sums.Merge: ", "Sums.Subtract: ",
}

// say writes a line to standard error.
func say(c *cli.Command, format string, args ...any) {
	fmt.Fprintf(c.Root().ErrWriter, "gppl: %s\n", text.Printable(fmt.Sprintf(format, args...)))
}

// listed does as message, with a line for each row of a file if several are wrong.
func listed(err error) string {
	rows := (*dataset.CSVError)(nil)
	if !errors.As(err, &rows) || len(rows.Problems) < 2 {
		return message(err)
	}
	before, _, _ := strings.Cut(dataset.Words(err, sumflags.Word), dataset.Words(rows, sumflags.Word))
	title, lines := rows.Lines(sumflags.Word)
	text := message(errors.New(before + title))
	for _, line := range lines {
		text += "\n  " + message(errors.New(line))
	}
	return text
}

// firstError remembers the first error of writing, which package cli drops when it writes help.
type firstError struct {
	io.Writer
	err error
}

func (w *firstError) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.err = cmp.Or(w.err, err)
	return n, err
}

// worded is an error with another text.
type worded struct {
	text string
	error
}

func (w worded) Error() string { return w.text }

func (w worded) Unwrap() error { return w.error }
