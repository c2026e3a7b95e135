package parallel

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/projected-likelihood/gppl/internal/testkit"
)

// burst has a name to look for in a stack.
func burst(value any) { panic(value) }

func TestGroup(t *testing.T) {
	var g Group
	for i := range 5 {
		g.Go(func() {
			if i == 3 {
				burst(io.ErrUnexpectedEOF)
			}
		})
	}
	err, ok := testkit.Recover(g.Wait).(error)
	if !ok || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("recovered %v, want the value of the panic", err)
	}
	if p, ok := errors.AsType[*Panic](err); !ok || !strings.Contains(string(p.Stack), "parallel.burst") ||
		!strings.Contains(err.Error(), "parallel.burst") {
		t.Errorf("the stack does not name who panicked: %v", err)
	}
	g.Go(func() {})
	if v := testkit.Recover(g.Wait); v != nil {
		t.Errorf("a group that is used again: %v", v)
	}
	g.Go(func() { burst(7) })
	if p, ok := testkit.Recover(g.Wait).(*Panic); !ok || p.Value != 7 || p.Unwrap() != nil {
		t.Errorf("recovered %v, want 7", p)
	}
	g.Go(func() {
		var inner Group
		inner.Go(func() { burst("once") })
		inner.Wait()
	})
	if p, ok := testkit.Recover(g.Wait).(*Panic); !ok || p.Value != "once" {
		t.Errorf("recovered %v: a group in a group wraps twice", p)
	}
}

// TestGroupGoexit: a goroutine that a test ends by FailNow ends the one that waits, not the process.
func TestGroupGoexit(t *testing.T) {
	ended := make(chan bool)
	go func() {
		returned := false
		defer func() { ended <- !returned && recover() == nil }()
		var g Group
		g.Go(func() { new(testing.T).SkipNow() })
		g.Wait()
		returned = true
	}()
	if !<-ended {
		t.Error("Wait returned, or panicked")
	}
}

func TestEach(t *testing.T) {
	for _, workers := range []int{0, 1, 3, 100} {
		seen := make([]atomic.Int32, 20)
		Each(workers, len(seen), func(i int) { seen[i].Add(1) })
		for i := range seen {
			if n := seen[i].Load(); n != 1 {
				t.Errorf("%d workers: %d calls of %d", workers, n, i)
			}
		}
		var calls atomic.Int32
		p, ok := testkit.Recover(func() {
			Each(workers, 1000, func(i int) {
				if calls.Add(1) == 5 {
					burst(i)
				}
				runtime.Gosched()
			})
		}).(*Panic)
		if !ok || p.Value == nil || calls.Load() == 1000 {
			t.Errorf("%d workers: recovered %v after %d calls", workers, p, calls.Load())
		}
	}
	Each(3, 0, func(int) { t.Error("a call of none") })
}

// TestStopped: a Stop becomes an error where it is expected; other panics do not.
func TestStopped(t *testing.T) {
	run := func(value any) (err error) {
		defer Stopped(&err)
		Each(2, 3, func(int) { panic(value) })
		return nil
	}
	if err := run(Stop{io.EOF}); err != io.EOF {
		t.Errorf("stopped: %v", err)
	}
	if p, ok := testkit.Recover(func() { run("other") }).(*Panic); !ok || p.Value != "other" {
		t.Errorf("another panic: %v", p)
	}
}
