package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// varying matches the parts of a file that differ between runs: times, which are in the last column of a table of a report, and
// the checksum over them.
var varying = regexp.MustCompile(`(?i)"([a-z_]*seconds|checksum)":\s*("[^"]*"|\[[^\]]*\]|[^,}\]\s]+)|\d{4}-\d\d-\d\d \d\d:\d\d UTC|[0-9.]+ ?(ns|µs|ms|s)\b|\d+m\d+(\.\d+)?s|>\d+\.\d</td></tr>|/(Creation|Mod)Date \(D:\d+\)`)

func same(a, b []byte) bool { return bytes.Equal(fixed(a), fixed(b)) }

// fixed returns a file without the parts that differ between runs.
func fixed(text []byte) []byte { return varying.ReplaceAll(text, nil) }

// difference shows where two files differ.
func difference(a, b []byte) string {
	a, b = fixed(a), fixed(b)
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	show := func(text []byte) []byte { return text[max(0, min(len(text), at-40)):min(len(text), at+40)] }
	return fmt.Sprintf("%q\n%q", show(a), show(b))
}

func sameFolder(t *testing.T, dir string) {
	t.Helper()
	three := made("t,y,p", 40, func(i int) string { return fmt.Sprintf("%d,%.3f,1.%d", i, observed(i), i%7) })
	for _, name := range []string{"a.csv", "b.csv"} {
		put(t, dir, name, three)
	}
	put(t, dir, "smooth.csv", made("t,y", 40, func(i int) string {
		return fmt.Sprintf("%d,%.3f", i, math.Sin(float64(i)/6)+0.1*math.Sin(77*float64(i*i)))
	}))
	put(t, dir, "future.csv", made("t,p", 60, func(i int) string { return fmt.Sprintf("%d,1.%d", i+40, i%7) }))
	put(t, dir, "later.csv", made("t,y", 9, func(i int) string { return fmt.Sprintf("%d,%.3f", i+40, observed(i+40)) }))
	for _, args := range []string{
		"sum smooth.csv --to 60 --lengthscale 0.5 -o a.sums -q", "sum smooth.csv --like a.sums -o b.sums -q",
		"fit a.csv --kernel SE --origins 0 --model m.json -q",
		"fit a.csv --kernel SE --origins 0 --regressor p --future future.csv --model r.json -q",
	} {
		runIn(t, dir, args)
	}
}

// programIn is the program in a folder, with settings of the environment.
func programIn(dir, args string, environment ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], strings.Fields(args)...)
	c.Dir = dir
	c.Env = slices.Concat(os.Environ(), []string{asProgram + "=1"}, environment)
	return c
}

func runIn(t *testing.T, dir, args string, environment ...string) []byte {
	t.Helper()
	c := programIn(dir, args, environment...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil && !strings.Contains(stderr.String(), "not found") { // a recording may not be at hand
		t.Fatalf("gppl %s: %v: %s", args, err, stderr.String())
	}
	return out
}

// TestSameEverywhere: except for times, files and JSON do not depend on the number of processors, the time zone, the locale or
// the folder.
func TestSameEverywhere(t *testing.T) {
	commands := []string{
		"fit a.csv --out out.csv --model out.json --report out.html --figure out.svg --json",
		"fit a.csv --kernel SE,Matern32 --model named.json --figure out.png --json",
		"fit a.csv --figure out.pdf --kernel SE --json", "predict m.json --out p.csv --json",
		"update m.json later.csv --model u.json --json", "sum a.csv b.csv -o out.sums --json",
		"fit a.sums --forecast 3 --out f.csv --model s.json --json",
		"compare a.csv --kernel SE,RQ --json", "backtest a.csv --kernel SE --json",
	}
	var want map[string][]byte
	for _, environment := range [][]string{
		{"GOMAXPROCS=1", "TZ=America/St_Johns", "LC_ALL=C", "LANG="},
		{"GOMAXPROCS=3", "TZ=Pacific/Apia", "LC_ALL=tr_TR.UTF-8", "LANG=de_DE.UTF-8"},
	} {
		dir := t.TempDir()
		sameFolder(t, dir)
		got := map[string][]byte{}
		for i, args := range commands {
			got[fmt.Sprint("output of ", i)] = runIn(t, dir, args, environment...)
		}
		for path, text := range contents(t, dir) {
			got[filepath.Base(path)] = text
		}
		if want == nil {
			want = got
		}
		for name, text := range got {
			if !same(text, want[name]) {
				t.Errorf("%q: %s differs:\n%s", environment, name, difference(text, want[name]))
			}
		}
	}
}
