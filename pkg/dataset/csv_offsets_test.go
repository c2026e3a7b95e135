package dataset

import (
	"strings"
	"testing"
)

// TestOffsets: the report says whether the UTC offsets of dates change, as clocks do in spring.
func TestOffsets(t *testing.T) {
	for text, want := range map[string]string{
		"2020-03-29T00:00:00+00:00,1\n2020-03-29T02:00:00+01:00,2\n":   "+00:00 and +01:00",
		"2020-03-29 01:00 +0100,1\n2020-03-29 03:00 +0200,2\n":         "+01:00 and +02:00",
		"2020-03-29T01:00:00-02:30,1\n2020-03-29T05:00:00.5-01:30,2\n": "-02:30 and -01:30",
		"2020-03-29 01:00 -05:00,1\n2020-03-29 02:00 -05:00,2\n":       "",
		"2020-03-29T01:00:00Z,1\n2020-03-29T02:00:00Z,2\n":             "",
		"2020-03-29 01:00,1\n2020-03-29 02:00,2\n":                     "",
		"2020-03-29,1\n2020-03-30,2\n":                                 "",
	} {
		_, rep, err := readCSV(strings.NewReader("t,y\n"+text), CSVOptions{X: "t", Y: "y"})
		got := ""
		if rep.Offsets.Vary() {
			got = rep.Offsets.String()
		}
		if err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}
