package gppl_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"log"
	"os"
	"strconv"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
	"github.com/projected-likelihood/gppl/pkg/gppl"
	"github.com/projected-likelihood/gppl/pkg/gppl/auto"
)

// readColumns returns columns of numbers of a csv file with a header, row by row.
func readColumns(path string, columns ...int) []float64 {
	file, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		log.Fatal(err)
	}
	var values []float64
	for _, row := range rows[1:] {
		for _, c := range columns {
			v, err := strconv.ParseFloat(row[c], 64)
			if err != nil {
				log.Fatal(err)
			}
			values = append(values, v)
		}
	}
	return values
}

// Two columns of a csv file are the axes of x, each with its lengthscale: temperatures of a lake by depth and hour.
func Example_axes() {
	ctx := context.Background()
	x := gppl.Vectors(readColumns("testdata/lake.csv", 0, 1), 2) // depth in m, hour
	data, err := gppl.NewData(x, readColumns("testdata/lake.csv", 2))
	if err != nil {
		log.Fatal(err)
	}
	model := gppl.Model{Kernel: gppl.ARD(gppl.Matern52{Variance: 1}, 1, 1), Mean: gppl.Intercept{}, Noise: 1}
	result, err := auto.Fit(ctx, model, data, auto.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range result.Params {
		fmt.Printf("%s: %.2g, standard error of its log %.1g\n", p.Name, p.Value, p.StdErrLog)
	}
	posterior, err := gppl.NewPosterior(ctx, result.Model, data)
	if err != nil {
		log.Fatal(err)
	}
	at := gppl.Vectors([]float64{3.5, 13}, 2)
	mean, variance, err := posterior.Latent(ctx, at)
	if err != nil {
		log.Fatal(err)
	}
	slope, _, err := posterior.Gradient(ctx, at)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("at 3.5 m and 13 h: %.1f °C, variance %.2g, %.2g °C/m, %.2g °C/h\n", mean[0], variance[0], slope[0], slope[1])
	// Output:
	// variance: 11, standard error of its log 0.7
	// lengthscale 0: 3.2, standard error of its log 0.2
	// lengthscale 1: 11, standard error of its log 0.2
	// noise variance: 0.038, standard error of its log 0.3
	// at 3.5 m and 13 h: 18.8 °C, variance 0.021, 1.3 °C/m, -0.29 °C/h
}

// lake draws the file of Example_axes: 10 depths and 12 hours, every combination but some.
func lake(t *testing.T) string {
	var x []float64
	for depth := range 10 {
		for hour := range 12 {
			if (7*depth+5*hour)%11 > 0 {
				x = append(x, float64(depth), float64(2*hour))
			}
		}
	}
	m := gppl.Model{Kernel: gppl.ARD(gppl.Matern52{Variance: 9}, 3, 12), Noise: 0.04}
	draw := testkit.Must(m.Sample(t.Context(), gppl.Vectors(x, 2), 11))(t)
	text := "depth_m,hour,celsius\n"
	for i, y := range draw.Y {
		text += fmt.Sprintf("%g,%g,%.2f\n", x[2*i], x[2*i+1], 14+y)
	}
	return text
}

// TestLake: the file is the draw that it is said to be. GPPL_WRITE_LAKE=1 writes it anew.
func TestLake(t *testing.T) {
	const path = "testdata/lake.csv"
	text := lake(t)
	if os.Getenv("GPPL_WRITE_LAKE") != "" {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if file := testkit.Must(os.ReadFile(path))(t); string(file) != text {
		t.Errorf("%s differs from the draw", path)
	}
}
