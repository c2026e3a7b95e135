package gppl

import (
	"fmt"
	"math"
)

// An answer is verified where it is made: before an engine returns a gradient,
// it compares a part of it with the same number computed by another route, one
// that does not share the step that may go wrong. The cost is a small share of
// the evaluation. An answer that fails is an error of type unverified; the loss
// counts it, reports it and asks the next engine. Fit checks gradients against
// values on top of that (see fit_check.go).

// unverified is the error of an answer that failed its check.
type unverified struct {
	what       string // what was compared
	off, limit float64
}

func (e unverified) Error() string {
	return fmt.Sprintf("gppl: an answer failed its check: %s is off by %.2g, and %.2g is allowed", e.what, e.off, e.limit)
}

// verify returns an error unless got is within limit of want. NaN fails.
func verify(what string, got, want, limit float64) error {
	if off := math.Abs(got - want); !(off <= limit) {
		return unverified{what, off, limit}
	}
	return nil
}
