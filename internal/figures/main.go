// Command figures draws the figure of the README from the embedded series:
//
//	go run ./internal/figures docs/forecast.svg
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./internal/figures FILE.svg")
	}
	fig, err := forecast()
	if err == nil {
		err = fig.Save(os.Args[1])
	}
	if err != nil {
		log.Fatal(err)
	}
}

const projections = 300

// forecast trains on CO₂ at Mauna Loa before 1996 and looks six years ahead.
func forecast() (*viz.Figure, error) {
	co2 := dataset.CO2()
	past, future := co2.Between(0, 1996), co2.Between(1996, 2100)
	z, scaling := past.Standardize()
	data, err := gppl.NewData(gppl.Scalars(z.X), z.Y)
	if err != nil {
		return nil, err
	}
	model := gppl.Model{
		Kernel: gppl.Add(
			gppl.SE{Variance: 4, Lengthscale: 30},
			gppl.LocPer{Variance: 0.05, Lengthscale: 30, Period: 1, PeriodicLengthscale: 1},
			gppl.Matern32{Variance: 0.01, Lengthscale: 1},
		),
		Noise: 0.001,
	}.Fix("LocPer.period")
	omega, err := gppl.NewProjection(gppl.Sphere{}, data.X, projections, 1)
	if err != nil {
		return nil, err
	}
	loss, err := gppl.NewProjected(model, data, omega)
	if err != nil {
		return nil, err
	}
	result, err := gppl.Fit(context.Background(), loss, nil, gppl.Settings{})
	if err != nil {
		return nil, err
	}
	fmt.Println(result)
	posterior, err := gppl.NewPosterior(result.Model, data)
	if err != nil {
		return nil, err
	}
	var weeks []float64
	for t := 1990.0; t < 2002; t += 1.0 / 52 {
		weeks = append(weeks, t)
	}
	mean, latent := posterior.Latent(gppl.Scalars(weeks))
	_, noisy := posterior.Noisy(gppl.Scalars(weeks))
	recent := past.Between(1990, 1996)
	return viz.Series(viz.SeriesOptions{
		Frame:    viz.Frame{Title: fmt.Sprintf("CO₂ at Mauna Loa: learnt from %d projections of %d weeks, six years ahead", projections, data.Len()), XLabel: "year", YLabel: "CO₂ (ppm)", Height: 360},
		Observed: viz.Points{Name: "trained on", X: recent.X, Y: recent.Y},
		HeldOut:  viz.Points{X: future.X, Y: future.Y},
		Predictions: []viz.Prediction{{
			Name: "forecast", X: weeks, Mean: scaling.Values(nil, mean),
			LatentVar: scaling.Variances(nil, latent), NoisyVar: scaling.Variances(nil, noisy),
		}},
		Spans: []viz.Span{{From: 1996, To: 2002, Label: "forecast"}},
	})
}
