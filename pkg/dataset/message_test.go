package dataset

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

// TestWords: settings are named as fields of their options, or by the words of a command at any depth of an error.
func TestWords(t *testing.T) {
	word := func(s Setting) string { return "--" + s.Field + s.Value }
	csv := &CSVError{Problems: []CSVProblem{
		{Line: 2, Err: io.EOF, Hint: Message{Format: "%s", Args: []any{Setting{"Time", "dmy"}}}}, {Line: 3, Err: io.EOF},
	}}
	message := Message{"ReadOptions", "%d %% of it: %v reads %v", []any{5, Setting{"Time", "number"}, csv}}
	const goWords = `2 things are wrong: line 2: EOF (CSVOptions.Time: "dmy"); line 3: EOF`
	const words = "2 things are wrong: line 2: EOF (--Timedmy); line 3: EOF"
	for _, c := range []struct {
		err             error
		goWords, worded string
	}{
		{io.EOF, "EOF", "EOF"},
		{csv, goWords, words},
		{message, `5 % of it: ReadOptions.Time: "number" reads ` + goWords, "5 % of it: --Timenumber reads " + words},
		{fmt.Errorf("a: %w", fmt.Errorf("b: %w", csv.Problems[0])), `a: b: line 2: EOF (CSVOptions.Time: "dmy")`,
			"a: b: line 2: EOF (--Timedmy)"},
		{errors.Join(io.EOF, Message{"Options", "%v", []any{Setting{Field: "Log"}}}), "EOF\nOptions.Log", "EOF\n--Log"},
		{Message{Format: "%v: %v", Args: []any{"a", message}}, `a: 5 % of it: ReadOptions.Time: "number" reads ` + goWords,
			"a: 5 % of it: --Timenumber reads " + words},
	} {
		if got := c.err.Error(); got != c.goWords {
			t.Errorf("%q, want %q", got, c.goWords)
		}
		if got := Words(c.err, word); got != c.worded {
			t.Errorf("%q, want %q", got, c.worded)
		}
	}
	if !errors.Is(message, csv) || !errors.Is(fmt.Errorf("a: %w", message), io.EOF) {
		t.Error("a message hides an error among its arguments")
	}
}
