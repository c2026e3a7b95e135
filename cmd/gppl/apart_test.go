package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/internal/killed"
)

// apartInputs are commands with an input IN and an output OUT, by the kind of the input.
var apartInputs = []struct{ kind, args string }{
	{"csv", "fit IN --out OUT"}, {"csv", "fit IN --model OUT"}, {"csv", "fit IN --report OUT"}, {"svg", "fit IN --figure OUT"},
	{"csv", "fit two.csv IN --out OUT"}, {"csv", "fit IN --y y --y p --model OUT"}, {"csv", "fit two.csv IN --report OUT"},
	{"future", "fit known.csv --regressor p --future IN --out OUT"}, {"future", "fit known.csv --regressor p --future IN --model OUT"},
	{"future", "fit known.csv two.csv --regressor p --future IN --out OUT"},
	{"model", "predict IN --out OUT"}, {"future", "predict known.json --future IN --out OUT"},
	{"csv", "sum IN --out OUT"}, {"csv", "sum two.csv IN --out OUT"}, {"sums", "sum two.csv --like IN --out OUT"}, {"sums", "sum two.csv --like IN --resume --out OUT"},
	{"sums", "merge IN --out OUT"}, {"sums", "merge two.sums IN --out OUT"}, {"sums", "merge two.sums IN --subtract --out OUT"},
	{"sums", "fit IN --model OUT"}, {"sums", "fit IN --forecast 2 --out OUT"},
}

// apartOutputs are commands with two outputs.
var apartOutputs = []string{
	"fit two.csv --out OUT --model OTHER", "fit two.csv --report OUT --out OTHER", "fit two.csv --figure OUT --report OTHER", "fit two.csv --model OUT --report OTHER",
	"fit two.sums --forecast 2 --model OUT --out OTHER",
}

// TestNothingOverwritten names every input of every command as its output, in every way, and every output as another: the command fails,
// and no file changes.
func TestNothingOverwritten(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, folder := range []string{"data/below", "more"} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	three := made("t,y,p", 24, func(i int) string { return fmt.Sprintf("%d,%.3f,1.%d", i, observed(i), i%7) })
	put(t, ".", "two.csv", three)
	put(t, ".", "known.csv", three)
	put(t, "data", "in.csv", three)
	put(t, "data", "in.future", made("t,p", 60, func(i int) string { return fmt.Sprintf("%d,1.%d", i, i%7) }))
	put(t, "data", "in.svg", three)
	must(t, "sum", "two.csv", "--out", "two.sums", "-q")
	must(t, "sum", "two.csv", "--out", "data/in.sums", "-q")
	must(t, "fit", "known.csv", "--kernel", "SE", "--regressor", "p", "--future", "data/in.future", "--origins", "0", "--model", "known.json", "-q")
	must(t, "fit", "two.csv", "--kernel", "SE", "--origins", "0", "--model", "data/in.model", "-q")
	kinds := []string{"csv", "future", "svg", "sums", "model"}
	symbolic := os.Symlink("data", "linked") == nil
	for _, kind := range kinds {
		name := "in." + kind
		if err := os.Link("data/"+name, "more/hard."+kind); err != nil {
			t.Fatal(err)
		}
		if symbolic {
			os.Symlink("../data/"+name, "more/link."+kind)
		}
	}
	ways := func(kind string) []string {
		name := "in." + kind
		ways := []string{"data/" + name, "./data//" + name, "data/below/../" + name, filepath.Join(dir, "data", name), "more/hard." + kind}
		if symbolic {
			ways = append(ways, "linked/"+name, "linked/below/../"+name, "more/link."+kind)
		}
		if _, err := os.Stat("DATA"); err == nil { // the system takes one case for the other
			ways = append(ways, "DATA/"+strings.ToUpper(name))
		}
		return ways
	}
	before := killed.Contents(t, dir)
	cells := 0
	check := func(code int, args []string) {
		t.Helper()
		cells++
		got, _, stderr := gppl(args...)
		if got != code && got != exitFailed {
			t.Errorf("gppl %q: exit %d: %s", args, got, stderr)
		}
		for name, text := range killed.Contents(t, dir) {
			if !bytes.Equal(text, before[name]) {
				t.Fatalf("gppl %q wrote %s", args, name)
			}
		}
	}
	for _, c := range apartInputs {
		for _, in := range ways(c.kind) {
			for _, out := range ways(c.kind) {
				check(exitUsage, commandOf(c.args, in, out, ""))
				if strings.Contains(c.args, "fit two.csv IN") && filepath.Base(in) == filepath.Base(out) && strings.Contains(out, "in.") {
					check(exitUsage, commandOf(c.args, in, strings.Replace(out, "in.", "{name}.", 1), ""))
				}
			}
		}
	}
	fresh := func(name string) []string {
		ways := []string{"data/" + name, "./data/" + name, filepath.Join(dir, "data", name), "data/below/../" + name}
		if symbolic {
			ways = append(ways, "linked/"+name)
		}
		return ways
	}
	for _, args := range apartOutputs {
		name := "new.svg"
		if !strings.Contains(args, "--figure") {
			name = "new"
		}
		for _, a := range fresh(name) {
			for _, b := range fresh(name) {
				check(exitUsage, commandOf(args, "", a, b))
			}
		}
	}
	// What is kept beside an output is one too.
	check(exitUsage, []string{"fit", "two.csv", "--model", "data/m", "--out", "linked/m.search"})
	check(exitFailed, []string{"sum", "data/in.csv", "--resume", "--like", "data/s.partial", "--out", "linked/s"})
	t.Logf("%d cells", cells)
}

// commandOf splits a command and fills in its files.
func commandOf(args, in, out, other string) []string {
	words := strings.Fields(args)
	for i, w := range words {
		words[i] = map[string]string{"IN": in, "OUT": out, "OTHER": other}[w]
		if words[i] == "" {
			words[i] = w
		}
	}
	if words[0] == "fit" {
		words = append(words, "--kernel", "SE")
		if !strings.Contains(args, "sums") && !strings.Contains(args, "IN --forecast") && !strings.Contains(args, "IN --model") {
			words = append(words, "--origins", "0")
		}
	}
	return words
}
