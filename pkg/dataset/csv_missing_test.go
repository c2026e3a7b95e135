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
