package machine

import (
	"os"
	"syscall"
)

// Peak returns the largest resident set, in bytes, of a process that has ended, or of the largest of its ended children; 0 if the
// system does not tell.
func Peak(p *os.ProcessState) int64 {
	if usage, ok := p.SysUsage().(*syscall.Rusage); ok {
		return int64(usage.Maxrss) * 1024
	}
	return 0
}
