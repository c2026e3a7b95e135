package parallel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
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

// TestParts: parts cover all things once, the last may be smaller, and none begins once the context has ended.
func TestParts(t *testing.T) {
	seen := make([]atomic.Int32, 10)
	err := Parts(context.Background(), len(seen), 4, func(from, to int) {
		for i := from; i < to; i++ {
			seen[i].Add(int32(to - from))
		}
	})
	for i, want := range []int32{4, 4, 4, 4, 4, 4, 4, 4, 2, 2} {
		if got := seen[i].Load(); got != want || err != nil {
			t.Errorf("index %d is in a part of %d, want %d (%v)", i, got, want, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Parts(ctx, 10, 4, func(int, int) { t.Error("a part began after the end") }); !errors.Is(err, context.Canceled) {
		t.Errorf("Parts ended with %v", err)
	}
}

// TestAside: each index is taken once, by free processors or by the goroutine that waits, and a loop begins when the loop before
// it has ended.
func TestAside(t *testing.T) {
	for _, procs := range []int{1, runtime.GOMAXPROCS(0)} {
		before := runtime.GOMAXPROCS(procs)
		var a Aside
		var calls int
		for k, n := range []int{1, 0, 3, 1000, 1} {
			if a.Start(context.Background(), n, func(int) {}); k == 3 {
				a.Wait()
			}
			seen := make([]atomic.Int32, n)
			a.Start(context.Background(), n, func(i int) { seen[i].Add(1) })
			a.Start(context.Background(), 1, func(int) { calls++ }) // this is no race, since it happens after all of them
			for i := range seen {
				if got := seen[i].Load(); got != 1 {
					t.Fatalf("n = %d: index %d ran %d times", n, i, got)
				}
			}
		}
		if a.Wait(); calls != 5 {
			t.Errorf("%d calls, want 5", calls)
		}
		a.Start(context.Background(), 1, func(int) { boom("wrong") })
		if value := testkit.Recover(a.Wait); value == nil {
			t.Error("a panic was lost")
		}
		a.Wait() // there is nothing left
		runtime.GOMAXPROCS(before)
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

// boom has a name to look for in a stack.
func boom(value any) { panic(value) }

// endless is a number of calls that would take minutes: a loop of as many returns only because something stopped it. The
// scheduler decides how many calls begin meanwhile.
const endless = math.MaxInt32

// TestPanic: a panic in any goroutine reaches the one that called For, when all have ended, with its stack; loops work afterwards.
func TestPanic(t *testing.T) {
	for _, procs := range []int{1, runtime.GOMAXPROCS(0), 8} {
		before := runtime.GOMAXPROCS(procs)
		defer runtime.GOMAXPROCS(before)
		For(4, func(int) {}) // starts the goroutines there are to be
		goroutines := runtime.NumGoroutine()
		for k := range 50 {
			var running, calls atomic.Int32
			value := testkit.Recover(func() {
				For(endless, func(i int) {
					running.Add(1)
					defer running.Add(-1)
					if int(calls.Add(1)) == k+1 {
						boom(fmt.Sprint("call ", k))
					}
					For(3, func(int) { runtime.Gosched() })
				})
			})
			p, ok := value.(*Panic)
			if !ok || p.Value != fmt.Sprint("call ", k) || !strings.Contains(string(p.Stack), "boom") {
				t.Fatalf("call %d: recovered %v", k, value)
			}
			made := calls.Load()
			runtime.Gosched()
			if running.Load() != 0 || made == endless || calls.Load() != made {
				t.Fatalf("call %d: %d still run, %d were made, then %d", k, running.Load(), made, calls.Load())
			}
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			t.Errorf("%d goroutines, %d before", n, goroutines)
		}
	}
	TestFor(t)
}

// TestGoexit: a call that ends its goroutine, such as FailNow of a test in a kernel, ends the goroutine that called For.
func TestGoexit(t *testing.T) {
	for range 20 {
		ended := make(chan bool)
		go func() {
			returned := false
			defer func() { ended <- !returned }()
			For(100, func(i int) { runtime.Goexit() })
			returned = true
		}()
		if !<-ended {
			t.Fatal("For returned")
		}
	}
	TestFor(t)
}

// TestWithin: no call begins once the context has ended.
func TestWithin(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	run := func(n int, f func(int)) (err error) {
		defer Stopped(&err)
		Within(ctx, n, f)
		return nil
	}
	var calls atomic.Int32
	if err := run(1000, func(int) { calls.Add(1) }); err != nil || calls.Load() != 1000 {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
	calls.Store(0)
	err := run(endless, func(int) {
		if calls.Add(1) == 10 {
			cancel(nil)
		}
	})
	if !errors.Is(err, context.Canceled) || calls.Load() == endless {
		t.Errorf("%d calls, %v", calls.Load(), err)
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
