package dataset

import (
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

const silsoText = `1749;01;1749.042;  96.7; -1.0;   -1;1
1749;02;1749.123;  -1  ; -1.0;   -1;1
1749;03;1749.204; 116.7; -1.0;   -1;1
2025;07;2025.538; 125.6; 16.9; 1145;0
2025;08;2025.623; 133.5; 17.9; 1139;0
`

func TestReadSILSO(t *testing.T) {
	for name, text := range map[string]string{
		"as published":            silsoText,
		"byte order mark, CRLF":   "\ufeff" + strings.ReplaceAll(silsoText, "\n", "\r\n"),
		"no newline, blank lines": "\n" + strings.TrimSpace(silsoText),
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ReadSILSO(iotest.OneByteReader(strings.NewReader(text)))
			if err != nil {
				t.Fatal(err)
			}
			if want := []float64{1749.042, 1749.204, 2025.538, 2025.623}; !slices.Equal(s.X, want) {
				t.Errorf("X = %v, want %v", s.X, want)
			}
			if want := []float64{96.7, 116.7, 125.6, 133.5}; !slices.Equal(s.Y, want) {
				t.Errorf("Y = %v, want %v", s.Y, want)
			}
			if s.XUnit != "year" || s.YName != "sunspot number" {
				t.Errorf("labels %+v", s)
			}
		})
	}
}

func TestReadSILSOErrors(t *testing.T) {
	const row = "1749;01;1749.042;  96.7; -1.0;   -1;1\n"
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"empty":              {"", []string{"no rows"}},
		"all missing":        {"1749;01;1749.042;-1;-1.0;-1;1\n", []string{"no rows"}},
		"a page":             {"<html>not found</html>", []string{"HTML"}},
		"daily file":         {"1818;01;01;1818.001;  -1; -1.0;   0;1\n", []string{"8 fields"}},
		"cut within a field": {row + "1749;02;1749.1", []string{"line 2", "3 fields"}},
		"cut before the end": {row + "1749;02;1749.123; 104.3; -1.0;   -1;", []string{"line 2", "field 7"}},
		"year":               {"x;01;1749.042;1;1;1;1", []string{"field 1", `"x"`}},
		"month":              {"1749;13;1749.042;1;1;1;1", []string{"field 2", `"13"`}},
		"decimal year":       {"1749;01;Inf;1;1;1;1", []string{"field 3", `"Inf"`}},
		"NaN":                {"1749;01;1749.042;NaN;1;1;1", []string{"field 4", `"NaN"`}},
		"negative":           {"1749;01;1749.042;-2;1;1;1", []string{"field 4", `"-2"`}},
		"backwards":          {row + row, []string{"line 2", "does not follow"}},
		"endless line":       {strings.Repeat("1", 1<<17), []string{"line 1", "too long"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadSILSO(strings.NewReader(test.text))
			mustFail(t, err, append(test.want, "dataset: SILSO")...)
		})
	}
}
