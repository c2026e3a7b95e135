package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// A budget that even the least search exceeds is announced.
func TestBudget(t *testing.T) {
	path := csv(t)
	model := filepath.Join(t.TempDir(), "m.json")
	code, _, stderr := gppl("fit", path, "--budget", "1ms", "--model", model)
	if code != exitOK || !strings.Contains(stderr, "quick search: structures are compared on") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if code, _, stderr = gppl("fit", path, "--budget", "0s"); code != exitUsage || !strings.Contains(stderr, "--budget 0s") {
		t.Errorf("no budget at all: exit code %d: %s", code, stderr)
	}
}

// TestTestsOfPast: gppl backtest shows its tests of the past, and announces how long they take.
func TestTestsOfPast(t *testing.T) {
	var b strings.Builder
	b.WriteString("date,y\n")
	for i := range 200 {
		fmt.Fprintf(&b, "2021-%03d,%.2f\n", 1+i, 20+math.Sin(float64(i*i)))
	}
	path := put(t, t.TempDir(), "a.csv", b.String())
	code, stdout, stderr := gppl("backtest", path, "--kernel", "SE", "--origins", "2", "--forecast", "5")
	if code != 0 || !strings.Contains(stderr, "tests of the past: 2/2") || strings.Contains(stderr, "µs") ||
		!strings.Contains(stdout, "Tested twice, 5 days ahead: ") {
		t.Errorf("exit %d: %s %s", code, stdout, stderr)
	}
	if code, _, stderr = gppl("backtest", path, "--budget", "1ms", "--origins", "2", "--forecast", "5"); code != 0 ||
		!strings.Contains(stderr, " s for the tests of the past.") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
