// Command gppl takes a csv file with a time series to a Gaussian-process model, a forecast and a report.
//
//	gppl fit data.csv --x date --y value --forecast 24 --report report.html --model model.json
//	gppl compare data.csv --x date --y value
//	gppl backtest data.csv --x date --y value --forecast 24
//	gppl predict model.json --forecast 24 --out forecast.csv
//	gppl update model.json new.csv --model updated.json
//	gppl data sunspots
//	gppl sum january.csv february.csv -o winter.sums
//	gppl fit winter.sums
//
// It exits with 0 if all went well, 1 if something failed, 2 if it was called wrongly, 130 or 143 if SIGINT or SIGTERM ended it.
// Results go to standard output, progress and messages to standard error. Files appear whole or not at all.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/internal/sumflags"
	"github.com/projected-likelihood/gppl/internal/text"
	"github.com/projected-likelihood/gppl/pkg/dataset"
)

func main() {
	os.Exit(run(context.WithValue(machine.UntilSignal(), process{}, true), os.Args, os.Stdout, os.Stderr))
}

// The exit codes.
const (
	exitOK = iota
	exitFailed
	exitUsage
)

// usageError is an error in how the command was called, as opposed to a failure of its work.
type usageError struct{ error }

// run runs the program and returns its exit code; it touches nothing of the process but files.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &firstError{Writer: stdout}
	err := command(out, stderr).Run(ctx, helpFirst(args))
	if err == nil {
		err = out.err
	}
	var usage usageError
	signal, signalled := machine.EndedBy(ctx)
	switch {
	case err == nil:
		return exitOK
	case signalled:
		fmt.Fprintf(stderr, "gppl: %v\n", signal)
		return signal.Code()
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "gppl: %s\nTry gppl --help, or gppl COMMAND --help.\n", message(usage.error))
		return exitUsage
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "gppl: interrupted")
	default:
		fmt.Fprintf(stderr, "gppl: %s\n", listed(err))
	}
	return exitFailed
}

// listed is message, with a line for each row of a file if several are wrong.
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

// firstError remembers the first error of writing: package cli drops those of its help.
type firstError struct {
	io.Writer
	err error
}

func (w *firstError) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.err = cmp.Or(w.err, err)
	return n, err
}

// helpFirst makes --help after a command ask for help about that command: cli would take the words before it for a topic.
func helpFirst(args []string) []string {
	asks := func(a string) bool { return a == "--help" || a == "-h" }
	if len(args) > 2 && !strings.HasPrefix(args[1], "-") && slices.ContainsFunc(args[2:], asks) {
		return []string{args[0], args[1], "--help"}
	}
	return args
}

// functions are the prefixes that name packages and functions in errors, for callers in Go; message removes them.
var functions = []string{
	"dataset: ", "viz: ", "gppl: ", "CSV: ", "sums.NewPlan: ", "sums.SampleRange: ", "Sums: ",
	"Sums.Merge: ", "Sums.Subtract: ",
}

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

// say writes a line to standard error.
func say(c *cli.Command, format string, args ...any) {
	fmt.Fprintf(c.Root().ErrWriter, "gppl: %s\n", text.Printable(fmt.Sprintf(format, args...)))
}

func command(stdout, stderr io.Writer) *cli.Command {
	root := &cli.Command{
		Name:  "gppl",
		Usage: "Gaussian-process models of a time series in a csv file",
		Description: `Examples:
   gppl fit data.csv --x date --y value --forecast 24 --report report.html --model model.json
   gppl compare data.csv --x 1 --y 3 --kernel "SE, Matern32, SE + LocPer"
   gppl predict model.json --forecast 52 --out forecast.csv
   gppl update model.json new.csv --model updated.json
   gppl data sunspots
   gppl sum january.csv february.csv -o winter.sums
   gppl fit winter.sums`,
		Commands: []*cli.Command{
			fitCommand(), compareCommand(), backtestCommand(), predictCommand(), updateCommand(), dataCommand(),
			sumCommand(), mergeCommand(), infoCommand(),
		},
		Version:               version(),
		Writer:                stdout,
		ErrWriter:             stderr,
		EnableShellCompletion: true, ConfigureShellCompletionCommand: configureCompletion,
		Action: func(_ context.Context, c *cli.Command) error {
			if name := c.Args().First(); name != "" {
				return usageError{fmt.Errorf("no command %q: "+
					"there are fit, compare, backtest, predict, update, data, sum, merge, info, completion", name)}
			}
			_ = cli.ShowRootCommandHelp(c)
			return usageError{errors.New("a command is missing")}
		},
		ExitErrHandler: func(context.Context, *cli.Command, error) {}, // run prints the error and chooses the exit code
	}
	for _, c := range root.Commands {
		c.Before = func(ctx context.Context, c *cli.Command) (context.Context, error) { return ctx, apart(c) }
	}
	for _, c := range append(root.Commands, root) {
		c.OnUsageError = func(_ context.Context, c *cli.Command, err error, _ bool) error {
			return usageError{flagError(err, flagNames(c), root.Commands)}
		}
	}
	return root
}

// version returns the version of the installed module, with the commit if Go knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += " " + s.Value[:min(12, len(s.Value))]
		}
	}
	return strings.TrimSpace(text)
}

// argument returns the only argument of a command.
func argument(c *cli.Command, what string) (string, error) {
	if c.NArg() == 1 {
		return c.Args().First(), nil
	}
	if c.NArg() == 0 {
		return "", usageError{fmt.Errorf("%s: %s is missing", c.Name, what)}
	}
	return "", usageError{fmt.Errorf("%s takes one %s, not %d: %s", c.Name, what, c.NArg(), strings.Join(c.Args().Slice(), " "))}
}
