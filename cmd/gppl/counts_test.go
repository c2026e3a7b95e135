package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/projected-likelihood/gppl/pkg/forecast/report"
)

// monthlyCounts is a file of monthly counts with a yearly season.
func monthlyCounts(t *testing.T) string {
	rnd := rand.New(rand.NewPCG(1, 1))
	path := filepath.Join(t.TempDir(), "cases.csv")
	text := made("date,cases,people", 60, func(i int) string {
		return fmt.Sprintf("%s,%.0f,%d", month(i).Format("2006-01-02"),
			distuv.Poisson{Lambda: math.Exp(0.8 + 0.8*math.Sin(float64(i)*math.Pi/6)), Src: rnd}.Rand(), 100+i)
	})
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCountsInTheShell fits counts, found or asked for, writes everything, and predicts from the model.
func TestCountsInTheShell(t *testing.T) {
	path, dir := monthlyCounts(t), t.TempDir()
	model, out, page, figure := filepath.Join(dir, "m.json"), filepath.Join(dir, "f.csv"), filepath.Join(dir, "r.html"),
		filepath.Join(dir, "f.svg")
	code, stdout, stderr := gppl("fit", path, "--x", "date", "--y", "cases", "--forecast", "6", "--budget", "1s", "-q", "--json",
		"--model", model, "--out", out, "--levels", "50", "--report", page, "--figure", figure)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var got report.JSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if got.Likelihood != "Poisson" || got.Trust == nil || len(got.Forecast) != 6 ||
		!strings.Contains(strings.Join(got.Notes, " "), "--likelihood gaussian") {
		t.Errorf("%+v", got)
	}
	for _, p := range got.Forecast {
		if p.Lower != math.Trunc(p.Lower) || p.Upper != math.Trunc(p.Upper) || p.Lower < 0 || p.Median == nil || p.Zero == nil ||
			*p.Zero <= 0 {
			t.Errorf("%+v", p)
		}
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(written)), "\n")
	if want := "date,mean,sd_latent,sd_observation,lower_95,upper_95,median,p_zero,lower_50,upper_50"; rows[0] != want {
		t.Errorf("header %s, want %s", rows[0], want)
	}
	for _, row := range rows[1:] {
		cells := strings.Split(row, ",")
		for _, at := range []int{4, 5, 6, 8, 9} {
			if v, err := strconv.Atoi(cells[at]); err != nil || v < 0 {
				t.Errorf("%s: %s is no count", row, cells[at])
			}
		}
	}
	if code, stdout, stderr = gppl("predict", model, "--forecast", "6", "--levels", "50", "--out",
		filepath.Join(dir, "again.csv")); code != exitOK {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	if again, err := os.ReadFile(filepath.Join(dir, "again.csv")); err != nil || string(again) != string(written) {
		t.Errorf("%v: from the model\n%s, from the fit\n%s", err, again, written)
	}
	if code, stdout, _ = gppl("fit", path, "--y", "cases", "--likelihood", "gaussian", "--forecast", "3", "--origins", "0",
		"--budget", "1s", "-q"); code != exitOK || strings.Contains(stdout, "modelled as counts") ||
		!strings.Contains(stdout, "--likelihood negbinomial models counts") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	if code, stdout, _ = gppl("fit", path, "--y", "cases", "--likelihood", "poisson", "--size", "people", "--kernel", "Matern32",
		"--period", "1y", "--forecast", "3", "--origins", "0", "-q"); code != exitOK ||
		!strings.Contains(stdout, "Their sizes are in column people; the forecast uses the last, 159") ||
		!strings.Contains(stdout, "(log rate)²") {
		t.Errorf("exit %d: %s", code, stdout)
	}
}

// TestCountsWithoutStructure writes a report of counts that have nothing to learn but their rate.
func TestCountsWithoutStructure(t *testing.T) {
	rnd, dir := rand.New(rand.NewPCG(2, 1)), t.TempDir()
	path, page := put(t, dir, "a.csv", made("day,sold", 60,
		func(i int) string { return fmt.Sprintf("%d,%.0f", i, distuv.Poisson{Lambda: 0.4, Src: rnd}.Rand()) })),
		filepath.Join(dir, "r.html")
	stdout, _ := must(t, "fit", path, "--kernel", "auto", "--forecast", "3", "--origins", "0", "-q", "--report", page)
	written, err := os.ReadFile(page)
	if err != nil || !strings.Contains(stdout, "\nWhite ") ||
		strings.Contains(string(written), "Does the model capture the periodicities?") || strings.Contains(stdout, "1.000e-9") {
		t.Errorf("%v: %s", err, stdout)
	}
	path = put(t, dir, "b.csv", made("day,rain", 60, func(i int) string { return fmt.Sprintf("%d,%.0f", i, distuv.Bernoulli{P: 0.4, Src: rnd}.Rand()) }))
	if stdout, _ := must(t, "fit", path, "--forecast", "3", "--origins", "0", "-q"); !strings.Contains(stdout,
		"Expected is the probability of 1.") || strings.Contains(stdout, "1.000e-6") {
		t.Error(stdout)
	}
}

// TestWrongCounts: an error names the line and the value that is no count, or the flags that do not go together.
func TestWrongCounts(t *testing.T) {
	dir := t.TempDir()
	for i, c := range []struct {
		change, flags, want string
	}{
		{"7,-1,9", "--likelihood poisson", "line 8: -1 is no count"},
		{"7,2.5,9", "--likelihood negbinomial", "line 8: 2.5 is no count"},
		{"7,2,9", "--likelihood bernoulli", "line 8: 2 is neither 0 nor 1"},
		{"7,1,", "--likelihood poisson --size n", "line 8: the size (n) is missing"},
		{"7,1,0", "--likelihood poisson --size n", "line 8: the size (n) is 0"},
		{"7,4,3", "--likelihood binomial --size n", "line 8: 4 successes in 3 trials"},
		{"7,1,9", "--likelihood binomial", "--size"},
		{"7,1,9", "--likelihood cauchy", "it is one of auto, gaussian, student, poisson"},
		{"7,1,9", "--likelihood gaussian --size n", "--likelihood poisson"},
		{"7,1,9", "--likelihood poisson --log always", "--log is of a normal distribution"},
		{"7,1,9", "--likelihood poisson --size y", "is y and cannot be the size too"},
	} {
		path := filepath.Join(dir, fmt.Sprintf("%d.csv", i))
		text := made("t,y,n", 30, func(i int) string { return fmt.Sprintf("%d,%d,9", i+1, i%2) })
		if err := os.WriteFile(path, []byte(strings.Replace(text, "\n7,0,9\n", "\n"+c.change+"\n", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := gppl(append([]string{"fit", path, "-q"}, strings.Fields(c.flags)...)...)
		if code == exitOK || !strings.Contains(stderr, c.want) {
			t.Errorf("%s, %s: exit %d, %s, want %s", c.change, c.flags, code, stderr, c.want)
		}
	}
}
