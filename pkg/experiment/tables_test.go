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

// TestTranscripts: what was read from the paper, its figures and the authors' logs changes only if somebody reads them again. Most of
// it has no second source in the repository: scripts/authors_log.py and scripts/read_figures.py compare it with a clone of theirs.
func TestTranscripts(t *testing.T) {
	for name, want := range map[string]string{
		"published.json": "17cd67c047a5ad08", "figures/figure1.csv": "4c6b558a5e13549d",
		"figures/figure2.csv": "c96003ead105f1ff", "figures/figure3.csv": "b67c28438a66c6db"} {
		text := bytes.ReplaceAll(testkit.Must(os.ReadFile(filepath.FromSlash(name)))(t), []byte("\r\n"), []byte("\n"))
		sum := sha256.Sum256(text)
		if got := hex.EncodeToString(sum[:8]); got != want {
			t.Errorf("%s has changed (%s, want %s): compare it with its source, and write the new sum here", name, got, want)
		}
	}
}
