package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/report"
)

// TestUpdate: a model of some rows, updated by the others, forecasts from all of them; it lists outliers among the new ones; and
// no file is written without a flag.
func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	const before, all, far = 60, 80, 70
	rows := func(from, to int) string {
		return made("t,level (m),p", to-from, func(i int) string {
			y := observed(from + i)
			if from+i == far {
				y += 50
			}
			return fmt.Sprintf("%d,%.4f,1", from+i, y)
		})
	}
	old, later, whole := put(t, dir, "old.csv", rows(0, before)), put(t, dir, "new.csv", rows(before, all)),
		put(t, dir, "all.csv", rows(0, all))
	model, updated, checked := filepath.Join(dir, "m.json"), filepath.Join(dir, "u.json"), filepath.Join(dir, "checked.csv")
	must(t, "fit", old, "--kernel", "Matern32", "--origins", "0", "--model", model, "-q")
	stdout, stderr := must(t, "update", model, later, "-o", updated, "--out", checked)
	for _, want := range []string{"The parameters still hold", "added to the model: 20 of level (m), from 60 to 79", "it has 80 now",
		"    70: ", "written: " + updated} {
		if !strings.Contains(stdout, want) {
			t.Errorf("gppl update: %q lacks %q", stdout, want)
		}
	}
	if stderr != "" {
		t.Errorf("gppl update: %s", stderr)
	}
	if lines := strings.Split(strings.TrimSpace(string(bytesOf(t, checked))), "\n"); len(lines) != 1+all-before ||
		lines[0] != "t,level,mean,sd_observation,lower_95,upper_95,z,probability" {
		t.Errorf("--out: %d lines, %s", len(lines), lines[0])
	}
	first, _ := must(t, "predict", updated, "--at", "80.5", "--at", "30.5")
	again := filepath.Join(dir, "again.json")
	stdout, _ = must(t, "update", model, whole, "--json", "--model", again, "--anomaly", "1e-6")
	var j report.ArrivalsJSON
	if err := json.Unmarshal([]byte(stdout), &j); err != nil || j.N != all || j.Added != all-before || j.Already != before ||
		j.Drift.Word != "holds" || len(j.Anomalies) == 0 || j.Anomalies[0] != far-before {
		t.Errorf("gppl update --json: %v, %+v", err, j)
	}
	if second, _ := must(t, "predict", again, "--at", "80.5", "--at", "30.5"); first != second {
		t.Errorf("updated by the new rows: %s, by all rows: %s", first, second)
	}
	if stdout, _ = must(t, "update", updated, whole); !strings.Contains(stdout,
		"Nothing is new: the model has all 80 rows already.") {
		t.Errorf("gppl update by rows that are known: %s", stdout)
	}
	if _, stderr = must(t, "update", model, later); !strings.Contains(stderr, "The model was not written.") {
		t.Errorf("gppl update without --model: %s", stderr)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"takes a saved model and a csv file, not 1", []string{model}},
		{"--anomaly 2: it takes a probability", []string{model, later, "--anomaly", "2"}},
		{"not after the last of them", []string{model, put(t, dir, "late.csv", "t,level (m)\n30,1\n")}},
		{"this is not a saved analysis", []string{old, later}},
		{"--memory raises the limit", []string{model, later, "--memory", "12MB"}},
	} {
		if code, _, stderr := gppl(append([]string{"update"}, c.args...)...); code == exitOK || !strings.Contains(stderr, c.want) {
			t.Errorf("gppl update %q: exit %d, %s, want %q", c.args, code, stderr, c.want)
		}
	}
}

// TestUntil: the time at which a level is reached is given as text, csv and JSON of the same draws; flags that --until excludes
// are an error.
func TestUntil(t *testing.T) {
	dir := t.TempDir()
	path := put(t, dir, "a.csv", made("month,level (m)", 60, func(i int) string {
		return fmt.Sprintf("%d-%02d-01,%.3f", 2015+i/12, 1+i%12, 0.2*float64(i)+math.Sin(float64(i*i)))
	}))
	model, out := filepath.Join(dir, "m.json"), filepath.Join(dir, "until.csv")
	must(t, "fit", path, "--kernel", "Laplace", "--trend", "linear", "--origins", "0", "--model", model, "-q")
	text, _ := must(t, "predict", model, "--until", "14", "--forecast", "36", "--out", out)
	for _, want := range []string{"level (m) first rises to 14 by 2022-12-01 with a probability of ", "  50 %  202",
		"10000 joint draws", "(seed 1)"} {
		if !strings.Contains(text, want) {
			t.Errorf("--until: %q lacks %q", text, want)
		}
	}
	if lines := strings.Split(strings.TrimSpace(string(bytesOf(t, out))), "\n"); len(lines) != 37 ||
		lines[0] != "month,p_first,p_by" || !strings.HasPrefix(lines[36], "2022-12-01,") {
		t.Errorf("--until --out: %d lines, %s", len(lines), lines[0])
	}
	var j report.CrossingJSON
	stdout, _ := must(t, "predict", model, "--until", "14", "--forecast", "36", "--json")
	if err := json.Unmarshal([]byte(stdout), &j); err != nil || !strings.Contains(text, "  50 %  "+j.Quantiles["0.5"]) ||
		len(j.By) != 36 || !j.Rising {
		t.Errorf("--until --json: %v, %+v", err, j)
	}
	if text, _ = must(t, "predict", model, "--until=-50"); !strings.Contains(text,
		"first falls to -50 by 2021-03-01 with a probability of 0") && !strings.Contains(text, "it does not with 1") {
		t.Errorf("--until=-50: %s", text)
	}
	for want, args := range map[string][]string{
		"leave out --at": {"--until", "14", "--at", "2024-01-01"}, "it takes a finite number": {"--until", "NaN"},
		"at most 3000 steps": {"--until", "1", "--forecast", "3001"}, "it takes a number": {"--until", "x"},
	} {
		if code, _, stderr := gppl(append([]string{"predict", model}, args...)...); code != exitUsage ||
			!strings.Contains(stderr, want) {
			t.Errorf("gppl predict %q: exit %d, %s, want %q", args, code, stderr, want)
		}
	}
}

// TestStudent: a fit with heavy tails says so, forecasts from its file as before it was saved, and refuses options that do not go
// with it.
func TestStudent(t *testing.T) {
	dir := t.TempDir()
	path := put(t, dir, "a.csv", made("t,y,se", 90, func(i int) string {
		y := 10 + math.Sin(float64(i)/9) + 0.1*math.Sin(float64(i*i))
		if i%13 == 5 {
			y += float64(20 - i)
		}
		return fmt.Sprintf("%d,%.3f,1", i, y)
	}))
	model, out := filepath.Join(dir, "m.json"), filepath.Join(dir, "f.csv")
	stdout, _ := must(t, "fit", path, "--likelihood", "student", "--kernel", "Matern32", "--origins", "2", "--forecast", "6",
		"--model", model, "--out", out, "-q")
	for _, want := range []string{"Observations scatter as Student's t with ", "of 90 are far off", "its noise is Student-t ("} {
		if !strings.Contains(stdout, want) {
			t.Errorf("--likelihood student: %q lacks %q", stdout, want)
		}
	}
	if again, _ := must(t, "predict", model, "--forecast", "6"); again != string(bytesOf(t, out)) {
		t.Errorf("the forecast of the file: %s, of the fit: %s", again, bytesOf(t, out))
	}
	if code, _, stderr := gppl("update", model, path); code != exitFailed ||
		!strings.Contains(stderr, "fit again with the new ones") {
		t.Errorf("gppl update: exit %d, %s", code, stderr)
	}
	for flag, args := range map[string][]string{"--y-error": {"--y-error", "se"}, "--size": {"--size", "se"},
		"--log": {"--log", "always"}, "--bounds": {"--bounds", "-99,99"}} {
		if code, _, stderr := gppl(append([]string{"fit", path, "--likelihood", "student"}, args...)...); code != exitUsage ||
			!strings.Contains(stderr, "leave out "+flag) {
			t.Errorf("gppl fit --likelihood student %q: exit %d, %s", args, code, stderr)
		}
	}
}
