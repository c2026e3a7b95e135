package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/cmd/sumflags"
	"github.com/projected-likelihood/gppl/pkg/forecast/series"
	"github.com/projected-likelihood/gppl/pkg/gppl/sums"
)

// put writes a file into a folder and returns its path.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// readings are rows from to to−1 of a series of 3000.
func readings(from, to int) string {
	var b strings.Builder
	b.WriteString("t,level\n")
	for i := from; i < to; i++ {
		t := float64(i) / 30
		fmt.Fprintf(&b, "%.4f,%.6f\n", t, 20+math.Sin(t)+math.Sin(0.31*t+1)+0.1*math.Sin(77*float64(i*i)))
	}
	return b.String()
}

func must(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := gppl(args...)
	if code != exitOK {
		t.Fatalf("gppl %s: exit %d: %s", strings.Join(args, " "), code, stderr)
	}
	return stdout, stderr
}

func bytesOf(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSumMergeFit sums a series in one file and in three files: the bytes agree, and so does the model that is learnt.
func TestSumMergeFit(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	whole := put(t, dir, "whole.csv", readings(0, 3000))
	a, b, c := put(t, dir, "a.csv", readings(0, 1100)), put(t, dir, "b.csv", readings(1100, 1200)),
		put(t, dir, "c.csv", readings(1200, 3000))

	stdout, stderr := must(t, "sum", whole, "--lengthscale", "0.3", "-o", at("whole.sums"))
	for _, want := range []string{"3000 observations", "SE lengthscales from 0.2999"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in %q", want, stdout)
		}
	}
	if !strings.Contains(stderr, "3000 rows of 1 file") {
		t.Errorf("no rate: %q", stderr)
	}
	must(t, "sum", c, a, b, "--like", at("whole.sums"), "-o", at("three.sums"), "-q")
	for _, f := range []string{a, b, c} {
		must(t, "sum", f, "--like", at("whole.sums"), "-o", strings.TrimSuffix(f, "csv")+"sums", "-q")
	}
	must(t, "merge", at("c.sums"), at("a.sums"), at("b.sums"), "-o", at("merged.sums"))
	want := bytesOf(t, at("whole.sums"))
	for _, name := range []string{"three.sums", "merged.sums"} {
		if !bytes.Equal(bytesOf(t, at(name)), want) {
			t.Errorf("%s has other bytes", name)
		}
	}
	must(t, "merge", at("a.sums"), at("a.sums"), "--subtract", "-o", at("nothing.sums"))
	for _, args := range [][]string{
		{"sum", a, b, dir + "/./a.csv"}, {"merge", at("a.sums"), dir + "/./a.sums"},
		{"merge", at("whole.sums"), at("b.sums"), at("b.sums"), "--subtract"},
	} {
		if code, _, stderr := gppl(append(args, "-o", at("twice.sums"))...); code != exitUsage ||
			!strings.Contains(stderr, "and would count twice") {
			t.Errorf("%q: exit code %d, %s", args, code, stderr)
		}
	}
	must(t, "merge", at("whole.sums"), at("b.sums"), "--subtract", "-o", at("less.sums"))
	must(t, "merge", at("a.sums"), at("c.sums"), "-o", at("ac.sums"), "--quiet")
	if !bytes.Equal(bytesOf(t, at("less.sums")), bytesOf(t, at("ac.sums"))) {
		t.Error("the whole less b is not a and c")
	}

	stdout, _ = must(t, "info", at("less.sums"), "--json")
	var info sumsInfo
	if err := json.Unmarshal([]byte(stdout), &info); err != nil {
		t.Fatal(err)
	}
	if info.Observations != 2900 || math.Abs(*info.Mean-20) > 0.2 || math.Abs(*info.Last-2999.0/30) > 1 {
		t.Errorf("%+v", info)
	}

	stdout, _ = must(t, "fit", at("merged.sums"), "--kernel", "SE, Matern32", "--model", at("m.json"), "-q")
	for _, want := range []string{"3000 observations about their mean", "converged", "lengthscale", "refused: these sums resolve"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in %q", want, stdout)
		}
	}
	if !strings.Contains(string(bytesOf(t, at("m.json"))), `"gppl result"`) {
		t.Error("no model is saved")
	}
}

// TestSumStdin reads standard input, whose range must be given.
func TestSumStdin(t *testing.T) {
	dir := t.TempDir()
	whole := put(t, dir, "whole.csv", readings(0, 500))
	file, err := os.Open(whole)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	before := os.Stdin
	os.Stdin = file
	defer func() { os.Stdin = before }()
	a, b := filepath.Join(dir, "a.sums"), filepath.Join(dir, "b.sums")
	header := []string{"--from", "0", "--to", "100", "--centre", "20", "--largest", "4", "--lengthscale", "1", "-q", "-o"}
	must(t, append([]string{"sum", "-"}, append(header, a)...)...)
	must(t, append([]string{"sum", whole}, append(header, b)...)...)
	if !bytes.Equal(bytesOf(t, a), bytesOf(t, b)) {
		t.Error("standard input gives other bytes than the file")
	}
}

// TestSumDates counts seconds.
func TestSumDates(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("when,y\n")
	for i := range 100 {
		fmt.Fprintf(&b, "2024-03-%02dT%02d:00:00Z,%d\n", 1+i/24, i%24, i%7)
	}
	out := filepath.Join(dir, "a.sums")
	stdout, _ := must(t, "sum", put(t, dir, "d.csv", b.String()), "--from", "2024-03-01", "--to", "2024-04-01", "-o", out, "-q",
		"--json")
	var info sumsInfo
	if err := json.Unmarshal([]byte(stdout), &info); err != nil {
		t.Fatal(err)
	}
	if info.Header.Lo != 1709251200 || info.Header.Hi != 1709251200+31*86400 || info.Observations != 100 {
		t.Errorf("%+v", info)
	}
}

// TestSumsLocal: times without a zone are written without one, those with a zone end in Z, and merged sums are local if all are.
func TestSumsLocal(t *testing.T) {
	dir := t.TempDir()
	write := func(zone string) string {
		return put(t, dir, "t"+zone+".csv", made("when,y", 60, func(i int) string {
			return fmt.Sprintf("2024-03-%02dT%02d:30:00%s,%d", 1+i/24, i%24, zone, i%7)
		}))
	}
	local, zoned := filepath.Join(dir, "local.sums"), filepath.Join(dir, "zoned.sums")
	merged := filepath.Join(dir, "merged.sums")
	says := func(want string, args ...string) {
		t.Helper()
		if said, _ := must(t, args...); !strings.Contains(said, want) {
			t.Errorf("gppl %v: %s", args, said)
		}
	}
	const without, with = "2024-03-01T00:30:00 to 2024-03-03T11:30:00,", "2024-03-01T00:30:00Z to 2024-03-03T11:30:00Z,"
	says(without, "sum", write(""), "-o", local)
	says(with, "sum", write("Z"), "-o", zoned)
	says(without, "info", local)
	must(t, "sum", write(""), "--like", zoned, "-o", merged)
	says(with, "info", merged)
	must(t, "sum", write(""), "--like", local, "-o", filepath.Join(dir, "more.sums"))
	says(without, "merge", local, filepath.Join(dir, "more.sums"), "-o", merged)
	says(with, "merge", local, zoned, "-o", merged)
	says("\n2024-03-03T12:30:00,", "fit", local, "--forecast", "2")
	says("of 2024-03-01 to", "sum", write(""), "--from", "2024-03-01", "--to", "2024-03-04", "--centre", "3",
		"--largest", "4", "-o", local)
}

// TestSumsTellDates: texts about sums of dates have dates instead of seconds, and texts about sums of numbers have numbers.
func TestSumsTellDates(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("when,y\n")
	for i := range 120 {
		fmt.Fprintf(&b, "%s,%.3f\n", time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC).Format("02.01.2006"),
			math.Sin(float64(i)/9)+0.1*math.Sin(float64(i*i)))
	}
	days := put(t, dir, "d.csv", b.String())
	first, like, both := filepath.Join(dir, "a.sums"), filepath.Join(dir, "b.sums"), filepath.Join(dir, "c.sums")
	sum, _ := must(t, "sum", days, "-o", first)
	must(t, "sum", days, "--like", first, "-o", like)
	merge, _ := must(t, "merge", first, like, "-o", both)
	info, _ := must(t, "info", both)
	for name, text := range map[string]string{"sum": sum, "merge": merge, "info": info} {
		if !strings.Contains(text, "2020-01-01 to 2020-04-29, of 2020-01-01 to 2020-04-29 that it takes") ||
			!strings.Contains(text, " hours, in linear time up to ") {
			t.Errorf("gppl %s: %s", name, text)
		}
	}
	must(t, "sum", days, "--to", "2020-05-31", "-o", both)
	fit, _ := must(t, "fit", both, "--forecast", "1")
	if !strings.Contains(fit, "x are dates: the lengthscale is ") || !strings.Contains(fit, "date,mean") ||
		!strings.Contains(fit, "\n2020-04-30") {
		t.Errorf("gppl fit: %s", fit)
	}
	year, _ := must(t, "fit", both, "--at", "2020")
	if !strings.Contains(year, "\n2020,") {
		t.Errorf("gppl fit --at 2020: %s", year)
	}
	if wide, _ := must(t, "sum", days, "--from", "2019", "-o", both); !strings.Contains(wide,
		"of 2019-01-01 to 2020-04-29 that it takes") {
		t.Errorf("gppl sum --from 2019: %s", wide)
	}
	if _, _, refused := gppl("sum", days, "--from", "x", "-o", both); !strings.Contains(refused,
		`--from: "x" is not a finite number, nor a date`) {
		t.Errorf("gppl sum --from x: %s", refused)
	}
	_, left := must(t, "sum", days, "--from", "2020-02-01", "--to", "2020-05-01", "-o", like)
	if !strings.Contains(left, "t = 2020-01-01 is not within [2020-02-01, 2020-05-01]") {
		t.Errorf("rows out of range: %s", left)
	}
	if _, _, refused := gppl("sum", days, "--from", "2020-05-01", "-o", like); !strings.Contains(refused,
		"is not before 2020-04-29, the last x") {
		t.Errorf("an empty range: %s", refused)
	}
	numbers, _ := must(t, "sum", put(t, dir, "n.csv", readings(0, 3000)), "-o", first)
	if !strings.Contains(numbers, " to 99.9667, of 0 to 99.9667 that it takes") {
		t.Errorf("numbers: %s", numbers)
	}
}

// TestSumNumberDates: gppl sum reads numbers that stand for dates as gppl fit does, with the same remark, and continues sums of
// plain numbers with --time number.
func TestSumNumberDates(t *testing.T) {
	dir := t.TempDir()
	day := time.Date(2024, 1, 31, 0, 0, 0, 0, time.UTC)
	for name, x := range map[string]func(t time.Time) string{
		"unix":    func(t time.Time) string { return fmt.Sprint(t.Unix()) },
		"unix-ms": func(t time.Time) string { return fmt.Sprint(t.UnixMilli()) },
		"unix-us": func(t time.Time) string { return fmt.Sprint(t.UnixMicro()) },
		"iso":     func(t time.Time) string { return t.Format("20060102") },
	} {
		var b strings.Builder
		b.WriteString("when,y\n")
		for i := range 100 {
			fmt.Fprintf(&b, "%s,%d\n", x(day.AddDate(0, 0, i)), i%7)
		}
		file, out := put(t, dir, name+".csv", b.String()), filepath.Join(dir, name+".sums")
		s, err := series.Read(t.Context(), file, series.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var info sumsInfo
		sum := func(args ...string) (remarks string) {
			t.Helper()
			stdout, remarks := must(t, append([]string{"sum", file, "-o", out, "-q", "--json"}, args...)...)
			info = sumsInfo{}
			if err := json.Unmarshal([]byte(stdout), &info); err != nil {
				t.Fatal(err)
			}
			return remarks
		}
		remarks := sum()
		if *info.First != float64(day.Unix()) || *info.Last != float64(day.Unix()+99*86400) || info.Observations != 100 {
			t.Errorf("%s: sums from %v to %v", name, *info.First, *info.Last)
		}
		_, notes := s.Messages()
		if said := notes[1].Words(sumflags.Word); s.Axis.Text(s.X[0]) != "2024-01-31" || !strings.Contains(remarks, said) {
			t.Errorf("%s: gppl fit starts at %s with the remarks %q, gppl sum has %q", name, s.Axis.Text(s.X[0]), s.Notes(), remarks)
		}
		dates := bytesOf(t, out)
		if sum("--time", name); !bytes.Equal(bytesOf(t, out), dates) {
			t.Errorf("%s: other sums by --time", name)
		}
		sum("--time", "number")
		plain := bytesOf(t, out)
		before := put(t, dir, "before.sums", string(plain))
		if sum("--like", before, "--time", "number"); !bytes.Equal(bytesOf(t, out), plain) {
			t.Errorf("%s: other sums by --like of plain numbers", name)
		}
	}
}

// TestSumsPrintable: no escape sequence in the name of a file reaches the terminal.
func TestSumsPrintable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a\x1b[2J.sums")
	file := put(t, t.TempDir(), "b\x1b[2J.csv", readings(0, 200)+"x,1\n")
	for _, args := range [][]string{{"sum", file, "-o", path}, {"info", path}, {"fit", path}} {
		if stdout, stderr := must(t, args...); strings.Contains(stdout+stderr, "\x1b[2J") {
			t.Errorf("gppl %q prints %q, %q", args, stdout, stderr)
		}
	}
}

// TestSumRange: a range that is not a number is refused as a misuse of its flag.
func TestSumRange(t *testing.T) {
	path := put(t, t.TempDir(), "a.csv", readings(0, 200))
	for _, name := range []string{"from", "to", "lengthscale", "longest", "centre", "largest"} {
		for _, value := range []string{"NaN", "Inf", "-Inf"} {
			code, _, stderr := gppl("sum", path, "--"+name, value, "-o", filepath.Join(t.TempDir(), "a.sums"))
			oneLine(t, code, exitUsage, stderr, "--"+name)
		}
	}
}

// TestSumBadRows leaves bad rows out, says where they are, and makes an error of them if asked to.
func TestSumBadRows(t *testing.T) {
	dir := t.TempDir()
	lines := strings.Split(readings(0, 200), "\n")
	lines[10], lines[20], lines[30], lines[40] = "0.3,abc", "0.5", "1e6,20", "1.3,NA"
	bad := put(t, dir, "bad.csv", strings.Join(lines, "\n"))
	out := filepath.Join(dir, "a.sums")
	header := []string{"--from", "0", "--to", "10", "--centre", "20", "--largest", "4", "-o", out}
	stdout, stderr := must(t, append([]string{"sum", bad}, header...)...)
	for _, want := range []string{"bad.csv, line 11, column 2", `"abc"`, "bad.csv, line 21: wrong number of fields: 1",
		"bad.csv, line 31: t = 1e+06 is not within [0, 10]", "3 rows were left out", "1 row was left out for lack of a value"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in %q", want, stderr)
		}
	}
	if !strings.Contains(stdout, "196 observations") {
		t.Error(stdout)
	}
	before := bytesOf(t, out)
	code, _, stderr := gppl(append([]string{"sum", bad, "--strict"}, header...)...)
	if code != exitFailed || !strings.Contains(stderr, "bad.csv, line 11, column 2") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if !bytes.Equal(bytesOf(t, out), before) {
		t.Error("the file has changed though the command failed")
	}
	// A total and what stands below the table are bad rows, as in gppl fit.
	totals := put(t, dir, "totals.csv", "month,y\nJan 2015,5\nFeb 2015,6\nTotal 2015,11\nJan 2016,7\nSource: Office\n")
	if stdout, stderr := must(t, "sum", totals, "-o", out); !strings.Contains(stdout, "3 observations") ||
		!strings.Contains(stderr, `line 4, column 1 ("month"): "Total 2015"`) || !strings.Contains(stderr, "line 6: wrong number of fields") {
		t.Errorf("%s%s", stdout, stderr)
	}
	// A first line like the others is data.
	headless := put(t, dir, "headless.csv", strings.TrimPrefix(readings(0, 200), "t,level\n"))
	if _, stderr := must(t, "sum", headless, "-o", out); strings.Count(stderr, "The file has no header") != 1 {
		t.Errorf("%q", stderr)
	}
	if _, stderr := must(t, "sum", headless, "--no-header", "-o", out); strings.Contains(stderr, "header") {
		t.Errorf("%q", stderr)
	}
}

// TestSumExamples runs the commands in the help of gppl sum and in docs/scale.md, on files of these names.
func TestSumExamples(t *testing.T) {
	scale := string(bytesOf(t, filepath.Join("..", "..", "docs", "scale.md")))
	t.Chdir(t.TempDir())
	for year := 2023; year <= 2025; year++ {
		var b strings.Builder
		b.WriteString("time,level\n")
		for day := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() == year; day = day.AddDate(0, 0, 1) {
			x := float64(day.Unix()) / 86400
			fmt.Fprintf(&b, "%s,%.4f\n", day.Format(time.DateOnly), 5+math.Sin(x/9)+0.1*math.Sin(77*x*x))
		}
		put(t, ".", fmt.Sprintf("%d.csv", year), b.String())
	}
	_, scale, _ = strings.Cut(scale, "```sh\n")
	scale, _, _ = strings.Cut(scale, "```")
	for _, text := range []string{sumCommand().Description, scale} {
		ran := 0
		for _, line := range strings.Split(text, "\n") {
			args := strings.Fields(line)
			if len(args) == 0 || args[0] != "gppl" || strings.Contains(line, "RQ") { // RQ takes long
				continue
			}
			must(t, args[1:]...)
			ran++
		}
		if ran < 4 {
			t.Errorf("%d commands in %q", ran, text)
		}
	}
	if rows := strings.Count(string(bytesOf(t, "forecast.csv")), "\n2026-"); rows != 2 {
		t.Errorf("%d predictions", rows)
	}
	put(t, ".", "2027.csv", "time,level\n2027-01-01,5\n2027-01-02,5.1\n")
	if code, _, stderr := gppl("sum", "2027.csv", "--x", "time", "--y", "level", "--like", "two.sums", "-o",
		"x.sums"); code != exitFailed ||
		!strings.Contains(stderr, "the range is that of two.sums: to change it, make two.sums again with --from, --to") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestSumsHostile: an error is one line that says what is wrong, and no file is written.
func TestSumsHostile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	good := put(t, dir, "good.csv", readings(0, 300))
	must(t, "sum", good, "-o", at("good.sums"), "-q")
	must(t, "sum", good, "-o", at("other.sums"), "--to", "12", "-q")
	sums := string(bytesOf(t, at("good.sums")))
	damaged := []byte(sums)
	damaged[len(damaged)/2] ^= 4
	put(t, dir, "damaged.sums", string(damaged))
	put(t, dir, "short.sums", sums[:len(sums)-9])
	put(t, dir, "empty.csv", "")
	put(t, dir, "constant.csv", "t,y\n"+strings.Repeat("1,2\n", 20))
	put(t, dir, "text.csv", "t,y\n"+strings.Repeat("a,b\n", 20))
	var same strings.Builder
	for i := range 200 {
		fmt.Fprintf(&same, "%d,5\n", i)
	}
	put(t, dir, "same.csv", "t,y\n"+same.String())
	must(t, "fit", at("good.sums"), "--model", at("of-sums.json"), "-q")
	must(t, "merge", at("good.sums"), at("good.sums"), "--subtract", "-o", at("none.sums"))
	must(t, "sum", at("same.csv"), "-o", at("same.sums"), "--from", "0", "--to", "200", "--centre", "4", "--largest", "3", "-q")
	for _, c := range []struct {
		args string // divided by spaces, DIR stands for the folder
		code int
		want string
	}{
		{"sum", exitUsage, "a csv file is missing"},
		{"sum DIR/good.csv", exitUsage, "-o FILE.sums is missing"},
		{"sum DIR/none.csv -o DIR/x.sums", exitFailed, "no such file"},
		{"sum DIR -o DIR/x.sums", exitFailed, "is a folder"},
		{"sum DIR/good.csv -o DIR/none/x.sums", exitFailed, "there is no folder"},
		{"sum DIR/good.csv -o DIR/good.csv", exitFailed, "that is"},
		{"sum DIR/good.csv DIR/constant.csv -o DIR/constant.csv", exitFailed, "that is an input file"},
		{"sum - -o DIR/x.sums", exitUsage, "give --from, --to and --largest"},
		{"sum - - -o DIR/x.sums", exitUsage, "can be read only once"},
		{"sum DIR/empty.csv -o DIR/x.sums", exitFailed, "empty.csv: the file is empty"},
		{"sum DIR/constant.csv -o DIR/x.sums", exitFailed,
			"gppl: x is 1 in all 20 rows of the first look: if other rows differ, say --from, --to, --centre and --largest"},
		{"sum DIR/same.csv -o DIR/x.sums", exitFailed, "gppl: y is 5 in all 200 rows of the first look"},
		{"sum DIR/text.csv -o DIR/x.sums", exitFailed, "found no row with numbers"},
		{"sum DIR/text.csv --from 0 --to 1 --centre 0 --largest 1 -o DIR/x.sums", exitFailed, "no row could be added"},
		{"sum DIR/good.csv --y 3 -o DIR/x.sums", exitFailed, "no column"},
		{"sum DIR/good.csv --y 1 -o DIR/x.sums", exitFailed, "both column 1"},
		{"sum DIR/good.csv --from yesterday -o DIR/x.sums", exitUsage, "yesterday"},
		{"sum DIR/good.csv --from 5 --to 4 -o DIR/x.sums", exitUsage, "--from 5 is not before --to 4"},
		{"sum DIR/good.csv --lengthscale 1e-9 -o DIR/x.sums", exitFailed, "the shortest that can be resolved is"},
		{"sum DIR/good.csv --lengthscale -1 -o DIR/x.sums", exitUsage, "--lengthscale -1"},
		{"sum DIR/good.csv --from 1940 -o DIR/x.sums", exitUsage, "--from 1940 is not before 9.9667, the last x of the files"},
		{"sum DIR/good.csv --largest 0 -o DIR/x.sums", exitUsage, "--largest 0"},
		{"sum DIR/good.csv -y 2 -y 1 -o DIR/x.sums", exitUsage, "sum takes one --y, not 2"},
		{"sum DIR/good.csv --like DIR/good.csv -o DIR/x.sums", exitFailed, "no file of sums"},
		{"sum DIR/good.csv --like DIR/good.sums --from 3 -o DIR/x.sums", exitUsage, "--like"},
		{"merge", exitUsage, "-o FILE.sums is missing"},
		{"merge -o DIR/x.sums", exitUsage, "a file of sums is missing"},
		{"merge DIR/good.sums DIR/other.sums -o DIR/x.sums", exitFailed, "; sum one again with --like the other"},
		{"merge DIR/good.sums DIR/damaged.sums -o DIR/x.sums", exitFailed, "damaged.sums: the file is damaged"},
		{"merge DIR/good.sums DIR/short.sums -o DIR/x.sums", exitFailed, "short.sums: the file is cut short"},
		{"merge DIR/good.sums DIR/good.csv -o DIR/x.sums", exitFailed, "good.csv: this is no file of sums"},
		{"merge DIR/none.sums DIR/good.sums --subtract -o DIR/x.sums", exitFailed,
			"good.sums: its 300 observations cannot be among the 0 that"},
		{"info DIR/damaged.sums", exitFailed, "damaged"},
		{"info", exitUsage, "file of sums is missing"},
		{"fit DIR/damaged.sums", exitFailed, "damaged"},
		{"fit DIR/none.sums -q", exitFailed, "none.sums holds no observations: there is nothing to learn"},
		{"fit DIR/same.sums -q", exitFailed, "same.sums: y is 5 in all 200 observations: there is nothing to learn"},
		{"fit DIR/good.sums --report DIR/x.html", exitUsage, "--report needs observations"},
		{"fit DIR/good.sums --out DIR/x.sums", exitUsage, "say what to forecast"},
		{"fit DIR/good.sums --at noon", exitUsage, "noon"},
		{"fit DIR/good.sums --at 3 --forecast 2", exitUsage, "exclude each other"},
		{"fit DIR/good.sums --forecast 0", exitUsage, "at least one step"},
		{"fit DIR/good.sums --at 11 --out DIR/x.sums -q", exitFailed,
			"good.sums: 11 is outside the range of these sums, from 0 to 9.9667: sum the files again with --from and --to around it"},
		{"backtest DIR/good.sums", exitUsage, "good.sums holds sums, and backtest needs observations"},
		{"compare DIR/good.sums", exitUsage, "compare needs observations"},
		{"predict DIR/good.sums", exitUsage, "--at DATE predicts from them"},
		{"predict DIR/of-sums.json", exitFailed, "this is a model alone, without observations, as gppl fit saves of sums: gppl fit FILE.sums --at DATE predicts"},
		{"fit DIR/good.sums --budget 3s", exitUsage, "--budget cuts the work on observations"},
		{"fit DIR/good.csv --at 3", exitUsage, "--at is for sums"},
		{"fit DIR/good.sums --kernel Matern32 -q", exitFailed, "these sums resolve frequencies up to"},
		{"fit DIR/good.sums --kernel Nonsense -q", exitUsage, "no kernel"},
	} {
		args := strings.Fields(strings.ReplaceAll(c.args, "DIR", dir))
		code, stdout, stderr := gppl(args...)
		last := strings.Split(strings.TrimSpace(stderr), "\n")
		if code != c.code || !strings.Contains(stderr, c.want) || stdout != "" && c.code != exitUsage {
			t.Errorf("%s: exit %d, want %d and %q: %s%s", c.args, code, c.code, c.want, stdout, strings.Join(last, "\n"))
		}
		if _, err := os.Stat(at("x.sums")); err == nil {
			t.Errorf("%s: a file was written", c.args)
			os.Remove(at("x.sums"))
		}
	}
	for _, name := range []string{"good.csv", "constant.csv"} {
		if bytesOf(t, at(name))[0] != 't' {
			t.Errorf("%s was overwritten", name)
		}
	}
}

// TestSumLargeFile looks at pieces of a file that is too large for a first look at all of it.
func TestSumLargeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 6 MB")
	}
	var b strings.Builder
	b.WriteString("t,y\n")
	const n = 300000
	for i := range n {
		fmt.Fprintf(&b, "%.3f,%.6f\n", float64(i)/100, math.Sin(float64(i)/1000)+0.1*math.Sin(77*float64(i%1000*i)))
	}
	dir := t.TempDir()
	stdout, stderr := must(t, "sum", put(t, dir, "large.csv", b.String()), "-o", filepath.Join(dir, "a.sums"), "--json")
	var info sumsInfo
	if err := json.Unmarshal([]byte(stdout), &info); err != nil {
		t.Fatal(err)
	}
	if info.Observations != n || info.Header.Lo > 0 || info.Header.Lo < -300 || strings.Contains(stderr, "left out") {
		t.Errorf("%+v\n%s", info, stderr)
	}
	// Lines may be longer than the pieces.
	b.Reset()
	b.WriteString("t,y")
	const columns, long = 100000, 20
	for i := range columns {
		fmt.Fprintf(&b, ",c%d", i)
	}
	for i := range long {
		fmt.Fprintf(&b, "\n%d,%.3f%s", i, math.Sin(float64(i)), strings.Repeat(",1", columns))
	}
	stdout, stderr = must(t, "sum", put(t, dir, "wide.csv", b.String()), "-o", filepath.Join(dir, "b.sums"), "--json")
	if err := json.Unmarshal([]byte(stdout), &info); err != nil {
		t.Fatal(err)
	}
	if info.Observations != long || strings.Contains(stderr, "left out") {
		t.Errorf("%+v\n%s", info, stderr)
	}
}

// TestSumsForecast wants the columns of the forecast that gppl fit makes from the rows, and its numbers.
func TestSumsForecast(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	rows := put(t, dir, "rows.csv", readings(0, 600))
	must(t, "sum", rows, "--to", "30", "--lengthscale", "0.3", "-o", at("a.sums"), "-q")
	must(t, "fit", at("a.sums"), "--at", "20.5", "--at", "10", "--out", at("sums.csv"), "-q")
	must(t, "fit", rows, "--kernel", "SE", "--trend", "none", "--origins", "0", "--model", at("m.json"), "-q") // no test widens bands
	must(t, "predict", at("m.json"), "--at", "10", "--at", "20.5", "--out", at("rows-forecast.csv"))
	got, want := strings.Fields(string(bytesOf(t, at("sums.csv")))), strings.Fields(string(bytesOf(t, at("rows-forecast.csv"))))
	if len(got) != 3 || len(want) != 3 || strings.TrimPrefix(got[0], "x,") != strings.TrimPrefix(want[0], "t,") {
		t.Fatalf("%q, want %q", got, want)
	}
	for i := 1; i < 3; i++ {
		a, b := strings.Split(got[i], ","), strings.Split(want[i], ",")
		if a[0] != b[0] {
			t.Errorf("x is %s, want %s", a[0], b[0])
		}
		for j := 1; j < len(a); j++ {
			var v, w float64
			fmt.Sscan(a[j], &v)
			fmt.Sscan(b[j], &w)
			if math.Abs(v-w) > 0.02 { // the trained models differ a little, since the mean of gppl fit is another
				t.Errorf("row %d, column %d: %v, want %v", i, j, v, w)
			}
		}
	}
	stdout, _ := must(t, "fit", at("a.sums"), "--forecast", "3", "-q")
	if n := strings.Count(stdout[strings.Index(stdout, "x,mean"):], "\n"); n != 4 {
		t.Errorf("%d lines: %s", n, stdout)
	}
	stdout, _ = must(t, "fit", at("a.sums"), "--forecast", "3", "-q", "--json")
	if !strings.Contains(stdout, `"sd_observation"`) {
		t.Error(stdout)
	}
}

// TestSumsProjections learns a lengthscale shorter than the exact likelihood of the sums takes.
func TestSumsProjections(t *testing.T) {
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(4, 4))
	var waves [120][2]float64
	for i := range waves {
		waves[i] = [2]float64{rnd.NormFloat64() / 0.3, 2 * math.Pi * rnd.Float64()}
	}
	var text strings.Builder
	text.WriteString("t,y\n")
	for range 3000 {
		x := 30 * rnd.Float64()
		y := 0.4 * rnd.NormFloat64()
		for _, w := range waves {
			y += math.Cos(w[0]*x+w[1]) / math.Sqrt(60)
		}
		fmt.Fprintf(&text, "%.6f,%.6f\n", x, y)
	}
	file := put(t, dir, "short.csv", text.String())
	sums := filepath.Join(dir, "short.sums")
	must(t, "sum", file, "--lengthscale", "0.8", "--from", "0", "--to", "30", "-o", sums, "-q")
	stdout, _ := must(t, "fit", sums, "-q")
	for _, want := range []string{"SE: by projections: training the exact likelihood ended", "PL + residual"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in %q", want, stdout)
		}
	}
	stdout, _ = must(t, "fit", sums, "-q", "--json")
	if !strings.Contains(stdout, `"projected":`) {
		t.Errorf("%q", stdout)
	}
}

// TestSumOneAxis: files of dates and files of plain numbers are not summed as if they were on one axis, whichever comes first.
func TestSumOneAxis(t *testing.T) {
	dir := t.TempDir()
	days, numbers, unix := filepath.Join(dir, "days.csv"), filepath.Join(dir, "numbers.csv"), filepath.Join(dir, "unix.csv")
	for path, row := range map[string]func(i int) string{
		days:    func(i int) string { return fmt.Sprintf("202401%02d,%d\n", i+1, i%5) },
		numbers: func(i int) string { return fmt.Sprintf("%d,%d\n", i, i%5) },
		unix:    func(i int) string { return fmt.Sprintf("%d,%d\n", 1700000000+i, i%5) },
	} {
		text := "t,y\n"
		for i := range 30 {
			text += row(i)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "a.sums")
	header := []string{"--from", "0", "--to", "3e9", "--centre", "0", "--largest", "9"} // no first look
	for _, more := range [][]string{nil, header} {
		for _, files := range [][]string{{days, numbers}, {numbers, days}, {unix, numbers, days}} {
			code, _, stderr := gppl(slices.Concat([]string{"sum", "-q", "-o", out}, more, files)...)
			oneLine(t, code, exitFailed, stderr[strings.LastIndex(stderr[:len(stderr)-1], "\n")+1:], "--time says how all files have it")
		}
		must(t, slices.Concat([]string{"sum", "-q", "-o", out}, more, []string{unix, days})...)
		must(t, slices.Concat([]string{"sum", "-q", "-o", out, "--time", "number"}, more, []string{days, numbers})...)
	}
}

// TestWithoutRounding: x of sums are printed without the digits that rounding adds.
func TestWithoutRounding(t *testing.T) {
	h := sums.Header{Lo: 0, Hi: 50}
	for x, want := range map[float64]float64{7.1e-15: 0, -7.1e-15: 0, 49.9: 49.9, 49.90000000000001: 49.9, 0.125: 0.125} {
		if got := withoutRounding(x, h); got != want || math.Signbit(got) {
			t.Errorf("%v is told as %v", x, got)
		}
	}
}

// TestSumOfStackedSeries: gppl sum refuses a long table with the same sentence as gppl fit, whatever the order of its rows, also
// from standard input and from a file that is looked at in pieces. Nothing is written. --by none pools the series.
func TestSumOfStackedSeries(t *testing.T) {
	dir := t.TempDir()
	table := func(days int, row func(day, store int) (int, int)) string {
		return made("day,note,store,sold", 3*days, func(i int) string {
			day, store := row(i/3, i%3)
			return fmt.Sprintf("%d,fine weather in the morning and rain at night,%s,%d", day, []string{"north", "south", "west"}[store], (day*day+store)%17)
		})
	}
	small := table(60, func(day, store int) (int, int) { return day, store })
	large := table(40_000, func(day, store int) (int, int) { i := 3*day + store; return i % 40_000, i / 40_000 })
	if len(large) < 5<<20 {
		t.Fatal("the file is looked at as a whole")
	}
	out := filepath.Join(dir, "a.sums")
	const want = `the column "store" tells their rows apart ("north", "south", "west", …). --by store makes a series of each; --by none takes all rows for one`
	for name, text := range map[string]string{"small.csv": small, "large.csv": large} {
		path := put(t, dir, name, text)
		code, _, stderr := gppl("sum", "-q", path, "--y", "sold", "-o", out)
		oneLine(t, code, exitFailed, stderr, fmt.Sprintf("%s: there are 3 series: %d of %[2]d values of x are repeated, and %s",
			name, strings.Count(text, "\n")/3, want))
		if name == "small.csv" {
			code, _, fitted := gppl("fit", "-q", path, "--y", "sold")
			if code != exitFailed || fitted != stderr {
				t.Errorf("exit %d: %s, and not %s", code, fitted, stderr)
			}
		}
		piped(t, text, func() {
			code, _, stderr := gppl("sum", "-q", "-", "--y", "sold", "--from", "0", "--to", "40000", "--centre", "8", "--largest", "9", "-o", out)
			oneLine(t, code, exitFailed, stderr, want)
		})
		if _, err := os.Stat(out); err == nil {
			t.Fatal("sums were written")
		}
	}
	path := filepath.Join(dir, "small.csv")
	code, _, stderr := gppl("sum", path, "--y", "sold", "--by", "store", "-o", out)
	oneLine(t, code, exitUsage, stderr, "sum takes one series: gppl fit --by store fits each, and --by none takes all rows for one")
	code, _, stderr = gppl("sum", path, "-o", out) // column 2 is words
	oneLine(t, code, exitFailed, stderr, `"note"`)
	must(t, "sum", "-q", path, "--y", "sold", "--by", "none", "-o", out)
	if stdout, _ := must(t, "info", out); !strings.Contains(stdout, "180") {
		t.Error(stdout)
	}
}
