package dataset_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/projected-likelihood/gppl/pkg/dataset"
)

// TestMissingValues: a number that stands for a missing value does so however a cell writes it, and no other number does.
func TestMissingValues(t *testing.T) {
	for _, test := range []struct {
		name    string
		comma   string
		cells   []string
		missing []string
		want    []float64
	}{
		{"other digits", ",", []string{"1.5", "-999.0", "-999", "-9.99e2", "-999.001", "999"}, []string{"-999"}, []float64{1.5, -999.001, 999}},
		{"other digits in the flag", ",", []string{"1.5", "-999"}, []string{"-999.00"}, []float64{1.5}},
		{"a decimal comma", ";", []string{"1,5", "-999,00", "−999", "-999,5", "9.999,0", "9.999"}, []string{"-999", "9999"}, []float64{1.5, -999.5}},
		{"a decimal comma in the flag", ";", []string{"1,5", "-99,90", "-99,9"}, []string{"-99,9"}, []float64{1.5}},
		{"a decimal point, the same marks", ";", []string{"1.5", "9.999", "9,999"}, []string{"9999"}, []float64{1.5, 9.999}},
		{"a unit", ",", []string{"1.5 %", "-999 %", "-999"}, []string{"-999"}, []float64{1.5}},
		{"texts", ",", []string{"1", "bad", "0"}, []string{"bad"}, []float64{1, 0}},
		{"a text is no prefix", ",", []string{"1", "-9990"}, []string{"-999"}, []float64{1, -9990}},
		{"not in x", ",", []string{"7", "8", "9"}, []string{"1.0"}, []float64{7, 8, 9}},
	} {
		var b strings.Builder
		b.WriteString("t" + test.comma + "y\n")
		for i, cell := range test.cells {
			fmt.Fprintf(&b, "%d%s%s\n", i, test.comma, cell)
		}
		s, err := dataset.ReadCSV(strings.NewReader(b.String()), dataset.CSVOptions{Missing: test.missing, SkipMissing: true})
		if err != nil || !slices.Equal(s.Y, test.want) {
			t.Errorf("%s: %v, want %v: %v", test.name, s.Y, test.want, err)
		}
	}
}

// TestErrorName tells columns of standard deviations by their names, and no others that have these letters.
func TestErrorName(t *testing.T) {
	for name, want := range map[string]bool{"err": true, "magerr": true, "errvel": true, "SAP_FLUX_ERR": true, "mag_err_up": true, "Error (m)": true, "fluxerror": true,
		"Territorio": false, "Sierra": false, "ferry": false} {
		if dataset.ErrorName(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// TestDeclared reads what files say of their missing values: in comments, in lines above and below the table; and takes no count, date or cell of a row for it.
func TestDeclared(t *testing.T) {
	rows := "date,v,w\n2015-01-01,5,no data\n2015-01-02,-99.9,-4\n2015-01-03,7,missing\n2015-01-04,1e20,3\n"
	for head, want := range map[string]int{
		"# missing value: -99.9\n":                                 3,
		"# Missing days are denoted by \"-99.9\" in the column.\n": 3,
		"# -99.90 = no data\n":                                     3,
		"The value for missing source data that cannot be computed or is outside of the sources availability range: -99.9\n": 3,
		"_FillValue,1.0e+20\n":                                3,
		"# units: K; missing_value = 1e20\n# FILL  -99.9\n":   2,
		"# missing values: 5\n":                               4,
		"# no data after 7 May 2015, -99.9 m below the sea\n": 4,
		"": 4,
	} {
		n := 0
		rep, err := dataset.StreamCSV(strings.NewReader(head+rows), dataset.CSVOptions{SkipMissing: true}, 1, func(_ int, b *dataset.CSVBlock) error { n += len(b.Y); return nil })
		if err != nil || n != want || (len(rep.Declared) == 0) != (want == 4) {
			t.Errorf("%q: %d rows, %q, %v; want %d", head, n, rep.Declared, err, want)
		}
	}
	own := dataset.CSVOptions{SkipMissing: true, Missing: []string{"5"}}
	if s, err := dataset.ReadCSV(strings.NewReader("# missing value: -99.9\n"+rows), own); err != nil || s.Len() != 3 || s.Y[0] != -99.9 {
		t.Errorf("beside one that is named: %v, %v", s.Y, err)
	}
}
