// Command figures draws two pictures: for the documentation a forecast of the embedded series, for the README and the reports
// what the projected likelihood does with a simulated one. It prints the share of held-out observations within the 95 % band of
// the forecast, with the trend and without:
//
//	go run ./measure/figures docs/forecast.svg scripts/report/idea.svg
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/show"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: go run ./measure/figures FORECAST.svg IDEA.svg")
	}
	if err := errors.Join(draw(os.Args[1]), drawIdea(os.Args[2])); err != nil {
		log.Fatal(err)
	}
}

const (
	projections = 300
	until       = 1996 // the year in which the forecast begins
)

// The kernel has three terms: the yearly cycle, deviations that last for months, and a slow term in place of a trend.
var (
	cycle  = gppl.LocPer{Variance: 0.05, Lengthscale: 30, Period: 1, PeriodicLengthscale: 1}
	months = gppl.Matern32{Variance: 0.01, Lengthscale: 1}
	slow   = gppl.SE{Variance: 4, Lengthscale: 30}
)

// draw saves the figure of the forecast with a quadratic trend. It prints the scores of this forecast and of one with a mean of
// zero.
func draw(path string) error {
	split, err := show.SplitAt(dataset.CO2(), until, 1)
	if err != nil {
		return err
	}
	if _, err := forecast("With a mean of zero", gppl.Model{Kernel: gppl.Add(slow, cycle, months), Noise: 0.001},
		split); err != nil {
		return err
	}
	figure, err := withTrend(split)
	if err != nil {
		return err
	}
	return figure.SaveImages(path)
}

// withTrend learns CO₂ at Mauna Loa before 1996 with a quadratic trend, and draws the next six years.
func withTrend(split *show.Split) (*viz.Figure, error) {
	trend := gppl.AddMeans(gppl.Intercept{}, gppl.NewTrend(2, split.Data.X))
	f, err := forecast("With a quadratic trend", gppl.Model{Kernel: gppl.Add(cycle, months), Mean: trend, Noise: 0.001}, split)
	if err != nil {
		return nil, err
	}
	title := fmt.Sprintf("CO₂ at Mauna Loa: learnt from %d projections of %d weeks, six "+
		"years ahead", projections, split.Data.Len())
	figure, err := f.Figure(title, until-6)
	if err != nil {
		return nil, err
	}
	figure.Caption = "" // the page that shows the figure has the text
	return figure, nil
}

// forecast trains a model on the first part of the split and predicts the second. It prints both results.
func forecast(name string, m gppl.Model, split *show.Split) (*show.Forecast, error) {
	result, err := fitProjected(m.Fix("LocPer.period"), split.Data)
	if err != nil {
		return nil, err
	}
	f, err := split.Forecast(name, result.Model)
	if err != nil {
		return nil, err
	}
	fmt.Println(result)
	fmt.Println(f)
	return f, nil
}

// fitProjected trains a model by the projected likelihood.
func fitProjected(m gppl.Model, d gppl.Data) (*gppl.Result, error) {
	omega, err := gppl.NewProjection(context.Background(), gppl.Sphere{}, d.X, projections, 1)
	if err != nil {
		return nil, err
	}
	loss, err := gppl.NewProjected(context.Background(), m, d, omega)
	if err != nil {
		return nil, err
	}
	return gppl.Fit(context.Background(), loss, nil, gppl.Settings{})
}
