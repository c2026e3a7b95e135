package dataset

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/projected-likelihood/gppl/data"
)

// The folder of recordings that the tests were started with: later ones change the environment.
var recordings = os.Getenv(EnvDir)

// Mean and sample standard deviation of the paper's 3319 sunspot numbers, computed in exact fractions.
const sunspotMean, sunspotSD = 82.13208797830671, 67.67735566903242

// recording returns the path of a real recording, or skips the test.
func recording(t *testing.T, name string) string {
	t.Helper()
	if recordings == "" {
		t.Skipf("%s is not set: no recordings to read", EnvDir)
	}
	path := filepath.Join(recordings, name)
	if err := isFile(path); err != nil {
		t.Skipf("%s: %v", EnvDir, err)
	}
	return path
}

func TestCO2(t *testing.T) {
	s := CO2()
	if got, want := s.String(), "Weekly CO2 at Mauna Loa: n = 2225, time 1958.238 to 2001.992 year, CO2 313 to 373.9 ppm"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
	// The shipped decimal years agree with the shipped dates.
	dated, err := ReadCSV(strings.NewReader(data.CO2Weekly), CSVOptions{X: "date", Y: "co2_ppm", SkipMissing: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.X {
		if math.Abs(dated.X[i]-s.X[i]) > 0.51e-6 || dated.Y[i] != s.Y[i] {
			t.Fatalf("row %d: (%v, %v), by date (%v, %v)", i, s.X[i], s.Y[i], dated.X[i], dated.Y[i])
		}
	}
}

func TestSunspotsZurich(t *testing.T) {
	s := SunspotsZurich()
	want := "Monthly mean relative sunspot number, Zürich: n = 2820, time 1749.042 to 1983.958 year, sunspot number 0 to 253.8"
	if s.String() != want {
		t.Errorf("String() = %q, want %q", s.String(), want)
	}
	for i, x := range s.X {
		if want := 1749 + (float64(i)+0.5)/12; math.Abs(x-want) > 0.51e-3 {
			t.Fatalf("row %d: %v, want the middle of its month, %v", i, x, want)
		}
	}
	// Both this series and the paper's are of the Sun: the two versions agree in which months had many spots.
	whole, err := Sunspots(t.Context(), Options{Path: recording(t, SunspotsFile.Name)})
	if err != nil {
		t.Fatal(err)
	}
	if r := stat.Correlation(s.Y, whole.Y[:s.Len()], nil); r < 0.98 {
		t.Errorf("correlation of %.3f with version 2.0", r)
	}
}

// data/README.md is where a user reads what will be downloaded from where.
func TestReadmeNamesTheRecordings(t *testing.T) {
	readme, err := os.ReadFile("../../data/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []File{SunspotsFile, EEGFile, EEGBurstFile} {
		for _, text := range []string{"## " + f.Name, "<" + f.URL + ">", f.SHA256} {
			if !strings.Contains(string(readme), text) {
				t.Errorf("data/README.md does not hold %q", text)
			}
		}
	}
}

func TestSunspots(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sun.csv")
	write(t, path, silsoText)
	for _, test := range []struct {
		all  bool
		n    int
		last float64
	}{{false, 3, 2025.538}, {true, 4, 2025.623}} {
		s, err := Sunspots(t.Context(), Options{Path: path, All: test.all})
		if err != nil {
			t.Fatal(err)
		}
		if s.Len() != test.n || s.X[s.Len()-1] != test.last || s.Source != path {
			t.Errorf("All = %t: %v from %s, want n = %d up to %g", test.all, s, s.Source, test.n, test.last)
		}
	}
	write(t, path, "1749;01;1749.042;  96.7; -1.0;   -1;1\n")
	_, err := Sunspots(t.Context(), Options{Path: path})
	mustFail(t, err, path, "2025-07", "Options.All")
	if _, err := Sunspots(t.Context(), Options{Path: path, All: true}); err != nil {
		t.Error(err)
	}
	write(t, path, "<html>")
	_, err = Sunspots(t.Context(), Options{Path: path})
	mustFail(t, err, path, "HTML")
}

// eegSpec is a short recording with the signal that EEG reads.
func eegSpec() edfSpec {
	return edfSpec{
		signals: []edfSignalSpec{{
			label: eegSignal, dimension: "uV", physMin: "-100", physMax: "100", dMin: "-1000", dMax: "1000", samples: "2",
		}},
		data: [][][]int16{{{0, 1}}, {{2, 3}}},
	}
}

func TestEEG(t *testing.T) {
	dir := t.TempDir()
	for base, want := range map[string]string{
		"eeg27.edf":        "Neonatal EEG F3-Ref (eeg27.edf)",
		"eeg_burst_eg.edf": "Neonatal EEG F3-Ref (eeg_burst_eg.edf, not the paper's recording)",
	} {
		path := filepath.Join(dir, base)
		write(t, path, string(eegSpec().bytes()))
		s, err := EEG(t.Context(), Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != want || s.YUnit != "uV" || s.Len() != 4 || s.X[3] != 1.5 {
			t.Errorf("%v, want %s", s, want)
		}
	}
	t.Setenv(EnvDir, dir)
	s, err := EEGBurst(t.Context(), Options{Offline: true})
	if err != nil || !strings.Contains(s.Name, "not the paper's") {
		t.Errorf("%v, error %v", s, err)
	}
}

// silsoRows returns a file of n months from January 1749 in the publisher's format.
func silsoRows(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d;%02d;%8.3f;%6.1f;%5.1f;%5d;1\n", 1749+i/12, 1+i%12, 1749+(float64(i)+0.5)/12, 50+float64(i%97), 5.0, 20)
	}
	return b.String()
}

// A file that a publisher serves in place of a recording is not stored under its name.
func TestRecordingsAreCheckedOnDownload(t *testing.T) {
	other := eegSpec()
	other.signals[0].label = "ECG"
	for name, test := range map[string]struct {
		served string
		read   func(opt Options) error
		want   string
	}{
		"sunspots, a page": {"<html>", func(opt Options) error { _, err := Sunspots(t.Context(), opt); return err }, "HTML"},
		"sunspots, cut at the end of a row": {silsoRows(3000),
			func(opt Options) error { _, err := Sunspots(t.Context(), opt); return err }, "3000 months up to 2025-07, want 3319"},
		"sunspots, cut within a row": {silsoRows(3319)[:100_000],
			func(opt Options) error { _, err := Sunspots(t.Context(), opt); return err }, "field"},
		"sunspots, its beginning missing": {silsoRows(3319)[40_000:],
			func(opt Options) error { _, err := Sunspots(t.Context(), opt); return err }, "not the recording"},
		"EEG, a page": {"<html>", func(opt Options) error { _, err := EEG(t.Context(), opt); return err }, "too few"},
		"EEG, cut": {string(eegSpec().bytes()[:515]),
			func(opt Options) error { _, err := EEG(t.Context(), opt); return err }, "truncated"},
		"EEG, another signal": {string(other.bytes()),
			func(opt Options) error { _, err := EEG(t.Context(), opt); return err }, "no signal"},
		"EEGBurst, another file": {string(eegSpec().bytes()),
			func(opt Options) error { _, err := EEGBurst(t.Context(), opt); return err }, "sha256"},
	} {
		t.Run(name, func(t *testing.T) {
			root := module(t)
			mustFail(t, test.read(publisher(t, serve(test.served))), test.want)
			if got := names(t, filepath.Join(root, "data")); got != nil {
				t.Errorf("left in data/: %q", got)
			}
		})
	}
	t.Run("sunspots, good", func(t *testing.T) {
		module(t)
		s, err := Sunspots(t.Context(), publisher(t, serve(silsoRows(3340))))
		if err != nil || s.Len() != 3319 {
			t.Errorf("%v, error %v; want 3319 months", s, err)
		}
	})
	t.Run("EEG, good", func(t *testing.T) {
		root := module(t)
		s, err := EEG(t.Context(), publisher(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Write(eegSpec().bytes())
		}))
		if want := filepath.Join(root, "data", "eeg27.edf"); err != nil || s.Source != want {
			t.Errorf("Source %q, error %v; want %s", s.Source, err, want)
		}
	})
}

func TestSunspotsRecording(t *testing.T) {
	s, err := Sunspots(t.Context(), Options{Path: recording(t, SunspotsFile.Name)})
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 3319 || s.X[0] != 1749.042 || s.X[3318] != 2025.538 {
		t.Fatalf("%v, want n = 3319 from 1749.042 to 2025.538", s)
	}
	z, sc := s.Standardize()
	if math.Abs(sc.Mean-sunspotMean) > 1e-9 || math.Abs(sc.Scale-sunspotSD) > 1e-9 {
		t.Errorf("mean %.12g, sd %.12g; want %.12g and %.12g", sc.Mean, sc.Scale, sunspotMean, sunspotSD)
	}
	if z.Len() != s.Len() {
		t.Errorf("%d standardised of %d", z.Len(), s.Len())
	}
}

func TestEEGRecording(t *testing.T) {
	path := recording(t, EEGBurstFile.Name)
	e, err := OpenEDF(path)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, err := e.Series(eegSignal)
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 54016 || s.X[256] != 1 || s.X[1] != 1./256 || s.YUnit != "uV" {
		t.Errorf("%v, want 54016 samples at 256 Hz in uV", s)
	}
	// Read from the bytes by another program, in another language.
	mean := 0.0
	for _, y := range s.Y {
		mean += y / float64(s.Len())
	}
	for _, test := range [][2]float64{
		{s.Y[0], 10.53205621509369}, {s.Y[1000], 1.0716143986319366}, {s.Y[54015], 1.6819654835653637},
		{mean, -0.00038701076063520903},
	} {
		if math.Abs(test[0]-test[1]) > 1e-9 {
			t.Errorf("got %.12g, want %.12g", test[0], test[1])
		}
	}
	if e.Records != 211 || len(e.Signals) != 21 {
		t.Errorf("%d records of %d signals, want 211 of 21", e.Records, len(e.Signals))
	}
	part, err := e.SeriesRange(eegSignal, 1000, 1300)
	if err != nil {
		t.Fatal(err)
	}
	for i := range part.X {
		if part.X[i] != s.X[1000+i] || part.Y[i] != s.Y[1000+i] {
			t.Fatalf("sample %d of the range differs from the whole", i)
		}
	}
}
