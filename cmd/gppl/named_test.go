package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkNamed is gppl fit of a named kernel, of 2000 points of the days of work, from the file to the forecast.
func BenchmarkNamed(b *testing.B) {
	const n, year, week = 2000, 261.0, 5.0
	rnd := rand.New(rand.NewPCG(26, n))
	draw := func(keep, sd float64) func() float64 { // an autoregression; keep 1 is a walk
		var at float64
		return func() float64 {
			at = keep*at + sd*rnd.NormFloat64()
			return at
		}
	}
	wave := func(i int, period float64) float64 { return math.Sin(2 * math.Pi * float64(i) / period) }
	walk, rest, slow, air := draw(1, 0.01), draw(0.9, 8), draw(0.97, 0.2), draw(0.8, 2)
	for _, series := range []struct {
		name string
		y    func(i int) float64
	}{
		{"price", func(int) float64 { return 100 * math.Exp(walk()) }},
		{"load", func(i int) float64 { return 500 + 60*wave(i, week) + 30*wave(i, year) + rest() }},
		{"visits", func(i int) float64 { return math.Exp(6 + 0.3*wave(i, year) + 0.1*rnd.NormFloat64()) }},
		{"flow", func(int) float64 { return math.Exp(3 + slow()) }},
		{"temperature", func(i int) float64 { return 50 + 15*wave(i, year) + air() }},
	} {
		var file strings.Builder
		file.WriteString("date,value\n")
		day := time.Date(2010, 1, 4, 0, 0, 0, 0, time.UTC)
		for i := range n {
			fmt.Fprintf(&file, "%s,%.5g\n", day.AddDate(0, 0, i/5*7+i%5).Format(time.DateOnly), series.y(i))
		}
		path := filepath.Join(b.TempDir(), series.name+".csv")
		if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
			b.Fatal(err)
		}
		for _, kernel := range []string{"SE+LocPer", "Matern32+Periodic", "LocPer"} {
			b.Run(series.name+"/kernel="+kernel, func(b *testing.B) {
				for b.Loop() {
					if code, _, stderr := gppl("fit", path, "--kernel", kernel, "--trend", "none", "--origins", "0", "--forecast",
						"10"); code != 0 {
						b.Fatal(stderr)
					}
				}
			})
		}
	}
}
