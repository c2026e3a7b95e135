package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A budget that even the least search exceeds is announced, and its candidates are gone once the model is written.
func TestBudget(t *testing.T) {
	path := csv(t)
	model := filepath.Join(t.TempDir(), "m.json")
	code, _, stderr := gppl("fit", path, "--budget", "1ms", "--model", model)
	if code != exitOK || !strings.Contains(stderr, "quick search: structures are compared on") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if _, err := os.Stat(model + searchSuffix); !os.IsNotExist(err) {
		t.Errorf("the candidates were left behind: %v", err)
	}
	if code, _, stderr = gppl("fit", path, "--budget", "0s"); code != exitUsage || !strings.Contains(stderr, "--budget 0s") {
		t.Errorf("no budget at all: exit code %d: %s", code, stderr)
	}
}
