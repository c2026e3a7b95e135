package report

import (
	"strings"
	"testing"
)

// TestPrintable: no text of a file moves the cursor of a terminal or reverses its writing.
func TestPrintable(t *testing.T) {
	for _, bad := range []string{"\x1b[2J", "\x07", "\u009b2J", "\u202e", "\u2066", "\u200f", "\u061c", "\u2028", "\r", "\x7f",
		"\ufeff"} {
		text := printableLines("a" + bad + "b\nc")
		if strings.ContainsAny(text, string([]rune(bad)[0])) || !strings.HasSuffix(text, "b\nc") {
			t.Errorf("%q is shown as %q", bad, text)
		}
	}
	if text := "Höhe (m²), température, 水位 ±1\n"; printableLines(text) != text {
		t.Errorf("%q is changed", text)
	}
}
