package dataset

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// numberForms are all ways to write numbers, of which some are refused.
var numberForms = []struct {
	what    string
	texts   []string
	opt     CSVOptions
	value   float64
	refused string // what the error says
}{
	{"digits, with or without a point and an exponent", []string{"1500", "1500.0", "+1.5e3", "15E+2", "1.5D+03"}, CSVOptions{}, 1500, ""},
	{"a decimal comma", []string{"1500,0", "1,5e3"}, CSVOptions{}, 1500, ""},
	{"marks between thousands", []string{"1,500.0", "1.500,0", "1 500", "1'500", "1 500,0"}, CSVOptions{}, 1500, ""},
	{"per cent, a currency or a unit, the same in all rows", []string{"1500%", "1500 %", "$1,500.00", "1.500,00 €", "EUR 1500", "R$ 1.500,00", "kr 1500", "1500 kr.", "1500 kWh"}, CSVOptions{}, 1500, ""},
	{"with a name, the same in all rows", []string{"T=1500", "T=1500C"}, CSVOptions{}, 1500, ""},
	{"negative, as tables of accounts have it", []string{"-1500", "−1500", "(1500)", "1500-", "-$1500"}, CSVOptions{}, -1500, ""},
	{"words for true and false, as the first value is", []string{"TRUE", "yes", "Y", "on", "wahr"}, CSVOptions{}, 1, ""},
	{"with a flag of an office of statistics behind a blank, b, e, p, r, u, the mark of a footnote, or a word for about", []string{"1500 p", "1500.0 bp", "1500*", "1500 (p)", "1500p", "c. 1500", "~1500"}, CSVOptions{}, 1500, ""},
	{"below a limit, as half of it, with a note", []string{"<3000", "< 3000"}, CSVOptions{}, 1500, ""},
	{"three digits after a comma between semicolons, if nothing else tells", []string{"1,500"}, CSVOptions{}, 1.5, ""},
	{"three digits after a comma, with `--decimal-comma`", []string{"1,500"}, CSVOptions{DecimalComma: true}, 1.5, ""},
	{"three digits after a comma, with `--decimal-point`", []string{"1,500"}, CSVOptions{DecimalPoint: true}, 1500, ""},
	{"a decimal point, with `--decimal-comma`", []string{"3.14"}, CSVOptions{DecimalComma: true}, 0, "is not a finite number with a decimal comma"},
	{"not decimal", []string{"0x10", "1_500", "Inf", "1e999", "1.5.2"}, CSVOptions{}, 0, "is not a finite number"},
}

// TestFormsDocumented compares docs/data.md with the forms of dates and numbers, and reads every example by both doors.
func TestFormsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/data.md")
	if err != nil {
		t.Fatal(err)
	}
	list := func(texts []string) string { return "`" + strings.Join(texts, "`, `") + "`" }
	table := "| `--time` | written as | read as |\n|---|---|---|\n"
	for _, f := range dateForms {
		table += fmt.Sprintf("| `%s` | %s | %s |\n", f.format, list(f.examples), f.means)
		for _, text := range f.examples {
			if _, _, ok := dateOf(text, f.format); !ok {
				t.Errorf("%q is not read as %s", text, f.format)
			}
		}
	}
	table += "\n| number | written as | read as |\n|---|---|---|\n"
	for _, f := range numberForms {
		means := fmt.Sprint(f.value)
		if f.refused != "" {
			means = "an error"
		}
		table += fmt.Sprintf("| %s | %s | %s |\n", f.what, list(f.texts), means)
		for _, text := range f.texts {
			f.opt.Comma = ';'
			file := "t;y\n1;" + text + "\n"
			s, err := ReadCSV(strings.NewReader(file), f.opt)
			of, _, bad, _, streamErr := streamed(strings.NewReader(file), f.opt, 2, 4)
			if streamErr == nil && len(bad) > 0 {
				streamErr = bad[0]
			}
			if (err == nil) != (streamErr == nil) {
				t.Fatalf("%q: %v, streamed %v", text, err, streamErr)
			}
			if f.refused != "" {
				mustFail(t, err, "line 2, column 2", f.refused)
				mustFail(t, streamErr, "line 2, column 2", f.refused)
			} else if err != nil || s.Y[0] != f.value || of.Y[0] != f.value {
				t.Errorf("%q: %v, %v, %v", text, s.Y, of.Y, err)
			}
		}
	}
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/data.md does not have\n%s", table)
	}
}
