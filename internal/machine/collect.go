package machine

import (
	"os"
	"runtime/debug"
)

// CollectFor has the runtime collect garbage less often while a series of n observations is worked on, if it is short: its heap
// is of a few megabytes, which would otherwise be collected many times a second (GOGC=100 shows what that takes). It is for
// programs that own their process; what GOGC says stays, and so does a limit of memory.
func CollectFor(n int) {
	const (
		short         = 1000
		usual, seldom = 100, 400 // growth of the heap before the next collection, in per cent
	)
	if os.Getenv("GOGC") != "" {
		return
	}
	if n <= short {
		debug.SetGCPercent(seldom)
	} else {
		debug.SetGCPercent(usual)
	}
}
