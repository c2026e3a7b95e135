package parallel

import (
	"sync/atomic"
	"testing"
)

func TestFor(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1000} {
		seen := make([]atomic.Int32, n)
		For(n, func(i int) { seen[i].Add(1) })
		for i := range seen {
			if got := seen[i].Load(); got != 1 {
				t.Fatalf("n = %d: index %d ran %d times", n, i, got)
			}
		}
	}
}

// TestNested runs loops within loops, from several goroutines at once.
func TestNested(t *testing.T) {
	var total atomic.Int64
	For(20, func(int) {
		For(20, func(int) {
			For(20, func(int) { total.Add(1) })
		})
	})
	if got := total.Load(); got != 8000 {
		t.Errorf("%d calls, want 8000", got)
	}
}

func TestAllocations(t *testing.T) {
	var total atomic.Int64
	f := func(int) { total.Add(1) }
	For(4, f)
	if got := testing.AllocsPerRun(100, func() { For(4, f) }); got > 0 {
		t.Errorf("%v allocations a call", got)
	}
}

func BenchmarkFor(b *testing.B) {
	f := func(int) {}
	for b.Loop() {
		For(4, f)
	}
}
