// Command trials runs the trials of the named experiments and stores their outcomes, as the notebooks do. It is run in the folder
// notebooks:
//
//	cd notebooks && go run ../measure/trials e1 e2 sunspots eeg
//	cd notebooks && GOMAXPROCS=1 go run ../measure/trials races    # experiment.Races, by processor time
//
// GPPL_SCALE, GPPL_FRESH and GPPL_SLOW have the same meaning as for the notebooks.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/projected-likelihood/gppl/internal/machine"
	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

func main() {
	ctx := machine.UntilSignal()
	flag.Parse()
	for _, name := range flag.Args() {
		if name == "races" {
			races := experiment.RaceSurvey(experiment.RaceFolder(scales.FromEnvironment()))
			races.Progress = shown[experiment.Race](name)
			_, err := races.Run(ctx, experiment.Races(scales.FromEnvironment()))
			ended(err)
			continue
		}
		trials, ok := experiment.Named(name, scales.FromEnvironment())
		if !ok {
			fmt.Fprintf(os.Stderr, "trials: no experiment %q\n", name)
			os.Exit(2)
		}
		ended(experiment.RunNamed(ctx, name, trials, shown[experiment.Trial](name)))
	}
}

// shown returns what shows progress in one line.
func shown[T any](name string) func(experiment.Progress[T]) {
	return func(p experiment.Progress[T]) { fmt.Fprintf(os.Stderr, "\r\x1b[K%s: %v", name, p) }
}

// ended ends the line, and the program if there is an error.
func ended(err error) {
	fmt.Fprintln(os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "trials:", err)
		os.Exit(1)
	}
}
