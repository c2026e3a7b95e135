// Command figures draws the figure of the README from the embedded series, and prints which share of the held-out
// observations its 95 % band contains, with the trend and without:
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
	"github.com/projected-likelihood/gppl/pkg/show"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run ./internal/figures FILE.svg")
	}
	if err := draw(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

const (
	projections = 300
	until       = 1996 // the year in which the forecast begins
)

// draw trains on CO₂ at Mauna Loa before 1996 and looks six years ahead: with a quadratic trend, which is drawn, and with a mean of
// zero, where a slow term of the kernel takes the place of the trend.
func draw(path string) error {
	split, err := show.SplitAt(dataset.CO2(), until, 1)
	if err != nil {
		return err
	}
	cycle := gppl.LocPer{Variance: 0.05, Lengthscale: 30, Period: 1, PeriodicLengthscale: 1}
	months := gppl.Matern32{Variance: 0.01, Lengthscale: 1}
	slow := gppl.SE{Variance: 4, Lengthscale: 30}
	trend := gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(2, split.Data.X))
	for _, c := range []struct {
		name  string
		model gppl.Model
	}{
		{"With a mean of zero", gppl.Model{Kernel: gppl.Add(slow, cycle, months), Noise: 0.001}},
		{"With a quadratic trend", gppl.Model{Kernel: gppl.Add(cycle, months), Mean: trend, Noise: 0.001}},
	} {
		result, err := learn(c.model.Fix("LocPer.period"), split.Data)
		if err != nil {
			return err
		}
		forecast, err := split.Forecast(c.name, result.Model)
		if err != nil {
			return err
		}
		fmt.Println(result)
		fmt.Println(forecast)
		if c.model.Mean == nil {
			continue
		}
		title := fmt.Sprintf("CO₂ at Mauna Loa: learnt from %d projections of %d weeks, six years ahead", projections, split.Data.Len())
		figure, err := forecast.Figure(title, until-6)
		if err != nil {
			return err
		}
		figure.Caption = "" // the page that shows it says it
		if err := figure.Save(path); err != nil {
			return err
		}
	}
	return nil
}

// learn trains a model by the projected likelihood.
func learn(m gppl.Model, d gppl.Data) (*gppl.Result, error) {
	omega, err := gppl.NewProjection(gppl.Sphere{}, d.X, projections, 1)
	if err != nil {
		return nil, err
	}
	loss, err := gppl.NewProjected(m, d, omega)
	if err != nil {
		return nil, err
	}
	return gppl.Fit(context.Background(), loss, nil, gppl.Settings{})
}
