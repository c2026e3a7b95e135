// Package scales says how much the notebooks compute.
package scales

import (
	"fmt"
	"os"
)

// A Scale says how much is computed.
type Scale string

// Full is the paper's scale. Smoke runs every step with as little work as possible, within seconds.
const (
	Full  Scale = "full"
	Smoke Scale = "smoke"
)

// FromEnvironment returns the scale in GPPL_SCALE, or Full if it is not set. It panics if the value is neither full nor smoke.
func FromEnvironment() Scale {
	switch s := Scale(os.Getenv("GPPL_SCALE")); s {
	case "":
		return Full
	case Full, Smoke:
		return s
	default:
		panic(fmt.Sprintf("scales: GPPL_SCALE=%q: want full or smoke", string(s)))
	}
}

// Pick returns the value for the scale.
func Pick[T any](s Scale, full, smoke T) T {
	if s == Smoke {
		return smoke
	}
	return full
}
