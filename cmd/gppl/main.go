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

// helpFirst returns arguments that ask for help about a command if --help follows it. Package cli would take the words before
// --help for a topic.
func helpFirst(args []string) []string {
	asks := func(a string) bool { return a == "--help" || a == "-h" }
	if len(args) > 2 && !strings.HasPrefix(args[1], "-") && slices.ContainsFunc(args[2:], asks) {
		return []string{args[0], args[1], "--help"}
	}
	return args
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
