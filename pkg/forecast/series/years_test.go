package series

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWholeYears: years are told as years, and nothing is said of months.
func TestWholeYears(t *testing.T) {
	for step, want := range map[int]string{1: "every year.", 5: "every 5 years."} {
		text := "year,y\n"
		for i := range 30 {
			text += fmt.Sprintf("%d,%d\n", 1850+step*i, i*i%7)
		}
		path := filepath.Join(t.TempDir(), "years.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Read(t.Context(), path, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(s.Notes(), "\n"); !strings.HasSuffix(notes, want) {
			t.Errorf("step %d: %s", step, notes)
		}
	}
}
