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

// TestBoundsInTheShell fits per cent between bounds, and refuses values beyond the bounds and flags that do not go with them.
func TestBoundsInTheShell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cloud.csv")
	text := made("month,cover", 48, func(i int) string {
		return fmt.Sprintf("%s,%.2f", month(i).Format("2006-01-02"),
			100/(1+math.Exp(-3-math.Sin(float64(i)/3)-0.8*math.Sin(17*float64(i*i)))))
	})
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := gppl("fit", path, "--bounds", "0,100", "--budget", "1s", "-q", "--json", "--forecast", "12")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var got report.JSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	for _, p := range got.Forecast {
		if !(p.Lower >= 0 && p.Upper <= 100) {
			t.Errorf("%+v", p)
		}
	}
	if got.Trust == nil || got.Candidates[0].Scale != "log odds" {
		t.Errorf("%+v", got)
	}
	for flags, want := range map[string]string{
		"--bounds 0,95":                          "is beyond the bounds, 0 and 95",
		"--bounds 100":                           "--bounds: the bounds \"100\": write two numbers",
		"--bounds 0,100 --log always":            "leave out one of them",
		"--bounds 0,100 --likelihood poisson":    "--bounds is of a normal distribution",
		"--kernel Matern32 --bounds 0,95 --json": "line ",
	} {
		if code, _, stderr := gppl(append([]string{"fit", path, "-q"}, strings.Fields(flags)...)...); code == exitOK ||
			!strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %s, want %s", flags, code, stderr, want)
		}
	}
	share := filepath.Join(t.TempDir(), "share.csv")
	text = made("month,share", 48, func(i int) string {
		return fmt.Sprintf("%s,%.4f", month(i).Format("2006-01-02"), 1/(1+math.Exp(-2-math.Sin(17*float64(i*i)))))
	})
	if err := os.WriteFile(share, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var outputs []string
	for _, flags := range []string{"--log logit", "--bounds 0,1", "--bounds 0,1 --log logit"} {
		args := append([]string{"fit", share, "-q", "--kernel", "Matern32", "--trend", "none", "--forecast", "3", "--origins", "0"},
			strings.Fields(flags)...)
		code, stdout, stderr := gppl(args...)
		if code != exitOK || !strings.Contains(stdout, "log odds") {
			t.Fatalf("%s: exit %d: %s%s", flags, code, stdout, stderr)
		}
		_, result, _ := strings.Cut(stdout, "Parameters of") // the result follows the times of training
		outputs = append(outputs, result)
	}
	if outputs[0] != outputs[1] || outputs[0] != outputs[2] {
		t.Errorf("--log logit prints other than --bounds 0,1:\n%s\n%s\n%s", outputs[0], outputs[1], outputs[2])
	}
	if code, _, stderr := gppl("fit", path, "-q", "--log", "logit"); code == exitOK ||
		!strings.Contains(stderr, "--bounds says what y cannot leave: 48 things are wrong:\n  line 2: 95.26 is beyond the bounds, 0 and 1\n") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, stdout, stderr := gppl("fit", path, "-q", "--bounds", "0,100", "--kernel", "Matern32, SE", "--trend", "none",
		"--forecast", "3", "--origins", "0"); code != exitOK || !strings.Contains(stdout, "(log odds)²") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}
