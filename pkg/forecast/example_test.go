package forecast_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/projected-likelihood/gppl/pkg/forecast"
)

// months returns eight years of a monthly series: a slow rise, a season, and noise of standard deviation 0.3.
func months() (x, y []float64) {
	rnd := rand.New(rand.NewPCG(1, 0))
	for i := range 96 {
		t := float64(i)
		x, y = append(x, t), append(y, 20+0.05*t+3*math.Sin(2*math.Pi*t/12)+0.3*rnd.NormFloat64())
	}
	return x, y
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A series, its model and a year ahead, in three calls. Options{} alone finds the model by itself.
func ExampleFitValues() {
	ctx := context.Background()
	x, y := months()
	a, err := forecast.FitValues(ctx, x, y, nil, forecast.Options{Kernels: []string{"SE + Periodic"}})
	check(err)
	ahead, err := a.Forecast(ctx, 12)
	check(err)
	fmt.Printf("%s; month %v: %.1f, between %.1f and %.1f\n", a.Kernel(), ahead.X[3], ahead.Median[3], ahead.Lower[3], ahead.Upper[3])
	// Output:
	// SE + Periodic; month 99: 27.9, between 27.2 and 28.7
	//
}

// Each term of a sum is a component, with its own mean and variance; a trend and the term that changes slowly are one.
func ExampleAnalysis_Components() {
	ctx := context.Background()
	x, y := months()
	a, err := forecast.FitValues(ctx, x, y, nil, forecast.Options{Kernels: []string{"SE + Periodic"}})
	check(err)
	components, err := a.Components(ctx, []float64{3, 9})
	check(err)
	for _, c := range components {
		fmt.Printf("%s: %.1f and %.1f\n", c.Name, c.Mean[0], c.Mean[1])
	}
	// Output:
	// trend: -2.3 and -2.0
	// Periodic: 2.9 and -3.0
	//
}

// A light curve has errors of its own, and a star that turns has a period.
func ExampleFitValues_lightCurve() {
	ctx := context.Background()
	days, flux, errors := lightCurve()
	a, err := forecast.FitValues(ctx, days, flux, errors,
		forecast.Options{Kernels: []string{"Rotation"}, Trend: "none"})
	check(err)
	for _, p := range a.Result.Params[:2] {
		fmt.Printf("%s %.1g\n", p.Name, p.Value)
	}
	// Output:
	// variance 0.3
	// period 7
	//
}

// lightCurve returns 60 nights of a star that turns in 7 days, with errors between 0.1 and 0.3.
func lightCurve() (days, flux, errors []float64) {
	rnd := rand.New(rand.NewPCG(2, 0))
	for i := range 180 {
		t := float64(i)/3 + 0.1*rnd.Float64()
		e := 0.1 + 0.2*rnd.Float64()
		days, errors = append(days, t), append(errors, e)
		flux = append(flux, math.Sin(2*math.Pi*t/7)+0.4*math.Cos(4*math.Pi*t/7)+e*rnd.NormFloat64())
	}
	return days, flux, errors
}
