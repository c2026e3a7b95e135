package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/report"
)

// TestShiftsOfFit: the text, the page and JSON give a change of level with its date; the flag leaves it out, reports it or names
// it. Outliers are listed, and --robust means noise with heavy tails.
func TestShiftsOfFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	path := put(t, t.TempDir(), "level.csv", made("month,level", 96, func(i int) string {
		y := 50 + rng.NormFloat64()
		if i >= 60 {
			y += 8
		}
		if i == 30 {
			y += 12
		}
		return fmt.Sprintf("%d-%02d,%.3f", 2015+i/12, i%12+1, y)
	}))
	page := filepath.Join(t.TempDir(), "page.html")
	const date = "2020-01"
	for _, c := range []struct {
		args       string
		want, lack []string
	}{
		{"--robust --report " + page, []string{"The level of level rose by", "at " + date, "--shifts never",
			"2 of 96 observations are far off and count for less", "2017-07"}, nil},
		{"--robust --shifts report", []string{"at " + date, "--shifts use does"}, nil},
		{"--shifts never", []string{"further off than the model explains", "2017-07", "--robust"}, []string{"at " + date, "Changes"}},
		{"--shifts 2020-01", []string{"at " + date}, []string{"probability of a change"}},
	} {
		stdout, _ := must(t, append([]string{"fit", path, "-q", "--origins", "0"}, strings.Fields(c.args)...)...)
		for _, want := range c.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: no %q in %s", c.args, want, stdout)
			}
		}
		for _, lack := range c.lack {
			if strings.Contains(stdout, lack) {
				t.Errorf("%s: %q in %s", c.args, lack, stdout)
			}
		}
	}
	text, err := os.ReadFile(page)
	if text := string(text); err != nil || !strings.Contains(text, "rose by") || !strings.Contains(text, "change of level") ||
		!strings.Contains(text, "outliers") {
		t.Error("the page does not tell")
	}
	stdout, _ := must(t, "fit", path, "-q", "--json", "--origins", "0", "--shifts", "2020-01-01", "--log", "never")
	var j report.JSON
	if err := json.Unmarshal([]byte(stdout), &j); err != nil || len(j.Shifts) != 1 || j.Shifts[0].When != date ||
		!j.Shifts[0].Used || !(j.Shifts[0].Size > 6 && j.Shifts[0].Size < 10) ||
		j.Outliers == nil || len(j.Outliers.List) == 0 || j.Outliers.List[0].When != "2017-07" {
		t.Errorf("%+v, %+v (%v)", j.Shifts, j.Outliers, err)
	}
	for want, args := range map[string][]string{
		"it is auto, use, report, never, or the places": {"--shifts", "sometimes"},
		"not within the observations":                   {"--shifts", "2030-01"},
		"--robust is --likelihood student, not poisson": {"--robust", "--likelihood", "poisson"},
	} {
		if code, _, stderr := gppl(append([]string{"fit", path}, args...)...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
}

// TestFarOutlier: the result mentions an observation far from all others, with advice; the figure leaves it out and says so.
func TestFarOutlier(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 6))
	folder := t.TempDir()
	path := put(t, folder, "far.csv", made("month,level", 60, func(i int) string {
		y := 50 + rng.NormFloat64()
		if i == 30 {
			y = 1e6
		}
		return fmt.Sprintf("%d-%02d,%.3f", 2015+i/12, i%12+1, y)
	}))
	page := filepath.Join(folder, "page.html")
	stdout, _ := must(t, "fit", path, "-q", "--origins", "0", "--report", page)
	const want = "1 observation is far from all others and may widen the bands. If it is a wrong reading, --robust lets it count for less."
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(stdout, want) || !strings.Contains(string(text), "1 observation is far from all others") ||
		!strings.Contains(string(text), "1 outlier is far beyond the figure.") {
		t.Errorf("%v: %s", err, stdout)
	}
}

// TestLateChange: an outlier among the latest observations may be the first of a new level, which --shifts gives the forecast; one
// further back, or the last, may not.
func TestLateChange(t *testing.T) {
	for _, c := range []struct {
		from, to int
		want     bool
	}{{92, 96, true}, {50, 51, false}, {95, 96, false}} {
		rng := rand.New(rand.NewPCG(3, 2))
		path := put(t, t.TempDir(), "late.csv", made("month,level", 96, func(i int) string {
			y := 80 + 10*math.Sin(math.Pi/6*float64(i)) + 2*rng.NormFloat64()
			if i >= c.from && i < c.to {
				y -= 30
			}
			return fmt.Sprintf("%d-%02d,%.3f", 2015+i/12, i%12+1, y)
		}))
		const line = "if it changed at 2022-09, --shifts 2022-09 gives the forecast the new level."
		stdout, _ := must(t, "fit", path, "-q", "--origins", "0", "--log", "never")
		if !strings.Contains(stdout, "further off than") || strings.Contains(stdout, line) != c.want {
			t.Errorf("from %d to %d: %s", c.from, c.to, stdout)
		}
		if c.want {
			if stdout, _ := must(t, "fit", path, "-q", "--origins", "0", "--shifts", "2022-09"); strings.Contains(stdout, line) {
				t.Error(stdout)
			}
		}
	}
}

// TestSameChance: a probability that all outliers share is stated once.
func TestSameChance(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	path := put(t, t.TempDir(), "far.csv", made("month,level", 600, func(i int) string {
		y := 50 + rng.NormFloat64()
		if i == 50 || i == 70 || i == 90 {
			y += 60
		}
		return fmt.Sprintf("%d-%02d,%.3f", 1971+i/12, i%12+1, y)
	}))
	stdout, _ := must(t, "fit", path, "-q", "--origins", "0", "--kernel", "SE", "--log", "never")
	const want = "3 of 600 observations are further off than the model explains, each with a probability of less than 1e-12: 1975-03 ("
	if !strings.Contains(stdout, want) || strings.Count(stdout, "1e-12") != 1 {
		t.Error(stdout)
	}
}
