// Package scales has how much the notebooks compute.
package scales

import (
	"fmt"
	"os"
)

// A Scale is how much is computed.
type Scale string

// The scales: Full is that of the paper, Smoke the least that runs every step, within seconds.
const (
	Full  Scale = "full"
	Smoke Scale = "smoke"
)

// FromEnvironment returns the scale that GPPL_SCALE names, full if it is not set. It panics if it is neither full nor smoke.
func FromEnvironment() Scale {
	switch s := Scale(os.Getenv("GPPL_SCALE")); s {
	case "":
		return Full
	case Full, Smoke:
		return s
	default:
		panic(fmt.Sprintf("scales: GPPL_SCALE=%q: it is full or smoke", string(s)))
	}
}

// Pick returns the value for the scale.
func Pick[T any](s Scale, full, smoke T) T {
	if s == Smoke {
		return smoke
	}
	return full
}
