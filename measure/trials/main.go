// Command trials runs the trials of the named experiments and stores their outcomes, as the notebooks do. It is run in the folder
// notebooks:
//
//	cd notebooks && go run ../measure/trials e1 e2 sunspots eeg
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
		trials, ok := experiment.Named(name, scales.FromEnvironment())
		if !ok {
			fmt.Fprintf(os.Stderr, "trials: no experiment %q\n", name)
			os.Exit(2)
		}
		err := experiment.RunNamed(ctx, name, trials, func(p experiment.Progress[experiment.Trial]) {
			fmt.Fprintf(os.Stderr, "\r\x1b[K%s: %v", name, p)
		})
		fmt.Fprintln(os.Stderr)
		if err != nil {
			fmt.Fprintln(os.Stderr, "trials:", err)
			os.Exit(1)
		}
	}
}
