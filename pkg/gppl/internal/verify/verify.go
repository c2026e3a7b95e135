// Package verify checks results where they are computed: before an engine returns a gradient, it compares a part of it with
// the same number computed by another route, which does not share the step at risk. The cost is a small share of the
// evaluation. A result that fails gives an error of type Failed; a loss counts it, reports it and asks the next engine.
package verify

import (
	"fmt"
	"math"
)

// Failed is the error of an answer that failed its check.
type Failed struct {
	what       string // name of the compared quantity
	off, limit float64
}

func (e Failed) Error() string {
	return fmt.Sprintf("gppl: an answer failed its check: %s is off by %.2g, and %.2g is allowed", e.what, e.off, e.limit)
}

// Near returns an error unless got is within limit of want. NaN fails.
func Near(what string, got, want, limit float64) error {
	if off := math.Abs(got - want); !(off <= limit) {
		return Failed{what, off, limit}
	}
	return nil
}

// GradientTrust is the relative error beyond which a part of a gradient counts as
// wrong. In all tests the engines stay below a tenth of it.
const GradientTrust = 1e-6

// Backward is the largest relative residual of a factorisation, with a margin over the rounding of some thousands of
// operations.
const Backward = 1e-11

// Pick returns an index below n that depends on the parameters: different between evaluations, equal for equal parameters.
func Pick(n int, theta ...float64) int {
	h := uint64(0x9e3779b97f4a7c15)
	for _, t := range theta {
		h = (h ^ math.Float64bits(t)) * 0xff51afd7ed558ccd
		h ^= h >> 29
	}
	return int(h % uint64(n))
}

// Tamper, in tests, changes an intermediate result before it is used and checked.
var Tamper func(what string, x []float64)

// Tampered calls Tamper on x, in tests.
func Tampered(what string, x []float64) {
	if Tamper != nil {
		Tamper(what, x)
	}
}

// Direction returns the step of parameter i in the direction for checking gradients; it differs between parameters.
func Direction(i int) float64 { return 1 / (1 + 0.3*float64(i)) }
