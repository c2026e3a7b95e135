package experiment

import (
	"encoding/csv"
	"os"
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
