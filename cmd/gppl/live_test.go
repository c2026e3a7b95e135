package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/viz"
)

// TestLive: a report has a live figure if it is requested, the command has the program, and a page can compute the analysis;
// otherwise the figure is static, and the command says why.
func TestLive(t *testing.T) {
	defer func() { loadProgram = liveProgram }()
	absent := func() (*viz.Program, error) { return nil, errNoProgram }
	there := func() (*viz.Program, error) { return &viz.Program{Worker: "worker", Packed: "program"}, nil }
	series, dir := csv(t), t.TempDir()
	sold := filepath.Join(dir, "sold.csv")
	rows := "day,sold\n"
	for i := range 40 {
		rows += fmt.Sprintf("%d,%d\n", i, (i*i)%4)
	}
	if err := os.WriteFile(sold, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		load  func() (*viz.Program, error)
		args  string
		live  bool
		tells string
	}{
		{there, series + " --x day --kernel SE --live", true, ""},
		{there, series + " --x day --kernel SE", false, ""},
		{absent, series + " --x day --kernel SE --live", false, "go generate ./cmd/gppl"},
		{there, sold + " --kernel SE --likelihood poisson --live", false,
			"no live figure in the report: not of plain observations: it has counts"},
	} {
		loadProgram = c.load
		page := filepath.Join(dir, fmt.Sprintf("%d.html", i))
		code, _, stderr := gppl(append([]string{"fit"}, strings.Fields(c.args+" -q --report "+page)...)...)
		if code != exitOK || !strings.Contains(stderr, c.tells) {
			t.Errorf("%s: exit %d, %s", c.args, code, stderr)
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if live := strings.Contains(string(text), "<figure data-live="); live != c.live ||
			live != strings.Contains(string(text), "wasm-unsafe-eval") {
			t.Errorf("%s: a live figure: %v", c.args, live)
		}
	}
	if code, _, stderr := gppl("fit", series, "--live"); code != exitUsage || !strings.Contains(stderr, "--report FILE.html") {
		t.Errorf("--live without a report: exit %d, %s", code, stderr)
	}
}
