package experiment_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/experiment"
	"github.com/projected-likelihood/gppl/pkg/experiment/scales"
	"github.com/projected-likelihood/gppl/pkg/gppl"
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

// A survey is a loop over trials of one's own that stores what it found. Run again, it takes what is stored and computes the rest.
func ExampleSurvey() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	type trial struct {
		Lengthscale float64
		Seed        uint64
	}
	learnt := func(ctx context.Context, t trial) (lengthscale float64, err error) {
		truth := gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: t.Lengthscale}, Noise: 0.1}
		series, _, _, err := dataset.Synthetic{Model: truth, N: 200, Seed: t.Seed}.Draw()
		if err != nil {
			return 0, err
		}
		loss, err := gppl.NewExact(ctx, gppl.PaperModel(gppl.SE{}), gppl.Data{X: gppl.Scalars(series.X), Y: series.Y})
		if err != nil {
			return 0, err
		}
		r, err := gppl.Fit(ctx, loss, nil, gppl.Settings{NoStandardErrors: true})
		if err != nil {
			return 0, err
		}
		return r.Model.Values()[1], nil
	}
	for _, lengthscale := range []float64{20, 40, 20} {
		var last experiment.Progress[trial]
		found, err := experiment.Survey[trial, float64]{Name: "lengthscales", Compute: learnt, Folder: dir,
			Progress: func(p experiment.Progress[trial]) { last = p }}.Run(ctx, []trial{{lengthscale, 1}, {lengthscale, 2}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.1f: %d stored before, %d of other trials are kept\n", found, last.Stored, last.Others)
	}
	// Output:
	// [22.6 16.5]: 0 stored before, 0 of other trials are kept
	// [45.9 41.7]: 0 stored before, 2 of other trials are kept
	// [22.6 16.5]: 2 stored before, 2 of other trials are kept
}
