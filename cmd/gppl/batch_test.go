package main

import (
	"bytes"
	"context"
	rfc4180 "encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
)

// shop is a csv file with two columns of values. The second is constant.
func shop(level float64) string {
	var b strings.Builder
	b.WriteString("month,sales,\"visits, all\",fixed\n")
	for i := range 36 {
		fmt.Fprintf(&b, "%d-%02d,%.3f,%.3f,7\n", 2020+i/12, 1+i%12, level+math.Sin(float64(i)), level+2*math.Cos(0.5*float64(i*i)))
	}
	return b.String()
}

// TestBatchExact: the relative error is inf in the table if the naive forecast is exact; and --horizon means --forecast.
func TestBatchExact(t *testing.T) {
	var b strings.Builder
	b.WriteString("date,shop,y\n")
	for _, name := range []string{"a", "b"} {
		for i := range 60 {
			fmt.Fprintf(&b, "2021-%03d,%s,%d\n", 1+i, name, 100+i%7)
		}
	}
	code, stdout, stderr := gppl("fit", put(t, t.TempDir(), "a.csv", b.String()), "--by", "shop", "--horizon", "7", "--kernel",
		"Laplace", "--period", "7", "-q")
	if code != 0 || !strings.Contains(stdout, ",inf,") || strings.Contains(stdout, "e+308") ||
		!strings.Contains(stdout, "Tested twice, 7 days ahead: ") {
		t.Errorf("exit %d: %s %s", code, stdout, stderr)
	}
}

// TestBatchNotices: the row of a series says the same of its outliers and bands as the text of a single series.
func TestBatchNotices(t *testing.T) {
	var b strings.Builder
	b.WriteString("date,y,z\n")
	for i := range 200 {
		z := 20 + 5*math.Sin(2*math.Pi*float64(i)/7) + math.Sin(float64(i*i))
		if i == 120 {
			z = 300
		}
		fmt.Fprintf(&b, "2021-%03d,%.2f,%.2f\n", 1+i, 20+math.Sin(float64(i*i)), z)
	}
	path := put(t, t.TempDir(), "a.csv", b.String())
	code, stdout, stderr := gppl("fit", path, "--y", "y", "--y", "z", "--origins", "0", "-q")
	const outlier = "1 of 200 observations is further off than the model explains: 2021-05-01 (300, "
	if lines := strings.Split(stdout, "\n"); code != 0 || len(lines) < 3 || strings.Contains(lines[1], "further off") ||
		!strings.Contains(lines[2], outlier) ||
		!strings.Contains(lines[2], "1 observation is far from all others and may widen the bands. If it is a wrong reading, --robust lets it count for less") || strings.Contains(lines[2], ".;") {
		t.Errorf("exit %d: %s %s", code, stdout, stderr)
	}
}

// TestBatch fits two columns of each of two files, a constant column, which has a forecast and no model, and a file with too few
// rows. It wants a row for each, and output files for those that could be fitted.
func TestBatch(t *testing.T) {
	dir := t.TempDir()
	north, south := put(t, dir, "north.csv", shop(20)), put(t, dir, "south.csv", shop(40))
	few := put(t, dir, "few.csv", shop(20)[:strings.Index(shop(20), "\n2020-03")])
	code, stdout, stderr := gppl("fit", north, south, few, "--y", "sales", "--y", "visits, all", "--y", "fixed", "--forecast", "3", "-q",
		"--kernel", "SE",
		"--out", filepath.Join(dir, "new"), "--model", filepath.Join(dir, "{name}.model"), "--figure", filepath.Join(dir, "{name}.png"))
	if code != exitFailed || !strings.Contains(stderr, "3 of 9 series failed") || !strings.Contains(stderr, "few-sales: ") ||
		!strings.Contains(stderr, "too few") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	table, err := rfc4180.NewReader(strings.NewReader(stdout)).ReadAll()
	if err != nil || len(table) != 10 {
		t.Fatalf("%d rows: %v\n%s", len(table), err, stdout)
	}
	of := map[string]map[string]string{}
	for _, row := range table[1:] {
		r := map[string]string{}
		for j, name := range table[0] {
			r[name] = row[j]
		}
		of[r["name"]] = r
	}
	for _, shop := range []string{"north", "south"} {
		if r := of[shop+"-fixed"]; r["error"] != "" || r["kernel"] != "constant" || r["verdict"] != "" || r["n"] != "36" ||
			!strings.Contains(r["notes"], "All 36 values of fixed are 7, and so is the forecast") ||
			!strings.Contains(r["notes"], "no model to write") {
			t.Errorf("%s: %v", shop, r)
		}
		constant := string(bytesOf(t, filepath.Join(dir, "new", shop+"-fixed.csv")))
		if !strings.HasSuffix(constant, "\n2023-03,7,0,0,7,7\n") || strings.Count(constant, "\n") != 4 {
			t.Errorf("%s", constant)
		}
		if png := bytesOf(t, filepath.Join(dir, shop+"-fixed.png")); !bytes.HasPrefix(png, []byte("\x89PNG")) {
			t.Error("no PNG")
		}
		for _, y := range []string{"sales", "visits__all"} {
			r := of[shop+"-"+y]
			if r["n"] != "36" || r["kernel"] != "SE" || r["error"] != "" || r["verdict"] == "" || r["coverage_95"] == "" ||
				r["bic"] == "" || r["use"] == "" {
				t.Errorf("%s %s: %v", shop, y, r)
			}
			forecast := string(bytesOf(t, filepath.Join(dir, "new", shop+"-"+y+".csv")))
			if strings.Count(forecast, "\n") != 4 || !strings.HasPrefix(forecast, "month,mean") || !strings.Contains(forecast, "2023-03") {
				t.Errorf("%s", forecast)
			}
			if _, again, _ := gppl("predict", filepath.Join(dir, shop+"-"+y+".model"), "--forecast", "3"); again != forecast {
				t.Errorf("the model of %s %s forecasts otherwise:\n%s%s", shop, y, again, forecast)
			}
			if png := bytesOf(t, filepath.Join(dir, shop+"-"+y+".png")); !bytes.HasPrefix(png, []byte("\x89PNG")) {
				t.Error("no PNG")
			}
		}
	}
	// One series alone has the same forecast.
	alone := filepath.Join(dir, "alone.csv")
	must(t, "fit", south, "--y", "sales", "--forecast", "3", "-q", "--kernel", "SE", "--out", alone)
	if a, b := bytesOf(t, alone), bytesOf(t, filepath.Join(dir, "new", "south-sales.csv")); !bytes.Equal(a, b) {
		t.Errorf("alone:\n%s\nin the batch:\n%s", a, b)
	}
}

func TestBatchJSON(t *testing.T) {
	dir := t.TempDir()
	a, b := put(t, dir, "a.csv", shop(20)), put(t, t.TempDir(), "a.csv", shop(30))
	stdout, _ := must(t, "fit", a, b, "-q", "--json", "--kernel", "SE", "--origins", "0")
	var rows []result
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Name != "a" || rows[1].Name != "a-2" || rows[1].File != b || rows[0].N != 36 ||
		rows[0].NLL == nil || rows[0].Use != "" || rows[0].Y != "sales" {
		t.Errorf("%s", stdout)
	}
}

// TestBatchErrors refuses before anything is computed.
func TestBatchErrors(t *testing.T) {
	dir := t.TempDir()
	a, b := put(t, dir, "a.csv", shop(20)), put(t, dir, "b.csv", shop(30))
	for _, test := range []struct{ flag, value, want string }{
		{"--out", filepath.Join(dir, "f.csv"), "there are 2 series: name a folder, or write {name}"},
		{"--out", filepath.Join(dir, "{name}.csv"), "overwrite the input file"},
		{"--figure", filepath.Join(dir, "{name}.gif"), ".svg, .png, .pdf"},
		{"--figure", filepath.Join(dir, "{name}", "m.svg"), "in the name of the file only"},
		{"--out", filepath.Join(dir, "same", "{name}.out"), "--model and --out both name"},
		{"--kernel", "Foo", `"Foo"`},
		{"--dates", "lunar", "unix-us or number"},
		{"--report", filepath.Join(a, "sub", "{name}.html"), "not a directory"},
	} {
		code, stdout, stderr := gppl("fit", a, b, "-q", test.flag, test.value, "--model", filepath.Join(dir, "same", "{name}.out"))
		if code == exitOK || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("%s %s: exit %d: %s%s", test.flag, test.value, code, stdout, stderr)
		}
	}
}

// TestBatchInterrupted tells of all series, and writes no file.
func TestBatchInterrupted(t *testing.T) {
	dir := t.TempDir()
	a, b := put(t, dir, "a.csv", shop(20)), put(t, dir, "b.csv", shop(30))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"gppl", "fit", a, b, "--out", filepath.Join(dir, "f")}, &out, &errs)
	left, _ := os.ReadDir(filepath.Join(dir, "f"))
	if code != exitFailed || strings.Count(out.String(), "interrupted") != 2 || len(left) != 0 {
		t.Errorf("exit %d, %d files: %s%s", code, len(left), out.String(), errs.String())
	}
}

// TestFormulas: no text of a table is a formula of a spreadsheet, whoever wrote it, and numbers stay numbers.
func TestFormulas(t *testing.T) {
	for _, evil := range []string{"=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "\r=1", " =1+1", "＝1+1", "\n=1"} {
		var b bytes.Buffer
		number := -1.5
		err := writeRows(&b, []result{{Name: evil, File: evil, Y: evil, Kernel: evil, Model: evil, Use: judge.Word(evil),
			NLL: &number, Verdict: evil, Notes: []string{evil, evil}, Error: evil}})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := rfc4180.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		escaped := 0
		for i, cell := range rows[1] {
			if strings.HasPrefix(cell, "'") {
				escaped++
			} else if strings.TrimSpace(cell) != "" && strings.ContainsAny(strings.TrimLeft(cell, " ")[:1], "=+-@\t\r") &&
				rows[0][i] != "nll" {
				t.Errorf("%s is %q", rows[0][i], cell)
			}
			if rows[0][i] == "nll" && cell != "-1.5" {
				t.Errorf("a number is %q", cell)
			}
		}
		if escaped != 9 {
			t.Errorf("%q: %d cells are escaped, want those of 9 texts", evil, escaped)
		}
	}
}

// TestForeignSearch: a file at the place of a model's search stays if it holds anything else.
func TestForeignSearch(t *testing.T) {
	dir := t.TempDir()
	path := put(t, dir, "a.csv", plain)
	for _, text := range []string{"mine", `{"format":"gppl search","version":3,"series":"of another","trials":{}}`,
		`{"format":"notes"}`, ""} {
		other := put(t, dir, "z.json.search", text)
		must(t, "fit", path, "--kernel", "SE", "--origins", "0", "--model", filepath.Join(dir, "z.json"), "-q")
		if got := string(bytesOf(t, other)); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
