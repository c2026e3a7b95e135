package dataset_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/gppl"
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

// ReadCSVReport finds out what separates the fields, and counts.
func ExampleReadCSVReport() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "log.csv")
	const text = "time;level\n1700000000;1.5\n1700003600;n/a\n1700007200;2.5\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	log, report, err := dataset.ReadCSVReport(context.Background(), path, dataset.CSVOptions{Time: dataset.TimeUnix, Missing: []string{"n/a"}, SkipMissing: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(log)
	fmt.Printf("separator %q, %d rows, %d skipped\n", report.Comma, report.Rows, report.Skipped)
	// Output:
	// log.csv: n = 2, time 2023.871 to 2023.871 decimal year, level 1.5 to 2.5
	// separator ';', 3 rows, 1 skipped
}

func ExampleReadSILSO() {
	const text = "1749;01;1749.042;  96.7; -1.0;   -1;1\n" +
		"1749;02;1749.123;  -1  ; -1.0;   -1;1\n" + // a missing month
		"1749;03;1749.204; 116.7; -1.0;   -1;1\n"
	sun, err := dataset.ReadSILSO(strings.NewReader(text))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sun.X, sun.Y)

	_, err = dataset.ReadSILSO(strings.NewReader("1749;01;1749.042;  96.7\n"))
	fmt.Println(err)
	// Output:
	// [1749.042 1749.204] [96.7 116.7]
	// dataset: SILSO: line 1: 4 fields separated by ';', want 7: "1749;01;1749.042;  96.7"
}

// A recording of two seconds with one signal at 4 Hz, written by hand: header,
// header of the signal, samples.
func ExampleReadEDF() {
	var b bytes.Buffer
	for _, field := range []struct {
		width int
		text  string
	}{
		{8, "0"}, {80, "patient"}, {80, "recording"}, {8, "02.07.24"}, {8, "12.00.00"},
		{8, "512"}, {44, ""}, {8, "2"}, {8, "1"}, {4, "1"}, // bytes of the headers, records, seconds of a record, signals
		{16, "EEG F3-Ref"}, {80, "electrode"}, {8, "uV"}, {8, "-100"}, {8, "100"}, {8, "-1000"}, {8, "1000"},
		{80, "none"}, {8, "4"}, {32, ""},
	} {
		fmt.Fprintf(&b, "%-*s", field.width, field.text)
	}
	binary.Write(&b, binary.LittleEndian, []int16{0, 10, 20, 30, 40, 50, 60, -1000})

	e, err := dataset.ReadEDF(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := e.Series("EEG F3-Ref")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Labels(), e.Signals[0].Rate, "Hz")
	fmt.Println(s.X, s.XUnit)
	fmt.Println(s.Y, s.YUnit)

	_, err = e.Series("EEG Fz")
	fmt.Println(err)
	// Output:
	// [EEG F3-Ref] 4 Hz
	// [0 0.25 0.5 0.75 1 1.25 1.5 1.75] s
	// [0 1 2 3 4 5 6 -100] uV
	// dataset: EDF: no signal "EEG Fz"; there are ["EEG F3-Ref"]
}

// A recording that is nowhere: the error says where it was looked for.
func ExampleFind() {
	ctx := context.Background()
	_, err := dataset.Find(ctx, dataset.File{Name: "tide-at-home.csv"}, dataset.Options{Offline: true})
	var missing *dataset.NotFoundError
	if errors.As(err, &missing) {
		fmt.Println(missing.File.Name, "is missing;", missing.Tried[len(missing.Tried)-1])
	}
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output:
	// tide-at-home.csv is missing; download: no publisher is known
	// true
}

// A draw of a model that is known, to see whether it is learnt back.
func ExampleSynthetic() {
	draw := dataset.Synthetic{Model: gppl.Model{Kernel: gppl.Matern32{Variance: 1, Lengthscale: 20}, Noise: 0.1}, N: 100, Seed: 1}
	series, f, _, err := draw.Draw()
	if err != nil {
		fmt.Println(err)
		return
	}
	again, _, _, err := draw.Draw()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(series.Len(), len(f), series.Y[99] == again.Y[99])
	// Output:
	// 100 100 true
}
