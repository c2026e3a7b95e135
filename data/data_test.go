package data_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/data"
)

// The README is what a reader trusts, so it must speak of the files that are really embedded.
func TestReadmeSHA256(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"co2-weekly.csv": data.CO2Weekly, "coal.csv": data.Coal,
		"sunspots-zurich.csv": data.SunspotsZurich} {
		sum := sha256.Sum256([]byte(text))
		row := regexp.MustCompile("(?m)^sha256 of `" + file + "`: `([0-9a-f]{64})`$").FindSubmatch(readme)
		if row == nil {
			t.Fatalf("README.md has no line 'sha256 of `%s`: `…`'", file)
		}
		if got, want := string(row[1]), hex.EncodeToString(sum[:]); got != want {
			t.Errorf("README.md says sha256 %s of %s, the file has %s", got, file, want)
		}
	}
}

func TestCO2WeeklyShape(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(data.CO2Weekly, "\n"), "\n")
	if got, want := lines[0], "date,decimal_year,co2_ppm"; got != want {
		t.Errorf("header %q, want %q", got, want)
	}
	rows, missing := lines[1:], 0
	for _, row := range rows {
		if strings.Count(row, ",") != 2 {
			t.Errorf("row %q does not have 3 fields", row)
		}
		if strings.HasSuffix(row, ",") {
			missing++
		}
	}
	if len(rows) != 2284 || missing != 59 {
		t.Errorf("%d rows, %d missing; want 2284 and 59", len(rows), missing)
	}
}
