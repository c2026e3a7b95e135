package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/projected-likelihood/gppl/internal/sealed"
	"github.com/projected-likelihood/gppl/internal/testkit"
)

// hostile lists files that give either a good model, or an error of one line that says where the file is wrong, why, and what to
// do.
type hostile struct {
	name string
	file string // its bytes
	args string // arguments after FILE --kernel Matern32 -q --forecast 3, divided by spaces
	// want are texts of the output: of stdout where the file is read, of stderr where it is not ("!" in front of the first).
	want []string
}

// rows are n rows of a noisy wave.
func rows(n int, row func(i int, y float64) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(row(i, 3+math.Sin(0.4*float64(i))+0.1*math.Sin(77*float64(i*i))))
	}
	return b.String()
}

// table is a good csv file with row 5 replaced, unless that is empty.
func table(fifth string) string {
	lines := strings.Split(plain, "\n")
	if fifth != "" {
		lines[5] = fifth
	}
	return strings.Join(lines, "\n")
}

var plain = "t,y\n" + rows(20, func(i int, y float64) string { return fmt.Sprintf("%d,%.3f\n", i, y) })

// times is a file whose x are as time writes them.
func times(name string, time func(i int) string) string {
	return name + ",y\n" + rows(20, func(i int, y float64) string { return fmt.Sprintf("%s,%.3f\n", time(i), y) })
}

func wide(columns int) string {
	var b strings.Builder
	for i := range columns {
		fmt.Fprintf(&b, "c%d,", i)
	}
	return b.String() + "level\n" + strings.Repeat("1,", columns) + "1\n"
}

const twenty = "20 observations of y from 0 to 19, 1 apart."

var hostiles = []hostile{
	// Encodings.
	{"UTF-16 LE", testkit.UTF16("\ufeff"+plain, binary.LittleEndian), "", []string{twenty}},
	{"UTF-16 BE", testkit.UTF16("\ufeff"+plain, binary.BigEndian), "", []string{twenty}},
	{"UTF-16 LE without a mark", testkit.UTF16(plain, binary.LittleEndian), "", []string{"!line 1", "NUL", "iconv"}},
	{"UTF-16 BE without a mark", testkit.UTF16(plain, binary.BigEndian), "", []string{"!line 1", "NUL", "iconv"}},
	{"UTF-16, odd number of bytes", testkit.UTF16("\ufeff"+plain, binary.LittleEndian) + "\x00", "", []string{"!line 22", "number of fields"}},
	{"UTF-16, half a surrogate pair", testkit.UTF16("\ufeff"+"t,y\n", binary.LittleEndian) + "\x00\xd8,\x001\x00", "",
		[]string{"!line 2", "column 1"}},
	{"UTF-32", "\xff\xfe\x00\x00t\x00\x00\x00", "", []string{"!line 1", "NUL"}},
	{"UTF-8 with a mark", "\ufeff" + plain, "--x t", []string{twenty}},
	{"Latin-1", strings.Replace(plain, ",y\n", ",Temp (\xb0C)\n", 1), "--y 2", []string{"observations of Temp (°C)"}},
	{"Latin-1, by name", strings.Replace(plain, ",y\n", ",H\xf6he\n", 1), "--y Höhe", []string{"observations of Höhe"}},
	{"invalid UTF-8 in a cell", table("4,\xff\xfe"), "", []string{"!line 6", "column 2", `"ÿþ"`}},
	{"CR only", strings.ReplaceAll(plain, "\n", "\r"), "", []string{"!lines end with", "tr "}},
	{"CRLF and LF mixed", strings.Replace(plain, "\n", "\r\n", 3), "", []string{twenty}},
	{"CR CR LF", strings.ReplaceAll(plain, "\n", "\r\r\n"), "", []string{twenty}},
	{"NUL bytes in a cell", table("4,1\x00"), "", []string{"!line 6", "NUL"}},
	{"NUL bytes at the end", plain + strings.Repeat("\x00", 9000), "", []string{"!line 22", "NUL"}},

	// Things that are no csv file.
	{"empty", "", "", []string{"!the file is empty"}},
	{"only a mark", "\ufeff", "", []string{"!the file is empty"}},
	{"only a mark of UTF-16", "\xff\xfe", "", []string{"!the file is empty"}},
	{"only line ends", "\n\r\n\n", "", []string{"!the file is empty"}},
	{"gzip", testkit.Gzip(plain), "", []string{twenty}},
	{"gzip, cut off", testkit.Gzip(plain)[:len(testkit.Gzip(plain))-6], "", []string{"!the gzip archive was cut off"}},
	{"xlsx", "PK\x03\x04\x14\x00\x06\x00", "", []string{"!zip", "xlsx", "csv"}},
	{"xls", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "", []string{"!Excel", "csv"}},
	{"pdf", "%PDF-1.7\n", "", []string{"!PDF"}},
	{"parquet", "PAR1\x15\x04", "", []string{"!Parquet", "csv"}},
	{"web page", "<!DOCTYPE html>\n<html><body>404, not found</body></html>", "", []string{"!HTML"}},
	{"json", "{\"t\": [0, 1], \"y\": [1, 2]}\n", "", []string{"!JSON"}},
	{"binary", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00", "", []string{"!NUL"}},

	// Shape.
	{"header only", "t,y\n", "", []string{"!no rows"}},
	{"one row", "t,y\n1,2\n", "", []string{"!too few", "at least 5"}},
	{"one column", "y\n" + rows(20, func(_ int, y float64) string { return fmt.Sprintf("%.3f\n", y) }), "",
		[]string{`!no column "2"`, "--comma"}},
	{"duplicated names", strings.Replace(plain, "t,y", "y,y", 1), "--y y", []string{"!more than one column", "by number"}},
	{"duplicated names, by number", strings.Replace(plain, "t,y", "y,y", 1), "--x 1 --y 2", []string{twenty}},
	{"no header", plain[4:], "", []string{"20 observations of y from 0 to 19", "The file has no header"}},
	{"no header, errors", strings.ReplaceAll(plain[4:], "\n", ",0.5\n"), "",
		[]string{"20 observations of y ", "column 3", "--y-error 3 makes use"}},
	{"unused errors", "t,y,errvel,tel\n" + strings.ReplaceAll(plain[4:], "\n", ",0.5,k\n"), "",
		[]string{twenty, "--y-error errvel makes use"}},
	{"errors in use", "t,y,errvel\n" + strings.ReplaceAll(plain[4:], "\n", ",0.5\n"), "--y-error errvel",
		[]string{twenty, "errvel has the standard deviations"}},
	{"no header, names asked for", plain[4:], "--y level", []string{`!no column "level"`}},
	{"a header of numbers", "20,21\n" + plain[4:], "", []string{"21 observations of y ", "The file has no header"}},
	{"no header, names like numbers", "2,1\n" + plain[4:], "", []string{"21 observations of y ", "The file has no header"}},
	{"no header, told", plain[4:], "--no-header", []string{twenty}},
	{"same column twice", plain, "--x t --y t", []string{"!x and y are both", "column 1"}},
	{"wrong column of 100000", wide(100000), "--y levle", []string{`!no column "levle"`, `"level" is the nearest`, "of 100001 columns"}},
	{"number of a column that is not there", plain, "--y 7", []string{`!no column "7"`, "there are"}},
	{"name of another case", plain, "--y Y", []string{`!no column "Y"`, `column 2 ("y")`}},
	{"ragged, short", table("4"), "", []string{"!line 6", "number of fields", `"4"`}},
	{"ragged, long", table("4,1,2"), "", []string{"!line 6", "number of fields"}},
	{"trailing commas", "t,y\n" + strings.ReplaceAll(plain[4:], "\n", ",,\n"), "", []string{twenty}},
	{"mixed separators", table("4;1.5"), "", []string{"!line 6", "number of fields", "4;1.5"}},
	{"blank lines", strings.ReplaceAll(plain, "\n", "\n \n"), "", []string{twenty}},
	{"quote never closed", table(`4,"1.5`), "", []string{"!line 6", "quot"}},
	{"quote within a field", table(`4,1"5`), "", []string{"!line 6", "quot"}},
	{"huge field", table("4," + strings.Repeat("9", 2_000_000)), "", []string{"!line 6", "column 2", "finite"}},
	{"huge text", table("4," + strings.Repeat("x", 2_000_000)), "", []string{"!line 6", "column 2"}},
	{"huge name", strings.Replace(plain, "t,y", "t,"+strings.Repeat("y", 2_000_000), 1), "--y z", []string{`!no column "z"`}},

	// Comments.
	{"comments above the header", "# source: a buoy, 2024\n#\n" + plain, "", []string{twenty, "begin with # were left out"}},
	{"comments above the values", "# source: a buoy\n# when, level\n" + plain[4:], "--y 2",
		[]string{twenty}},
	{"comments, and no names", "# source\n# a buoy, 2024, north\n" + strings.ReplaceAll(plain[4:], ",", ";"), "--decimal-point",
		[]string{"20 observations of y from 0 to 19"}},
	{"comments between rows", "# source\n" + table("# moved\n4,1"), "", []string{"20 observations"}},
	{"comments and no header, told", "# source\n" + plain[4:], "--no-header", []string{twenty}},
	{"a header with #", "#" + plain, "", []string{twenty, "begin with # were left out"}},
	{"an error below comments", "# source\n# a buoy\n" + table("4,y"), "", []string{"!line 8", `"y"`}},

	// Separators.
	{"semicolons", strings.ReplaceAll(plain, ",", ";"), "--decimal-point", []string{twenty}},
	{"tabs", strings.ReplaceAll(plain, ",", "\t"), "--decimal-point", []string{twenty}},
	{"bars", strings.ReplaceAll(plain, ",", "|"), "--decimal-point", []string{twenty}},
	{"spaces", strings.ReplaceAll(plain, ",", "    "), "--decimal-point", []string{twenty}},
	{"spaces, indented", "  " + strings.ReplaceAll(strings.ReplaceAll(plain, ",", " \t "), "\n", " \n  "), "--decimal-point", []string{twenty}},
	{"sep=;", "sep=;\r\n" + strings.ReplaceAll(plain, ",", ";"), "", []string{"!line 1", "tail -n +2 FILE"}},
	{"commas in a name", strings.Replace(strings.ReplaceAll(plain, ",", ";"), "y", `"a,b,c"`, 1), "--decimal-point",
		[]string{"20 observations of a,b,c"}},
	{"decimal commas, no header", strings.ReplaceAll(strings.ReplaceAll(plain[4:], ",", ";"), ".", ","),
		"--no-header --decimal-comma", []string{twenty}},
	{"decimal commas, not told", strings.ReplaceAll(strings.ReplaceAll(plain, ",", ";"), ".", ","), "",
		[]string{twenty, "y is read with a decimal comma"}},

	// Numbers.
	{"1_000", table("4,1_000"), "", []string{"!line 6", "column 2", `"1_000"`, "_"}},
	{"0x1p3", table("4,0x1p3"), "", []string{"!line 6", `"0x1p3"`, "finite"}},
	{"0x10 as x", table("0x10,1"), "", []string{"!line 6", "column 1", `"0x10"`, "finite"}},
	{"inf", table("4,inf"), "", []string{"!line 6", `"inf"`, "missing"}},
	{"-Infinity", table("4,-Infinity"), "", []string{"!line 6", `"-Infinity"`, "missing"}},
	{"nan", table("4,nan"), "", []string{"19 observations", "1 row without a value was left out"}},
	{"NAN, N/a, null, -nan", table("4,NAN\n4,N/a\n4,Null\n4,-nan"), "", []string{"4 rows without a value"}},
	{"1e999", table("4,1e999"), "", []string{"!line 6", `"1e999"`, "finite"}},
	{"thousands by commas", table(`4,"1,234.5"`), "", []string{twenty}},
	{"thousands by spaces", table("4,1 234"), "", []string{twenty}},
	{"thousands by apostrophes", table("4,1'234"), "", []string{twenty}},
	{"thousands by commas and points", table(`4,"1.234,5"`), "", []string{"!line 6", `"1.234,5"`, "decimal sign", "--decimal-comma"}},
	{"per cent", table("4,12%"), "", []string{"!line 6", `"12%" has the unit %, and the numbers above have none`}},
	{"currency", table("4,€12.50"), "", []string{"!line 6", `"€12.50"`, "unit"}},
	{"unit", table("4,12.5 mV"), "", []string{"!line 6", `"12.5 mV"`, "unit"}},
	{"Fortran", table("4,1.5D+02"), "", []string{"!line 6", `"1.5D+02"`, "finite"}},
	{"typographic minus", table("4,−3"), "", []string{twenty}},
	{"parentheses", table("4,(3)"), "", []string{"!line 6", `"(3)"`, "negative"}},
	{"formula", table("4,=A1+1"), "", []string{"!line 6", `"=A1+1"`}},
	{"a date as y", table("4,2024-01-01"), "", []string{"!line 6", "column 2", "date"}},
	{"y = ±1e308", table("4,1e308\n4,-1e308"), "", []string{"!line 6", "column 2", `"1e308"`, "missing"}},
	{"all y = ±1e308", "t,y\n" + rows(20, func(i int, y float64) string { return fmt.Sprintf("%d,%ge307\n", i, 5*(y-3)) }), "",
		[]string{"!line 3", "column 2", "missing"}},
	{"y = 1e-200", "t,y\n" + rows(20, func(i int, y float64) string { return fmt.Sprintf("%d,%ge-200\n", i, y) }), "",
		[]string{"!y varies by only", "multiply"}},
	{"x = 1e300", table("1e300,1"), "", []string{"!line 6", "column 1", `"1e300"`}},
	{"x within 1e-300", "t,y\n" + rows(20, func(i int, y float64) string { return fmt.Sprintf("%de-300,%g\n", i, y) }), "",
		[]string{"!x", "multiply"}},
	{"y constant", "t,y\n" + rows(20, func(i int, _ float64) string { return fmt.Sprintf("%d,1e100\n", i) }), "",
		[]string{"All 20 values of y are 1e+100, and so is the forecast"}},
	{"all missing", "t,y\n" + rows(20, func(i int, _ float64) string { return fmt.Sprintf("%d,NA\n", i) }), "",
		[]string{"!no rows with both x and y"}},

	// Times.
	{"year 0", times("t", func(i int) string { return fmt.Sprintf("%04d-01-01", i) }), "",
		[]string{"!year of", "0000-01-01", "--time iso"}},
	{"year 99999", times("t", func(i int) string { return fmt.Sprintf("%d-01-01", 99980+i) }), "",
		[]string{"!line 2", "column 1", `"99980-01-01"`, "four digits"}},
	{"month 13", table("4,1\n"), "--time iso", []string{"!line 2", "2000-01-31"}},
	{"time zones mixed", times("t", func(i int) string {
		return fmt.Sprintf("2024-01-01T%02d:00:00%s", i, []string{"Z", "+00:00", "+0000", "+00"}[i%4])
	}), "", []string{"20 observations", "every hour"}},
	{"zone after a space", times("t", func(i int) string {
		return fmt.Sprintf("2024-01-01 %02d:00:00%s", i, []string{" UTC", " +00:00", "+00", "z"}[i%4])
	}), "", []string{"20 observations", "every hour"}},
	{"zone by a name", times("t", func(i int) string { return fmt.Sprintf("2024-01-01 %02d:00:00 CET", i) }), "",
		[]string{"!line 2", "CET", "+02:00"}},
	{"summer time begins", times("t", func(i int) string {
		if i < 2 {
			return fmt.Sprintf("2024-03-31T%02d:00:00+01:00", i)
		}
		return fmt.Sprintf("2024-03-31T%02d:00:00+02:00", i+1)
	}), "", []string{"20 observations", "every hour"}},
	{"dates with slashes", times("t", func(i int) string { return fmt.Sprintf("%d/1/2024", i+1) }), "",
		[]string{"20 observations of y from 2024-01-01 to 2024-01-20, every day"}},
	{"dates with slashes, day or month", times("t", func(i int) string { return fmt.Sprintf("%d/%d/2024", 1+i%7, 2+i/7) }), "",
		[]string{"!line 2", `"1/2/2024" may be 1 February 2024 or 2 January 2024`, "--time dmy"}},
	{"dates with slashes, told", times("t", func(i int) string { return fmt.Sprintf("%d/%d/2024", 1+i%7, 2+i/7) }), "--dates mdy",
		[]string{"from 2024-01-02 to 2024-07-03"}},
	{"two digits of the year", times("t", func(i int) string { return fmt.Sprintf("%d/1/24", i+1) }), "",
		[]string{"!line 2", `"1/1/24"`, "four digits"}},
	{"20240131", times("t", func(i int) string { return fmt.Sprintf("202401%02d", i+1) }), "",
		[]string{"from 2024-01-01 to 2024-01-20, every day", "dates written 20240101", "--time number"}},
	{"date after numbers", table("2024-01-05,1"), "", []string{"!line 6", "column 1", "one way"}},
	{"negative Unix times", times("t", func(i int) string { return fmt.Sprint(-86400 * (20 - i)) }), "--time unix",
		[]string{"1969-12-12", "every day"}},
	{"Unix seconds by name", times("unix_time", func(i int) string { return fmt.Sprint(1_700_000_000 + 60*i) }), "",
		[]string{"2023-11-14 22:13:20", "Unix"}},
	{"Unix milliseconds by name", times("timestamp", func(i int) string { return fmt.Sprint(1_700_000_000_000 + 60_000*i) }), "",
		[]string{"2023-11-14 22:13:20", "milliseconds"}},
	{"Unix microseconds by name", times("epoch", func(i int) string { return fmt.Sprint(1_700_000_000_000_000 + 60_000_000*i) }), "",
		[]string{"2023-11-14 22:13:20", "microseconds"}},
	{"Unix nanoseconds by name", times("unix", func(i int) string { return fmt.Sprint(1_700_000_000_000_000_000 + 60_000_000_000*i) }), "", []string{"!nanoseconds", "divide by 1000", "--time number"}},
	{"Unix milliseconds without a name", times("t", func(i int) string { return fmt.Sprint(1_700_000_000_000 + 60_000*i) }), "",
		[]string{"2023-11-14 22:13:20", "Unix time in milliseconds", "--time number"}},
	{"Unix milliseconds, told", times("t", func(i int) string { return fmt.Sprint(1_700_000_000_000 + 60_000*i) }), "--time unix-ms",
		[]string{"2023-11-14 22:13:20"}},
	{"Unix milliseconds, told as seconds", times("t", func(i int) string { return fmt.Sprint(1_700_000_000_000 + 60_000*i) }),
		"--time unix", []string{"!line 2", "column 1", "unix-ms"}},
	{"Unix seconds, told as milliseconds", times("t", func(i int) string { return fmt.Sprint(1_700_000_000 + 60*i) }),
		"--time unix-ms", []string{"20 observations", "1970-01-20"}},
}

func TestHostileFiles(t *testing.T) {
	for _, test := range hostiles {
		t.Run(test.name, func(t *testing.T) {
			path := neutral(t, test.file)
			args := append([]string{"fit", path, "--kernel", "Matern32", "-q", "--forecast", "3"}, strings.Fields(test.args)...)
			checkHostile(t, path, args, test.want)
		})
	}
	dir := t.TempDir()
	for path, want := range map[string][]string{
		dir:                            {"!is a folder"},
		filepath.Join(dir, "none.csv"): {"!no such file"},
		os.DevNull:                     {"!the file is empty"},
	} {
		checkHostile(t, path, []string{"fit", path, "-q"}, want)
	}
}

// neutral writes a file whose path shares no text with the name of the test: tests look for such texts in the output.
func neutral(t *testing.T, text string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gppl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "data.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkHostile runs the command and compares its output with want.
func checkHostile(t *testing.T, path string, args, want []string) {
	t.Helper()
	code, stdout, stderr := gppl(args...)
	t.Logf("exit %d: %.300s",
		code, strings.TrimSpace(strings.ReplaceAll(stderr+" "+strings.SplitN(stdout, "\nKernels", 2)[0], filepath.Dir(path)+"/", "")))
	text := stdout
	first, refused := strings.CutPrefix(want[0], "!")
	if refused {
		text = stderr
		want = append([]string{first, filepath.Base(path)}, want[1:]...)
		if code != exitFailed || stdout != "" {
			t.Errorf("exit %d, want %d", code, exitFailed)
		}
	} else if code != exitOK || strings.Contains(stdout, "NaN") || strings.Contains(stdout, "Inf") {
		t.Errorf("exit %d: %.600s%.600s", code, stderr, stdout)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in %.600q", w, text)
		}
	}
	lines, most := strings.Split(strings.TrimSpace(stderr), "\n"), 1
	if strings.Contains(lines[0], " things are wrong:") {
		most = 12
	}
	if long := slices.MaxFunc(lines, func(a, b string) int { return len(a) - len(b) }); refused && len(lines) > most ||
		len([]rune(long)) > 520 {
		t.Errorf("a message of %d lines and up to %d characters: %.300q", len(lines), len(long), stderr)
	}
}

// TestHostileModels: predict answers, with a warning if the answer is not reliable, or says in one line why it cannot.
func TestHostileModels(t *testing.T) {
	model := filepath.Join(filepath.Dir(neutral(t, "")), "model.json")
	if code, _, stderr := gppl("fit", neutral(t, plain), "--kernel", "Matern32", "--log", "never", "--trend", "none", "-q",
		"--model", model); code != exitOK {
		t.Fatal(stderr)
	}
	b, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = sealed.Open(b); err != nil { // a file from before there were checksums
		t.Fatal(err)
	}
	whole := string(b)
	number := func(name, value string) string {
		changed := regexp.MustCompile(`"`+name+`":[^,}]+`).ReplaceAllString(whole, `"`+name+`":`+value)
		if changed == whole {
			t.Fatalf("no %q in the model", name)
		}
		return changed
	}
	for _, test := range []hostile{
		{"as it is", whole, "", []string{"20,"}},
		{"a place", whole, "--at 1.5", []string{"1.5,"}},
		{"far away", whole, "--at 1e300 --at -1e300", []string{"-1e+300,", "\n1e+300,"}},
		{"hexadecimal place", whole, "--at 0x10", []string{`!"0x10" is not a finite number`}},
		{"place with _", whole, "--at 1_000", []string{`!"1_000" is not a finite number`}},
		{"no place", whole, "--at nan", []string{`!"nan" is not a finite number`}},
		{"infinite place", whole, "--at -inf", []string{`!"-inf" is not a finite number`}},
		{"huge place", whole, "--at " + strings.Repeat("9", 100000), []string{"!is not a finite number"}},
		{"date on an axis of numbers", whole, "--at 2024-01-01", []string{"!not a finite number"}},
		{"too many steps", whole, "--forecast 99999999999", []string{"!at most 1000000"}},
		{"noise of 1e-300", number("noise_variance", "1e-300"), "--at 3",
			[]string{"warning: The noise variance is", "lost in rounding", "3,"}},
		{"noise of 1e-300, as JSON", number("noise_variance", "1e-300"), "--at 3 --json",
			[]string{"warning: ", `"warnings": [`, "lost in rounding"}},
		{"no noise", number("noise_variance", "0"), "", []string{`!"noise variance"`, "not positive"}},
		{"negative lengthscale", number("lengthscale", "-1"), "", []string{`!"lengthscale"`, "not positive"}},
		{"variance of 1e300", number("variance", "1e300"), "", []string{"!out of the range of float64"}},
		{"lengthscale of 1e-300", number("lengthscale", "1e-300"), "", []string{"20,"}},
		{"lengthscale of 1e300", number("lengthscale", "1e300"), "", []string{"20,"}},
		{"version", number("version", "7"), "", []string{"!version 7"}},
		{"x of 1e300", strings.Replace(whole, `"x":[0,1,`, `"x":[-1e300,1,`, 1), "", []string{"!observation 0 is (-1e+300"}},
		{"unsorted", strings.Replace(whole, `"x":[0,1,`, `"x":[1,0,`, 1), "", []string{"!x is not ascending"}},
		{"truncated", whole[:len(whole)/2], "", []string{"!not a saved analysis"}},
		{"empty", "", "", []string{"!not a saved analysis"}},
		{"the csv file", plain, "", []string{"!not a saved analysis"}},
		{"gzip", testkit.Gzip(whole), "", []string{"!not a saved analysis"}},
		{"deep", strings.Repeat("[", 200000), "", []string{"!not a saved analysis"}},
		{"long name", strings.ReplaceAll(whole, `"lengthscale"`, `"`+strings.Repeat("l", 100000)+`"`), "",
			[]string{`!lacks parameter "lengthscale"`}},
		{"unknown kernel", strings.ReplaceAll(whole, `"Matern32"`, `"`+strings.Repeat("M", 100000)+`"`), "",
			[]string{"!unknown kernel type"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := neutral(t, test.file)
			code, stdout, stderr := gppl(append([]string{"predict", path}, strings.Fields(test.args)...)...)
			t.Logf("exit %d: %.200s %.120s", code, stderr, stdout)
			first, refused := strings.CutPrefix(test.want[0], "!")
			if refused != (code != exitOK) || refused && stdout != "" || strings.Contains(stdout, "NaN") ||
				strings.Contains(stdout, "Inf") {
				t.Errorf("exit %d", code)
			}
			for _, want := range append([]string{first}, test.want[1:]...) {
				if !strings.Contains(stdout+stderr, want) {
					t.Errorf("no %q", want)
				}
			}
			stderr = strings.TrimSuffix(stderr, "Try gppl --help, or gppl COMMAND --help.\n")
			if strings.Count(stderr, "\n") > 1 || len([]rune(stderr)) > 520 {
				t.Errorf("a message of %d lines and %d characters", strings.Count(stderr, "\n"), len([]rune(stderr)))
			}
		})
	}
}

// TestOutputs: an input is not overwritten, and a link stays a link.
func TestOutputs(t *testing.T) {
	path := neutral(t, plain)
	if code, _, stderr := gppl("fit", path, "--kernel", "SE", "-q", "--out", path); code != exitFailed ||
		!strings.Contains(stderr, "that is the input file") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	link := filepath.Join(filepath.Dir(path), "link")
	target := filepath.Join(filepath.Dir(path), "target.csv")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no links: ", err)
	}
	if code, _, stderr := gppl("fit", path, "--kernel", "SE", "-q", "--out", link); code != exitOK {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v", err)
	}
	if b, err := os.ReadFile(target); err != nil || len(b) == 0 {
		t.Errorf("nothing was written through the link: %v", err)
	}
}

// TestHostileNames: no output of a command sends control characters to the terminal from the name of a column, a title or a file.
func TestHostileNames(t *testing.T) {
	const evil = "\x1b[2J\u202e\u0007"
	dir := t.TempDir()
	t.Chdir(dir)
	row := func(i int) string { return fmt.Sprintf("%d,%.3f,%.3f", i, observed(i), math.Sin(float64(i*i))) }
	file := made("t"+evil+" (m"+evil+"),y"+evil+",p"+evil, 40, row)
	name, sums, model := "a"+evil+".csv", "a"+evil+".sums", "m"+evil+".json"
	put(t, dir, name, "Title "+evil+"\n\n"+file)
	put(t, dir, "bad.csv", file+"40,wet"+evil+",1\n41"+evil+",1,1\n")
	put(t, dir, "other.csv", made("t"+evil+",y"+evil, 30, func(i int) string { return fmt.Sprintf("2024-01-%02d,%d", i+1, i%5) }))
	kernel := []string{"--kernel", "SE"}
	said := 0
	for _, args := range [][]string{
		append([]string{"fit", name, "--model", model, "--out", "o" + evil, "--report", "r" + evil, "--figure", "f" + evil + ".svg"},
			kernel...),
		append([]string{"fit", name, "--regressor", "p" + evil}, kernel...), append([]string{"fit", name, "bad.csv"}, kernel...),
		append([]string{"fit", "bad.csv"}, kernel...),
		append([]string{"compare", name}, kernel...), append([]string{"backtest", name}, kernel...),
		append([]string{"fit", name, "--y", "z" + evil}, kernel...),
		append([]string{"fit", name, "--y", "p" + evil, "--out", name}, kernel...), {"fit", name, "--kernel", "SE" + evil},
		{"fit", name, "--prior", evil + "=" + evil}, {"fit", name, "--" + evil},
		{"fit", name, "--time", evil}, {"fit", name, "--comma", evil}, {"fit", name, "--period", evil}, {"fit", name, "--log", evil},
		{"fit", name, "--memory", evil}, {"fit", evil}, {evil},
		{"predict", model}, {"predict", model, "--at", evil}, {"predict", model, "--future", name}, {"predict", name},
		{"update", model, name, "--model", "u" + evil}, {"update", model, "bad.csv"}, {"update", model, "other.csv"}, {"data", evil},
		{"sum", name, "-o", sums}, {"sum", "bad.csv", "-o", sums}, {"sum", name, "--like", sums, "-o", sums + "2"},
		{"sum", "bad.csv", "--like", sums, "-o", sums + "3"},
		{"sum", "bad.csv", "--strict", "-o", sums + "4"}, {"sum", "bad.csv", "other.csv", "-o", sums + "5"}, {"info", sums},
		{"info", name}, {"fit", sums}, {"merge", sums, name, "-o", "x"},
		{"merge", sums, sums + "2", "-o", sums + "6"}, {"sum", name, "-o", sums + "/" + evil},
	} {
		_, stdout, stderr := gppl(args...)
		table := args[0] == "predict" || slices.Contains(args, "bad.csv") // the output has names from the file, in the letters of any language
		for _, r := range stdout + stderr {
			if r != '\n' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) && !table) {
				t.Errorf("gppl %q sends %q: %.300q %.300q", args, r, stdout, stderr)
				break
			}
		}
		if strings.Contains(stdout+stderr, "\uFFFD") || strings.Contains(stdout+stderr, `\x1b`) {
			said++
		}
	}
	if said < 15 {
		t.Errorf("%d commands mention a name: the test sees too little", said)
	}
}
