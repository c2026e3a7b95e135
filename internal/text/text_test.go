package text

import (
	"math"
	"testing"
)

func TestWords(t *testing.T) {
	for n, want := range map[int]string{0: "0 rows are, were", 1: "1 row is, was", 2: "2 rows are, were"} {
		if got := Count(n, "row") + " " + Are(n) + ", " + Was(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestMinus(t *testing.T) {
	for text, want := range map[string]string{
		"-0.26 [-1, 2], a -> -3, z=-4 ±-1 (-5)": "−0.26 [−1, 2], a -> −3, z=−4 ±−1 (−5)",
		"1-2, Table 3-4, 1e-05, 2026-01-02, -y": "1-2, Table 3-4, 1e-05, 2026-01-02, -y",
	} {
		if got := Minus(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestP(t *testing.T) {
	for p, want := range map[float64]string{1: "p = 1", 0.0391: "p = 0.039", 0.001: "p = 0.001", 9.9e-4: "p < 0.001",
		0: "p < 0.001"} {
		if got := P(p); got != want {
			t.Errorf("%v is written %q, want %q", p, got, want)
		}
	}
}

func TestRounded(t *testing.T) {
	for v, want := range map[float64]float64{1234.5: 1200, -0.00678: -0.0068, 9.96: 10, 0: 0, math.MaxFloat64: math.MaxFloat64,
		math.Inf(-1): math.Inf(-1)} {
		if got := Rounded(v, 2); got != want {
			t.Errorf("%v rounded to two digits is %v, want %v", v, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for bytes, want := range map[float64]string{0: "0 bytes", 999: "999 bytes", 999.6: "1 kB", 999499: "999 kB", 999600: "1 MB",
		3.217e9: "3.22 GB", 1e25: "1e+07 EB"} {
		if got := Bytes(bytes); got != want {
			t.Errorf("%v: %s, want %s", bytes, got, want)
		}
	}
}
