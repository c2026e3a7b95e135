package store_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/store"
)

// A saved result holds the model, its transforms and all about training.
// Kernels of one's own must be known to RegisterKernel.
func Example() {
	x, y := make([]float64, 60), make([]float64, 60)
	for i := range x {
		x[i] = 0.2 * float64(i)
		y[i] = math.Sin(x[i]) + 0.1*math.Sin(77*float64(i*i))
	}
	data, err := gppl.NewData(gppl.Scalars(x), y)
	if err != nil {
		log.Fatal(err)
	}
	loss, err := gppl.NewExact(gppl.PaperModel(gppl.SE{}), data)
	if err != nil {
		log.Fatal(err)
	}
	result, err := gppl.Fit(context.Background(), loss, nil, gppl.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.json")
	if err := store.Save(path, result); err != nil {
		log.Fatal(err)
	}
	again, err := store.Load(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Model.String() == result.Model.String(), again.Status)
	// Output:
	// true converged
}
