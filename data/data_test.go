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

// The README is what a reader trusts, so it must speak of the file that is really embedded.
func TestReadmeSHA256(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(data.CO2Weekly))
	want := hex.EncodeToString(sum[:])
	row := regexp.MustCompile("(?m)^sha256 of `co2-weekly.csv`: `([0-9a-f]{64})`$").FindSubmatch(readme)
	if row == nil {
		t.Fatal("README.md has no line 'sha256 of `co2-weekly.csv`: `…`'")
	}
	if got := string(row[1]); got != want {
		t.Errorf("README.md says sha256 %s, the file has %s", got, want)
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
