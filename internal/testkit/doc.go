// Package testkit has what tests of several packages share: how much a test may take, calls that they take for granted, texts
// that are alike but for the digits of numbers, ranks of a simulation-based calibration, a bound on what a reader allocates, and
// how calls end with their context.
package testkit
