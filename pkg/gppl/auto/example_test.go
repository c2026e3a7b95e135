package auto_test

import (
	"context"
	"fmt"
	"log"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// exampleData is n observations of SE with noise at random x in [0, 1000).
func exampleData(n int) gppl.Data {
	series, _, _, err := dataset.Synthetic{Model: gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 20}, Noise: 0.1}, N: n,
		Seed: 1}.Draw()
	if err != nil {
		log.Fatal(err)
	}
	data, err := gppl.NewData(gppl.Scalars(series.X), series.Y)
	if err != nil {
		log.Fatal(err)
	}
	return data
}

// Nothing to choose but the kernel. Why says which loss was taken.
func ExampleFit() {
	ctx := context.Background()
	data := exampleData(600)
	result, err := auto.Fit(ctx, gppl.Model{Kernel: gppl.SE{}}, data, auto.Settings{Projected: true})
	if err != nil {
		log.Fatal(err)
	}
	_, k := result.Projection.Dims()
	fmt.Printf("%s, exact: %t, fewer than n/2 projections: %t\n", result.Status, result.Exact, k < data.Len()/2)
	for i, p := range result.Params {
		fmt.Printf("%s: %.2g ± %.1g, information kept: %.1f\n", p.Name, p.Value, p.Value*p.StdErrLog, result.Kept[i])
	}
	// Output:
	// converged, exact: false, fewer than n/2 projections: true
	// variance: 0.76 ± 0.2, information kept: 1.0
	// lengthscale: 21 ± 1, information kept: 1.0
	// noise variance: 0.098 ± 0.006, information kept: 1.0
}

// Doubt is a status: here the data hold no signal.
func ExampleFit_doubtful() {
	ctx := context.Background()
	noise := gppl.Model{Kernel: gppl.White{Variance: 1}, Noise: 0.1}
	series, _, _, err := dataset.Synthetic{Model: noise, N: 200, Seed: 3}.Draw()
	if err != nil {
		log.Fatal(err)
	}
	data, err := gppl.NewData(gppl.Scalars(series.X), series.Y)
	if err != nil {
		log.Fatal(err)
	}
	result, err := auto.Fit(ctx, gppl.Model{Kernel: gppl.SE{}}, data, auto.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, len(result.Warnings) > 0)
	// Output:
	// doubtful true
}

// StartFrom takes values from the data, and leaves the fixed ones alone.
func ExampleStartFrom() {
	ctx := context.Background()
	m, err := auto.StartFrom(ctx, gppl.Model{Kernel: gppl.Matern52{Variance: 2}}.Fix("variance"), exampleData(300))
	if err != nil {
		panic(err)
	}
	for _, p := range m.Params() {
		fmt.Printf("%s %.0e\n", p.Name, p.Value)
	}
	// Output:
	// variance 2e+00
	// lengthscale 2e+01
	// noise variance 1e-01
}
