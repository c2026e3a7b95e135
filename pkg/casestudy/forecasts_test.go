package casestudy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/casestudy"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

const records = "../../measure/forecasting"

// results is where notebooks find what is stored.
var results = viz.Must(filepath.Abs("../../notebooks/results"))

// TestForecasts checks that the stored results cover all groups and rivals, with the same series.
func TestForecasts(t *testing.T) {
	f, err := casestudy.ReadForecasts(records)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Figure(); err != nil {
		t.Error(err)
	}
	const groups = 9
	for _, score := range []string{"MASE", "sMAPE", "CRPS", "coverage"} {
		table, err := f.Scores(score)
		if err != nil {
			t.Fatal(err)
		}
		if len(table.Rows) != groups || len(table.Notes) > 0 {
			t.Errorf("%s: %d groups, want %d; %v", score, len(table.Rows), groups, table.Notes)
		}
	}
	if _, err := f.Scores("luck"); err == nil {
		t.Error("there is no score of luck")
	}
	if rows := len(f.Structures().Rows); rows != groups {
		t.Errorf("structures of %d groups", rows)
	}
	said := 0
	for _, row := range f.Trust().Rows {
		said += row[1].(int)
	}
	if said < 200 {
		t.Errorf("the words of %d verdicts are counted", said)
	}
	kinds := map[string]bool{}
	for _, failure := range f.Failures() {
		kinds[failure.Kind] = true
	}
	if len(kinds) != 4 {
		t.Errorf("%d kinds of failure, want 4: %v", len(kinds), kinds)
	}
}

// TestPublished checks, by seasonal naive, that the series are the publishers', except for the yearly ones of tourism.
func TestPublished(t *testing.T) {
	f := viz.Must(casestudy.ReadForecasts(records))
	for _, score := range []string{"MASE", "WQL"} {
		table, err := f.Published(score)
		if err != nil {
			t.Fatal(err)
		}
		if len(table.Notes) != 1 || !strings.Contains(table.Notes[0], "tourism-yearly") {
			t.Errorf("%s: %v", score, table.Notes)
		}
		for _, row := range table.Rows {
			models, compared := row[4].(int)
			if compared != (row[0] != "tourism-yearly") {
				t.Errorf("%s: %v is compared: %v", score, row[0], compared)
			}
			if compared && (models < 9 || row[5].(int) > models || row[7].(float64) > row[6].(float64)) {
				t.Errorf("%s: %v", score, row)
			}
		}
	}
	if _, err := f.Published("sMAPE"); err == nil {
		t.Error("nobody publishes sMAPE")
	}
}

// TestPictures: a picture is drawn from the series, or else from what is stored of it; both show the same.
func TestPictures(t *testing.T) {
	t.Chdir("../../notebooks")
	f := viz.Must(casestudy.ReadForecasts("../measure/forecasting"))
	draw := func(failure casestudy.Failure) (string, string) {
		figure, verdict, err := f.Picture(t.Context(), failure)
		if err != nil {
			t.Fatal(err)
		}
		h, err := figure.HTML()
		if err != nil || verdict == "" {
			t.Fatalf("no picture of %s: %q, %v", failure.Detail.ID, verdict, err)
		}
		return regexp.MustCompile(`(?s)<figcaption.*</figcaption>`).FindString(string(h)), verdict
	}
	first := f.Failures()[0]
	var caption, verdict string
	if f.NotRecomputed() == "" {
		caption, verdict = draw(first)
	}
	t.Chdir(t.TempDir()) // where no data/ is found
	t.Setenv(dataset.EnvDir, "")
	if _, _, err := f.Picture(t.Context(), first); err == nil || !strings.Contains(err.Error(), "scripts/m3.py") {
		t.Errorf("%v: want an error that says how to make the series", err)
	}
	if line := f.NotRecomputed(); !strings.Contains(line, "forecast/m3.csv is not here") {
		t.Errorf("NotRecomputed() = %q", line)
	}
	if err := os.Symlink(results, "results"); err != nil {
		t.Skip(err)
	}
	for i, failure := range f.Failures() {
		c, v := draw(failure)
		if i == 0 && caption != "" && (c != caption || v != verdict) {
			t.Errorf("from the series %s\n%s\nas stored %s\n%s", caption, verdict, c, v)
		}
	}
}
