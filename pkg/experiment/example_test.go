package experiment_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
)

// The trials of an experiment are values; the scale decides how many there are and how large they are.
func ExampleE1() {
	smoke, full := experiment.E1(scales.Smoke), experiment.E1(scales.Full)
	fmt.Println(smoke[0])
	fmt.Println(full[0])
	fmt.Println(len(smoke) < len(full))
	// Output:
	// SE l=20 n=120 draw 1 SE ML, BFGS, seed 0
	// SE l=20 n=1000 draw 1 SE ML, BFGS, seed 0
	// true
}

// A Runner stores each outcome as soon as it is done. Run again, it takes what is stored and computes the rest, so a run that was
// killed can be continued.
func ExampleRunner() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := experiment.OpenStore(filepath.Join(dir, "e1.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	trials := []experiment.Trial{
		{
			Protocol: experiment.GPPL, Kernel: "SE", Loss: experiment.ML, Optimiser: experiment.Optimiser{Method: "L-BFGS"},
			Source: experiment.Source{Name: "draw", N: 60, Of: 60, Seed: 1, Lengthscale: 20},
		},
		{
			Protocol: experiment.GPPL, Kernel: "SE", Loss: experiment.PL, Optimiser: experiment.Optimiser{Method: "L-BFGS"},
			Source: experiment.Source{Name: "draw", N: 60, Of: 60, Seed: 1, Lengthscale: 20}, Design: "Sphere", Order: 30, Seed: 1,
		},
	}
	for range 2 {
		var last experiment.Progress
		outcomes, err := experiment.Runner{
			Store: store, Workers: 1, Progress: func(p experiment.Progress) { last = p },
		}.Run(ctx, trials)
		if err != nil {
			log.Fatal(err)
		}
		excess := experiment.Excess(outcomes, outcomes)
		fmt.Printf("%d of %d done, %d of them stored; ML is the optimum: %t, PL is above it: %t\n",
			last.Done, last.Total, last.Stored, excess[0] == 0, excess[1] > 0)
	}
	// Output:
	// 2 of 2 done, 0 of them stored; ML is the optimum: true, PL is above it: true
	// 2 of 2 done, 2 of them stored; ML is the optimum: true, PL is above it: true
}

// The ledger follows from the evidence: without any, it only states what can be read in the paper and in the outputs of its
// notebooks.
func ExampleLedger() {
	published, err := experiment.LoadPublished()
	if err != nil {
		log.Fatal(err)
	}
	rows := experiment.Ledger(&experiment.Evidence{Published: published})
	count := map[experiment.Status]int{}
	for _, r := range rows {
		if r.Group != experiment.GroupText && r.Group != experiment.GroupCode {
			count[r.Status]++
		}
	}
	fmt.Println(count[experiment.NotRun] > 0, len(count))
	// Output:
	// true 1
}
