// Package parallel spreads loops over the processors.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// For calls f(i) once for every i in [0, n), on up to GOMAXPROCS processors.
// Indices are handed out in ascending order as processors become free, so the
// longest pieces should come first. It returns when all calls have. A For
// inside f finds the processors busy and runs on its own. For itself does not
// allocate once warm, and nor does its caller if f is kept from call to call.
func For(n int, f func(i int)) {
	helpers := min(n, runtime.GOMAXPROCS(0)) - 1
	if helpers <= 0 {
		for i := range n {
			f(i)
		}
		return
	}
	l := loops.Get().(*loop)
	l.n, l.f = int64(n), f
	l.next.Store(0)
	for i := 0; i < len(workers()) && helpers > 0; i++ {
		if w := workers()[i]; w.idle.CompareAndSwap(true, false) {
			helpers--
			l.helping.Add(1)
			w.work <- l
		}
	}
	l.run()
	l.helping.Wait()
	l.f = nil
	loops.Put(l)
}

// loop is one call of For.
type loop struct {
	n       int64
	next    atomic.Int64
	f       func(int)
	helping sync.WaitGroup
}

var loops = sync.Pool{New: func() any { return new(loop) }}

func (l *loop) run() {
	for {
		i := l.next.Add(1) - 1
		if i >= l.n {
			return
		}
		l.f(int(i))
	}
}

// worker is a goroutine that waits for loops to help with.
type worker struct {
	idle atomic.Bool
	work chan *loop // holds one, so that giving work to an idle worker never waits
}

// workers are started once, one fewer than there are processors.
var workers = sync.OnceValue(func() []*worker {
	ws := make([]*worker, runtime.NumCPU()-1)
	for i := range ws {
		w := &worker{work: make(chan *loop, 1)}
		w.idle.Store(true)
		ws[i] = w
		go func() {
			for l := range w.work {
				l.run()
				// Idle first: who waits for the loop may have more work at once.
				w.idle.Store(true)
				l.helping.Done()
			}
		}()
	}
	return ws
})
