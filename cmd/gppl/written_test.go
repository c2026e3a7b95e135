package main

import (
	csvfile "encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestWritten reads the files of testdata/written, which commit 58032895 wrote. Each gives the forecast that stands beside it, or
// is refused in a sentence that says what to do.
func TestWritten(t *testing.T) {
	models, err := filepath.Glob("testdata/written/*.json")
	if err != nil || len(models) < 10 {
		t.Fatalf("%d models: %v", len(models), err)
	}
	for _, model := range models {
		name := strings.TrimSuffix(model, ".json")
		t.Run(filepath.Base(name), func(t *testing.T) {
			args := []string{"predict", model, "--forecast", "3"}
			switch filepath.Base(name) {
			case "sums": // a model alone, which predicts with its sums
				args = []string{"fit", name + ".sums", "--at", "3", "--at", "14.5", "--quiet"}
			case "holidays": // the regressor of holidays needs values of the future
				args = append(args, "--future", name+"-future.csv")
			}
			out := filepath.Join(t.TempDir(), "out.csv")
			code, _, stderr := gppl(append(args, "--out", out)...)
			if instead, gone := refused[filepath.Base(name)]; gone {
				if code == 0 || strings.Count(strings.TrimSpace(stderr), "\n") > 0 || !strings.Contains(stderr, instead) {
					t.Errorf("%d, %s: want a line with %q", code, stderr, instead)
				}
				return
			}
			if code != 0 {
				t.Fatal(stderr)
			}
			compareTables(t, out, name+".csv")
		})
	}
}

// refused lists the files of features that no longer exist, and the words of their refusals.
var refused = map[string]string{"channels": "WithChannels", "exposure": "WithExposures"}

// compareTables compares the cells of two csv files, numbers to within a millionth.
func compareTables(t *testing.T, path, want string) {
	t.Helper()
	got, wanted := readTable(t, path), readTable(t, want)
	if len(got) != len(wanted) {
		t.Fatalf("%d rows, want %d", len(got), len(wanted))
	}
	for i, row := range wanted {
		for j, cell := range row {
			if got[i][j] == cell {
				continue
			}
			a, err := strconv.ParseFloat(got[i][j], 64)
			b, errWant := strconv.ParseFloat(cell, 64)
			if err != nil || errWant != nil || !(math.Abs(a-b) <= 1e-6*math.Abs(b)) {
				t.Errorf("row %d, %s: %s, want %s", i, wanted[0][j], got[i][j], cell)
			}
		}
	}
}

func readTable(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csvfile.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
