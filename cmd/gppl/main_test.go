package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/projected-likelihood/gppl/pkg/forecast/report"
	"github.com/projected-likelihood/gppl/pkg/viz"
)

const script = "<script>alert(1)</script>"

// csv writes a series whose y column has a hostile name.
func csv(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "day,%s\n", script)
	for i := range 60 {
		fmt.Fprintf(&b, "2024-%02d-%02d,%.3f\n", 1+i/28, 1+i%28, math.Sin(0.4*float64(i))+0.05*math.Sin(77*float64(i*i)))
	}
	path := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func gppl(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(context.Background(), append([]string{"gppl"}, args...), &out, &err)
	return code, out.String(), err.String()
}

func TestFitAndPredict(t *testing.T) {
	path, dir := csv(t), t.TempDir()
	reportFile, model, forecastFile, parts := filepath.Join(dir, "r.html"), filepath.Join(dir, "m.json"),
		filepath.Join(dir, "f.csv"), filepath.Join(dir, "c.csv")
	code, stdout, stderr := gppl("fit", path, "--x", "day", "--y", script, "--kernel", "SE, SE + Laplace", "--forecast", "5",
		"--report", reportFile, "--model", model, "--out", forecastFile, "--levels", "50,80", "--components", parts, "--json")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var got report.JSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if got.N != 60 || len(got.Candidates) != 4 || len(got.Forecast) != 5 || got.Residuals == nil || !got.Exact {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(stderr, "100 %") {
		t.Errorf("no progress on stderr: %q", stderr)
	}

	page, err := os.ReadFile(reportFile)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(page), "<script>"+string(viz.Script())+"</script>", "", 1) // the figures have scripts
	if strings.Contains(text, "<script") || !strings.Contains(text, html.EscapeString(script)) {
		t.Error("the name of a column is not escaped in the report")
	}
	for _, outside := range []string{"src=", "@import", "url(", "<link", `href="http`} {
		if strings.Contains(text, outside) {
			t.Errorf("the report loads something: %s", outside)
		}
	}
	if n := strings.Count(text, "<svg"); n < 5 {
		t.Errorf("%d figures in the report", n)
	}

	if table, err := os.ReadFile(parts); err != nil || !strings.HasPrefix(string(table), "day,mean,trend") ||
		strings.Count(string(table), "\n") != 66 {
		t.Errorf("components (%v):\n%s", err, table)
	}
	if code, _, stderr := gppl("predict", model, "--levels", "50,100"); code != exitUsage ||
		!strings.Contains(stderr, "--levels 100: percentages between 0 and 100") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := gppl("predict", model, "--levels", "50", "--json"); code != exitUsage ||
		!strings.Contains(stderr, "--levels are of the bands in the csv file") {
		t.Errorf("--levels with --json: %d, %s", code, stderr)
	}
	_, written, _ := gppl("predict", model, "--forecast", "5", "--levels", "50,80")
	saved, err := os.ReadFile(forecastFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(saved), written); diff != "" {
		t.Errorf("predict differs from fit:\n%s", diff)
	}
	code, stdout, stderr = gppl("predict", model, "--at", "2024-02-01", "--at", "2024-01-01T12:00:00Z")
	if code != exitOK || strings.Count(stdout, "\n") != 3 {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if code, _, stderr = gppl("predict", model, "--at", "soon"); code != exitUsage || !strings.Contains(stderr, `"soon"`) {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr = gppl("predict", path); code != exitFailed || !strings.Contains(stderr, "not a saved analysis") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestCompare(t *testing.T) {
	code, stdout, stderr := gppl("compare", csv(t), "--kernel", "SE,Laplace", "--quiet")
	if code != exitOK || stderr != "" || !strings.Contains(stdout, "Models compared") || !strings.Contains(stdout, "Laplace") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

func TestExitCodes(t *testing.T) {
	path := csv(t)
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--help"}, exitOK, ""},
		{[]string{"fit", "--help"}, exitOK, ""},
		{[]string{"predict", "model.json", "--help"}, exitOK, ""},
		{nil, exitUsage, "a command is missing"},
		{[]string{"fitt"}, exitUsage, `no command "fitt"`},
		{[]string{"fit"}, exitUsage, "csv file is missing"},
		{[]string{"fit", path, "--shifts", "2021-05-06", "14:00"}, exitUsage, `between quotation marks, as --shifts "2021-05-06 14:00"`},
		{[]string{"compare", path, "other.csv"}, exitUsage, "one csv file, not 2"},
		{[]string{"compare", path, "--y", "1", "--y", "2"}, exitUsage, "compare takes one --y, not 2"},
		{[]string{"fit", path, "--figure", "a.jpg"}, exitUsage, ".svg, .png, .pdf"},
		{[]string{"fit", path, "--report", "a.pdf"}, exitUsage, "--report FILE.html"},
		{[]string{"fit", path, "--out", "a.xlsx"}, exitUsage, "spreadsheets"},
		{[]string{"predict", "m.json", "--out", "a.json"}, exitUsage, "--json"},
		{[]string{"fit", path, path, "--out", "f.csv"}, exitUsage, "{name}.csv"},
		{[]string{"fit", path, "--future", path}, exitUsage, "--regressor"},
		{[]string{"fit", path, "--nope"}, exitUsage, "there is no flag --nope"},
		{[]string{"fit", path, "--forcast", "5"}, exitUsage, "there is no flag --forcast: did you mean --forecast?"},
		{[]string{"fit", path, "--forecast", "many"}, exitUsage, `--forecast "many": it takes a whole number`},
		{[]string{"fit", path, "--budget", "10"}, exitUsage, `--budget "10": it takes a time with its unit, such as 10s or 5m`},
		{[]string{"fit", path, "--seed", "-1"}, exitUsage, `--seed "-1": it takes a whole number from 0`},
		{[]string{"fit", path, "--forecast", "99999999999999999999"}, exitUsage, "a number that is not so large"},
		{[]string{"sum", path, "--lengthscale", "short"}, exitUsage, `--lengthscale "short": it takes a number`},
		{[]string{"fit", path, "--json=yes!"}, exitUsage, `--json "yes!": it takes true, false or no value`},
		{[]string{"fit", path, "--holdout", "60"}, exitUsage, "--holdout 60: there are 60 observations"},
		{[]string{"fit", path, "--origins", "-1"}, exitUsage, "neither may be negative"},
		{[]string{"fit", path, "--log", "always"}, exitUsage, "is 0 at 2024-01-01, and only positive values have a logarithm"},
		{[]string{"fit", path, "--model", "same.json", "--report", "./same.json"}, exitUsage,
			"--report and --model both name same.json"},
		{[]string{"fit", path, "--forecast", "0"}, exitUsage, "at least one step"},
		{[]string{"fit", path, "--kernel", "Foo"}, exitUsage, `"Foo"`},
		{[]string{"fit", path, "--time", "lunar"}, exitUsage, "unix-us or number"},
		{[]string{"fit", path, "--decimal-comma", "--decimal-point"}, exitUsage, "one of the two"},
		{[]string{"fit", path, "--comma", "ab"}, exitUsage, "one character"},
		{[]string{"fit", path, "--report", filepath.Join(path, "r.html")}, exitFailed, "no folder"},
		{[]string{"fit", path + ".none"}, exitFailed, "no such file"},
		{[]string{"fit", path, "--y", "level"}, exitFailed, `no column "level"`},
		{[]string{"fit", path, "--x", "2", "--y", "1"}, exitFailed, `line 2, column 1 ("day"): "2024-01-01" is not a finite number`},
		{[]string{"data", "moon"}, exitUsage, `"moon"`},
	} {
		code, stdout, stderr := gppl(test.args...)
		if code == exitUsage && strings.Contains(stderr, "models: ") {
			t.Errorf("gppl %q is refused after training", test.args)
		}
		if code != test.code || !strings.Contains(stderr, test.want) {
			t.Errorf("gppl %q: exit %d, want %d; %s", test.args, code, test.code, stderr)
		}
		if test.code == exitOK && !strings.Contains(stdout, "gppl fit") {
			t.Errorf("gppl %q shows no example: %s", test.args, stdout)
		}
	}
}

func TestInterrupted(t *testing.T) {
	path, dir := csv(t), t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, err bytes.Buffer
	code := run(ctx, []string{"gppl", "fit", path, "--model", filepath.Join(dir, "m.json")}, &out, &err)
	left, _ := os.ReadDir(dir)
	if code != exitFailed || !strings.Contains(err.String(), "interrupted") || len(left) != 0 {
		t.Errorf("exit %d, %d files: %s", code, len(left), err.String())
	}
}

func TestData(t *testing.T) {
	out := filepath.Join(t.TempDir(), "co2.csv")
	code, stdout, stderr := gppl("data", "co2", "--out", out)
	if code != exitOK || !strings.Contains(stdout, "embedded") || !strings.Contains(stdout, "2225") ||
		!strings.Contains(stdout, "public domain") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = gppl("compare", out, "--kernel", "Matern32", "--last", "50", "--quiet")
	if code != exitOK || !strings.Contains(stdout, "50 observations of CO2 (ppm)") {
		t.Errorf("what data writes, compare does not read: exit %d: %s%s", code, stdout, stderr)
	}
	if code, stdout, _ = gppl("data"); code != exitOK || !strings.Contains(stdout, "sunspots") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	t.Setenv("GPPL_DATA", t.TempDir())
	t.Chdir(t.TempDir())
	if code, _, stderr = gppl("data", "sunspots", "--offline"); code != exitFailed || !strings.Contains(stderr, "not found") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestFitPlace: the place of a change has a standard error of its own, since it has no logarithm.
func TestFitPlace(t *testing.T) {
	var b strings.Builder
	b.WriteString("t,y\n")
	for i := range 60 {
		at, noise := float64(i), 0.1*math.Sin(77*float64(i*i))
		if i < 36 {
			fmt.Fprintf(&b, "%d,%.4f\n", i, math.Sin(at/8)+noise)
		} else {
			fmt.Fprintf(&b, "%d,%.4f\n", i, 1.5*math.Sin(at/1.5)+noise)
		}
	}
	path := filepath.Join(t.TempDir(), "change.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := gppl("fit", path, "--kernel", "ChangePoint(SE, SE)", "--origins", "0", "--json", "--quiet")
	var got report.JSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitOK {
		t.Fatalf("exit %d: %v %s", code, err, stderr)
	}
	place := slices.IndexFunc(got.Parameters, func(p report.ParameterJSON) bool { return p.Name == "location" })
	if place < 0 {
		t.Fatalf("no location among %+v", got.Parameters)
	}
	if p := got.Parameters[place]; p.StdErr <= 0 || p.StdErrLog != 0 || p.InUnits != p.Value {
		t.Errorf("%+v", p)
	}
}

// TestNoComponents: if the components are refused at the end, all other results are written and shown.
func TestNoComponents(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var rows strings.Builder
	for i := range 4200 { // four seasons are more than components are computed of
		fmt.Fprintf(&rows, "%d,%.3f\n", i, 3*math.Sin(2*math.Pi*float64(i)/1050)+rnd.NormFloat64())
	}
	folder := t.TempDir()
	file, figure := filepath.Join(folder, "season.csv"), filepath.Join(folder, "season.svg")
	if err := os.WriteFile(file, []byte("t,y\n"+rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	code, text, stderr := gppl("fit", file, "--kernel", "Periodic", "--period", "1050", "--origins", "1", "--forecast", "3", "--figure", figure,
		"--components", filepath.Join(folder, "parts.csv"))
	if _, err := os.Stat(figure); code != exitFailed || err != nil || !strings.Contains(text, "Forecast of y") ||
		!strings.Contains(stderr, "no components: ") {
		t.Errorf("exit %d, %v: %s\n%s", code, err, text, stderr)
	}
}

// TestShortTimes: texts write a time as 2020-01-13 13:00, and a flag that takes one with quotation marks; files have ISO 8601.
func TestShortTimes(t *testing.T) {
	var rows strings.Builder
	for i := range 90 {
		y := 10 + math.Sin(float64(i)) + 0.1*math.Sin(float64(i*i))
		if i > 85 {
			y += 6
		}
		fmt.Fprintf(&rows, "%s,%.3f\n", time.Date(2020, 1, 1, i, 0, 0, 0, time.UTC).Format(time.DateTime), y)
	}
	file, out := filepath.Join(t.TempDir(), "hours.csv"), filepath.Join(t.TempDir(), "out.csv")
	if err := os.WriteFile(file, []byte("time,y\n"+rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	code, text, stderr := gppl("fit", file, "--out", out, "--period", "none")
	written, err := os.ReadFile(out)
	if code != 0 || err != nil || strings.Contains(text, ":00Z") || !strings.Contains(text, "2020-01-04 18:00") ||
		!strings.Contains(text, `--shifts "2020-01-04 13:00" gives`) || !strings.Contains(string(written), "2020-01-04T18:00:00,") {
		t.Errorf("exit %d, %v, %s: %s\n%s", code, err, stderr, text, written)
	}
}
