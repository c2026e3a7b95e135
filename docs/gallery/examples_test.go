// Package gallery_test has the Go of the gallery's pages. go run ./measure/gallery copies each function into its page.
package gallery_test

import (
	"context"
	"fmt"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/search"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

var ctx = context.Background()

func Example_sales() {
	data := viz.Must(series.Read(ctx, "sales.csv", series.ReadOptions{X: "date", Y: "sold", Holidays: "GB"}))
	model := viz.Must(forecast.Fit(ctx, data, forecast.Options{Budget: 5 * time.Second}))
	for _, effect := range viz.Must(model.Effects(ctx)) {
		if effect.Name == "Christmas Day" {
			fmt.Printf("%s: %+.1f in log sales\n", effect.Name, effect.Value)
		}
	}
	// Output:
	// Christmas Day: -2.4 in log sales
}

func Example_sensor() {
	data := viz.Must(series.Read(ctx, "sensor.csv", series.ReadOptions{X: "time", Y: "water_C"}))
	model := viz.Must(forecast.Fit(ctx, data, forecast.Options{Budget: 5 * time.Second}))
	gap := viz.Must(data.Axis.Parse("2025-06-06 00:00"))
	there := viz.Must(model.Predict(ctx, []float64{gap}))
	fmt.Printf("%s: %.1f °C, between %.1f and %.1f\n", there.When[0], there.Median[0], there.Lower[0], there.Upper[0])
	// Output:
	// 2025-06-06T00:00:00: 14.7 °C, between 14.2 and 15.2
}

func Example_star() {
	data := viz.Must(series.Read(ctx, "star.csv", series.ReadOptions{X: "day", Y: "flux_ppt", YError: "error_ppt"}))
	difference, mix := viz.Must(search.ParsePrior("difference=within(0.1, 3)")), viz.Must(search.ParsePrior("mix=within(0.1, 3)"))
	model := viz.Must(forecast.Fit(ctx, data, forecast.Options{Kernels: []string{"Rotation"}, Priors: []gppl.ParamPrior{difference, mix}}))
	for _, p := range model.Result.Params {
		if p.Name == "period" {
			fmt.Printf("the star turns once in %.1f ± %.1f days\n", p.Value, p.StdErr())
		}
	}
	// Output:
	// the star turns once in 12.2 ± 0.2 days
}
