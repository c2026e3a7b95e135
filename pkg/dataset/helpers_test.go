package dataset

import (
	"strings"
	"testing"
)

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
