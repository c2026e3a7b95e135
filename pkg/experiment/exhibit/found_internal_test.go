package exhibit

import (
	"slices"
	"testing"
)

func TestParts(t *testing.T) {
	for text, want := range map[string][]string{
		"PL 1 (of 2; 3 failed); VFE [4; 5]; ML 6": {"PL 1 (of 2; 3 failed)", "VFE [4; 5]", "ML 6"},
		"one": {"one"},
		"It ends higher; by 2 nats. It stops sooner.": {"It ends higher; by 2 nats", "It stops sooner"},
	} {
		if got := parts(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
