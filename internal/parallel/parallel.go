// Package parallel starts and ends goroutines: loops spread over the processors, and goroutines whose panics reach the one that
// waits for them.
package parallel

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// For calls f(i) once for every i in [0, n), on up to GOMAXPROCS processors.
// Indices are handed out in ascending order as processors become free, so the
// longest pieces should come first. It returns when all calls have. A For
// inside f finds the processors busy and runs on its own. For itself does not
// allocate once warm, and nor does its caller if f is kept from call to call.
//
// If f panics, For panics with a Panic in the calling goroutine, once all
// calls that had begun have ended; no further one begins.
func For(n int, f func(i int)) { Within(context.Background(), n, f) }

// Within does as For, and looks at ctx before every call of f: it panics with a Stop once ctx has ended (see Look). A nil context
// never ends.
func Within(ctx context.Context, n int, f func(i int)) {
	helpers := min(n, runtime.GOMAXPROCS(0)) - 1
	if helpers <= 0 {
		alone(ctx, n, f)
		return
	}
	begin(ctx, n, f, helpers).join()
}

// Aside is a loop that runs beside its owner's work, one at a time. The zero value has none. It is not safe for concurrent use.
type Aside struct{ l *loop }

// Start begins Within on the other processors, as far as they are free, once the loop before has ended.
func (a *Aside) Start(ctx context.Context, n int, f func(i int)) {
	a.Wait()
	a.l = begin(ctx, n, f, min(n, runtime.GOMAXPROCS(0)-1))
}

// Wait takes part in the rest of the loop, and returns once it has ended. It panics as Within does.
func (a *Aside) Wait() {
	if l := a.l; l != nil {
		a.l = nil
		l.join()
	}
}

// begin gives a loop to the given number of helpers, or to as many as are free.
func begin(ctx context.Context, n int, f func(i int), helpers int) *loop {
	l := loops.Get().(*loop)
	l.ctx, l.n, l.f = ctx, int64(n), f
	l.next.Store(0)
	for i := 0; i < len(crew()) && helpers > 0; i++ {
		if w := crew()[i]; w.idle.CompareAndSwap(true, false) {
			helpers--
			l.helping.Add(1)
			w.work <- l
		}
	}
	return l
}

// join takes part in the loop to its end.
func (l *loop) join() {
	defer l.finish()
	l.run()
}

// Look panics with a Stop whose error wraps ctx's if ctx has ended. Loops and recursions look every few milliseconds of work;
// where a computation begins, Stopped makes an error of it. A look takes some nanoseconds.
func Look(ctx context.Context) {
	if ctx == nil {
		return
	}
	if err := ctx.Err(); err != nil {
		panic(Stop{Err: fmt.Errorf("gppl: interrupted: %w", err)})
	}
}

func alone(ctx context.Context, n int, f func(i int)) {
	defer Wrap()
	for i := range n {
		Look(ctx)
		f(i)
	}
}

// loop is one call of For.
type loop struct {
	ctx     context.Context
	n       int64
	next    atomic.Int64
	f       func(int)
	helping sync.WaitGroup
	first   First
}

var loops = sync.Pool{New: func() any { return new(loop) }}

// run takes part in the loop until no index is left or a call has panicked.
func (l *loop) run() {
	returned := false
	defer l.first.Keep(&returned)
	defer l.end(&returned)
	for {
		i := l.next.Add(1) - 1
		if i >= l.n {
			break
		}
		Look(l.ctx)
		l.f(int(i))
	}
	returned = true
}

// end lets no further call begin after one that did not return.
func (l *loop) end(returned *bool) {
	if !*returned {
		l.next.Store(l.n)
	}
}

// finish waits for the helpers and raises the panic that was kept.
func (l *loop) finish() {
	l.helping.Wait()
	l.ctx, l.f = nil, nil
	defer loops.Put(l)
	l.first.Raise()
}

// worker is a goroutine that waits for loops to help with.
type worker struct {
	idle atomic.Bool
	work chan *loop // holds one loop, so that giving work to an idle worker never waits
}

// help takes part in l. If a call of it ends the goroutine, by runtime.Goexit, another one takes its place.
func (w *worker) help(l *loop) {
	returned := false
	defer func() {
		if !returned {
			go w.serve()
		}
		// It is idle first: whoever waits for the loop may have more work at once.
		w.idle.Store(true)
		l.helping.Done()
	}()
	l.run()
	returned = true
}

func (w *worker) serve() {
	for l := range w.work {
		w.help(l)
	}
}

// crew returns workers, started once, one fewer than there are processors.
var crew = sync.OnceValue(func() []*worker {
	ws := make([]*worker, runtime.NumCPU()-1)
	for i := range ws {
		ws[i] = &worker{work: make(chan *loop, 1)}
		ws[i].idle.Store(true)
		go ws[i].serve()
	}
	return ws
})

// Share returns the part-th of parts shares of count things, from … to−1. The shares are as equal as they can be.
func Share(count, parts, part int) (from, to int) {
	return count * part / parts, count * (part + 1) / parts
}

// Parts calls f for ranges from … to−1 of n things, of the given size, in parallel, until ctx ends, and returns an error that
// wraps its error; f may Look at it.
func Parts(ctx context.Context, n, size int, f func(from, to int)) (err error) {
	defer Stopped(&err)
	Within(ctx, (n+size-1)/size, func(p int) { f(p*size, min(n, (p+1)*size)) })
	return ctx.Err()
}
