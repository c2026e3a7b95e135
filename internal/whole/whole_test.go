package whole

import (
	"strings"
	"testing"
)

// TestHTML: what is kept whole, here between brackets, and what is not.
func TestHTML(t *testing.T) {
	for text, want := range map[string]string{
		"p = 2.2e-06, say (--y-error)":              "p = [2.2e-06], say ([--y-error])",
		"from 2025-06-02T00:00:00Z to 2025-06":      "from [2025-06-02T00:00:00Z] to [2025-06]",
		"--robust lets E1-3 and a-b count for less": "[--robust] lets E1-3 and a-b count for less",
	} {
		got := strings.NewReplacer(`<span style="white-space:nowrap">`, "[", "</span>", "]").Replace(HTML(text))
		if got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
