package report

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/forecast"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestSquared writes the square of a unit so that it squares all of it.
func TestSquared(t *testing.T) {
	for unit, want := range map[string]string{
		"": "", "ppm": "ppm²", "million barrels a day": "(million barrels a day)²", "km/h": "(km/h)²", "m²": "(m²)²", "log y": "(log y)²",
	} {
		if got := squared(unit); got != want {
			t.Errorf("%q squared is %q, want %q", unit, got, want)
		}
	}
}

// TestSpectrumOfLogs: the periodogram of a model of log y has the unit (log y)², not y².
func TestSpectrumOfLogs(t *testing.T) {
	x, y := make([]float64, 60), make([]float64, 60)
	for i := range x {
		x[i], y[i] = float64(i), 100000*math.Exp(0.05*float64(i)+0.3*math.Sin(float64(i)))
	}
	s, err := series.NewSeries(series.Axis{}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	s.YUnit = "USD"
	for log, want := range map[string]string{"always": "power ((log y)²)", "never": "power (USD²)"} {
		a, err := forecast.Fit(context.Background(), s, forecast.Options{Kernels: []string{"SE + Matern32"}, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		p, err := a.Periodogram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fig, err := Spectrum(a, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := fig.YLabel; got != want {
			t.Errorf("%s: the axis of power is %q, want %q", log, got, want)
		}
		parts, err := Components(t.Context(), a, &forecast.Forecast{X: []float64{61}})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(parts.Caption, "e+") {
			t.Errorf("%s: a number that is not plain in %q", log, parts.Caption)
		}
	}
}

// TestPageOfPart: the page of a series of a long table names the series.
func TestPageOfPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shops.csv")
	rows := "day,shop,sold\n"
	for i := range 24 {
		rows += fmt.Sprintf("2024-01-%02d,north,%d\n2024-01-%02d,south,%d\n", i+1, 20+i%5, i+1, 30+i%7)
	}
	if err := os.WriteFile(path, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	members, err := series.ReadPanel(t.Context(), path, series.ReadOptions{X: "day", Y: "sold", By: []string{"shop"}, Likelihood: "gaussian"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := forecast.Fit(context.Background(), members[1].Series, forecast.Options{Kernels: []string{"SE"}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := a.Forecast(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := HTML(context.Background(), &page, a, f, nil, Live{}, dataset.Setting.String); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h1>south: sold</h1>", "<title>south: sold", "All 24 observations of south in shops.csv."} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}
