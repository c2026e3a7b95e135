package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestAllThatIsWrong lists all errors in a file, one a line, columns of errors and regressors included; in a table of several
// series they are one cell.
func TestAllThatIsWrong(t *testing.T) {
	rows := map[int]string{7: "2024-01-32,7,1,1", 9: "2024-01-08,n\x1bne,1,1", 12: "2024-01-04,12,1,1", 14: "2024-01-13,14,-1,1",
		15: "2024-01-14,15,1,"}
	path := put(t, t.TempDir(), "bad.csv", made("date,y,se,p", 29, func(i int) string {
		if row, ok := rows[i+2]; ok {
			return row
		}
		return fmt.Sprintf("2024-01-%02d,%d,0.5,%d", i+1, i, i*i%7)
	}))
	code, stdout, stderr := gppl("fit", path, "--y-error", "se", "--regressor", "p")
	if code != exitFailed || stdout != "" {
		t.Errorf("exit %d: %s", code, stdout)
	}
	want := []string{"gppl: " + path + ": 4 things are wrong:",
		`  line 7, column 1 ("date"): "2024-01-32" is not a date written as 2000-01-31`,
		`  line 9, column 2 ("y"): "n\x1bne" is not a finite number (if it stands for a missing value: --missing n\x1bne)`,
		`  line 14: the error of y (se) is -1: a standard deviation is positive`,
		`  line 15: the regressor p is missing although the row has a y: fill it in, or leave y of that row empty too`, ""}
	if got := strings.Split(stderr, "\n"); len(got) != len(want) {
		t.Errorf("%s", stderr)
	} else {
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%q, want %q", got[i], want[i])
			}
		}
	}
	coded := put(t, t.TempDir(), "coded.csv", made("t,temp", 60,
		func(i int) string { return fmt.Sprintf("%d,%s", i, []string{"-999.0", "20.5", "21.1", "19.7"}[i%5%4]) }))
	for _, args := range [][]string{{"fit", coded}, {"backtest", coded}} {
		stdout, _ := must(t, append(args, "--kernel", "SE", "--origins", "2", "--forecast", "3", "-q")...)
		if want := "24 values of temp are -999, far from all others, which lie between 19.7 and 21.1. If it stands for a missing value, add --missing -999.\n"; !strings.HasPrefix(stdout, want) {
			t.Errorf("%s", stdout)
		}
	}
	if stdout, _ := must(t, "fit", coded, "--missing", "-999", "--kernel", "SE", "--origins", "0", "--forecast", "3",
		"-q"); !strings.Contains(stdout, "\n  36 observations of temp") {
		t.Errorf("%s", stdout)
	}
	for country, want := range map[string]string{"US": "holidays need dates, and t is numbers",
		"XX": `no holidays are known of "XX": they are of AR, AT,`} {
		if code, _, stderr := gppl("fit", coded, "--holidays", country); code != exitFailed ||
			!strings.HasPrefix(stderr, "gppl: "+coded+": "+want) {
			t.Errorf("exit %d: %s", code, stderr)
		}
	}
	_, stdout, stderr = gppl("fit", path, path, "-q", "--y", "y")
	if strings.Count(stdout, "\n") != 3 || strings.Count(stderr, "\n") != 1 ||
		!strings.Contains(stdout, `2 things are wrong: line 7,`) {
		t.Errorf("%s%s", stdout, stderr)
	}
}

// TestTextFirst names the columns of a table whose second column is text: --y for the numbers, --by for the series.
func TestTextFirst(t *testing.T) {
	row := func(rows ...string) string { return put(t, t.TempDir(), "a.csv", strings.Join(rows, "\n")) }
	for _, test := range []struct {
		path, want string
		args       []string
	}{
		{row("day,store,sold", "1,north,2", "1,south,3"), `column 2 ("store"): begins with "north", and no option names another column (--x and --y choose the columns, and --by store makes a series of the rows of each text)`, nil},
		{row("day,store,town,sold", "1,1,Graz,2"), `column 3 ("town"): begins with "Graz", and no option names another column (--x and --y choose the columns)`, []string{"--by", "store"}},
		{row("1,north,2", "1,south,3"), `column 2: begins with "north", and no option names another column (--x and --y choose the columns, and --by 2 makes`,
			[]string{"--no-header"}},
		{row("day,y,state", "1,good,bad"), `column 2 ("y"): begins with "good", and no option names another column`, nil},
		{row("day,y,p", "1,NA,2"), `no rows with both x and y`, nil},
	} {
		if code, _, stderr := gppl(append([]string{"fit", test.path}, test.args...)...); code != exitFailed ||
			!strings.HasPrefix(stderr, "gppl: "+test.path+": "+test.want) {
			t.Errorf("exit %d: %s\nwant %s", code, stderr, test.want)
		}
	}
}

// TestWrongTogether: flags that do not go together, do not exist here, or do not suit the series are refused before any work.
func TestWrongTogether(t *testing.T) {
	dir := t.TempDir()
	counts := put(t, dir, "counts.csv", made("t,hits,n", 40, func(i int) string { return fmt.Sprintf("%d,%d,20", i, 5+i*i%7) }))
	months := put(t, dir, "months.csv", made("month,y", 40,
		func(i int) string { return fmt.Sprintf("%d-%02d,%d", 2010+i/12, 1+i%12, i*i%7) }))
	for flags, want := range map[string]string{
		"fit " + counts + " --likelihood binomial --size n --components c.csv": "--components: counts have none",
		"fit " + counts + " --until 3":                                         "there is no flag --until here: gppl predict has it",
		"fit " + counts + " --nonsense":                                        "there is no flag --nonsense\n",
		"predict model.json --at 3 --forecast 2":                               "--at names the places of the predictions, and --forecast counts",
		"fit " + months + " --holidays US":                                     "this has an observation every month\n",
	} {
		if code, stdout, stderr := gppl(strings.Fields(flags)...); code == exitOK || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s%s", flags, code, stdout, stderr)
		}
	}
}
