package text

import (
	"strings"
	"testing"
)

// TestHTML checks which parts of a text are kept whole; they are in brackets here.
func TestHTML(t *testing.T) {
	for text, want := range map[string]string{
		"p = 2.2e-06, say (--y-error)":              "[p = 2.2e-06], say ([--y-error])",
		"from 2025-06-02T00:00:00Z to 2025-06":      "from [2025-06-02T00:00:00Z] to [2025-06]",
		"from 1956-Q1 to 2008-W23":                  "from [1956-Q1] to [2008-W23]",
		"--robust lets E1-3 and a-b count for less": "[--robust] lets E1-3 and a-b count for less",
		"held 100 % of 24 values, 80 to 95 % bands": "held [100 %] of 24 values, 80 to [95 %] bands",
		"by 29.8 ± 6.4 EUR, 18.9 ± 4.1 %, at last":  "by [29.8 ± 6.4] EUR, [18.9 ± 4.1 %], at last",
		"(p &lt; 0.001, K<sub>uu</sub> = 3)":        "([p &lt; 0.001], K<sub>uu</sub> = 3)",
		"y = −1.5e-7 nats, 3 sets in 5 s":           "[y = −1.5e-7 nats], 3 sets in [5 s]",
		"a.very.long.name.of.it = 5":                "a.very.lon[g.name.of.it = 5]",
	} {
		got := strings.NewReplacer(`<span style="white-space:nowrap">`, "[", "</span>", "]").Replace(UnbrokenHTML(text))
		if got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestFields splits where a line may break.
func TestFields(t *testing.T) {
	for text, want := range map[string]string{
		" the 95 % band,  80 % of it":     "the|95 %|band,|80 %|of|it",
		"95 % from":                       "95 %|from",
		"(p < 0.001) and --y-error = 5 ":  "(p < 0.001)|and|--y-error|=|5",
		"one\ttwo\nthree":                 "one|two|three",
		"0.105 ± 0.011 nats from 2025-06": "0.105 ± 0.011 nats|from|2025-06",
	} {
		if got := strings.Join(UnbrokenFields(text), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
