package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A Panic holds what another goroutine panicked with. It is an error whatever the value is, so that errors.As and errors.Is find
// a value that is an error.
type Panic struct {
	Value any
	Stack []byte // stack of the goroutine that panicked
}

func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the value if it is an error, else nil.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// First keeps how the first of several calls ended that did not return: by a panic, or by runtime.Goexit, as testing.T.FailNow
// does. The zero value is ready.
type First struct {
	mu     sync.Mutex
	value  any // panic to raise
	exited bool
}

// Keep is deferred by a call that sets *returned at its end. It recovers from a panic; after runtime.Goexit the goroutine ends
// all the same.
func (f *First) Keep(returned *bool) {
	if *returned {
		return
	}
	value := wrap(recover())
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case value == nil: // runtime.Goexit: a panic with nil recovers as *runtime.PanicNilError
		f.exited = true
	case f.value == nil:
		f.value = value
	}
}

// Wrap is deferred where nobody waits: it panics with a Panic if the function that defers it panics, as First would.
func Wrap() {
	if value := wrap(recover()); value != nil {
		panic(value)
	}
}

// wrap returns a Panic with what was recovered, unless it is one, a Stop, or nil.
func wrap(value any) any {
	switch value.(type) {
	case nil, *Panic, Stop:
		return value
	}
	return &Panic{value, debug.Stack()}
}

// Stop is a panic that is carried unchanged: control flow within a package, which recovers from it (Stopped).
type Stop struct{ Err error }

func (s Stop) Error() string { return s.Err.Error() }

// Stopped is deferred where computations begin that may panic with a Stop: it sets *err to the error of the Stop. Other panics go
// on.
func Stopped(err *error) {
	switch value := recover().(type) {
	case nil:
	case Stop:
		*err = value.Err
	default:
		panic(value)
	}
}

// Call calls f and keeps how it ended. It reports whether f returned.
func (f *First) Call(call func()) (returned bool) {
	defer f.Keep(&returned)
	call()
	return true
}

// Ended reports whether a call ended without returning.
func (f *First) Ended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.value != nil || f.exited
}

// Raise panics with a Panic, or calls runtime.Goexit, if a call ended so. A panic has precedence. Afterwards f is as new.
func (f *First) Raise() {
	f.mu.Lock()
	value, exited := f.value, f.exited
	f.value, f.exited = nil, false
	f.mu.Unlock()
	if value != nil {
		panic(value)
	}
	if exited {
		runtime.Goexit()
	}
}

// Group is a sync.WaitGroup whose Wait panics with a Panic if one of its goroutines has panicked. The zero value is ready.
type Group struct {
	wait  sync.WaitGroup
	first First
}

// Go calls f in a goroutine.
func (g *Group) Go(f func()) {
	g.wait.Go(func() {
		g.first.Call(f)
	})
}

// Wait returns when all goroutines have ended.
func (g *Group) Wait() {
	g.wait.Wait()
	g.first.Raise()
}

// Each calls f(i) once for every i in [0, n), on the given number of goroutines, at least one, and returns
// when all have ended. Indices ascend. After a panic no further call begins.
func Each(workers, n int, f func(i int)) {
	var g Group
	var next atomic.Int64
	for range min(max(1, workers), n) {
		g.Go(func() {
			defer next.Store(int64(n)) // after a panic no further call begins; at the end none is left
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	g.Wait()
}
