package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestStore checks that the last line of a killed run is computed again, and nothing else.
func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outcomes.json")
	var computed []string
	ask := func(names ...string) {
		t.Helper()
		s, err := open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			s.outcome(name, func() outcome { computed = append(computed, name); return outcome{} })
		}
		if s.err != nil {
			t.Fatal(s.err)
		}
	}
	ask("a", "b")
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, text[:len(text)-9], 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	ask("a", "b", "c")
	ask("a", "b", "c")
	if got := len(computed); got != 4 || computed[2] != "b" || computed[3] != "c" {
		t.Errorf("computed %q", computed)
	}
}
