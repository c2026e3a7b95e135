package testkit

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// A Call is a call that a context ends.
type Call struct {
	Name string
	Run  func(ctx context.Context) error
}

// Looked is a context that counts how often it is looked at, and ends at the given look; never if that is 0.
type Looked struct {
	context.Context
	Looks atomic.Int64
	End   int64
}

// Err counts a look.
func (c *Looked) Err() error {
	if n := c.Looks.Add(1); c.End > 0 && n >= c.End {
		return context.Canceled
	}
	return nil
}

// OnOneProcessor runs f alone, so that looks at a context come one after another.
func OnOneProcessor(f func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	f()
}

// TestCancelled ends each call at several of its looks at the context: it returns the context's error, and hardly looks again,
// alone and on all processors. Afterwards no goroutine is left, and the call succeeds again.
func TestCancelled(t *testing.T, calls []Call) {
	for _, c := range calls {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, before := &Looked{Context: t.Context()}, runtime.NumGoroutine()
			OnOneProcessor(func() {
				if err := c.Run(ctx); err != nil {
					t.Fatal(err)
				}
			})
			all := ctx.Looks.Load()
			if all < 2 {
				t.Fatalf("%d looks", all)
			}
			for _, end := range []int64{1, 2, all / 2, all - 1} {
				if end < 1 {
					continue
				}
				OnOneProcessor(func() {
					ctx := &Looked{Context: t.Context(), End: end}
					if err := c.Run(ctx); !errors.Is(err, context.Canceled) || ctx.Looks.Load() > end+4 {
						t.Errorf("look %d of %d: error %v after %d looks", end, all, err, ctx.Looks.Load())
					}
				})
				if err := c.Run(&Looked{Context: t.Context(), End: end}); !errors.Is(err, context.Canceled) {
					t.Errorf("look %d of %d, on all processors: error %v", end, all, err)
				}
			}
			ended, stop := context.WithCancel(t.Context())
			stop()
			if err := c.Run(ended); !errors.Is(err, context.Canceled) {
				t.Errorf("a context that has ended: error %v", err)
			}
			for range 100 { // ending goroutines take a moment
				if runtime.NumGoroutine() <= before {
					break
				}
				time.Sleep(time.Millisecond)
			}
			if left := runtime.NumGoroutine(); left > before {
				t.Errorf("%d goroutines, %d before", left, before)
			}
			if err := c.Run(t.Context()); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}
