package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/report"
)

// TestEventInTheShell fits monthly sales with an event, says its effect, and refuses events that are none.
func TestEventInTheShell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sales.csv")
	text := made("month,sales", 60, func(i int) string {
		y := 100 + 2*math.Sin(17*float64(i*i))
		if i >= 30 && i < 36 {
			y -= 30
		}
		return fmt.Sprintf("%s,%.2f", month(i).Format("2006-01-02"), y)
	})
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	event := fmt.Sprintf("lockdown=%s..%s", month(30).Format("2006-01"), month(35).Format("2006-01"))
	code, stdout, stderr := gppl("fit", path, "--event", event, "--budget", "1s", "-q", "--json", "--forecast", "12", "--log", "never")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var got report.JSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if e := got.Regressors; len(e) != 1 || e[0].Name != "lockdown" || math.Abs(e[0].Value+30) > 3 {
		t.Errorf("effects %+v", e)
	}
	if !strings.Contains(strings.Join(got.Notes, " "), "an effect of one event: lockdown") &&
		!strings.Contains(strings.Join(got.Notes, " "), "an effect of 1 event: lockdown") {
		t.Errorf("notes %q", got.Notes)
	}
	for flag, want := range map[string]string{
		"2020-03-15":           "write FROM..TO",
		"1900-01-01..1900-02":  "no observation is within",
		"1800-01-01..2900-01":  "all observations are within",
		"what=sometime..later": "--event: the event",
	} {
		if code, _, stderr := gppl("fit", path, "-q", "--event", flag); code == exitOK || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %s, want %s", flag, code, stderr, want)
		}
	}
}
