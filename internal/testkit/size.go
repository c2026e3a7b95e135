// Package testkit holds the common parts of tests: the time that a test may take, calls that must not fail, comparison of texts
// except for the digits of numbers, ranks of a simulation-based calibration, a bound on what a reader allocates, and
// how calls end with their context.
package testkit

import (
	"os"
	"testing"
)

// A test has three sizes:
//
//	go test ./pkg/...                   quick: some of the cases, which CI runs too; -short is the same
//	GPPL_LONG=more go test ./pkg/...    several times as many, in some ten minutes on two processors
//	GPPL_LONG=1 go test ./pkg/...       all there is, hours
const variable = "GPPL_LONG"

// Quick reports whether a test should be content with some of its cases.
func Quick() bool { return testing.Short() || os.Getenv(variable) == "" }

// Size returns the number of cases, or the size of a case, that a test should take in this run.
func Size(quick, more, all int) int {
	switch {
	case Quick():
		return quick
	case Long():
		return all
	}
	return more
}

// Long reports whether a test may take minutes.
func Long() bool {
	return !testing.Short() && os.Getenv(variable) != "" && os.Getenv(variable) != "more"
}
