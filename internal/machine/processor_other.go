//go:build !unix

package machine

// ProcessorSeconds returns the time since the start of the program: this system does not tell processor time.
func ProcessorSeconds() float64 { return sinceStart() }
