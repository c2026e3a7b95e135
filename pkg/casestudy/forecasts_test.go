package casestudy_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/casestudy"
	"github.com/projected-likelihood/gppl/pkg/dataset"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

const records = "../../measure/forecasting"

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

// TestPicture needs the series themselves.
func TestPicture(t *testing.T) {
	f := viz.Must(casestudy.ReadForecasts(records))
	failure := f.Failures()[0]
	if os.Getenv(dataset.EnvDir) == "" {
		t.Skipf("%s is not set", dataset.EnvDir)
	}
	figure, verdict, err := f.Picture(context.Background(), failure)
	if err != nil {
		t.Fatal(err)
	}
	if figure == nil || verdict == "" {
		t.Errorf("no picture of %s, or no verdict: %q", failure.Detail.ID, verdict)
	}
	t.Setenv(dataset.EnvDir, "")
	if _, _, err := f.Picture(context.Background(), failure); err == nil {
		t.Error("a picture without the series")
	}
}
