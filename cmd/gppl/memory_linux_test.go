package main

import (
	"os/exec"
	"syscall"
)

// maxRSS returns the peak, in bytes, of a process that has ended, or of the largest of its children.
func maxRSS(c *exec.Cmd) int64 {
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss * 1024
}
