package experiment

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// TestPublishedTables compares published.json with the tables as the paper prints them, number by number.
func TestPublishedTables(t *testing.T) {
	file := testkit.Must(os.Open("testdata/tables.csv"))(t)
	defer file.Close()
	rows := testkit.Must(csv.NewReader(file).ReadAll())(t)
	p := testkit.Must(LoadPublished())(t)
	if len(rows) != 53 {
		t.Errorf("tables.csv has %d numbers, want 52", len(rows)-1)
	}
	for _, row := range rows[1:] {
		words := strings.Fields(row[2])
		var f Figure
		time := words[1] == "time"
		switch row[0] {
		case "1":
			f, time = p.E1[words[0]][words[1]], row[1] == "Time [s]"
		case "2":
			f = p.Sunspots[row[1]][words[0]]
		case "3":
			f = p.EEG[row[1]][words[0]]
		}
		got := f.NLL + f.NMSE // a table has one of them
		if time {
			got = f.Seconds
		}
		if want := testkit.Must(strconv.ParseFloat(row[3], 64))(t); got != want {
			t.Errorf("table %s, %s, %s is %v, and %v is printed", row[0], row[1], row[2], got, want)
		}
	}
}

// TestTranscripts pins the values read from the paper, its figures and the authors' logs. Most of them have no second source in
// this repository: scripts/authors_log.py and scripts/read_figures.py compare them with a clone of the authors'.
func TestTranscripts(t *testing.T) {
	unchanged(t, ".", "compare it with its source", map[string]firstLines{
		"published.json":      {724, "17cd67c047a5ad08"},
		"testdata/tables.csv": {53, "87af77cca23ce351"},
		"figures/figure1.csv": {633, "4c6b558a5e13549d"},
		"figures/figure2.csv": {1485, "c96003ead105f1ff"},
		"figures/figure3.csv": {44, "b67c28438a66c6db"},
	})
}

// TestStoredFiles pins the stored results. Other tests compute again those that take milliseconds, but not counts and times,
// losses at inducing inputs that are not stored, or results that need a recording. Outcomes that a reader adds, from other trials
// or another recording, follow the lines that are pinned here.
func TestStoredFiles(t *testing.T) {
	unchanged(t, results, "say in the commit what was computed again", map[string]firstLines{
		"e1.jsonl":           {200, "3a1f13971a9c2d96"},
		"e1-notebook.jsonl":  {430, "51dff4264f5e2012"},
		"e2.jsonl":           {1326, "86486757020586b8"},
		"sunspots.jsonl":     {572, "bff199a6a62c4d8a"},
		"eeg.jsonl":          {23, "e47725d5821e8f39"},
		"accurate.jsonl":     {1714, "484723d72c998478"},
		"curves.jsonl":       {410, "70dc6176175b4756"},
		"races.jsonl":        {1026, "c8ad76fbc0f799bf"},
		"whittle-bias.jsonl": {64, "08b84936eedfea50"},
		"spectrum.json":      {1, "ddc16f194d548b0d"},
	})
}

// firstLines is a number of lines at the beginning of a file and their checksum.
type firstLines struct {
	lines int
	sum   string
}

// unchanged compares the first lines of files of a folder with their checksums.
func unchanged(t *testing.T, dir, do string, files map[string]firstLines) {
	t.Helper()
	for name, want := range files {
		text := testkit.Must(os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))))(t)
		lines := bytes.SplitAfter(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n"))
		sum := sha256.Sum256(bytes.Join(lines[:min(want.lines, len(lines))], nil))
		if got := hex.EncodeToString(sum[:8]); got != want.sum {
			t.Errorf("the first %d lines of %s have changed (%s, want %s): %s, and write the new sum here",
				want.lines, name, got, want.sum, do)
		}
	}
}
