package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/projected-likelihood/gppl/pkg/forecast/judge"
	"github.com/projected-likelihood/gppl/pkg/forecast/report"
)

// truth is the mean of the series of these tests: a rise and a season of four steps.
func truth(i int) float64 { return 100 + 2*float64(i) + 10*math.Sin(float64(i)*math.Pi/2) }

// observed is truth with a little noise.
func observed(i int) float64 {
	return truth(i) + 0.5*rand.New(rand.NewPCG(4, uint64(i))).NormFloat64()
}

// made returns a csv file with a row for each i.
func made(header string, n int, row func(i int) string) string {
	lines := []string{header}
	for i := range n {
		lines = append(lines, row(i))
	}
	return strings.Join(lines, "\n") + "\n"
}

// quarter and month return the dates of series with steps of a quarter and a month.
func quarter(i int) time.Time {
	return time.Date(2010, time.Month(1+3*i), 1, 0, 0, 0, 0, time.UTC)
}
func month(i int) time.Time { return time.Date(2010, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC) }
func day(i int) time.Time   { return time.Date(2024, 1, 1+i, 0, 0, 0, 0, time.UTC) }

// input is a kind of file, and the result that gppl fit must give for it.
type input struct {
	name, file, args string
	n                int      // number of observations
	next             string   // x of the first step ahead
	notes            []string // texts that the notes contain
	from             int      // index of that step in truth; 0: its value is not checked
}

func inputs() []input {
	const n = 48
	dates := func(header, layout string, of func(int) time.Time) string {
		return made(header, n, func(i int) string { return fmt.Sprintf("%s,%.3f", of(i).Format(layout), observed(i)) })
	}
	inQuarters := func(form func(year, quarter int) string) string {
		return made("quarter,gdp", n, func(i int) string { return fmt.Sprintf("%s,%.3f", form(2010+i/4, 1+i%4), observed(i)) })
	}
	quarters := []string{"48 observations of gdp from 2010-Q1 to 2021-Q4, every quarter."}
	months := []string{"48 observations of y from 2010-01 to 2013-12, every month."}
	return []input{
		{name: "quarters 1990Q1", file: inQuarters(func(y, q int) string { return fmt.Sprintf("%dQ%d", y, q) }), n: n, next: "2022-Q1",
			notes: quarters, from: n},
		{name: "quarters 1990-Q1", file: inQuarters(func(y, q int) string { return fmt.Sprintf("%d-Q%d", y, q) }), n: n,
			next: "2022-Q1", notes: quarters, from: n},
		{name: "quarters Q1 1990", file: inQuarters(func(y, q int) string { return fmt.Sprintf("Q%d %d", q, y) }), n: n,
			next: "2022-Q1", notes: quarters, from: n},
		{name: "names of months", file: dates("month,y", "Jan 2006", month), args: "--period none", n: n, next: "2014-01",
			notes: months},
		{name: "year and month", file: dates("month,y", "2006-01", month), args: "--period none", n: n, next: "2014-01", notes: months},
		{name: "last days of months", file: dates("month,y", "2006-01-02",
			func(i int) time.Time { return month(i+1).AddDate(0, 0, -1) }), args: "--period none", n: n, next: "2014-01-31",
			notes: []string{"every month"}},
		{name: "US dates", file: dates("date,y", "1/2/2006", day), args: "--period 4", n: n, next: "2024-02-18",
			notes: []string{"from 2024-01-01 to 2024-02-17, every day"}, from: n},
		{name: "European dates", file: dates("date,y", "02.01.2006", day), args: "--period 4", n: n, next: "2024-02-18",
			notes: []string{"from 2024-01-01 to 2024-02-17, every day"}, from: n},
		{name: "ambiguous dates, told dmy", file: dates("date,y", "2/1/2006", month), args: "--dates dmy --period none", n: n,
			next: "2014-01-01", notes: []string{"48 observations of y from 2010-01-01 to 2013-12-01, every month."}},
		{name: "ambiguous dates, told mdy", file: dates("date,y", "1/2/2006", quarter), args: "--dates mdy", n: n, next: "2022-01-01",
			notes: []string{"every quarter"}, from: n},
		{name: "years", file: made("year,y", n, func(i int) string { return fmt.Sprintf("%d,%.3f", 1960+i, observed(i)) }),
			args: "--period 4", n: n, next: "2008", notes: []string{"from 1960 to 2007, every year"}, from: n},
		{name: "Unix milliseconds", file: made("t,y", n, func(i int) string { return fmt.Sprintf("%d,%.3f", day(i).UnixMilli(), observed(i)) }), args: "--period 4", n: n, next: "2024-02-18", notes: []string{"t is read as Unix time in milliseconds", "every day"}, from: n},
		{name: "Unix seconds", file: made("t,y", n, func(i int) string { return fmt.Sprintf("%d,%.3f", day(i).Unix(), observed(i)) }),
			args: "--period 4", n: n, next: "2024-02-18", notes: []string{"Unix time in seconds"}, from: n},
		{name: "20240131", file: dates("day,y", "20060102", day), args: "--period 4", n: n, next: "2024-02-18",
			notes: []string{"dates written 20240101"}, from: n},
		{name: "ISO weeks", file: made("week,y", n, func(i int) string { return fmt.Sprintf("2024-W%02d,%.3f", 1+i, observed(i)) }),
			args: "--period 4", n: n, next: "2024-W49", notes: []string{"every week"}, from: n},
		{name: "decimal commas and semicolons", file: strings.ReplaceAll(made("t;y", n,
			func(i int) string { return fmt.Sprintf("%d;%.3f", i, observed(i)) }), ".", ","), args: "--decimal-comma --period 4", n: n,
			next: "48", from: n},
		{name: "missing values", file: made("quarter,y", n, func(i int) string {
			if i%7 == 3 {
				return fmt.Sprintf("%dQ%d,%s", 2010+i/4, 1+i%4, []string{"", "NA", "NaN", "null"}[i/7%4])
			}
			return fmt.Sprintf("%dQ%d,%.3f", 2010+i/4, 1+i%4, observed(i))
		}), n: n - 7, next: "2022-Q1", notes: []string{"7 rows without a value were left out", "7 gaps", "every quarter"}, from: n},
		{name: "unsorted", file: made("t,y", n, func(i int) string { j := 7 * i % n; return fmt.Sprintf("%d,%.3f", j, observed(j)) }),
			args: "--period 4", n: n, next: "48", notes: []string{"out of order were sorted"}, from: n},
		{name: "newest first", file: made("quarter,y", n, func(i int) string {
			j := n - 1 - i
			return fmt.Sprintf("%dQ%d,%.3f", 2010+j/4, 1+j%4, observed(j))
		}), n: n, next: "2022-Q1", from: n},
		{name: "duplicates", file: made("t,y", n+2, func(i int) string {
			j := min(i, n-1)
			return fmt.Sprintf("%d,%.3f", j, observed(j)+0.3*float64(i-j))
		}), args: "--period 4", n: n + 2, next: "48", notes: []string{"1 value of x is repeated"}, from: n},
		{name: "copies", file: made("t,y", n+2, func(i int) string { j := min(i, n-1); return fmt.Sprintf("%d,%.3f", j, observed(j)) }),
			args: "--period 4", n: n, next: "48", notes: []string{"2 rows of 50 are exact copies of others"}, from: n},
		{name: "no header", file: made("0,100.2", n-1, func(i int) string { return fmt.Sprintf("%d,%.3f", i+1, observed(i+1)) }),
			args: "--no-header --period 4", n: n, next: "48", from: n},
		{name: "tabs and a unit", file: made("depth (m)\ty (K)", n,
			func(i int) string { return fmt.Sprintf("%d\t%.3f", i, observed(i)) }), args: "--decimal-point --period 4", n: n, next: "48",
			notes: []string{"observations of y (K)"}, from: n},
		{name: "error bars", file: made("t,y,se", n, func(i int) string { return fmt.Sprintf("%d,%.3f,0.5", i, observed(i)) }),
			args: "--y-error se --period 4", n: n, next: "48", notes: []string{"se has the standard deviations of the observations"},
			from: n},
		{name: "relative errors", file: made("t,y,e", n, func(i int) string { return fmt.Sprintf("%d,%.3f,%d", i, observed(i), 1+i%2) }), args: "--y-error e --relative-errors --period 4", n: n, next: "48", notes: []string{"e has the errors of the observations relative to one another, from 1 to 2"}, from: n},
		{name: "5 points", file: made("t,y", 5, func(i int) string { return fmt.Sprintf("%d,%g", i, 2*float64(i)+0.1*float64(i%2)) }),
			n: 5, next: "5"},
		{name: "6 points", file: made("t,y", 6, func(i int) string { return fmt.Sprintf("%d,%g", i, 2*float64(i)+0.1*float64(i%2)) }),
			n: 6, next: "6"},
		{name: "8 points", file: made("year,y", 8, func(i int) string { return fmt.Sprintf("%d,%g", 2010+i, 2*float64(i)+0.1*float64(i%2)) }), n: 8, next: "2018"},
	}
}

// TestInputs fits every kind of file by the automatic choice.
func TestInputs(t *testing.T) {
	for _, test := range inputs() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := put(t, t.TempDir(), "data.csv", test.file)
			code, stdout, stderr := gppl(append([]string{"fit", path, "-q", "--json", "--forecast", "4"}, strings.Fields(test.args)...)...)
			if code != exitOK {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			var got report.JSON
			if err := json.Unmarshal([]byte(stdout), &got); err != nil {
				t.Fatal(err)
			}
			notes := strings.Join(got.Notes, " ")
			for _, want := range test.notes {
				if !strings.Contains(notes, want) {
					t.Errorf("%q is not in %q", want, notes)
				}
			}
			if got.N != test.n || len(got.Forecast) != 4 || got.Forecast[0].X != test.next {
				t.Fatalf("n = %d, forecast %+v; want %d and %s; %s", got.N, got.Forecast, test.n, test.next, notes)
			}
			if got.Trust == nil || got.Trust.Verdict == "" || test.n < 12 && got.Trust.Word != judge.Untested {
				t.Errorf("the forecast was judged %+v", got.Trust)
			}
			for i, p := range got.Forecast {
				if !(p.Lower < p.Mean && p.Mean < p.Upper) {
					t.Errorf("%+v", p)
				}
				// The season is known to some percent of its amplitude; a model without trend or season would be off by 10.
				if want := truth(test.from + i); test.from > 0 && math.Abs(p.Mean-want) > 3 {
					t.Errorf("%s: %.2f, want %.2f", p.X, p.Mean, want)
				}
			}
			if test.from > 0 && got.Trust.Word == judge.DoNotUse {
				t.Errorf("%s", got.Trust.Verdict)
			}
		})
	}
}

// TestInputsRefused reads files that cannot be used: the message says where and what to do.
func TestInputsRefused(t *testing.T) {
	for _, test := range []struct {
		name, file, args string
		want             []string
	}{
		{"ambiguous dates", made("date,y", 8, func(i int) string { return fmt.Sprintf("%d/1/2024,%d", i+1, i%3) }), "",
			[]string{"line 3", "2 January 2024 or 1 February 2024|1 February 2024 or 2 January 2024", "--time dmy", "--time mdy"}},
		{"mixed dates", "date,y\n2024Q1,1\n2024Q2,2\nJul 2024,3\n", "", []string{"line 4", `"Jul 2024"`, "2000Q1", "31 Jan 2000", "one way"}},
		{"two points", "t,y\n1,2\n2,3\n", "", []string{"2 observations are too few", "at least 5"}},
		{"a page of a constant", made("t,y", 20, func(i int) string { return fmt.Sprintf("%d,5", i) }), "--report page.html",
			[]string{"--report", "y has one value in all 20 rows", "leave it out"}},
		{"error bars of zero", made("t,y,se", 20, func(i int) string { return fmt.Sprintf("%d,%d,%d", i, i%3, i%2) }), "--y-error se",
			[]string{"line 2", "se", "is 0", "smallest possible error"}},
		{"relative errors without a column", made("t,y", 20, func(i int) string { return fmt.Sprintf("%d,%d", i, i%3) }),
			"--relative-errors", []string{"--relative-errors says how to read the errors in a column", "--y-error"}},
		{"error bars that are missing", made("t,y,se", 20,
			func(i int) string { return fmt.Sprintf("%d,%d,%s", i, i%3, []string{"1", ""}[i%2]) }), "--y-error se",
			[]string{"line 3", "missing"}},
		{"a forecast without the regressor's", made("t,y,z", 20, func(i int) string { return fmt.Sprintf("%d,%d,%d", i, i%3, i%4) }),
			"--regressor z --forecast 3", []string{"needs future values of z", "--future"}},
		{"no such regressor", made("t,y,z", 20, func(i int) string { return fmt.Sprintf("%d,%d,%d", i, i%3, i%4) }), "--regressor w",
			[]string{`no column "w"`, `"z"`}},
		{"a prior of what no candidate learns", made("t,y", 20, func(i int) string { return fmt.Sprintf("%d,%d", i, i%3) }),
			"--period 5 --prior period=gamma(1,1)", []string{"no parameter that is learnt", "SE.lengthscale"}},
		{"a period beyond the range", made("t,y", 40, func(i int) string { return fmt.Sprintf("%d,%d", i, i%5) }), "--period 30",
			[]string{"--period", "30 is too long", "latest 40 observations", "span 39"}},
		{"a period and none", made("t,y", 40, func(i int) string { return fmt.Sprintf("%d,%d", i, i%5) }), "--period 5 --period none",
			[]string{"--period none is no season", "leave out one"}},
		{"a period below the step", made("t,y", 40, func(i int) string { return fmt.Sprintf("%d,%d", i, i%5) }),
			"--period 5 --period 1.5", []string{"--period", "1.5 is too short", "1 apart"}},
		{"quarters of short years", made("q,y", 40, func(i int) string { return fmt.Sprintf("%dQ%d,%d", 50+i/4, 1+i%4, i%5) }), "",
			[]string{`"50Q1"`, "four digits of the year"}},
		{"a total between tables", plain + "Total,60\n3,60\n", "", []string{`"Total" is not a finite number`, "remove the line"}},
		{"a total between tables of dates", made("q,y", 40,
			func(i int) string { return fmt.Sprintf("%dQ%d,%d", 1950+i/4, 1+i%4, i%5) }) + "\nTotal,60\n1950Q1,3\n", "",
			[]string{`"Total" is not a date`, "remove the line"}},
		{"one column", made("y", 40, func(i int) string { return fmt.Sprintf("%d", i%5) }), "", []string{"--x row takes the number of the row"}},
		{"a prior of nothing", made("t,y", 20, func(i int) string { return fmt.Sprintf("%d,%d", i, i%3) }),
			"--kernel SE --prior period=gamma(1,1)", []string{"lengthscale", "no parameter"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := put(t, t.TempDir(), "data.csv", test.file)
			code, stdout, stderr := gppl(append([]string{"fit", path, "-q"}, strings.Fields(test.args)...)...)
			if code == exitOK || stdout != "" {
				t.Errorf("exit %d: %s", code, stdout)
			}
			for _, want := range test.want {
				found := false
				for _, form := range strings.Split(want, "|") {
					found = found || strings.Contains(stderr, form)
				}
				if !found {
					t.Errorf("%q is not in %q", want, stderr)
				}
			}
		})
	}
}

// TestDefaultSteps: a short series is forecast for a quarter of its length unless a number of steps is asked for.
func TestDefaultSteps(t *testing.T) {
	for _, test := range []struct {
		n, want int
		args    string
	}{{6, 1, ""}, {48, 12, ""}, {120, 24, ""}, {48, 5, "--forecast 5"}} {
		path := put(t, t.TempDir(), "data.csv", made("t,y", test.n,
			func(i int) string { return fmt.Sprintf("%d,%.3f", i, observed(i)) }))
		code, stdout, stderr := gppl(append([]string{"fit", path, "-q", "--json", "--kernel", "Matern32"},
			strings.Fields(test.args)...)...)
		if code != exitOK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		var got report.JSON
		if err := json.Unmarshal([]byte(stdout), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Forecast) != test.want || got.Trust.Horizon != test.want {
			t.Errorf("n = %d, %q: %d steps, judged at %d; want %d", test.n, test.args, len(got.Forecast), got.Trust.Horizon, test.want)
		}
	}
}

// TestRegressorInput goes from a file with a regressor and its future to a forecast, from the model too, and in another file.
func TestRegressorInput(t *testing.T) {
	dir := t.TempDir()
	price := func(i int) float64 { return 10 + 3*math.Sin(float64(i*i)) }
	file := func(n int) string {
		return made("quarter,sales,price", n, func(i int) string {
			y := fmt.Sprintf("%.3f", 500-20*price(i)+observed(i))
			if i >= 48 {
				y = ""
			}
			return fmt.Sprintf("%dQ%d,%s,%.4f", 2010+i/4, 1+i%4, y, price(i))
		})
	}
	whole, past, model, out := put(t, dir, "whole.csv", file(52)), put(t, dir, "past.csv", file(48)), filepath.Join(dir, "m.json"),
		filepath.Join(dir, "f.csv")
	stdout, _ := must(t, "fit", whole, "-q", "--regressor", "price", "--json", "--model", model, "--out", out)
	var got report.JSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Regressors) != 1 || got.Regressors[0].Name != "price" || got.Regressors[0].StdErr <= 0 || got.Regressors[0].Log ||
		math.Abs(got.Regressors[0].Value+20) > 0.5 {
		t.Errorf("%+v", got.Regressors)
	}
	if len(got.Forecast) != 4 || got.Forecast[3].X != "2022-Q4" {
		t.Fatalf("%+v", got.Forecast)
	}
	for i, p := range got.Forecast {
		if want := 500 - 20*price(48+i) + truth(48+i); math.Abs(p.Mean-want) > 4 {
			t.Errorf("%s: %.2f, want %.2f", p.X, p.Mean, want)
		}
	}
	text, _ := must(t, "fit", whole, "-q", "--regressor", "price")
	if !strings.Contains(text, "What one unit of a regressor adds to sales") || !strings.Contains(text, "standard error") {
		t.Errorf("%s", text)
	}
	again, _ := must(t, "predict", model)
	if again != string(bytesOf(t, out)) {
		t.Errorf("predict:\n%s\nfit:\n%s", again, bytesOf(t, out))
	}
	if code, _, stderr := gppl("predict", model, "--at", "2023Q1"); code == exitOK ||
		!strings.Contains(stderr, "price is known from 2010-Q1 to 2022-Q4, not at 2023-Q1") || !strings.Contains(stderr, "--future") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	future := put(t, dir, "future.csv", "quarter,price\n2023Q1,12.5\n")
	if at, _ := must(t, "predict", model, "--future", future, "--at", "2023Q1"); !strings.Contains(at, "\n2023-Q1,") {
		t.Errorf("%s", at)
	}
	// The same future in a file of its own.
	lines := strings.SplitAfter(file(52), "\n")
	ahead := put(t, dir, "ahead.csv", lines[0]+strings.Join(lines[49:], ""))
	apart := filepath.Join(dir, "apart.csv")
	must(t, "fit", past, "-q", "--regressor", "price", "--future", ahead, "--out", apart)
	if string(bytesOf(t, apart)) != string(bytesOf(t, out)) {
		t.Errorf("with the future apart:\n%s\nin one file:\n%s", bytesOf(t, apart), bytesOf(t, out))
	}
	code, stdout, stderr := gppl("fit", past, "-q", "--regressor", "price")
	if code != exitOK || !strings.Contains(stderr, "no forecast: price is not known after the last value of sales") ||
		strings.Contains(stdout, "Forecast of") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

// TestPredictFarAway answers for a date thousands of years ahead as for the next.
func TestPredictFarAway(t *testing.T) {
	dir := t.TempDir()
	path, model := put(t, dir, "data.csv", inputs()[0].file), filepath.Join(dir, "m.json")
	must(t, "fit", path, "-q", "--model", model)
	stdout, _ := must(t, "predict", model, "--at", "9999-01-01", "--at", "2022Q1", "--at", "2030")
	rows := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(rows) != 4 || !strings.HasPrefix(rows[1], "2022-Q1,") || !strings.HasPrefix(rows[2], "2030-Q1,") ||
		!strings.HasPrefix(rows[3], "9999-Q1,") {
		t.Errorf("%s", stdout)
	}
}

// TestPredictOutOfRange says that growth leaves the range of numbers, and says so before it computes the others.
func TestPredictOutOfRange(t *testing.T) {
	dir := t.TempDir()
	growth := put(t, dir, "growth.csv", made("t,y", 40, func(i int) string {
		return fmt.Sprintf("%d,%.6g", i, math.Exp(0.3*float64(i)+0.05*math.Sin(77*float64(i*i))))
	}))
	model := filepath.Join(dir, "m.json")
	must(t, "fit", growth, "-q", "--log", "always", "--model", model)
	code, stdout, stderr := gppl("predict", model, "--forecast", "5000")
	// It names the last place, which is looked at first.
	if code != exitFailed || stdout != "" || !strings.Contains(stderr,
		"the prediction at 5039 is out of range: the model is one of the logarithm of y") || !strings.Contains(stderr, "--log never") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	if _, _, stderr := gppl("predict", model, "--at", "1e300"); !strings.Contains(stderr,
		"a prediction at 1e+300 is too far away: x is up to 1e+140 in size") {
		t.Error(stderr)
	}
}

// TestConstant forecasts series with one value, also 0: the forecast is this value, and a sentence says that the series has no
// noise.
func TestConstant(t *testing.T) {
	dir := t.TempDir()
	for _, value := range []string{"0", "-7.5"} {
		path, out := put(t, dir, "constant.csv", made("t,y", 20, func(i int) string { return fmt.Sprintf("%d,%s", i, value) })),
			filepath.Join(dir, "out.csv")
		stdout, _ := must(t, "fit", path, "--forecast", "2", "--levels", "50", "--out", out)
		for _, want := range []string{"All 20 values of y are " + value + ", and so is the forecast.", "no noise", "written: " + out} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%q is not in\n%s", want, stdout)
			}
		}
		row := func(x string) string {
			return strings.Join([]string{x, value, "0,0", value, value, value, value}, ",") + "\n"
		}
		if got := string(bytesOf(t, out)); !strings.HasSuffix(got, "upper_50\n"+row("20")+row("21")) {
			t.Errorf("%s", got)
		}
		described := report.JSON{}
		stdout, _ = must(t, "fit", path, "--forecast", "2", "--json")
		if err := json.Unmarshal([]byte(stdout), &described); err != nil || described.N != 20 || described.Kernel != "constant" ||
			len(described.Forecast) != 2 || fmt.Sprint(described.Forecast[1].Mean) != value || len(described.Warnings) != 1 {
			t.Errorf("%v: %s", err, stdout)
		}
	}

	large := put(t, dir, "large.csv", made("t,y", 20, func(i int) string { return fmt.Sprintf("%d,51653410816.0", i) }))
	if stdout, _ := must(t, "fit", large); !strings.Contains(stdout, "All 20 values of y are 51653410816,") ||
		!strings.Contains(stdout, "\n20  51653410816\n") || strings.Contains(stdout, "seldom repeat") {
		t.Errorf("%s", stdout)
	}

	panel := "id,t,y\n" + strings.TrimPrefix(made("", 60, func(i int) string {
		return fmt.Sprintf("%c,%d,%d", 'a'+i%3, i/3, []int{7, i * i % 11, 0}[i%3])
	}), "\n")
	out := filepath.Join(dir, "out")
	stdout, _ := must(t, "fit", put(t, dir, "panel.csv", panel), "--by", "id", "--kernel", "SE", "--origins", "0", "-q",
		"--forecast", "1", "--out", out)
	if strings.Count(stdout, "\n") != 4 || !strings.Contains(stdout, "All 20 values of y are 7,") ||
		!strings.Contains(stdout, "All 20 values of y are 0,") {
		t.Errorf("%s", stdout)
	}
	if got := string(bytesOf(t, filepath.Join(out, "panel-a.csv"))); !strings.HasSuffix(got, "\n20,7,0,0,7,7\n") {
		t.Errorf("%s", got)
	}
}

// TestLocalTimes: times without a zone come back without one, in files and texts, also from a saved model; others end in Z.
func TestLocalTimes(t *testing.T) {
	dir := t.TempDir()
	out, model := filepath.Join(dir, "out.csv"), filepath.Join(dir, "model.json")
	for _, c := range [][3]string{ // the form, the zone, what is next
		{"2006-01-02 15:04", "", "2024-01-02T12:00:00"}, {"2006-01-02T15:04:05", "", "2024-01-02T12:00:00"},
		{"2 Jan 2006 3:04 PM", "", "2024-01-02T12:00:00"}, {"20060102T150405", "", "2024-01-02T12:00:00"},
		{"2006-01-02T15:04:05", "Z", "2024-01-02T12:00:00Z"}, {"2006-01-02 15:04", " UTC", "2024-01-02T12:00:00Z"},
		{"2006-01-02T15:04:05", "+02:00", "2024-01-02T10:00:00Z"}, {"2006-01-02 15:04:05", " -0300", "2024-01-02T15:00:00Z"},
	} {
		form, want := c[0]+c[1], c[2]
		path := put(t, dir, "data.csv", made("t,y", 36, func(i int) string {
			return fmt.Sprintf("%s%s,%g", time.Date(2024, 1, 1, i, 0, 0, 0, time.UTC).Format(c[0]), c[1], observed(i))
		}))
		stdout, _ := must(t, "fit", path, "--kernel", "SE", "--origins", "0", "--forecast", "1", "-q",
			"--out", out, "--model", model, "--json")
		file := string(bytesOf(t, out))
		if !strings.Contains(file, "\n"+want+",") || !strings.Contains(stdout, `"x": "`+want+`"`) ||
			strings.Contains(stdout, ":00Z") != strings.HasSuffix(want, "Z") {
			t.Errorf("%s: %s%s", form, file, stdout)
		}
		if again, _ := must(t, "predict", model, "--forecast", "1"); again != file {
			t.Errorf("%s: the model forecasts otherwise:\n%s%s", form, again, file)
		}
	}
}
