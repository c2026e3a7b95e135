package machine

import (
	"os"
	"runtime/debug"
)

// CollectFor makes the runtime collect garbage less often while a short series of n observations is worked on: its heap has a few
// megabytes, and would otherwise be collected many times a second (GOGC=100 shows what that takes). It is for programs that own
// their process; what GOGC says stays, and so does a limit of memory.
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
