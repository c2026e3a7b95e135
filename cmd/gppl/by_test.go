package main

import (
	"bytes"
	rfc4180 "encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBy fits each series of a long table as if it had its own file, from a file and from standard input; keys that cannot be
// file names are changed into ones.
func TestBy(t *testing.T) {
	dir := t.TempDir()
	stores := []string{"north", "../../south", "=cmd|x", "a\x1b[2Jb"}
	row := func(i, k int) string { return fmt.Sprintf("%.3f", observed(i)+float64(100*k)) }
	long := made("t,store,y", 24*len(stores), func(i int) string {
		k := i % len(stores)
		return fmt.Sprintf("%d,%s,%s", i/len(stores), stores[k], row(i/len(stores), k))
	}) + "1,few,2\n"
	path := put(t, dir, "long.csv", long)
	args := []string{"--y", "y", "--by", "store", "--kernel", "SE", "--origins", "0", "--forecast", "3", "-q"}
	run := func(in, out string) [][]string {
		code, stdout, stderr := gppl(append([]string{"fit", in, "--out", filepath.Join(dir, out, "{name}.csv")}, args...)...)
		if code != exitFailed || !strings.Contains(stderr, "1 of 5 series failed") ||
			!strings.Contains(stderr, `store "few": 1 observation is too few`) {
			t.Errorf("exit %d: %s", code, stderr)
		}
		table, err := rfc4180.NewReader(strings.NewReader(stdout)).ReadAll()
		if err != nil || len(table) != 6 || table[0][3] != "by" || strings.ContainsRune(stdout, '\x1b') {
			t.Fatalf("%v\n%q", err, stdout)
		}
		return table
	}
	table := run(path, "out")
	for k, want := range [][2]string{{"long-north", "north"}, {"long-.._.._south", "../../south"}, {"long-_cmd_x", "'=cmd|x"},
		{"long-a__2Jb", "a"}} {
		if table[k+1][0] != want[0] || !strings.HasPrefix(table[k+1][3], want[1]) || table[k+1][4] != "24" {
			t.Errorf("%q", table[k+1])
		}
		own, alone := put(t, dir, "own.csv", made("t,y", 24, func(i int) string { return fmt.Sprintf("%d,%s", i, row(i, k)) })),
			filepath.Join(dir, "alone.csv")
		must(t, "fit", own, "--kernel", "SE", "--origins", "0", "--forecast", "3", "-q", "--out", alone)
		if !bytes.Equal(bytesOf(t, alone), bytesOf(t, filepath.Join(dir, "out", want[0]+".csv"))) {
			t.Errorf("%s differs from the forecast of a file of its own", want[0])
		}
	}
	piped(t, long, func() { run("-", "piped") })
	if files, _ := os.ReadDir(filepath.Join(dir, "piped")); len(files) != 4 || files[0].Name() != "standard_input-.._.._south.csv" {
		t.Errorf("%v", files)
	}
	for _, test := range []struct {
		args, want string
		code       int
	}{
		{"fit " + path + " --y y", `tells their rows apart ("north", "../../south", "=cmd|x", …). --by store makes a series of each; --by none takes all rows for one`, exitFailed},
		{"compare " + path + " --y y --by store", "compare takes one series: gppl fit --by store fits each", exitUsage},
		{"fit " + path + " --y y --by shop", `no column "shop"`, exitFailed},
		{"fit " + path + " --y y --by store --out f.csv", "there are 5 series: name a folder", exitUsage},
	} {
		if code, stdout, stderr := gppl(strings.Fields(test.args)...); code != test.code || stdout != "" ||
			!strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit %d: %s%s", test.args, code, stdout, stderr)
		}
	}
	piped(t, long, func() {
		if code, _, stderr := gppl("fit", "-", "--y", "y"); code != exitFailed ||
			!strings.Contains(stderr, "--by store makes a series of each") {
			t.Errorf("exit %d: %s", code, stderr)
		}
	})
	must(t, "compare", path, "--y", "y", "--by", "none", "--kernel", "SE", "-q")
	// A model of such a table takes another one by the same word.
	model := filepath.Join(dir, "pooled.json")
	must(t, "fit", path, "--y", "y", "--by", "none", "--kernel", "SE", "--origins", "0", "-q", "--model", model)
	if code, _, stderr := gppl("update", model, path); code != exitFailed || !strings.Contains(stderr, "--by none takes all rows for one") {
		t.Errorf("update, exit %d: %s", code, stderr)
	}
	must(t, "update", model, path, "--by", "none")
}
