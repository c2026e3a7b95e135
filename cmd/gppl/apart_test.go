package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// apartCalls are calls of the commands that write files; IN stands for an input of the kind that the command reads. GPPL_DATA has
// the recording for gppl data.
var apartCalls = []apartCall{
	{"csv", "fit IN", false}, {"csv", "fit two.csv IN", true}, {"csv", "fit IN --y y --y p", true},
	{"sums", "fit IN --forecast 2", false},
	{"future", "fit known.csv --regressor p --future IN", false},
	{"future", "fit known.csv two.csv --regressor p --future IN", true},
	{"model", "predict IN", false}, {"future", "predict known.json --future IN", false},
	{"model", "update IN two.csv", false}, {"csv", "update known.json IN", false},
	{"csv", "sum IN", false}, {"csv", "sum two.csv IN", false},
	{"sums", "sum two.csv --like IN", false},
	{"sums", "merge IN", false}, {"sums", "merge two.sums IN", false}, {"sums", "merge two.sums IN --subtract", false},
	{recordingFile, "data sunspots --offline", false},
}

type apartCall struct {
	kind, args string
	batch      bool // the table has several series, each with a file for {name}
}

const recordingFile = "SN_m_tot_V2.0.csv"

// noFiles are values of flags that name no file.
var noFiles = []string{"COLUMN", "DISTRIBUTION", "LO,HI", "FORMAT", "UNIT", "CHARACTER", "TEXT", "COUNTRY", "N", "KERNELS",
	"WHEN", "PERIOD", "TREND", "NAME=DISTRIBUTION", "NAME=FROM..TO", "SEED", "TIME", "SIZE", "STEPS", "DATE",
	"X", "Y", "LENGTHSCALE", "DISTANCE", "PERCENTAGES", "PROBABILITY", "LEVEL", "VIEW"}

// writingFlags returns, by command, the flags that name files to write. The test fails if apartCalls lack a file that a command
// reads, or if it is unknown whether a flag takes a file.
func writingFlags(t *testing.T) map[string][]string {
	t.Helper()
	writing := map[string][]string{}
	for _, c := range command(io.Discard, io.Discard).Commands {
		var reading []string
		for _, f := range c.Flags {
			flag := f.(cli.DocGenerationFlag)
			_, rest, _ := strings.Cut(flag.GetUsage(), "`")
			what, _, _ := strings.Cut(rest, "`")
			switch name := f.Names()[0]; {
			case !flag.TakesValue() || slices.Contains(noFiles, what):
			case !strings.HasPrefix(what, "FILE"):
				t.Errorf("gppl %s --%s takes `%s`: is that a file?", c.Name, name, what)
			case slices.Contains(inputFiles, name):
				reading = append(reading, "--"+name+" IN")
			default:
				writing[c.Name] = append(writing[c.Name], name)
			}
		}
		if strings.Contains(c.ArgsUsage, "FILE") || strings.Contains(c.ArgsUsage, "MODEL") {
			reading = append(reading, c.Name+" IN")
		}
		for _, call := range reading {
			if len(writing[c.Name]) > 0 && !slices.ContainsFunc(apartCalls, func(a apartCall) bool {
				return strings.HasPrefix(a.args, c.Name+" ") && strings.Contains(a.args, call)
			}) {
				t.Errorf("apartCalls lack gppl %s with %s", c.Name, call)
			}
		}
	}
	return writing
}

// TestNothingOverwritten names every input of every command as each of its outputs, in every way, and every output as another:
// the command fails, and no file changes. The inputs and outputs come from the flags of the commands.
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
	const dash = "-" // standard input, for gppl sum only
	put(t, ".", dash, three)
	put(t, "data", "in.csv", three)
	put(t, "data", recordingFile, strings.TrimPrefix(made("", 12*300, func(i int) string {
		return fmt.Sprintf("%d;%02d;%.3f;%6.1f; -1.0;   -1;1", 1749+i/12, 1+i%12, 1749.042+float64(i)/12, 50+observed(i%48))
	}), "\n"))
	t.Setenv("GPPL_DATA", filepath.Join(dir, "data"))
	put(t, "data", "in.future", made("t,p", 60, func(i int) string { return fmt.Sprintf("%d,1.%d", i, i%7) }))
	must(t, "sum", "two.csv", "--out", "two.sums", "-q")
	must(t, "sum", "two.csv", "--out", "data/in.sums", "-q")
	must(t, "fit", "known.csv", "--kernel", "SE", "--regressor", "p", "--future", "data/in.future", "--origins", "0", "--model",
		"known.json", "-q")
	must(t, "fit", "two.csv", "--kernel", "SE", "--origins", "0", "--model", "data/in.model", "-q")
	symbolic := os.Symlink("data", "linked") == nil
	for _, kind := range []string{"csv", "future", "sums", "model"} { // --figure writes to names that end so
		put(t, "data", "in."+kind+".svg", string(bytesOf(t, "data/in."+kind)))
	}
	inputs, err := os.ReadDir("data")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range inputs {
		if name := e.Name(); !e.IsDir() {
			if err := os.Link("data/"+name, "more/hard-"+name); err != nil {
				t.Fatal(err)
			}
			if symbolic {
				os.Symlink("../data/"+name, "more/link-"+name)
			}
		}
	}
	ways := func(name string) []string {
		ways := []string{"data/" + name, "./data//" + name, "data/below/../" + name, filepath.Join(dir, "data", name),
			"more/hard-" + name}
		if symbolic {
			ways = append(ways, "linked/"+name, "linked/below/../"+name, "more/link-"+name)
		}
		if _, err := os.Stat("DATA"); err == nil { // the system takes one case for the other
			ways = append(ways, "DATA/"+strings.ToUpper(name))
		}
		return ways
	}
	before := contents(t, dir)
	cells := 0
	check := func(args []string) {
		t.Helper()
		cells++
		code, _, stderr := gppl(args...)
		if code != exitUsage && code != exitFailed {
			t.Errorf("gppl %q: exit %d: %s", args, code, stderr)
		}
		for name, text := range contents(t, dir) {
			if !bytes.Equal(text, before[name]) {
				t.Fatalf("gppl %q wrote %s", args, name)
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
	writing := writingFlags(t)
	for _, c := range apartCalls {
		name, _, _ := strings.Cut(c.args, " ")
		for i, flag := range writing[name] {
			input, output := "in."+c.kind, "new"
			if c.kind == recordingFile {
				input = c.kind
			}
			if c.batch { // a name without an extension is a folder
				output = "new-" + place + ".txt"
			}
			if flag == "figure" {
				input, output = input+".svg", output+".svg"
			}
			all := ways(input)
			for _, in := range all {
				for _, out := range all {
					if testkit.Quick() && in != all[0] && out != all[0] {
						continue // of both ways one is the usual
					}
					check(commandOf(c.args+" --"+flag+" OUT", in, out, ""))
					if c.batch && !strings.Contains(c.args, "--") && filepath.Base(in) == filepath.Base(out) {
						ext := filepath.Ext(in)
						check(commandOf(c.args+" --"+flag+" OUT", in, strings.TrimSuffix(out, filepath.Base(out))+place+ext, ""))
					}
				}
				if !strings.Contains(c.args, "IN") {
					break
				}
			}
			for _, other := range writing[name][:i] {
				for _, a := range fresh(output) {
					for _, b := range fresh(output) {
						if usual := fresh(output)[0]; testkit.Quick() && a != usual && b != usual {
							continue
						}
						check(commandOf(c.args+" --"+flag+" OUT --"+other+" OTHER", all[0], a, b))
					}
				}
			}
		}
	}
	check([]string{"fit", dash, "--kernel", "SE", "--origins", "0", "--out", "./" + dash})
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
		if !strings.Contains(args, "--forecast") { // of sums
			words = append(words, "--origins", "0")
		}
	}
	return words
}

// TestStandardOutput: a file to which >> appends the output is not also an input of the command.
func TestStandardOutput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	three := made("t,y,p", 24, func(i int) string { return fmt.Sprintf("%d,%.3f,1.%d", i, observed(i), i%7) })
	put(t, dir, "in.csv", three)
	put(t, dir, "other.csv", three)
	must(t, "sum", "in.csv", "-o", "in.sums", "-q")
	must(t, "fit", "in.csv", "--kernel", "SE", "--origins", "0", "--model", "in.json", "-q")
	cells := 0
	for input, calls := range map[string][]string{
		"in.csv": {"fit in.csv --kernel SE --origins 0", "fit other.csv in.csv --kernel SE --origins 0", "compare in.csv --kernel SE",
			"backtest in.csv --kernel SE",
			"sum in.csv -o new.sums", "fit other.csv --kernel SE --origins 0 --regressor p --future in.csv"},
		"in.json": {"predict in.json", "update in.json other.csv"},
		"in.sums": {"info in.sums", "fit in.sums", "merge in.sums -o new.sums", "sum other.csv --like in.sums -o new.sums"},
	} {
		before := bytesOf(t, input)
		f, err := os.OpenFile(input, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, args := range calls {
			for _, streams := range [][2]io.Writer{{f, new(bytes.Buffer)}, {new(bytes.Buffer), f}} {
				cells++
				code := run(t.Context(), append([]string{"gppl"}, strings.Fields(args)...), streams[0], streams[1])
				if after := bytesOf(t, input); code != exitFailed || streams[0] == f && !bytes.Equal(after, before) {
					t.Errorf("gppl %s >> %s: exit %d, %d bytes more", args, input, code, len(after)-len(before))
				}
				if err := os.Truncate(input, int64(len(before))); err != nil { // the message goes to standard error, wherever that leads
					t.Fatal(err)
				}
			}
		}
	}
	t.Logf("%d cells", cells)
}

// contents returns the contents of all files in a folder and its subfolders, by path.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			all[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
