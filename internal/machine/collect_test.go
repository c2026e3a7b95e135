package machine

import (
	"runtime/debug"
	"testing"
)

func TestCollectFor(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	for _, c := range []struct {
		gogc    string
		n, want int
	}{{"", 100, 400}, {"", 1000, 400}, {"", 1001, 100}, {"50", 100, 77}, {"off", 10, 77}} {
		t.Setenv("GOGC", c.gogc)
		debug.SetGCPercent(77)
		CollectFor(c.n)
		if got := debug.SetGCPercent(77); got != c.want {
			t.Errorf("GOGC=%q and %d observations: %d per cent, want %d", c.gogc, c.n, got, c.want)
		}
	}
}
