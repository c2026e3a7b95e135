// Package exampledata draws the data of examples.
package exampledata

import (
	"log"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
)

// Model is the model that the examples draw from.
var Model = gppl.Model{Kernel: gppl.SE{Variance: 1, Lengthscale: 20}, Noise: 0.1}

// Draw returns n observations of Model at random x in [0, 1000).
func Draw(n int) gppl.Data {
	series, _, _, err := dataset.Synthetic{Model: Model, N: n, Seed: 1}.Draw()
	if err != nil {
		log.Fatal(err)
	}
	data, err := gppl.NewData(gppl.Scalars(series.X), series.Y)
	if err != nil {
		log.Fatal(err)
	}
	return data
}
