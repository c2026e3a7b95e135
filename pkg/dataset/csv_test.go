package dataset

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadCSV(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		opt  CSVOptions
		want Series
	}{
		"defaults": {
			"t,level\n0,1.5\n1,-2e3\n", CSVOptions{},
			Series{XName: "t", YName: "level", X: []float64{0, 1}, Y: []float64{1.5, -2000}},
		},
		"by name, order kept": {
			"a,level,t\nx,1,3\nx,2,1\n", CSVOptions{X: "t", Y: "level"},
			Series{XName: "t", YName: "level", X: []float64{3, 1}, Y: []float64{1, 2}},
		},
		"by number": {
			"a;b;c\nx;1;3\n", CSVOptions{X: "3", Y: "2", Comma: ';'},
			Series{XName: "c", YName: "b", X: []float64{3}, Y: []float64{1}},
		},
		"decimal comma": {
			"a;b\n1,5;-3,25\n2;1e3\n", CSVOptions{Comma: ';', DecimalComma: true},
			Series{XName: "a", YName: "b", X: []float64{1.5, 2}, Y: []float64{-3.25, 1000}},
		},
		"a name goes before a number": {
			"2,1\n5,6\n", CSVOptions{X: "2", Y: "1"},
			Series{XName: "2", YName: "1", X: []float64{5}, Y: []float64{6}},
		},
		"no header": {
			"0,1\n1,2\n", CSVOptions{NoHeader: true},
			Series{X: []float64{0, 1}, Y: []float64{1, 2}},
		},
		"byte order mark, CRLF, spaces, quotes, no last newline": {
			"\ufeff\"t\", level \r\n 0 ,\" 1\"\r\n1, 2", CSVOptions{X: "t", Y: "level"},
			Series{XName: "t", YName: "level", X: []float64{0, 1}, Y: []float64{1, 2}},
		},
		"comments": {
			"# made by hand\nt,y\n# more\n0,1\n", CSVOptions{Comment: '#'},
			Series{XName: "t", YName: "y", X: []float64{0}, Y: []float64{1}},
		},
		"missing skipped": {
			"t,y\n0,\n1,NA\n,3\n2,4\n", CSVOptions{SkipMissing: true, Missing: []string{"NA"}},
			Series{XName: "t", YName: "y", X: []float64{2}, Y: []float64{4}},
		},
		"dates": {
			"day,y\n2023-01-01,1\n2023-07-02T12:00:00Z,2\n2024-07-02 00:00:00,3\n", CSVOptions{},
			Series{XName: "day", XUnit: "decimal year", YName: "y", X: []float64{2023, 2023.5, 2024.5}, Y: []float64{1, 2, 3}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadCSV(strings.NewReader(test.text), test.opt)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadCSVErrors(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		opt  CSVOptions
		want []string // all of them in the message
	}{
		"empty":                {"", CSVOptions{}, []string{"empty"}},
		"only a mark":          {"\ufeff", CSVOptions{}, []string{"empty"}},
		"only a header":        {"t,y\n", CSVOptions{}, []string{"no rows"}},
		"all missing":          {"t,y\n0,\n", CSVOptions{SkipMissing: true}, []string{"no rows"}},
		"lacking column":       {"t,y\n0,1\n", CSVOptions{Y: "level"}, []string{`y: no column "level"`, `column 1 ("t")`, `column 2 ("y")`}},
		"number too high":      {"t,y\n0,1\n", CSVOptions{X: "3"}, []string{`x: no column "3"`}},
		"number zero":          {"t,y\n0,1\n", CSVOptions{X: "0"}, []string{`no column "0"`}},
		"one column":           {"t\n0\n", CSVOptions{}, []string{`y: no column "2"`}},
		"named without header": {"0,1\n", CSVOptions{X: "t", NoHeader: true}, []string{`no column "t"`}},
		"name twice":           {"t,t\n0,1\n", CSVOptions{X: "t"}, []string{"more than one column", `"t"`}},
		"ragged":               {"t,y\n0,1\n1\n", CSVOptions{}, []string{"line 3", "number of fields"}},
		"broken quote":         {"t,y\n0,\"1\n", CSVOptions{}, []string{`"`, "line 2"}},
		"text":                 {"t,y\n0,1\n1,two\n", CSVOptions{}, []string{"line 3", "column 2", `"y"`, `"two"`}},
		"text after a quoted line break": {"t,y,z\n0,1,\"a\nb\"\n1,two,c\n", CSVOptions{},
			[]string{"line 4", `"two"`}},
		"NaN":             {"t,y\n0,NaN\n", CSVOptions{}, []string{"line 2", `"NaN" is not a finite number`}},
		"two signs":       {"t;y\n0;1,5\n1;1.5\n", CSVOptions{}, []string{"line 3", `"1.5" is not a finite number with a decimal comma`}},
		"one unit":        {"t,y\n0,1%\n1,2\n", CSVOptions{}, []string{"line 3", `"2" has no "%"`}},
		"two units":       {"t,y\n0,$1\n1,2 €\n", CSVOptions{}, []string{"line 3", `"2 €" has "€", and the numbers above have "$"`}},
		"a unit below":    {"t,y\n0,1\n1,2 kg\n", CSVOptions{}, []string{"line 3", `"2 kg" has "kg", and the numbers above have no unit`}},
		"thousand or one": {"t\ty\n0\t1,500\n1\t2,500\n", CSVOptions{}, []string{"line 2", `"1,500" may be 1500 or 1.500`, "CSVOptions.DecimalComma or CSVOptions.DecimalPoint"}},
		"German or not":   {"t;y\n0;980\n1;1.025\n", CSVOptions{}, []string{"line 3", `"1.025" may be 1025 or 1.025`}},
		"Inf":             {"t,y\n0,-Inf\n", CSVOptions{}, []string{`"-Inf" is not a finite number`}},
		"overflow":        {"t,y\n0,1e999\n", CSVOptions{}, []string{`"1e999"`}},
		"NaN in x":        {"t,y\nnan,1\n", CSVOptions{}, []string{"column 1", `"nan"`}},
		"missing y":       {"t,y\n0,1\n1,\n", CSVOptions{}, []string{"line 3", "column 2", "missing", "SkipMissing"}},
		"missing x":       {"t,y\n ,1\n", CSVOptions{}, []string{"line 2", "column 1", "missing"}},
		"neither":         {"t,y\nlast week,1\n", CSVOptions{}, []string{`"last week"`, "nor a date"}},
		"names first":     {"shop,at,y\nA,0,1\n", CSVOptions{}, []string{`"A" is not a finite number, nor a date (if another column was meant, CSVOptions.X and CSVOptions.Y choose it`, "CSVOptions.Missing"}},
		"time as y":       {"t,at,y\n2024-01-01,09:30,1\n", CSVOptions{}, []string{`"09:30" is not a finite number (it is a time of day`, "CSVOptions.X and CSVOptions.Y"}},
		"day or month":    {"t,y\n3/4/2020,1\n", CSVOptions{}, []string{"line 2, column 1", `"3/4/2020" may be 3 April 2020 or 4 March 2020`, `CSVOptions.Time: "dmy"`}},
		"impossible date": {"t,y\n2023-02-30,1\n", CSVOptions{}, []string{`"2023-02-30"`}},
		"number after date": {"t,y\n2023-02-03,1\n7,1\n", CSVOptions{},
			[]string{"line 3", `"7" is not an ISO date`}},
		"date after number": {"t,y\n7,1\n2023-02-03,1\n", CSVOptions{}, []string{"line 3", `"2023-02-03" is not a finite number`}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadCSV(strings.NewReader(test.text), test.opt)
			mustFail(t, err, test.want...)
			if got.Len() != 0 {
				t.Errorf("error with %d observations", got.Len())
			}
		})
	}
	_, err := ReadCSV(iotest.ErrReader(os.ErrClosed), CSVOptions{})
	mustFail(t, err, os.ErrClosed.Error())
}

// mustFail stops the test unless err is one whose message holds every text.
func mustFail(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", texts)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Fatalf("error %q, want one with %q", err, text)
		}
	}
}

func TestReadCSVFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tide.csv")
	if err := os.WriteFile(path, []byte("t,y\n0,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := ReadCSVFile(path, CSVOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "tide.csv" || s.Source != path || s.Len() != 1 {
		t.Errorf("%+v", s)
	}
	_, err = ReadCSVFile(path, CSVOptions{Y: "z"})
	mustFail(t, err, path, `"z"`)
	_, err = ReadCSVFile(path+".none", CSVOptions{})
	mustFail(t, err, path)
}

func TestDecimalYear(t *testing.T) {
	for _, test := range []struct {
		t    time.Time
		want float64
	}{
		{time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), 2024},
		{time.Date(2024, 7, 2, 0, 0, 0, 0, time.UTC), 2024.5}, // leap: 183 of 366 days
		{time.Date(2023, 7, 2, 12, 0, 0, 0, time.UTC), 2023.5},
		{time.Date(2023, 12, 31, 23, 0, 0, 0, time.FixedZone("", -3600)), 2024},
	} {
		if got := DecimalYear(test.t); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("DecimalYear(%v) = %v, want %v", test.t, got, test.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "-0": 0, "+1": 1, "1.": 1, ".5": 0.5, "-.5e1": -5, "1e-3": 0.001, "1E+3": 1000, "1e-999": 0, "007": 7, "9007199254740993": 9007199254740992,
	} {
		if got, err := ParseNumber(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", ".", "+", "e1", "1e", "1e+", "1_000", "0x1p3", "0x10", "0b1", "inf", "-Inf", "Infinity", "nan", "1e999", "1 ", "1,5", "--1", "1.2.3", "١", "1f", "1d2", "0X.8p1",
	} {
		if got, err := ParseNumber(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestNearestColumns(t *testing.T) {
	names := make([]string, 1000)
	for i := range names {
		names[i] = strings.Repeat("column of a long name ", 10) + string(rune('a'+i%26))
	}
	names[700], names[800] = "Level", "lovely"
	_, err := column(names, "levle", 2)
	mustFail(t, err, `no column "levle"; there are column 701 ("Level"), column 801 ("lovely"), `, ", and 996 more")
	if len(err.Error()) > 400 {
		t.Errorf("%d bytes: %v", len(err.Error()), err)
	}
}

// A reader that delivers a byte at a time, as a slow pipe may, gives what the whole does.
func TestReadCSVSlowly(t *testing.T) {
	for _, text := range []string{
		"t,y\r\n0,1\r\n1,2\r\n", "t,y\r0,1\r1,2", "\xff\xfet\x00,\x00y\x00\r\x00\n\x000\x00,\x001\x00\r\x001\x00,\x002\x00", "\ufefft,y\n\n0,1\n\r\n1,2\n",
	} {
		s, err := ReadCSV(iotest.OneByteReader(strings.NewReader(text)), CSVOptions{X: "t"})
		if err != nil || s.Len() != 2 || s.X[1] != 1 || s.Y[1] != 2 {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
	s, err := ReadCSV(iotest.OneByteReader(strings.NewReader("  t \"y  z\"\n\n 0\t 1  \n1 2")), CSVOptions{Comma: ' '})
	if err != nil || s.Len() != 2 || s.YName != "y  z" || s.Y[0] != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}
