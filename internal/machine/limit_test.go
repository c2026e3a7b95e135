package machine

import "testing"

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]float64{"500MB": 500e6, "8GB": 8e9, "1.5 g": 1.5e9, "2GiB": 2 << 30, "1e9": 1e9, "64k": 64e3,
		"12 b": 12} {
		if got, err := parseBytes(text); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MB", "0", "-5MB", "NaN", "Inf", "5 apples", "1e400"} {
		if got, err := parseBytes(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
