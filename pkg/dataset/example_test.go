package dataset_test

import (
	"fmt"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

func ExampleCO2() {
	co2 := dataset.CO2()
	fmt.Println(co2)
	fmt.Println(co2.Between(1990, 2000))
	// Output:
	// Weekly CO2 at Mauna Loa: n = 2225, time 1958.238 to 2001.992 year, CO2 313 to 373.9 ppm
	// Weekly CO2 at Mauna Loa: n = 521, time 1990.014 to 1999.981 year, CO2 350.7 to 371.5 ppm
}

func ExampleReadCSV() {
	const text = "date,station,level\n" +
		"2024-01-01,A,1.50\n" +
		"2024-07-02,A,\n" +
		"2025-01-01,A,2.50\n"
	tide, err := dataset.ReadCSV(strings.NewReader(text), dataset.CSVOptions{X: "date", Y: "level", SkipMissing: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	tide.Name, tide.YUnit = "Tide", "m"
	fmt.Println(tide)

	_, err = dataset.ReadCSV(strings.NewReader(text), dataset.CSVOptions{X: "date", Y: "level"})
	fmt.Println(err)
	// Output:
	// Tide: n = 2, date 2024 to 2025 decimal year, level 1.5 to 2.5 m
	// dataset: CSV: line 3, column 3 ("level"): missing value "" (CSVOptions.SkipMissing leaves such rows out)
}

func ExampleSeries_Standardize() {
	s := dataset.Series{X: []float64{0, 1, 2}, Y: []float64{10, 20, 30}, YUnit: "ppm"}
	z, scaling := s.Standardize()
	fmt.Println(z.Y, scaling.Mean, scaling.Scale)
	// A posterior mean of 0.5 with variance 0.04 is, in ppm and ppm²:
	fmt.Println(scaling.Value(0.5), scaling.Variance(0.04))
	// Output:
	// [-1 0 1] 20 10
	// 25 4
}
