package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// piped calls f while standard input is a pipe with the text.
func piped(t *testing.T, text string, f func()) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stdin
	os.Stdin = r
	defer func() { os.Stdin = before }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.WriteString(w, text) // fails if f stops reading
		_ = w.Close()
	}()
	f()
	_ = r.Close()
	<-done
}

// took are the times in a result.
var took = regexp.MustCompile(`"seconds": .*`)

// TestStandardInput: every command that reads csv gives the same result for - as for the file.
func TestStandardInput(t *testing.T) {
	dir := t.TempDir()
	observed := made("t,y,p", 40, func(i int) string { return fmt.Sprintf("%d,%.3f,%d", i, observed(i), i*i%7) })
	future := made("t,p", 6, func(i int) string { return fmt.Sprintf("%d,%d", 40+i, i) })
	files := map[string]string{"data.csv": observed, "future.csv": future}
	for name, text := range files {
		put(t, dir, name, text)
	}
	model := filepath.Join(dir, "m.json")
	must(t, "fit", filepath.Join(dir, "data.csv"), "--regressor", "p", "--kernel", "SE", "--origins", "0", "-q", "--model", model)
	for _, test := range []struct{ args, input, writes string }{
		{"fit IN --kernel SE --origins 2 --forecast 3 -q --json", "data.csv", ""},
		{"fit IN --kernel SE --origins 0 --forecast 3 -q --json --out OUT", "data.csv", "f.csv"},
		{"fit " + filepath.Join(dir, "data.csv") + " --regressor p --future IN --kernel SE --origins 0 -q --json --out OUT",
			"future.csv", "f.csv"},
		{"compare IN --kernel SE -q --json", "data.csv", ""},
		{"backtest IN --kernel SE --origins 2 --forecast 3 -q --json", "data.csv", ""},
		{"predict " + model + " --future IN --json", "future.csv", ""},
		{"sum IN --from 0 --to 100 --centre 150 --largest 300 --lengthscale 1 -q -o OUT", "data.csv", "a.sums"},
	} {
		outcome := func(in string) map[string]string {
			out := filepath.Join(dir, test.writes)
			args := strings.Fields(strings.NewReplacer("IN", in, "OUT", out).Replace(test.args))
			stdout, _ := must(t, args...)
			got := map[string]string{"stdout": took.ReplaceAllString(strings.ReplaceAll(stdout, "standard input", "data.csv"), "")}
			if test.writes != "" {
				got["file"] = string(bytesOf(t, out))
			}
			return got
		}
		want := outcome(filepath.Join(dir, test.input))
		piped(t, files[test.input], func() {
			if diff := cmp.Diff(want, outcome("-")); diff != "" {
				t.Errorf("%s: %s", test.args, diff)
			}
		})
	}
	// A batch names it.
	piped(t, observed, func() {
		stdout, _ := must(t, "fit", "-", filepath.Join(dir, "data.csv"), "--kernel", "SE", "--origins", "0", "-q", "--out",
			filepath.Join(dir, "all", "{name}.csv"))
		if !strings.Contains(stdout, "\nstandard_input,standard input,") ||
			!bytes.Equal(bytesOf(t, filepath.Join(dir, "all", "standard_input.csv")), bytesOf(t, filepath.Join(dir, "all", "data.csv"))) {
			t.Errorf("%s", stdout)
		}
	})
}

// TestStandardInputRefused: a use of standard input that is impossible is refused in one line, and the limit of memory holds.
func TestStandardInputRefused(t *testing.T) {
	dir := t.TempDir()
	data := put(t, dir, "data.csv", shop(20))
	once := "- stands for standard input, which can be read only once"
	for _, test := range []struct {
		args, text, want string
		code             int
	}{
		{"fit - -", "", once, exitUsage},
		{"fit - --regressor p --future -", "", once, exitUsage},
		{"fit - --y sales --y fixed", "", once, exitUsage},
		{"fit " + data + " " + data + " --regressor sales --future -", "", once, exitUsage},
		{"sum - - -o " + filepath.Join(dir, "a.sums"), "", once, exitUsage},
		{"fit -", "t,y\n1,2\n2,zero\n", `standard input: line 3, column 2 ("y"): "zero" is not a finite number`, exitFailed},
		{"fit -", "", "standard input: the file is empty", exitFailed},
		{"fit - --memory 15MB -q", made("t,y", 200000, func(i int) string { return fmt.Sprintf("%d,%d", i, i%7) }),
			"rows of standard input", exitFailed},
	} {
		piped(t, test.text, func() {
			code, stdout, stderr := gppl(strings.Fields(test.args)...)
			if code != test.code || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("%s: exit %d: %s%s", test.args, code, stdout, stderr)
			}
		})
	}
	in, err := os.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	before := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = before }()
	if code, _, stderr := gppl("fit", "-", "--out", data); code != exitFailed ||
		!strings.Contains(stderr, "that is the input file") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
