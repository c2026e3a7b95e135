package series_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/series"
)

// TestFurtherColumns: Notes name the columns of a file that could be forecast too, which columns of words cannot.
func TestFurtherColumns(t *testing.T) {
	for last, want := range map[string]string{"3": "The file has south too", "Ulm": ""} {
		path := filepath.Join(t.TempDir(), "s.csv")
		file := "day,north,shop,south\n"
		for i := range 5 {
			file += fmt.Sprintf("2024-01-%02d,%d,Köln,%s\n", 1+i, i*i%3, last)
		}
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := series.Read(t.Context(), path, series.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.Notes(), " "); !strings.Contains(got, want) || (want == "") == strings.Contains(got, " too: ") {
			t.Errorf("south = %s: %q", last, got)
		}
	}
}
