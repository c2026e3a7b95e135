package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestShareFlag: a batch with --share says what is shared, in its table and in each model, writes the same bytes on any number of
// processors, and has other forecasts than without.
func TestShareFlag(t *testing.T) {
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(3, 4))
	const stores, days = 6, 18
	state := make([]float64, stores)
	path := put(t, dir, "long.csv", made("day,store,sold", stores*days, func(i int) string {
		k := i % stores
		state[k] = 0.8*state[k] + 0.6*rnd.NormFloat64()
		return fmt.Sprintf("%d,s%d,%.3f", i/stores, k, 10+state[k]+0.3*math.Sqrt(float64(k+1))*rnd.NormFloat64())
	})+"1,few,2\n")
	seconds := regexp.MustCompile(`(?m),[0-9]+\.[0-9]{2},`)
	run := func(procs int, flags ...string) (table string, models []string) {
		t.Helper()
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		out := filepath.Join(dir, fmt.Sprint(procs, len(flags)))
		code, stdout, stderr := gppl(append([]string{"fit", path, "--by", "store", "--y", "sold", "--budget", "1ms", "--origins", "2",
			"--forecast", "2", "-q",
			"--model", out + "/{name}.json"}, flags...)...)
		if code != exitFailed || !strings.Contains(stderr, "1 of 7 series failed") {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		if shared := strings.Contains(stderr, "6 series share the priors of"); shared != (len(flags) > 0) {
			t.Errorf("%v: %s", flags, stderr)
		}
		for k := range stores {
			text, err := os.ReadFile(filepath.Join(out, fmt.Sprintf("long-s%d.json", k)))
			if err != nil {
				t.Fatal(err)
			}
			models = append(models, string(text))
		}
		return seconds.ReplaceAllString(stdout, ","), models
	}
	alone, _ := run(2)
	one, models := run(1, "--share")
	three, others := run(3, "--share")
	if one != three {
		t.Errorf("on one processor\n%s\non three\n%s", one, three)
	}
	for k := range models {
		a, b := []byte(models[k]), []byte(others[k])
		if !bytes.Contains(a, []byte(`"shared":{"series":6`)) || !bytes.Equal(members(t, a), members(t, b)) {
			t.Errorf("model %d differs, or does not say what is shared:\n%.300s\n%.300s", k, a, b)
		}
	}
	if n := strings.Count(one, "priors shared by 6 series"); n != stores || strings.Contains(alone, "shared by") || one == alone {
		t.Errorf("%d rows say what is shared:\n%s", n, one)
	}
	for _, test := range []struct{ args, want string }{
		{"fit " + path + " --y sold --by store --share --kernel SE", "--share learns the priors of the automatic search"},
		{"fit " + path + " --y sold --by none --share", "--share learns what several series have in common"},
	} {
		if code, _, stderr := gppl(strings.Fields(test.args)...); code != exitUsage || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit %d: %s", test.args, code, stderr)
		}
	}
}

// members returns what a model file says of its averaged models.
func members(t *testing.T, text []byte) []byte {
	_, after, ok := bytes.Cut(text, []byte(`"members":`))
	if !ok {
		t.Fatalf("no members in %.300s", text)
	}
	before, _, _ := bytes.Cut(after, []byte(`"shared":`))
	return before
}
