// Package parallel spreads loops over the processors.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// For calls f(i) once for every i in [0, n), from up to GOMAXPROCS goroutines.
// Indices are handed out in ascending order as workers become free, so the
// longest pieces should come first. It returns when all calls have.
func For(n int, f func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	run := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			f(i)
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(run)
	}
	run()
	wg.Wait()
}
