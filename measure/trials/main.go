// Command trials does the trials of the named experiments and stores their outcomes, as the notebooks do, from the folder notebooks:
//
//	cd notebooks && go run ../measure/trials e1 e2 sunspots eeg
//	cd notebooks && go run ../measure/trials -validate eeg     predicts again from what is stored, without training
//
// GPPL_SCALE, GPPL_FRESH and GPPL_SLOW mean what they mean to the notebooks.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/projected-likelihood/gppl/pkg/experiment"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	validate := flag.Bool("validate", false, "predict what was held back again, at the stored parameters")
	flag.Parse()
	for _, name := range flag.Args() {
		trials, ok := experiment.Named(name, experiment.ScaleFromEnvironment())
		if !ok {
			fmt.Fprintf(os.Stderr, "trials: no experiment %q\n", name)
			os.Exit(2)
		}
		if *validate {
			if err := again(name); err != nil {
				fmt.Fprintln(os.Stderr, "trials:", err)
				os.Exit(1)
			}
			continue
		}
		_, err := experiment.RunNamed(ctx, name, trials, func(p experiment.Progress) {
			fmt.Fprintf(os.Stderr, "\r\x1b[K%s: %v", name, p)
		})
		fmt.Fprintln(os.Stderr)
		if err != nil {
			fmt.Fprintln(os.Stderr, "trials:", err)
			os.Exit(1)
		}
	}
}

// again stores the outcomes of an experiment with their predictions made again.
func again(name string) error {
	store, err := experiment.OpenStore(experiment.ScaleFromEnvironment().StorePath(".", name))
	if err != nil {
		return err
	}
	var trials []experiment.Trial
	for _, o := range store.Outcomes() {
		trials = append(trials, o.Trial)
		if o.Trial.Kernel == "RQ" {
			continue // dense at n = 8000
		}
		if o, err = o.Validated(); err != nil {
			return err
		}
		if err := store.Put(o); err != nil {
			return err
		}
	}
	return store.Tidy(trials)
}
