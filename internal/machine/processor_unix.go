//go:build unix

package machine

import "syscall"

// ProcessorSeconds returns the processor time that this process has used so far, by all of its threads. Differences of it
// measure a computation on a machine that others use, too. It is the time since the start of the program where the system does
// not tell.
func ProcessorSeconds() float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return sinceStart()
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) * 1e-9
}
