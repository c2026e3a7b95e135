package words

import "testing"

func TestWords(t *testing.T) {
	for n, want := range map[int]string{0: "0 rows are, were", 1: "1 row is, was", 2: "2 rows are, were"} {
		if got := Count(n, "row") + " " + Are(n) + ", " + Was(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
